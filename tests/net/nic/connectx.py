"""A channel of a ConnectX on a machine of its own."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from hypothesis import strategies as st

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.cpu import Cpu
from simnet.host.softirq.busy_poll import BusyPoller
from simnet.host.softirq.version import softirq_rules
from simnet.kernel.simulator import Simulator
from simnet.net.link.gro import Gro, gro_rules
from simnet.net.nic.channel import Channel
from simnet.net.nic.mlx5 import Mlx5
from tests.host.parts import MS, NS, US, Agenda, make_costs, make_machine
from tests.net.parts import Line, Sink, connect, feed, frame, make_device

MLX5: dict[str, Any] = {
    "tso": False,
    "page_bytes": 0,
    "rx": (8 * US, 128),
    "tx": (8 * US, 128),
    "rx_cqe": True,
    "tx_cqe": False,
    "adaptive_rx": False,
    "adaptive_tx": False,
    "command_ps": 100 * US,
}
COSTS = {"hardirq": 500, "softirq_entry": 50, "poll": 100, "driver_rx": 200, "tx_completion": 40}


class Bench:
    """A machine with one port of one queue; a received frame causes `work_ps`."""

    chip: type[Channel] = Mlx5
    defaults: dict[str, Any] = MLX5

    def __init__(
        self,
        *,
        work_ps: int = 300 * NS,
        per_frame: bool = False,
        device: dict[str, Any] | None = None,
        cpus: int = 1,
        version: str = "6.12",
        timeslice_us: int = 100_000,
        fair: bool = False,
        **options: Any,
    ) -> None:
        self.sim = Simulator()
        self.machine = make_machine(
            self.sim,
            "host",
            make_costs(**COSTS | options.pop("costs", {})),
            options.pop("memory", None),
            softirq_rules(version),
            cores_per_socket=cpus,
            timeslice_ps=timeslice_us * US,
            fair=version if fair else "",
        )
        rings = {"rx_buffers": 1023, "tx_ring": 1023, "rate_bps": 10**11} | (device or {})
        made = make_device(self.sim, self.machine, **rings)
        offload = Gro(gro_rules(options.pop("gro", "5.3")), enabled=options.pop("merges", False))
        self.nic: Any = self.chip(made, offload, **(self.defaults | options))
        self.nic.line = self.line = Line(self.sim, 50, "eth0", self.machine.cpus, 1)
        connect(self.nic, per_frame=per_frame)
        self.sink = Sink(self.sim, work_ps=work_ps)
        self.cpu: Cpu = self.machine.cpus[0]
        self.napi = self.nic.instance

    def another(self, name: str = "eth1") -> Mlx5:
        """Make another port."""
        nic = Mlx5(
            make_device(self.sim, self.machine, name), Gro(gro_rules("5.3"), enabled=False), **MLX5
        )
        nic.line = Line(self.sim, 51, name, self.machine.cpus, 1)
        connect(nic)
        return nic

    def feed(self, *arrivals_us: float) -> None:
        """Announce frames that arrive at these times."""
        feed(self.nic, self.sink, [int(at * US) for at in arrivals_us])

    def run(self, until_us: float) -> None:
        """Simulate until then."""
        self.sim.run_until(int(until_us * US))

    def send(self, count: int = 1, wire_bytes: int = 125) -> None:
        """Send frames at once."""
        for _ in range(count):
            self.nic.transmit(frame(self.sink, wire_bytes=wire_bytes))
        self.nic.flush()

    def crowd(
        self, gaps_us: list[int], sends_us: list[int], defer: int, timeout_us: int = 5
    ) -> tuple[Any, ...]:
        """Frames come after these gaps, some are sent, and each is polled once and in order.

        Returns:
            What came up and when, when the device interrupted, and what its instance counted.
        """
        self.napi.defer_hard_irqs = defer
        self.napi.gro_flush_timeout_ps = timeout_us * US
        agenda = Agenda(self.sim)
        for at in sends_us:
            agenda.at(at * US + 37, self.send)
        self.feed(*(10 + sum(gaps_us[: number + 1]) for number in range(len(gaps_us))))
        self.run(20_000)
        assert self.delivered == list(range(len(gaps_us)))
        assert not self.nic.scheduled
        assert self.nic.rx_cq.armed
        assert self.nic.tx_cq.armed
        return self.sink.log, self.line.asserted_ps, self.napi.counters()

    @property
    def asserted_us(self) -> list[float]:
        """When the device interrupted."""
        return [at / US for at in self.line.asserted_ps]

    @property
    def delivered(self) -> list[int]:
        """Numbers of the frames that were handed up, in order."""
        return [number for _, _, number in self.sink.log]


class Crowd(NamedTuple):
    """Frames that come and go, and how they are polled."""

    gaps_us: list[int]
    sends_us: list[int]
    weight: int
    work_us: int
    defer: int

    def check(
        self,
        kind: type[Bench],
        *,
        timeout_us: int = 5,
        before: Callable[[Any], object] = bool,
        **options: Any,
    ) -> list[Bench]:
        """Each frame is polled once and in order, and one event a frame changes nothing."""
        benches, outcomes = [], []
        for per_frame in (False, True):
            bench = kind(
                work_ps=self.work_us * US + 100 * NS,
                per_frame=per_frame,
                device={"weight": self.weight},
                **options,
            )
            before(bench)
            outcomes.append(bench.crowd(self.gaps_us, self.sends_us, self.defer, timeout_us))
            benches.append(bench)
        assert outcomes[0] == outcomes[1]
        return benches


CROWDS: Final = st.builds(
    Crowd,
    st.lists(st.sampled_from([0, 1, 2, 5, 7, 8, 9, 20, 60]), min_size=1, max_size=60),
    st.lists(st.integers(10, 900), max_size=12),
    weight=st.sampled_from([1, 3, 64]),
    work_us=st.integers(0, 12),
    defer=st.integers(0, 3),
)


class Poller(BusyPoller):
    """Polls busily until a time, or until a frame has been handed up; then sleeps."""

    def __init__(self, bench: Bench, *, budget: int = 64, prefer: bool = True) -> None:
        cpu = bench.cpu
        super().__init__(bench.machine.scheduler, "poller", cpu)
        self.may_poll()
        self.bench = bench
        self.budget, self.prefer = budget, prefer
        self.until_ps = 0
        self.for_frames = True
        self.had = 0
        self.done_ps: list[int] = []
        self.after: Callable[[], object] = bool

    def begin(self, until_us: float, *, for_frames: bool = True) -> None:
        """Wake it; it polls until then."""
        self.until_ps, self.for_frames = int(until_us * US), for_frames
        self.wake_on(self.bench.cpu)
        self.bench.cpu.kick()

    def step(self, cpu: Cpu) -> None:
        if self.loop.resumed(cpu):
            return
        self.had = len(self.bench.sink.log)
        self.loop.start(cpu, self.bench.napi, self.budget, self.prefer)

    def busy_loop_end(self) -> bool:
        found = self.for_frames and len(self.bench.sink.log) > self.had
        return found or self.sim.now >= self.until_ps

    def busy_loop_done(self, cpu: Cpu) -> int:  # noqa: ARG002 - the interface of pollers
        self.done_ps.append(self.sim.now)
        self.after()
        self.sleep()
        return 0


class Spinner(BusyPoller):
    """Works for a time at each wake-up."""

    def __init__(self, bench: Bench, work_ps: int) -> None:
        super().__init__(bench.machine.scheduler, "spinner", bench.cpu)
        self.work_ps, self.begun = work_ps, False
        self.done_ps: list[int] = []

    def step(self, cpu: Cpu) -> None:
        if not self.begun:
            self.begun = True
            cpu.run(PROCESS_LEVEL, self, self.work_ps, SYSTEM)
            return
        self.done_ps.append(self.sim.now)
        self.sleep()


__all__ = ["MS", "Bench", "Poller", "Spinner"]
