"""The picture of where interrupts go: an arrow for each port, to the CPU that serves it."""

from matplotlib.figure import Figure

import simnet
from lessons.interrupts import interrupt_map


def test_every_port_and_every_cpu_that_serves_one_is_in_it() -> None:
    result = simnet.run("x460-out-of-box", duration="5 ms", warm_up="5 ms")
    axes = Figure().subplots()
    interrupt_map(result, axes)
    drawn = {text.get_text() for text in axes.texts}
    serving = {
        f"CPU {cpu}" for one in result.interrupts for cpu, rate in one.by_cpu.items() if rate
    }
    assert serving
    assert drawn == serving | {f"eth{n}" for n in range(8)} | {f"node {n}" for n in range(4)}
    assert axes.get_title("left").startswith("6 of 8 ports")
