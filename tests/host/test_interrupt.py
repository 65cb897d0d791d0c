"""IO-APIC delivery in physical mode, and when a new affinity takes effect."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.errors import SimulationError
from simnet.host.interrupt import IrqLine
from simnet.kernel.simulator import Simulator
from tests.host.parts import make_machine


def make_line(mask: int, cpus: int = 8) -> IrqLine:
    machine = make_machine(Simulator(), cores_per_socket=cpus)
    return IrqLine(177, "eth0", machine.cpus, mask)


@given(st.integers(1, 255))
def test_first_cpu_of_the_mask_serves(mask: int) -> None:
    line = make_line(mask)
    first = min(bit for bit in range(8) if mask >> bit & 1)
    assert [line.route().cpu_id for _ in range(3)] == [first] * 3
    assert line.counts == [3 if cpu == first else 0 for cpu in range(8)]
    assert line.total == 3


def test_new_affinity_is_programmed_at_the_next_interrupt_and_used_after_it() -> None:
    line = make_line(0b1)
    line.smp_affinity = 0b100
    assert line.current_target().cpu_id == 0
    assert line.smp_affinity == 0b100
    assert [line.route().cpu_id for _ in range(3)] == [0, 2, 2]
    assert line.counts[:3] == [1, 0, 2]


def test_the_last_of_several_writes_counts() -> None:
    line = make_line(0b1)
    line.smp_affinity = 0b10
    line.smp_affinity = 0b1000_0000
    assert [line.route().cpu_id for _ in range(2)] == [0, 7]


def test_bits_beyond_the_machine_do_not_matter() -> None:
    assert make_line(0b1_0000_0100).route().cpu_id == 2


@pytest.mark.parametrize("mask", [0, 0b1_0000_0000])
def test_mask_without_a_cpu_is_refused(mask: int) -> None:
    with pytest.raises(SimulationError, match="irq 177: smp_affinity names none"):
        make_line(mask)
    line = make_line(1)
    with pytest.raises(SimulationError, match="smp_affinity"):
        line.smp_affinity = mask
    assert line.route().cpu_id == 0
