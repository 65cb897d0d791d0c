"""Where requests of NFS wait: at the server, or in the client for a place in its connection."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.families import percent, weight_of
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule

# a request of NFS on a fast server takes less than 1 ms, one that waits for a spinning drive 10
_SLOW_MS: Final = 10.0
_WAITS_MS: Final = 1.0
_SHORT: Final = 0.2
_LATE: Final = 0.02
_EACH: Final = 0.98


def _server(evidence: Evidence) -> Iterator[Found]:
    """Say that the server takes long, as far as the way to it does not."""
    pings = [one for one in evidence.of("echo") if one.name.startswith("mean")]
    pings += evidence.of("ping", "rtt")
    way = max(pings, key=lambda one: one.value, default=None)
    for rtt in _asked(evidence, "rtt"):
        said = f"a request took {rtt.text} from its sending to its answer"
        if rtt.value < _SLOW_MS or (way is not None and way.value > _SHORT * rtt.value):
            yield Clear(rtt, said)
            continue
        if way is None:
            yield Hit(rtt.subject, (rtt,), said, 56, "likely")
        else:
            yield Hit(rtt.subject, (rtt, way), f"{said}, a ping {way.text}", 56, "certain")


def _slots(evidence: Evidence) -> Iterator[Found]:
    for queue in _asked(evidence, "queue"):
        rtt = evidence.value("nfs time", "rtt", queue.subject) or 0.0
        said = f"a request waited {queue.text} before it was sent, and {rtt:g} ms for its answer"
        if queue.value >= max(rtt, _WAITS_MS):
            yield Hit(queue.subject, (queue,), said, 52, "likely")
        else:
            yield Clear(queue, said)


def _threads(evidence: Evidence) -> Iterator[Found]:
    for series in evidence.series("nfsd", "sockets-enqueued"):
        fact = series.last
        arrived = evidence.value("nfsd", "packets-arrived", fact.subject) or 0.0
        share = series.value / arrived if arrived else 0.0
        said = f"{fact.shown} of {arrived:,.0f} packets found no thread, {percent(share)}"
        # kernels of today count each packet as enqueued
        if _LATE <= share < _EACH and series.growing:
            action = Action("echo 64 > /proc/fs/nfsd/threads")
            yield Hit(fact.subject, (fact,), said, weight_of(share) * 0.7, "likely", (action,))
        elif share < _LATE:
            yield Clear(fact, said)


def _asked(evidence: Evidence, name: str) -> list[Fact]:
    """Return the newest times of ways that requests go."""
    newest = {one.subject: one for one in evidence.of("nfs time", name)}
    return [one for one in newest.values() if evidence.value("nfs time", "ops", one.subject)]


RULES: Final = (
    Rule(
        "nfs-server-slow",
        "disk",
        "The NFS server takes long to answer: {subject}",
        "avg RTT of nfsiostat or mountstats",
        "10 ms, and five times a ping",
        "From the sending of a request to its answer: the way there and back, and what the server"
        " does. Where a ping is short, the server's drives, threads or CPUs are what is waited"
        " for.",
        "Look at the server: iostat -x, nfsd threads (/proc/net/rpc/nfsd, th), its CPUs.",
        "man nfsiostat, avg RTT; Linux include/linux/sunrpc/metrics.h",
        _server,
        outside=True,
    ),
    Rule(
        "nfsd-threads",
        "application",
        "Requests of NFS wait for a thread of this server: {subject}",
        "sockets-enqueued and packets-arrived of /proc/fs/nfsd/pool_stats",
        "2 % of the packets",
        "All threads of nfsd were busy when the packet came, and it waited for one.",
        "More threads ([nfsd] threads in /etc/nfs.conf); if they wait for drives, faster ones.",
        "Linux Documentation/filesystems/nfs/knfsd-stats.rst, sockets-enqueued",
        _threads,
    ),
    Rule(
        "nfs-slots",
        "socket",
        "Requests of NFS wait in the client before they are sent: {subject}",
        "avg queue of nfsiostat, backlog wait of mountstats",
        "1 ms, and longer than the answer takes",
        "A connection has so many places for requests under way (slots), or cannot send more:"
        " the others wait.",
        "More connections (mount -o nconnect=8, Linux 5.3 on); more slots"
        " (sunrpc.tcp_max_slot_table_entries, nfs.max_session_slots); larger rsize and wsize.",
        "man nfs, nconnect; man nfsiostat, avg queue; Linux net/sunrpc/xprt.c",
        _slots,
    ),
)
