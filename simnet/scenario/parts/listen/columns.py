"""What became of connections: the kernel's counters, and who had to try again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import Field

from simnet.rows import Count, Row
from simnet.scenario.core.subject import Column, Measure, column_field

if TYPE_CHECKING:
    from simnet.scenario.system.system import Snapshot


@dataclass(frozen=True)
class ListenCounts:
    """Cumulative counters, and what waits now; see `ListenUse`."""

    begun: int
    answered: int
    reset: int
    given_up: int
    syns: int
    syns_again: int
    requests_again: int
    passive_opens: int
    listen_overflows: int
    listen_drops: int
    req_q_full_do_cookies: int
    req_q_full_drop: int
    syncookies_sent: int
    syncookies_recv: int
    embryonic_rsts: int
    half_open: int
    waiting: int
    longest: int


class ListenUse(Row):
    """What became of connections while measured; counters have the kernel's names (`nstat -az`)."""

    begun: Count = Field(description="connections that visitors began")
    answered: Count = Field(description="that have had their whole answer")
    reset: Count = Field(description="that the server has reset")
    given_up: Count = Field(description="whose SYN was sent as often as it may")
    syns: Count = Field(description="SYNs that were sent for the first time")
    syns_again: Count = Field(description="SYNs that were sent again")
    requests_again: Count = Field(description="requests that were sent again")
    passive_opens: Count = Field(description="TcpPassiveOpens")
    listen_overflows: Count = Field(description="TcpExtListenOverflows: the accept queue was full")
    listen_drops: Count = Field(description="TcpExtListenDrops: these, and SYNs dropped otherwise")
    req_q_full_do_cookies: Count = Field(
        description="TcpExtTCPReqQFullDoCookies: too many half-open, so a cookie"
    )
    req_q_full_drop: Count = Field(description="TcpExtTCPReqQFullDrop: likewise, dropped")
    syncookies_sent: Count = Field(description="TcpExtSyncookiesSent")
    syncookies_recv: Count = Field(description="TcpExtSyncookiesRecv")
    embryonic_rsts: Count = Field(description="TcpExtEmbryonicRsts: tcp_abort_on_overflow")
    half_open: Count = Field(description="half-open connections at the end")
    waiting: Count = Field(description="connections that wait to be accepted at the end")
    longest: Count = Field(description="the most that waited at once, since the beginning")

    @property
    def sentence(self) -> str:
        """What was dropped, by counter."""
        parts = (
            (self.listen_overflows, "the accept queue was full (ListenOverflows)"),
            (self.listen_drops - self.listen_overflows, "too many were half open (ListenDrops)"),
        )
        said = [f"{count:,} times {why}" for count, why in parts if count]
        if not said:
            return f"no connection is dropped; at most {self.longest:,} waited to be accepted"
        again = f"; {self.syns_again:,} SYNs were sent again" if self.syns_again else ""
        again += f", {self.reset:,} connections reset" if self.reset else ""
        return f"of {self.begun:,} connections that began: {', '.join(said)}{again}"


def _use(start: Snapshot, end: Snapshot) -> ListenUse | None:
    """Counts between two snapshots; None for another system."""
    grown = end.grown(start, "listen")
    if grown is None:
        return None
    last = end.more["listen"]
    now = {name: getattr(last, name) for name in ("half_open", "waiting", "longest")}
    return ListenUse(**(grown | now))


COLUMNS: Final = (
    Column(
        "listen",
        ListenUse | None,
        "of short connections",
        _use,
        default=None,
        measures={
            "listen_overflows": Measure(
                "ListenOverflows (number)", "overflows", column_field("listen", "listen_overflows")
            ),
            "syns_sent_again": Measure(
                "SYNs sent again (number)", "SYNs again", column_field("listen", "syns_again")
            ),
        },
        order=63,
    ),
)
