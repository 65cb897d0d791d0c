"""Ports with ice and i40e: their knobs, and what the drivers refuse."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.scenario.core import library
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import load
from tests.scenario.parts.test_queues import PORT, SCENARIO

OFF = {"ethtool -C ens1f0np0 adaptive-rx": "off", "ethtool -C ens1f0np0 adaptive-tx": "off"}


@pytest.fixture(scope="module", params=["intel-e810-25g", "intel-xxv710"])
def scenario(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Requests over a port of the chip."""
    return written(tmp_path_factory.mktemp("intel"), request.param)


def written(folder: Path, nic: str) -> Path:
    server = library.find_model("server", "eight-cpus-82574").read_text("utf-8")
    server = server[: server.index("[[ports]]")] + PORT.replace("mellanox-connectx-5", nic)
    (folder / "server.toml").write_text(server, "utf-8")
    text = library.find_model("switch", "ethernet-10g").read_text("utf-8")
    (folder / "switch.toml").write_text(text.replace("10 Gbit/s", "25 Gbit/s"), "utf-8")
    (folder / "mine.toml").write_text(SCENARIO, "utf-8")
    return folder / "mine.toml"


@cache
def loaded(scenario: Path, *settings: tuple[str, str]) -> Effective:
    few = (("ethtool -L ens1f0np0 combined", "8"), ("peer:ethtool -L ens1f0np0 combined", "8"))
    return load(str(scenario), settings=dict((*few, *settings)))


def test_each_chips_model_is_read(scenario: Path) -> None:
    nic: Any = loaded(scenario).ports[0].nic
    assert (nic.adaptive_rx, nic.adaptive_tx) == (True, True)
    assert nic.tso
    assert nic.gro


def test_throttles_and_the_limit_are_set_by_ethtool(scenario: Path) -> None:
    settings = OFF | {
        "ethtool -C ens1f0np0 rx-usecs": "100",
        "ethtool -C ens1f0np0 tx-usecs": "8160",
        "ethtool -C ens1f0np0 rx-usecs-high": "20",
    }
    nic: Any = loaded(scenario, *settings.items()).ports[0].nic
    assert (nic.rx_usecs_ps, nic.tx_usecs_ps, nic.rx_usecs_high_ps) == (
        10**8,
        8160 * 10**6,
        2 * 10**7,
    )


def test_a_throttle_is_refused_while_it_adapts(scenario: Path) -> None:
    with pytest.raises(InputError) as caught:
        loaded(scenario, ("ethtool -C ens1f0np0 rx-usecs", "100"))
    assert "refuses rx-usecs while adaptive-rx is on: ethtool -C ens1f0np0 adaptive-rx off" in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("nic", "settings", "message"),
    [
        ("intel-e810-25g", {"ethtool -C ens1f0np0 rx-usecs-high": "20"},
         "rx-usecs-high while it adapts: ethtool -C ens1f0np0 adaptive-rx off adaptive-tx off"),
        ("intel-e810-25g", {"nic.rx_ring": "9000"},
         "a ring of ice has at most 8160 descriptors"),
        ("intel-xxv710", {"ethtool -G ens1f0np0 tx": "5000"},
         "a ring of i40e has at most 4096 descriptors"),
        ("intel-xxv710", {"ethtool -C ens1f0np0 rx-frames": "20"},
         "the driver i40e has no such knob; it belongs to bnx2, cxgb4, ib_ipoib, mlx5, tg3"),
        ("intel-xxv710", {"ethtool -C ens1f0np0 cqe-mode-rx": "on"},
         "the driver i40e has no such knob; it belongs to mlx5"),
        ("intel-xxv710", {"nic.command_latency": "20 us"},
         "the driver i40e has no such knob; it belongs to ice, mlx5"),
        ("intel-e810-25g", {"system.kernel": "linux-5.4"},
         "ice of Linux 5.4 adapts without DIM, which is not modelled: expected off, or Linux 5.14"),
    ],
)  # fmt: skip
def test_what_a_driver_refuses_it_says_in_one_line(
    nic: str, settings: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        loaded(written(tmp_path, nic), *settings.items())
    assert caught.value.message.endswith(message)


def test_i40e_takes_a_limit_while_it_adapts(tmp_path: Path) -> None:
    limit = ("ethtool -C ens1f0np0 rx-usecs-high", "20")
    nic: Any = loaded(written(tmp_path, "intel-xxv710"), limit).ports[0].nic
    assert nic.rx_usecs_high_ps == 20 * 10**6
