"""Which settings of sockets nothing reads: sizes of what is not sent, polling by nobody."""

from collections.abc import Iterator

from simnet.scenario.core.effective import Effective
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
        reasons = [why_not(host, port) for port in host.ports]
        if all(reasons):
            yield f"{place}.kernel.busy_read_usecs", next(iter(reasons), "there is no port")


def unused(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield the sysctls of busy polling that no process of this load is subject to, and why."""
    for place, host in effective.places.items():
        if not effective.flows and (place != "host" or effective.udp is None):
            why = "no process of it reads a socket and blocks"
            yield f"{place}.kernel.busy_read_usecs", why
        waits = place == "host" and effective.memcached is not None
        if not (waits and any(busy_poll_usecs(host, port) for port in host.ports)):
            why = "no process of it polls in poll, select or epoll_wait"
            yield f"{place}.kernel.busy_poll_usecs", why
