"""netperf's own output, tests TCP_STREAM and TCP_RR: one report a flow.

Format of netperf 2.4 (`send_tcp_stream`, `send_tcp_rr` in src/nettest_bsd.c): sizes in bytes,
throughput in 10^6 bit/s of payload or in transactions a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simnet.study.run.result import Result
    from simnet.study.run.rows import FlowRates

# of minimum, default and maximum
_DEFAULT = 1
_TITLE = (
    "Recv   Send    Send                          \n"
    "Socket Socket  Message  Elapsed              \n"
    "Size   Size    Size     Time     Throughput  \n"
    "bytes  bytes   bytes    secs.    10^6bits/sec  \n"
    "\n"
)


_TITLE_RR = (
    "Local /Remote\n"
    "Socket Size   Request  Resp.   Elapsed  Trans.\n"
    "Send   Recv   Size     Size    Time     Rate         \n"
    "bytes  Bytes  bytes    bytes   secs.    per sec   \n"
    "\n"
)


def netperf(result: Result) -> str:
    """One report a flow; buffer and message sizes come from the run's configuration."""
    host = result.configuration["host"]["kernel"]
    flows = {flow["name"]: flow for flow in result.configuration["flows"]}
    reports = []
    for flow in result.flows:
        settings = flows[flow.name]
        peer = result.configuration["peers"][settings["peer"]]["kernel"]
        if flow.transactions_per_s is not None:
            reports.append(_report_rr(flow, result.simulated_s, settings, host, peer))
            continue
        sizes = (
            host["tcp_rmem_bytes"][_DEFAULT],
            peer["tcp_wmem_bytes"][_DEFAULT],
            settings["message_bytes"],
        )
        reports.append(_report(flow, result.simulated_s, sizes))
    return "\n".join(reports)


def _report(flow: FlowRates, elapsed_s: float, sizes: tuple[int, int, int]) -> str:
    receive_bytes, send_bytes, message_bytes = sizes
    return (
        f"TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET "
        f"to {flow.name} ({flow.port}) port 0 AF_INET\n{_TITLE}"
        f"{receive_bytes:6d} {send_bytes:6d} {message_bytes:6d}    {elapsed_s:<6.2f}   "
        f"{flow.goodput_bps / 1e6:7.2f}   \n"
    )


def _report_rr(
    flow: FlowRates,
    elapsed_s: float,
    settings: dict[str, Any],
    host: dict[str, Any],
    peer: dict[str, Any],
) -> str:
    buffers = [
        f"{kernel['tcp_wmem_bytes'][_DEFAULT]:<6d} {kernel['tcp_rmem_bytes'][_DEFAULT]:<6d} "
        for kernel in (host, peer)
    ]
    return (
        f"TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET "
        f"to {flow.name} ({flow.port}) port 0 AF_INET\n{_TITLE_RR}"
        f"{buffers[0]}{settings['message_bytes']:<6d}   {settings['recv_bytes']:<6d}  "
        f"{elapsed_s:<6.2f}   {flow.transactions_per_s:7.2f}   \n{buffers[1]}\n"
    )
