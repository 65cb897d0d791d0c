"""Which sizes nothing reads: streams have no requests, and requests no messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.scenario.core.effective import Effective

__all__ = ["idle"]


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    workload = effective.workload
    asks = workload.test == "tcp_rr" or any(flow.asks for flow in effective.flows)
    if workload.test == "tcp_rr":
        for name in ("message_bytes", "recv_size_bytes"):
            yield f"workload.{name}", "what is sent are requests and responses"
    if not asks:
        for name in ("writes_bytes", "request_bytes", "response_bytes", "answers"):
            yield f"workload.{name}", f"test is {workload.test}, and requests are of test=tcp_rr"
