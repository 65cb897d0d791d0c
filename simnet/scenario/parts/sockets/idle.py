"""Which settings of sockets nothing reads: sizes of what is not sent, polling by nobody."""

from collections.abc import Iterator

from simnet.scenario.core.effective import Effective, Host
from simnet.scenario.core.files import REQUEST_TESTS
from simnet.scenario.parts.sockets.build_polling import busy_poll_usecs, why_not


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    workload = effective.workload
    asks = workload.test in REQUEST_TESTS or any(flow.asks for flow in effective.flows)
    if workload.test in REQUEST_TESTS:
        for name in ("message_bytes", "recv_size_bytes"):
            yield f"workload.{name}", "what is sent are requests and responses"
    if not asks:
        for name in ("writes_bytes", "request_bytes", "response_bytes", "answers"):
            yield f"workload.{name}", f"test is {workload.test}, and requests are of test=tcp_rr"
    for place, host in effective.places.items():
        yield from _polling(place, host, effective)


def _polling(place: str, host: Host, effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield the sysctls of busy polling that no process of a host is subject to."""
    reasons = [why_not(host, port) for port in host.ports]
    reads = bool(effective.flows) or (place == "host" and effective.udp is not None)
    if not reads:
        yield f"{place}.kernel.busy_read_usecs", "no process of the load reads a socket and blocks"
    elif all(reasons):
        yield f"{place}.kernel.busy_read_usecs", next(iter(reasons), "there is no port")
    waits = place == "host" and effective.memcached is not None
    if not (waits and any(busy_poll_usecs(host, port) for port in host.ports)):
        why = "no process of the load polls in poll, select or epoll_wait"
        yield f"{place}.kernel.busy_poll_usecs", why
