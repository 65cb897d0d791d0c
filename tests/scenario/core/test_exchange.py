"""Another server or kernel than the scenario's: a setting like any other."""

import pytest

from simnet.errors import InputError
from simnet.scenario.core.load import load
from tests.scenario.conftest import Workspace

SCENARIO = "x460-out-of-box"
KERNEL = "linux-2.6.9-rhel4"


def test_the_system_gets_the_kernel_and_its_peers_keep_theirs() -> None:
    plain, exchanged = load(SCENARIO), load(SCENARIO, settings={"system.kernel": KERNEL})
    assert exchanged.kernel.version == "2.6.9"
    assert exchanged.models["host.kernel"] == KERNEL
    assert exchanged.peers == plain.peers
    assert exchanged.digest() != plain.digest()
    (knob,) = (knob for knob in exchanged.applied if knob.name == "system.kernel")
    assert (knob.value, knob.before) == (KERNEL, "linux-2.6.16-sles10")
    assert KERNEL in knob.apply
    assert "linux-2.6.16-sles10" in knob.undo


def test_settings_are_checked_against_the_model_in_use() -> None:
    # HZ is 1000 in that kernel: a delayed ACK of 1 ms is a jiffy there, not in the scenario's own
    delay = {"TCP_DELACK_MIN": "1 ms"}
    with pytest.raises(InputError, match="less than a jiffy"):
        load(SCENARIO, settings=delay)
    assert load(SCENARIO, settings=delay | {"system.kernel": KERNEL}).kernel.delack_min_ps == 10**9


@pytest.mark.parametrize(
    ("name", "model", "message"),
    [
        (
            "system.kernel",
            "linux-2.6.9-rhel5",
            f"unknown kernel model 'linux-2.6.9-rhel5'; did you mean {KERNEL}?",
        ),
        ("system.server", "ibm-x461", "unknown server model 'ibm-x461'; did you mean ibm-x460?"),
    ],
)
def test_an_unknown_model_is_refused_with_the_nearest(name: str, model: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(SCENARIO, settings={name: model})
    assert (caught.value.file, caught.value.key, caught.value.message) == ("--set", name, message)


def test_peers_keep_their_models() -> None:
    with pytest.raises(InputError, match="only for the system under test, not for its peers"):
        load(SCENARIO, settings={"peer:system.kernel": KERNEL})


def test_a_file_that_a_tuning_names_is_beside_the_scenario(workspace: Workspace) -> None:
    (workspace.folder / "other.toml").write_text(
        (workspace.folder / "kernel.toml")
        .read_text("utf-8")
        .replace("value = 250,", "value = 100,")
    )
    with workspace.scenario.open("a", encoding="utf-8") as file:
        file.write('[tunings.slow]\ndescription = "HZ 100"\n"system.kernel" = "other.toml"\n')
    assert load(workspace.scenario).kernel.hz == 250
    assert load(workspace.scenario, tunings=["slow"]).kernel.hz == 100


def test_the_peers_need_a_port_for_each_of_the_exchanged_server() -> None:
    with pytest.raises(InputError, match="no such interrupt: expected one of 101-104"):
        load(SCENARIO, settings={"system.server": "ibm-p5-550", "/proc/irq/177/smp_affinity": "1"})
