"""Hosts with slow cores: which model an import takes, and that it is slow for the right reasons."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import simnet
from simnet.importing.import_host import import_host
from simnet.scenario.core.library import find_model, read_model
from simnet.scenario.core.load import load

MEASURED = "intel-xeon-gold-6128"
# from the fastest
SLOW = ("intel-n100", "intel-celeron-j1900", "arm-cortex-a72", "arm-cortex-a53", "mips-1004kc")


@cache
def _model(name: str) -> Any:
    return read_model("cpu", find_model("cpu", name))[0]


def _ps(name: str, cost: str) -> float:
    """How long a step takes on a model, without waiting for memory elsewhere."""
    model = _model(name)
    return float(getattr(model.costs, cost).value / model.clock.value * 1e12)


@pytest.mark.parametrize("cost", ["hardirq", "driver_rx", "tcp_rx", "ip_rx", "wakeup", "syscall"])
def test_a_step_takes_longer_from_model_to_model(cost: str) -> None:
    took = [_ps(name, cost) for name in (MEASURED, *SLOW)]
    assert took == sorted(took)
    assert took[-1] > 8 * took[0]


@pytest.mark.parametrize("name", SLOW)
def test_no_cost_of_a_slow_core_is_sure(name: str) -> None:
    model = _model(name)
    for cost in type(model.costs).model_fields:
        parameter = getattr(model.costs, cost)
        if parameter is None or cost == "line_latency":
            continue
        assert parameter.state == "assumed"
        assert parameter.low < parameter.value < parameter.high
        assert parameter.high > 2 * parameter.low


@pytest.mark.parametrize(
    ("lscpu", "vendor", "mhz"),
    [
        ("CPU(s): 4\nModel name: Cortex-A53\nVendor ID: ARM\nCPU max MHz: 1416\n", "arm", 1416),
        ("CPU(s): 4\nVendor ID: GenuineIntel\nModel name: Intel(R) N100\n", "intel", 2900),
        ("CPU(s): 4\nModel name: Intel(R) Celeron(R) CPU  J1900  @ 1.99GHz\n", "intel", 1990),
    ],
)
def test_an_import_takes_costs_of_the_kind(
    lscpu: str, vendor: str, mhz: int, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "lscpu.txt").write_text(f"Architecture: x\n{lscpu}", "utf-8")
    import_host(tmp_path / "in", workload="rr").write(tmp_path / "out")
    cpu = load(tmp_path / "out" / "scenario.toml").host.cpu
    assert (cpu.vendor, cpu.clock_hz) == (vendor, mhz * 10**6)
    assert cpu.costs.hardirq_cycles > 1600


def test_a_slow_core_carries_less(tmp_path: Path) -> None:
    rates = []
    for name in ("Cortex-A53", "Cortex-A72", "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz"):
        folder = tmp_path / name[:10].replace("(", "")
        folder.mkdir()
        text = f"Architecture: x\nCPU(s): 4\nModel name: {name}\n$ ethtool -i eth0\ndriver: igb\n"
        (folder / "pasted.txt").write_text(f"$ lscpu\n{text}", "utf-8")
        import_host(folder, workload="rr").write(folder / "out")
        settings = {"connections": "64"}
        run = simnet.run(
            folder / "out" / "scenario.toml", settings=settings, duration="5 ms", warm_up="5 ms"
        )
        rates.append(run.throughput_bps)
    assert rates == sorted(rates)
    assert rates[2] > 1.5 * rates[0]
