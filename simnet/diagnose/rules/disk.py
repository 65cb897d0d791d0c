"""Disks and their queues."""

import re
import statistics
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.families import logged, percent, weight_of
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule

# percent of the time of a thread
_NO_WAIT: Final = 95
# requests a second from which on a scheduler's own work is seen
_MANY: Final = 100_000
_BESIDE: Final = 3
_MADE_OF_OTHERS: Final = re.compile(r"md\d|dm-|loop|zram|drbd")
_TIMES: Final = 3.0


def _busy(evidence: Evidence) -> Iterator[Found]:
    for disk in evidence.subjects("disk"):
        util = max(evidence.of("disk", "%util", disk), key=lambda one: one.value, default=None)
        waits = evidence.of("disk", "(await|r_await|w_await)", disk)
        queue = max((one.value for one in evidence.of("disk", "(aqu|avgqu)-sz", disk)), default=0.0)
        if util is None:
            continue
        wait = max(waits, key=lambda one: one.value, default=None)
        slow = wait is not None and wait.value >= 20  # noqa: PLR2004 - a disk's seek and turn
        if util.value >= 90 and wait is not None and (slow or queue >= 4):  # noqa: PLR2004 - always busy, and others wait
            said = f"%util {util.shown}, {wait.name} {wait.shown} ms, queue {queue:g}"
            yield Hit(disk, (util, wait), said, 52, "likely")
        else:
            yield Clear(util, f"{disk} %util {util.shown}")


def _apart(evidence: Evidence) -> Iterator[Found]:
    """One drive of several with the same work takes far longer than the others."""
    waits: dict[str, Fact] = {}
    rates: dict[str, float] = {}
    for disk in evidence.subjects("disk"):
        wait = evidence.last("disk", "await|r_await", disk)
        rates[disk] = sum(one.value for one in evidence.of("disk", "[rw]/s", disk)[-2:])
        if wait is not None and not _MADE_OF_OTHERS.match(disk):
            waits[disk] = wait
    for disk, wait in waits.items():
        like = [
            waits[other].value
            for other in waits
            if other != disk and rates[disk] / 2 <= rates[other] <= 2 * rates[disk]
        ]
        if len(like) < _BESIDE or not rates[disk] or wait.value < 20:  # noqa: PLR2004 - as of a busy one
            continue
        usual = statistics.median(like)
        if wait.value >= _TIMES * max(usual, 1.0):
            said = f"{wait.name} {wait.shown} ms, {usual:g} ms of {len(like)} others with as much"
            said += " to do"
            yield Hit(disk, (wait,), said, 60, "likely")


def _scheduler(evidence: Evidence) -> Iterator[Found]:
    """A scheduler with one lock for a drive that has a queue for each CPU."""
    for fact in evidence.of("sysfs", r"sys/block/nvme\w+/queue/scheduler"):
        device = fact.name.split("/")[2]
        used = re.search(r"\[([\w-]+)\]", fact.text)
        if used is None or used[1] not in {"bfq", "mq-deadline", "kyber"}:
            yield Clear(fact, f"{device} scheduler {fact.text}")
            continue
        most = max(evidence.of("job", "iops"), key=lambda one: one.value, default=None)
        busy = most is not None and most.value >= _MANY
        if used[1] != "bfq" and not busy:
            yield Clear(fact, f"{device} scheduler {fact.text}")
            continue
        said = f"scheduler {fact.text}"
        said += f", and {most.text}" if most is not None and busy else ""
        file = f"/sys/block/{device}/queue/scheduler"
        action = Action(f"echo none > {file}", f"echo {used[1]} > {file}", f"{file}=none")
        heavy, sure = (57, "likely") if busy and used[1] == "bfq" else (30, "possible")
        facts = (fact, most) if most is not None and busy else (fact,)
        yield Hit(device, facts, said, heavy, sure, (action,))


