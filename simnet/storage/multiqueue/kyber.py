"""kyber: as many requests of a kind in the drive as their latency allows.

Source: block/kyber-iosched.c of Linux 6.12; the same since 4.20. Reads and writes are domains
with tokens, 256 and 128 at most, for all hardware queues together. A hardware queue gives batches
of a domain in turn, and waits for a token of its turn's domain, while others have some. Requests
wait in lists of the CPUs that submitted them; there, bios are merged with them. With a token and
nothing else to give, a hardware queue takes all of these lists, CPU by CPU. A tenth
of a second after a completion the latencies are looked at: if the 90th percentile of a domain's
time in the drive is beyond its target, every domain's tokens are scaled by the 99th percentile of
its whole time over its target. So a domain that is better than its target gets fewer, one that is
worse gets more. Latencies are counted in eight buckets of a quarter of the target.

Discards and other requests are no workload here, so their domains are left out; asynchronous
requests, which are limited to three quarters of the tags, are, too.
"""

from collections import deque
from typing import Any, ClassVar

import cython

from simnet.kernel.compiled import Public
from simnet.storage.block.elevator import Tunable
from simnet.storage.block.request import READ, WRITE, Bio, Request
from simnet.storage.multiqueue.request import MqRequest
from simnet.storage.multiqueue.scheduler import MqScheduler

DEPTH = (256, 128)
BATCH = (16, 8)
_DOMAINS: cython.int = 2
_BUCKETS: cython.int = 8
_SHIFT: cython.int = 2
_GOOD_BUCKETS: cython.int = 4
# percentiles are taken of so many samples, or of what came in a second
_SAMPLES: cython.int = 500
# queues of waiters of a token bitmap, and the most that wake at once
_WAIT_QUEUES: cython.int = 8
_WAKE_BATCH: cython.int = 8
# requests at the end of a list that a bio is compared with
_MERGE_CHECKS = 8
_PS_PER_NS = 1000


@cython.cclass
class Domain:
    """Reads or writes."""

    most: cython.longlong = 0
    depth: cython.longlong = 0  # tokens
    used: Public[cython.longlong] = 0  # of them
    # latency buckets, whole and in the drive
    total: Public[list[Any]] = None
    io: Public[list[Any]] = None
    timeout: cython.longlong = 0  # jiffy after which fewer samples will do; 0 without any
    p99: Public[cython.int] = 0  # the last 99th percentile, for when there is congestion; -1: none
    waiting: deque[Any] = None  # hardware queues that wait for a token
    cleared: Public[cython.longlong] = 0  # tokens that came back since waiters were woken

    def __init__(self, depth: int) -> None:
        self.most = self.depth = depth
        self.total = [0] * 8
        self.io = [0] * 8
        self.p99 = -1
        self.waiting = deque()

    def percentile(
        self,
        buckets: list[Any],
        percent: cython.longlong,
        jiffies: cython.longlong,
        hz: cython.longlong,
    ) -> cython.int:
        """`calculate_percentile`: the bucket of that rank, -1 with too few samples."""
        samples: cython.longlong = sum(buckets)
        rank: cython.longlong
        bucket: cython.int
        if samples == 0:
            return -1
        if self.timeout == 0:
            self.timeout = jiffies + hz
        if samples < _SAMPLES and jiffies < self.timeout:
            return -1
        self.timeout = 0
        rank = (samples * percent + 99) // 100
        bucket = 0
        while bucket < _BUCKETS - 1 and buckets[bucket] < rank:
            rank -= buckets[bucket]
            bucket += 1
        buckets[:] = [0] * 8
        return bucket

    def resize(self, depth: cython.longlong) -> None:
        """`kyber_resize_domain`."""
        self.depth = min(max(depth, 1), self.most)


@cython.cclass
class PerQueue:
    """What a hardware queue has (`struct kyber_hctx_data`).

    Attributes:
        lists: of reads and writes, what was taken from the CPUs.
        of_cpus: of reads and writes, what each CPU has submitted since, by its number.
    """

    lists: Public[tuple[deque[Any], deque[Any]]] = None
    of_cpus: Public[tuple[dict[int, list[Any]], dict[int, list[Any]]]] = None
    domain: Public[cython.int] = 0
    batching: Public[cython.longlong] = 0
    waits: Public[list[Any]] = None

    def __init__(self) -> None:
        self.lists = (deque(), deque())
        self.of_cpus = ({}, {})
        self.waits = [False, False]

    @cython.cfunc
    def flush(self, rw: cython.int) -> cython.int:
        """`kyber_flush_busy_kcqs`."""
        of_cpus: dict[int, list[Any]] = self.of_cpus[rw]
        for cpu_id in sorted(of_cpus):
            self.lists[rw].extend(of_cpus[cpu_id])
        of_cpus.clear()
        return 0


