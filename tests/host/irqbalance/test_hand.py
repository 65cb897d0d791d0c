"""Interrupts placed by hand: a CPU for each queue, and relief for the busiest."""

from simnet.host.accounting import PROCESS_LEVEL, SOFT_LEVEL, SOFTIRQ, USER
from simnet.host.interrupt import IrqLine
from simnet.host.irqbalance.hand import PERIOD_PS, PlacedByHand
from simnet.kernel.environment import Environment
from tests.host.parts import MS, Job, make_machine

SECOND = 1000 * MS
PERMILLE = 10 * SECOND // 1000


class Setup:
    """Four CPUs, two ports of some queues each."""

    def __init__(self, queues: int, banned: frozenset[int] = frozenset()) -> None:
        self.env = Environment(unit_ps=1)
        self.machine = make_machine(self.env.sim, cores_per_socket=4)
        self.ports = [
            [
                self.machine.apic.line(10 * port + queue, f"eth{port}-{queue}", 0xF)
                for queue in range(queues)
            ]
            for port in (1, 2)
        ]
        self.hand = PlacedByHand(self.machine, self.ports, banned_cpus=banned)
        self.env.process(self.hand.run(self.env))
        self.jobs = [
            Job(self.env.sim, f"work{cpu.cpu_id}", SOFT_LEVEL, SOFTIRQ) for cpu in self.machine.cpus
        ]

    def period(self, softirq: dict[int, int], interrupts: dict[IrqLine, int]) -> None:
        """Let a period pass in which CPUs work, in thousandths of it, and interrupts come."""
        for cpu, work in softirq.items():
            self.jobs[cpu].start(self.machine.cpus[cpu], work * PERMILLE)
        for line, count in interrupts.items():
            line.total += count
        self.env.run(until=(self.env.sim.now // PERIOD_PS + 1) * PERIOD_PS + MS)

    def masks(self) -> list[list[int]]:
        return [[line.smp_affinity for line in port] for port in self.ports]


def test_queue_k_of_each_port_goes_to_cpu_k() -> None:
    setup = Setup(queues=4)
    setup.env.run(until=MS)
    assert setup.masks() == [[1, 2, 4, 8], [1, 2, 4, 8]]


def test_ports_of_one_queue_get_a_cpu_each() -> None:
    setup = Setup(queues=1)
    setup.env.run(until=MS)
    assert setup.masks() == [[1], [2]]


def test_banned_cpus_are_left_out() -> None:
    setup = Setup(queues=4, banned=frozenset({0}))
    setup.env.run(until=MS)
    assert setup.masks() == [[2, 4, 8, 2], [2, 4, 8, 2]]


def test_the_busiest_cpu_gives_what_halves_the_difference() -> None:
    setup = Setup(queues=4)
    setup.env.run(until=MS)
    one, two = setup.ports[0][1], setup.ports[1][1]
    setup.period({1: 900, 2: 500, 3: 300, 0: 100}, {one: 600, two: 300})
    # of 900 the first is thought to cost 600, the second 300; the difference is 800
    assert setup.masks() == [[1, 2, 4, 8], [1, 1, 4, 8]]


def test_what_would_only_move_the_load_stays() -> None:
    setup = Setup(queues=4)
    setup.env.run(until=MS)
    before = setup.masks()
    setup.period({1: 900}, {setup.ports[0][1]: 600})
    assert setup.masks() == before


def test_who_looks_does_so_every_ten_seconds() -> None:
    setup = Setup(queues=4)
    one, two = setup.ports[0][1], setup.ports[1][1]
    setup.env.run(until=MS)
    before = setup.masks()
    setup.jobs[1].start(setup.machine.cpus[1], 900 * PERMILLE)
    one.total, two.total = 600, 300
    setup.env.run(until=10 * SECOND - MS)
    assert setup.masks() == before
    setup.env.run(until=10 * SECOND + MS)
    assert setup.masks() != before


def test_small_differences_are_not_worth_it() -> None:
    setup = Setup(queues=4)
    setup.env.run(until=MS)
    before = setup.masks()
    work = {0: 500, 1: 540, 2: 500, 3: 500}
    setup.period(work, {setup.ports[0][1]: 600, setup.ports[1][1]: 20})
    assert setup.masks() == before


def test_only_what_fired_since_the_last_look_counts() -> None:
    setup = Setup(queues=4)
    setup.env.run(until=MS)
    one, two = setup.ports[0][1], setup.ports[1][1]
    before = setup.masks()
    setup.period({}, {one: 10_000})
    assert setup.masks() == before
    setup.period({1: 900, 2: 500, 3: 300, 0: 100}, {one: 300, two: 600})
    # the first costs 300 now, which is nearer to half of 800
    assert setup.masks() == [[1, 1, 4, 8], [1, 2, 4, 8]]


def test_half_of_the_difference_is_best_also_where_processes_work() -> None:
    setup = Setup(queues=4)
    setup.env.run(until=MS)
    process = Job(setup.env.sim, "process", PROCESS_LEVEL, USER)
    process.start(setup.machine.cpus[1], 240 * PERMILLE)
    one, two = setup.ports[0][1], setup.ports[1][1]
    # 660 of interrupts in 900: 400 and 260, and the laziest has 100
    setup.period({1: 660, 2: 500, 3: 300, 0: 100}, {one: 260, two: 400})
    assert setup.masks() == [[1, 2, 4, 8], [1, 1, 4, 8]]
