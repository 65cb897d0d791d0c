"""The ways in which the key-value server is told of packets, as its scenario's tunings set them."""

import pytest

from simnet import run
from simnet.host.softirq.napi_instance import NapiInstance
from simnet.net.nic.channel import Channel
from simnet.net.nic.multiqueue import MultiqueuePort
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.study.run.result import Result

US = 10**6
MS = 10**9
# of a queue: deferral, timer, suspension; of an epoll instance: time, budget, preference
INTERRUPTS = (0, 8, False)
CASES = {
    "defer10": ((100, 10 * US, 0), INTERRUPTS),
    "defer20": ((100, 20 * US, 0), INTERRUPTS),
    "defer50": ((100, 50 * US, 0), INTERRUPTS),
    "defer200": ((100, 200 * US, 0), INTERRUPTS),
    "napibusy": ((100, 200 * US, 0), (64, 64, True)),
    "fullbusy": ((100, 5 * MS, 0), (1000, 64, True)),
    "suspend0": ((0, 0, 20 * MS), (0, 64, True)),
    "suspend10": ((100, 10 * US, 20 * MS), (0, 64, True)),
    "suspend20": ((100, 20 * US, 20 * MS), (0, 64, True)),
    "suspend50": ((100, 50 * US, 20 * MS), (0, 64, True)),
    "suspend200": ((100, 200 * US, 20 * MS), (0, 64, True)),
}


def instances_of(port: object) -> list[NapiInstance]:
    """The NAPI instances of a port's queues, in order."""
    assert isinstance(port, MultiqueuePort)
    queues = [queue for queue in port.queues if isinstance(queue, Channel)]
    assert len(queues) == len(port.queues)
    return [queue.instance for queue in queues]


def test_there_is_a_tuning_for_every_case() -> None:
    made = build(load("memcached-100g", tunings=("defer10",)), seed=1)
    assert len(made.parts["memcached"].connections) == 7 * 32 * 20


@pytest.mark.parametrize("name", CASES)
def test_a_tuning_reaches_every_queue_and_every_worker(name: str) -> None:
    small = {"memcached.hosts": "1", "memcached.threads": "1", "memcached.connections": "16"}
    made = build(load("memcached-100g", tunings=(name,), settings=small), seed=1)
    instance, epoll = CASES[name]
    (port,) = made.nics
    assert {
        (one.defer_hard_irqs, one.gro_flush_timeout_ps, one.irq_suspend_timeout_ps)
        for one in instances_of(port)
    } == {instance}
    workers = made.parts["memcached"].workers
    assert {
        (one.busy_poll_usecs, one.busy_poll_budget, one.prefer_busy_poll)
        for one in (worker.epoll for worker in workers)
    } == {epoll}


def test_a_connection_goes_to_the_worker_of_its_queue() -> None:
    made = build(load("memcached-100g"), seed=1)
    (port,) = made.nics
    instances = {one: number for number, one in enumerate(instances_of(port))}
    epolls = {worker.epoll: number for number, worker in enumerate(made.parts["memcached"].workers)}
    for connection in made.parts["memcached"].connections:
        assert instances[connection.napi] == epolls[connection.epoll]
        assert connection.epoll.worker.allowed == {32 + epolls[connection.epoll]}


@pytest.mark.nightly
def test_what_deferral_and_suspension_are_for() -> None:
    """A timer replaces interrupts; busy polling has the least latency and no idle time."""
    found = {}
    for tunings in ((), ("defer50",), ("fullbusy",), ("suspend50",)):
        result = run(
            "memcached-100g",
            settings={"memcached.qps": "400000"},
            tunings=tunings,
            warm_up="20 ms",
            duration="20 ms",
        )
        assert result.messages is not None
        found[tunings] = (result.key_value, result.messages.latency_us.p99)
    base, deferred, busy, suspended = (found[tunings] for tunings in found)
    assert base[0].interrupts_per_s > 10_000
    assert all(one[0].interrupts_per_s < 100 for one in (deferred, busy, suspended))
    assert busy[0].idle < 1 < suspended[0].idle
    assert busy[1] is not None
    assert deferred[1] is not None
    assert suspended[1] is not None
    assert busy[1] < suspended[1] < deferred[1] + 20
    assert busy[0].polls_per_s > suspended[0].polls_per_s > deferred[0].polls_per_s


class TestBinding:
    """Where the workers run, with few clients."""

    def run(self, binding: str, scheduler: str) -> Result:
        asked = {
            "memcached.binding": binding,
            "kernel.scheduler": scheduler,
            "memcached.threads": "4",
        }
        return run("memcached-100g", settings=asked, warm_up="2 ms", duration="10 ms")

    def test_bound_workers_have_no_choice(self) -> None:
        near, fair = self.run("own", "o1"), self.run("own", "fair")
        assert near.throughput_bps == pytest.approx(fair.throughput_bps, rel=0.01)
        used = [{cpu.id for cpu in one.cpus if cpu.user > 0} for one in (near, fair)]
        assert used == [set(range(32, 40))] * 2

    def test_workers_that_may_wake_on_an_idle_cpu_of_theirs(self) -> None:
        bound, free = self.run("own", "fair"), self.run("all-workers", "fair")
        assert bound.flows != free.flows
        others = [cpu for cpu in free.cpus if not 32 <= cpu.id < 40]
        assert max(cpu.user for cpu in others) == 0

    def test_free_workers_leave_the_cpus_that_they_began_on(self) -> None:
        free = self.run("any", "fair")
        used = {cpu.id for cpu in free.cpus if cpu.user > 0}
        assert used - set(range(32, 40))
