"""A scenario that is loaded again, with other settings, is what it would be if loaded first."""

from dataclasses import asdict
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.scenario.core import load as loading
from simnet.scenario.core.load import load
from simnet.scenario.core.settings import Settings

_MASKS = "/proc/irq/{84-111}/smp_affinity_list"
_LOADS: dict[str, list[tuple[dict[str, str], tuple[str, ...]]]] = {
    "web-25g": [
        ({}, ()),
        ({"net.core.somaxconn": "128"}, ()),
        ({"net.core.somaxconn": "256", "net.core.busy_poll": "50"}, ()),
        ({"net.core.somaxconn": "no number"}, ()),
        ({"/proc/irq/82/smp_affinity_list": "9"}, ()),  # its file sets it, too
        ({"/proc/irq/82/smp_affinity_list": "9999"}, ()),
        ({"/sys/class/net/eth0/queues/tx-70/xps_cpus": "1"}, ()),
        ({"ethtool -L eth0 combined": "4"}, ()),
        ({"ethtool -C {port} rx-usecs": "30"}, ()),
        ({"ethtool -C eth0 rx-usecs": "40", "ethtool -C {port} rx-usecs": "30"}, ()),
        ({"ethtool -C eth0 rx-usecs": "40"}, ("fixed-50us",)),
        ({"peer:ethtool -C eth0 rx-usecs": "40"}, ()),
        ({"nic.rx_usecs": "3 us", "ethtool -C eth0 rx-usecs": "40"}, ()),
        ({"ethtool -C eth0 rx-usecs": "40", "nic.rx_usecs": "3 us"}, ()),
        ({"no.such.knob": "1"}, ()),
        ({"system.kernel": "linux-6.6", "net.core.busy_poll": "50"}, ()),
        ({"irqbalance": "on"}, ()),
        ({"irqbalance": "off"}, ()),
        ({}, ()),
    ],
    "x460-out-of-box": [
        ({}, ()),
        ({"/proc/irq/193/smp_affinity": "4"}, ()),
        ({"/proc/irq/193/smp_affinity": "4", "irqbalance": "on"}, ()),
        ({"/proc/irq/201/smp_affinity": "8", "irqbalance": "off"}, ()),
        ({"irqbalance": "on"}, ("affinity",)),
        ({"irqbalance.map": "daemon"}, ()),
        ({"irqbalance.daemon": "first-fit", "irqbalance.oneshot": "on"}, ()),
        ({"irqbalance.map": "no-such-map"}, ()),
        ({"numactl --cpubind": "1"}, ()),
        ({"numactl --preferred": "2"}, ("numactl",)),
        ({"numactl --cpubind": "9"}, ()),
        ({"cpu.costs.hardirq": "3000 cycles", "net.core.netdev_max_backlog": "10"}, ("affinity",)),
        ({"nodes": "2"}, ()),
        ({}, ("affinity", "numactl")),
        ({}, ()),
    ],
}


def _loaded(scenario: str, settings: dict[str, str], tunings: tuple[str, ...]) -> Any:
    """Everything of a configuration, or what is said of the settings."""
    try:
        found = load(scenario, settings=settings, tunings=tunings)
    except InputError as error:
        return str(error)
    every = [*found.provenance.items()], [asdict(one) for one in found.applied], found.remarks
    return found.model_dump(), *every, found.models, found.digest()


@pytest.mark.parametrize("scenario", _LOADS)
@pytest.mark.parametrize("backwards", [False, True])
def test_no_load_leaves_a_trace_in_the_next(
    scenario: str,
    monkeypatch: pytest.MonkeyPatch,
    backwards: bool,  # noqa: FBT001
) -> None:
    loads = _LOADS[scenario][:: -1 if backwards else 1]
    monkeypatch.setattr(loading, "_KEPT", {})
    again = [_loaded(scenario, *one) for one in loads]
    for one, found in zip(loads, again, strict=True):
        monkeypatch.setattr(loading, "_KEPT", {})
        assert found == _loaded(scenario, *one), one


def test_what_is_set_before_knobs_that_vary_is_set_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: list[int] = []
    apply = Settings.apply

    def counted(table: Settings, aims: Any) -> None:
        whole.append(len(aims))
        apply(table, aims)

    monkeypatch.setattr(Settings, "apply", counted)
    monkeypatch.setattr(loading, "_KEPT", {})
    for polled in range(5):
        load("web-25g", settings={"net.core.busy_poll": str(polled), "net.core.busy_read": "7"})
    assert len(whole) == 1
    assert whole[0] > 100


def test_fewer_queues_apply_before_what_a_file_sets_of_queues() -> None:
    found = load("web-25g", settings={"ethtool -L eth0 combined": "4"})
    assert f"{_MASKS}: gone with ethtool -L eth0 combined" in found.remarks
    assert not [one for one in found.applied if one.name == "/proc/irq/84/smp_affinity_list"]
