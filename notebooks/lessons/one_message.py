"""One message on its way through a quiet relay: what each CPU does meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lessons.drawing import BLUE, GREEN, GREY, ORANGE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lessons.relay import SmallRelay

_MS, _US = 10**9, 10**6
_LOOKS: Final = {"hard interrupt": VERMILION, "softirq": ORANGE, "system": BLUE, "user": GREEN}
_BEFORE_US, _AFTER_US = 5, 145
_CPUS: Final = 8
_RUN_PS: Final = 200 * _MS
_SETTLED_PS: Final = 50 * _MS
_PLACES: Final = 3


class _Timeline(list[tuple[int, str, int, int]]):
    """What every CPU did: CPU, what, from, to. A tracer, see `simnet.study.run.trace`."""

    def span(self, track: str, name: str, start_ps: int, end_ps: int) -> None:
        """Something that a CPU did."""
        self.append((int(track.rsplit("cpu", 1)[-1]), name.partition(":")[0], start_ps, end_ps))

    def counter(self, *_: object) -> None:
        """Fill levels are not drawn."""

    instant = counter


@dataclass(frozen=True)
class Message:
    """The first message from a client that three CPUs work on, and all that CPUs did.

    Attributes:
        arrived_ps: when it was in the NIC.
        interrupted: CPU of its queue.
        stack: CPU that takes it through TCP.
        worker: CPU that reads it.
        timeline: of all CPUs.
    """

    arrived_ps: int
    interrupted: int
    stack: int
    worker: int
    timeline: Sequence[tuple[int, str, int, int]]

    def draw(self, axes: Axes) -> None:
        """Draw a bar for each piece of work, from 5 us before to 145 us after its arrival."""
        for cpu, what, start, end in self.timeline:
            begin, over = (start - self.arrived_ps) / _US, (end - self.arrived_ps) / _US
            if over > -_BEFORE_US and begin < _AFTER_US:
                axes.barh(cpu, over - begin, 0.7, begin, color=_LOOKS[what])
        for what, colour in _LOOKS.items():
            axes.barh(0, 0, color=colour, label=what)
        axes.axvline(0, color=GREY, linestyle=":")
        roles = {
            self.interrupted: "the queue's",
            self.stack: "RPS's choice",
            self.worker: "the worker's",
        }
        axes.set_xlim(-_BEFORE_US, _AFTER_US)
        axes.set_yticks(range(_CPUS), [f"{roles.get(cpu, '')}  {cpu}" for cpu in range(_CPUS)])
        axes.set_ylim(_CPUS - 0.4, -0.6)
        axes.set_xlabel("time since the message is in the NIC (us)")
        axes.set_ylabel("CPU (number)")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")


def followed(relay: SmallRelay, tunings: Sequence[str], settings: Mapping[str, str]) -> Message:
    """Run a relay and follow the first message from a client that three CPUs work on."""
    timeline = _Timeline()
    system, log = relay.probed(tunings, settings, timeline)
    system.run(_RUN_PS)
    return next(
        Message(arrived, interrupted, stack, worker, timeline)
        for socket, arrived, data, interrupted, stack, worker in log
        if "front" in socket
        and data
        and arrived > _SETTLED_PS
        and len({interrupted, stack, worker}) == _PLACES
    )
