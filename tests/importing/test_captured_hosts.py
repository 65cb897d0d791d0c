"""Hosts that others have captured: what is read of each, and that each simulates."""

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

import simnet
from simnet.host.cpulist import cpulist_text
from simnet.importing.source import read_source
from simnet.importing.writing.folder_out import imported

FOLDER: Final = Path(__file__).parents[2] / "validation" / "hosts"
HOSTS: Final[dict[str, dict[str, Any]]] = tomllib.loads((FOLDER / "hosts.toml").read_text("utf-8"))
# what the others do with packets no file of theirs says
ROLES: Final = {
    "sos-ubuntu-kubernetes": "a container node",
    "sos-ubuntu-openstack": "a container node",
}


def test_each_has_its_values() -> None:
    assert set(HOSTS) == {path.name.partition(".")[0] for path in FOLDER.glob("*.tar.xz")}
    assert len(HOSTS) >= 20


@pytest.mark.parametrize("name", HOSTS)
def test_what_is_read_is_right_and_simulates(name: str, tmp_path: Path) -> None:
    host = read_source(str(FOLDER / f"{name}.tar.xz"))
    topology = host.topology

    def said(key: str) -> str:
        return " ".join(str(host.facts[key].value).split()) if key in host.facts else ""

    sets = (topology.nodes, topology.packages, topology.cores, topology.cpus)
    found = {
        "counts": [len(one) for one in sets],
        "caches": [sum(one.level == level for one in topology.caches) for level in (1, 2, 3)],
        "offline": cpulist_text(topology.offline),
        "cpu": said("cpu_model"),
        "kernel": said("kernel"),
        "ports": [f"{n.name} {n.text('driver')} {n.number('node', -1)}" for n in host.nics],
    }
    assert found == HOSTS[name]
    made = imported(host)
    assert made.role == ROLES.get(name, "")
    (imported(host, "stream") if made.role else made).write(tmp_path / "out")
    run = simnet.run(tmp_path / "out" / "scenario.toml", warm_up="0 s", duration="100 us")
    assert [cpu.id for cpu in run.cpus] == sorted(topology.cpus)