@cython.cclass
class Kyber(MqScheduler):
    """The kyber scheduler; latencies are compared in ps, the targets are ns as in sysfs."""

    domains: list[Any] = None  # reads and writes
    per_queue: list[Any] = None
    armed: cython.bint = False
    targets_ps: Public[list[Any]] = None

    name: ClassVar[str] = "kyber"
    shared = False
    tunables: ClassVar[dict[str, Tunable]] = {
        "read_lat_nsec": Tunable(2_000_000, most=(1 << 63) - 1),
        "write_lat_nsec": Tunable(10_000_000, most=(1 << 63) - 1),
    }

    def __init__(self, queue: Any) -> None:
        self.domains = [Domain(depth) for depth in DEPTH]
        self.per_queue = [PerQueue() for _ in queue.hardware]
        super().__init__(queue)

    def tuned(self) -> None:
        """Take the tunables over."""
        names = ("read_lat_nsec", "write_lat_nsec")
        self.targets_ps = [self.values[name] * _PS_PER_NS for name in names]

    def insert(self, request: MqRequest) -> cython.int:
        """`kyber_insert_requests`."""
        mine: PerQueue = self.per_queue[request.hardware.number]
        of_cpus: dict[int, list[Any]] = mine.of_cpus[request.rw]
        of_cpus.setdefault(request.cpu.cpu_id, []).append(request)
        return 0

    def merge(self, bio: Bio) -> Request:
        """`kyber_bio_merge`: with one of the last eight that this CPU has submitted."""
        request: Request
        rw = WRITE if bio.write else READ
        mine: PerQueue = self.per_queue[self.mq.submitting.number]
        waiting = mine.of_cpus[rw].get(self.mq.submitter.cpu_id, ())
        for back in range(min(_MERGE_CHECKS, len(waiting))):
            request = waiting[len(waiting) - 1 - back]
            if request.takes(bio) and (
                request.end() == bio.sector or bio.sector + bio.sectors == request.sector
            ):
                return request
        return None

    def merged(self, request: Request) -> cython.int:
        """Its lists are in the order of arrival: nothing is sorted."""
        return 0

    def has_work(self, hardware: Any) -> cython.bint:
        """`kyber_has_work`."""
        mine: PerQueue = self.per_queue[hardware.number]
        return any(mine.lists) or any(mine.of_cpus)

    def next_request(self, hardware: Any) -> MqRequest:
        """`kyber_dispatch_request`: go on with the batch, or begin one of the next domain."""
        mine: PerQueue = self.per_queue[hardware.number]
        found: MqRequest
        if mine.batching < BATCH[mine.domain]:
            found = self._of_domain(mine, hardware)
            if found is not None:
                return found
        mine.batching = 0
        for _ in range(_DOMAINS):
            mine.domain = (mine.domain + 1) % _DOMAINS
            found = self._of_domain(mine, hardware)
            if found is not None:
                return found
        return None

    def _of_domain(self, mine: PerQueue, hardware: Any) -> MqRequest:
        """`kyber_dispatch_cur_domain`: the first request, if there is a token."""
        domain: Domain = self.domains[mine.domain]
        request: MqRequest
        waiting = mine.lists[mine.domain]
        if len(waiting) == 0 and len(mine.of_cpus[mine.domain]) == 0:
            return None
        if domain.used >= domain.depth:
            if not mine.waits[mine.domain]:
                mine.waits[mine.domain] = True
                domain.waiting.append(hardware)
            return None
        if mine.waits[mine.domain]:
            mine.waits[mine.domain] = False
            domain.waiting.remove(hardware)
        domain.used += 1
        mine.batching += 1
        if len(waiting) == 0:
            mine.flush(mine.domain)
        request = waiting.popleft()
        request.token = True
        return request

    def done(self, request: MqRequest) -> cython.int:
        """`kyber_completed_request`, and `kyber_finish_request`: the token is free."""
        domain: Domain = self.domains[request.rw]
        now: cython.longlong = self.mq.sim.now
        target: cython.longlong = self.targets_ps[request.rw]
        domain.total[_bucket(now - request.start_ps, target)] += 1
        domain.io[_bucket(now - request.io_start_ps, target)] += 1
        if not self.armed:
            self.armed = True
            self.mq.set_timer(0, self.mq.jiffies() + self.mq.hz // 10)
        request.token = False
        domain.used -= 1
        domain.cleared += 1
        self._wake(request.rw)
        return 0

    def _wake(self, rw: cython.int) -> cython.int:
        """`sbitmap_queue_wake_up`: run queues that wait, in batches."""
        domain: Domain = self.domains[rw]
        mine: PerQueue
        batch: cython.longlong = min(_WAKE_BATCH, max(1, domain.depth // _WAIT_QUEUES))
        if len(domain.waiting) == 0 or domain.cleared < batch:
            return 0
        domain.cleared = 0
        for _ in range(min(batch, len(domain.waiting))):
            if len(domain.waiting) == 0:
                break
            hardware = domain.waiting.popleft()
            mine = self.per_queue[hardware.number]
            mine.waits[rw] = False
            self.mq.run_queue(hardware)
        return 0

    def timer(self, number: cython.int) -> cython.int:
        """`kyber_timer_fn`: more tokens where latency is bad, fewer where it is good beside it."""
        bad: cython.bint = False
        domain: Domain
        p99: cython.int
        self.armed = False
        jiffies, hz = self.mq.jiffies(), self.mq.hz
        for domain in self.domains:
            if domain.percentile(domain.io, 90, jiffies, hz) >= _GOOD_BUCKETS:
                bad = True
        for domain in self.domains:
            p99 = domain.percentile(domain.total, 99, jiffies, hz)
            if bad:
                if p99 < 0:
                    p99 = domain.p99
                domain.p99 = -1
            elif p99 >= 0:
                domain.p99 = p99
            if p99 >= 0 and (bad or p99 >= _GOOD_BUCKETS):
                domain.resize(domain.depth * (p99 + 1) >> _SHIFT)
        return 0


def _bucket(latency_ps: cython.longlong, target_ps: cython.longlong) -> cython.longlong:
    """`add_latency_sample`: quarters of the target."""
    if latency_ps <= 0:
        return 0
    return min((latency_ps - 1) // max(target_ps >> _SHIFT, 1), _BUCKETS - 1)