def _iowait(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("cpu", "iowait", "all"):
        if fact.value >= 30:  # noqa: PLR2004 - CPUs that have nothing else
            yield Hit("", (fact,), f"%iowait {fact.shown}", 34, "possible")
            return


def _job(evidence: Evidence) -> Iterator[Found]:
    """A job of fio is one thread: the shares of its time that it prints are of one CPU."""
    for own in evidence.of("job", "usr"):
        system = evidence.last("job", "sys", own.subject)
        if system is None or (system.file, system.line) != (own.file, own.line):
            continue
        said = f"fio's {own.subject} spends {own.text} in itself and {system.text} in the kernel"
        whole = own.value + system.value
        if whole >= _NO_WAIT:
            yield Hit(own.subject, (own, system), f"{said}: it never waits", 56, "likely")
        else:
            yield Clear(own, f"{said}: it waits for the drive")


def _nfs(evidence: Evidence) -> Iterator[Found]:
    again = evidence.last("nfs", "again")
    calls = evidence.value("nfs", "calls") or 0.0
    if again is None or not calls:
        return
    said = f"retrans {again.shown} of {calls:,.0f} calls, {percent(again.value / calls)}"
    if again.value / calls >= 1e-3 and again.value >= 50:  # noqa: PLR2004 - over TCP it is none
        yield Hit("", (again,), said, 0.75 * weight_of(again.value / calls), "likely")
    else:
        yield Clear(again, said)


RULES: Final = (
    Rule(
        "fio-cpu",
        "application",
        "The CPU of the job is full, not the drive: {subject}",
        "usr and sys of cpu of fio's output",
        "95 % of the time",
        "One thread issues and completes all requests: its CPU is the limit, whatever the drive"
        " could do.",
        "More jobs (numjobs) on CPUs of the drive's node, io_uring with registered buffers, larger"
        " requests.",
        "man fio, cpu usage; Linux Documentation/block/",
        _job,
    ),
    Rule(
        "nfs-retransmits",
        "disk",
        "NFS asks again what the server did not answer {subject}",
        "retrans of nfsstat -c",
        "1 call in 1,000, and 50",
        "The server was slow or away for longer than timeo, or packets were lost: each costs the"
        " time-out, seconds of standing still.",
        "Look at the server (nfsd threads, iostat -x) and for losses on the way (nstat -az).",
        "man nfs, timeo; man nfsstat; Linux net/sunrpc/clnt.c",
        _nfs,
        outside=True,
    ),
    Rule(
        "disk-busy",
        "disk",
        "Requests wait at {subject}",
        "iostat -x",
        "90 % busy, with 20 ms a request or 4 that wait",
        "The drive has more requests than it finishes: the program waits for it.",
        "Fewer or larger requests, another scheduler, more drives; see who reads or writes.",
        "Linux Documentation/admin-guide/iostats.rst",
        _busy,
    ),
    Rule(
        "disk-apart",
        "disk",
        "{subject} is far slower than the drives beside it",
        "iostat -x",
        "3 times the wait of 3 others with as many requests, and 20 ms",
        "Drives of an array share the work: one that takes far longer repeats reads of bad sectors,"
        " is rebuilt, or has a bad cable, and all wait for it.",
        "smartctl -a of that drive, its cable and slot; replace it before it fails.",
        "Linux Documentation/admin-guide/iostats.rst; man md, RECOVERY",
        _apart,
        outside=True,
    ),
    Rule(
        "disk-scheduler",
        "disk",
        "The scheduler of {subject} is one queue for all CPUs",
        "queue/scheduler of /sys/block; requests a second of fio",
        "bfq on NVMe; any other with 100,000 requests a second",
        "NVMe has a queue for each CPU. bfq works 1.9 us and mq-deadline 0.7 us on a request while"
        " it holds one lock, which limits all CPUs together.",
        "none, for a drive that is fast itself; bfq where fairness among groups is wanted.",
        "Linux Documentation/block/bfq-iosched.rst, first section",
        _scheduler,
    ),
    Rule(
        "waits-for-disk",
        "disk",
        "CPUs wait for disks {subject}",
        "%iowait of mpstat, sar, top, vmstat",
        "30 %: CPUs without other work",
        "Processes sleep until a disk answers.",
        "Look at iostat -x: which disk, how long.",
        "Linux Documentation/filesystems/proc.rst, iowait",
        _iowait,
    ),
    Rule(
        "disk-errors",
        "disk",
        "{subject} reports errors",
        "the kernel's log",
        "always",
        "A drive or the way to it fails: requests are repeated, for seconds each.",
        "Look at smartctl and cables; replace the drive.",
        "Linux block/blk-core.c, blk_status_to_str",
        logged(
            r"(?:I/O error, dev |\b(?=nvme\d+\b.*(?:I/O \d+.*timeout|controller is down)))"
            r"(?P<subject>\w+)",
            weight=65,
        ),
        outside=True,
    ),
    Rule(
        "nfs-not-responding",
        "disk",
        "The NFS server {subject} does not answer in time",
        "the kernel's log",
        "always",
        "A request of NFS was sent again for a minute and more: the server, its disks or the way to"
        " it stood still. Everything that waits for a file of it hangs.",
        "Look at the server (nfsd threads, iostat -x) and for losses on the way (nstat -az).",
        "Linux net/sunrpc/clnt.c, call_timeout; man nfs, timeo",
        logged(r"nfs: server (?P<subject>[\w.:-]{1,60}) not responding", weight=64),
        outside=True,
    ),
    Rule(
        "iscsi-timeout",
        "disk",
        "The iSCSI target stopped answering {subject}",
        "the kernel's log",
        "always",
        "A ping to the target had no answer in time, so the session was closed and opened again:"
        " the network lost packets for seconds, or the target stood still.",
        "Look for losses on the way (nstat -az, ethtool -S), pause frames, the target's own log.",
        "Linux drivers/scsi/libiscsi.c, iscsi_check_transport_timeouts",
        logged(r"connection\d+:\d+: (?:ping timeout|detected conn error)", weight=64),
        outside=True,
    ),
    Rule(
        "hung-task",
        "disk",
        "A process waited minutes for a disk or a server {subject}",
        "the kernel's log",
        "always",
        "Nothing answered for two minutes: storage, NFS, or a lock.",
        "See which disk or mount it waits for (the log shows its stack).",
        "Linux Documentation/admin-guide/sysctl/kernel.rst, hung_task_timeout_secs",
        logged(r"task \S+ blocked for more than \d+ seconds", weight=60, sure="likely"),
    ),
)
