"""A subject announces itself: a folder below scenario/parts is found, and no list names it."""

import subprocess
import sys
from pathlib import Path

from simnet.scenario.core.subject import subjects
from simnet.scenario.scenarios import find_scenario
from tests.house.layers import imports_of_python
from tests.house.trees import ROOT

_PARTS = ROOT / "simnet" / "scenario" / "parts"
_SUBJECT = """
import re
from typing import Annotated

from simnet.scenario.core.knob import Knob, ignored
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Flag, count
from simnet.scenario.core.subject import Column, HostPart, ModelFiles, Part, Subject


class Warp(Section):
    factor: Annotated[int, count("of nine", 0, 9)]


class WarpKernel(Section):
    warp_lines: Annotated[int, count("of a kernel", 0, 9)] = 3


def _check(tree, place, table):
    if tree.values.get("warp", {}).get("factor") == 9:
        table.remarks.append(f"{place[0]} shakes")


def _equip(ground):
    from simnet.scenario.system.resource import busy

    ground.counters["jumps"] = lambda: ground.sim.now // 10**9
    ground.resources.append(lambda: (busy("warp core", "core", ground.sim.now),))


def _listings():
    from simnet.scenario.commands.attribute_listing import Listed
    from simnet.scenario.commands.captured import Target

    line = re.compile(r"(?P<name>\\w+): (?P<value>\\d+)")
    known = {"speed": ("", "of nine")}
    return (Listed("warpctl", "warpctl -a", "warpctl -a", line, "a: 1", known, "warp {}", Target),)


def _lifts():
    from simnet.scenario.system.lifting import Lifting, changed, twice

    return (Lifting("core", lambda one: changed(one, "warp", twice, "factor"), "twice"),)


SUBJECT = Subject(
    "warp",
    host_parts=(HostPart("hull", Warp, key="hull", doc="of a host"),),
    equip=_equip,
    columns=lambda: (Column("jumps", int, "in all", lambda _, end: end.more["jumps"], default=0),),
    listings=_listings,
    lifts=_lifts,
    models=(ModelFiles("warp", "warps", Warp),),
    adds={"kernel": lambda: WarpKernel},
    parts=(Part("warp", Warp, key="warp"), Part("drive", Warp, key="drive", kind="warp")),
    check_host=_check,
    knobs=lambda: (
        Knob("warp speed", "", count("", 0, 9), "warp", "factor", "speed {value}"),
        Knob("warp {port} tx-{queue}", "", count("", 0, 9), "tx-queue", "warps", "", default=2),
        ignored("warp drive", "", Flag(""), "warp {value}"),
    ),
)
"""
_MODEL = """
kind = "warp"
description = "a drive"
factor = {value = 7, source = "a guess", state = "assumed"}
"""
_KNOB = """
from simnet.scenario.core.load import load
print(load("x460-out-of-box", settings={"warp drive": "on"}).applied[-1].apply)
"""
_KIND = """
from pathlib import Path
from simnet.scenario.core.library import kind_of, read_model
print(kind_of("d.toml"), read_model("warp", Path("d.toml"))[0].factor.value)
"""
_TABLE = """
from simnet.scenario.core.load import load
at = load("s.toml", settings={"drive.factor": "8", "warp speed": "9"})
print("warp", at.warp.factor, at.drive.factor, at.models["drive"], at.remarks[-1])
"""

_HULL = """
from simnet.scenario.core.load import load
print(load("s.toml", settings={"hull.factor": "4"}).host.hull.factor)
"""
_ADDED = """
import pickle
from simnet.scenario.core.load import load
loaded = load("s.toml", settings={"warp eth1 tx-0": "5", "kernel.warp_lines": "4"})
host = pickle.loads(pickle.dumps(loaded)).host
print([port.set_of(0, "warps") for port in host.ports[:2]], host.kernel.warp_lines)
"""
_APPLY = """
from simnet.scenario.core.load import load
at = load("s.toml", apply=["listing.txt"])
print(at.warp.factor, at.captured.attributes[0].meaning)
"""
_LIFT = """
from simnet.scenario.core.load import load
from simnet.study.explain.lift import lifts
print([(part, by, at.warp.factor) for part, by, at in lifts(load("s.toml")) if part == "core"])
"""
_RUN = """
import simnet
found = simnet.explain("s.toml", duration="2 ms", warm_up="1 ms")
print([(one.name, one.utilisation) for one in found.resources if one.kind == "core"])
print(simnet.run("s.toml", duration="2 ms", warm_up="1 ms").jumps)
"""


# what is simulated of every host
_OF_EVERY_HOST = {"host", "nic"}


def test_what_systems_stand_on_names_no_subject_but_those_of_every_host() -> None:
    named = {
        name.split(".")[3]
        for file in (_PARTS.parent / "system").glob("*.py")
        for name in imports_of_python(file.read_text(encoding="utf-8"), f"system.{file.stem}")
        if name.startswith("simnet.scenario.parts.")
    }
    assert named == _OF_EVERY_HOST


def test_every_folder_announces_itself_by_its_name() -> None:
    folders = {file.parent.name for file in _PARTS.glob("*/__init__.py")}
    assert sorted(one.name for one in subjects()) == sorted(folders)


_SCRIPTS = (
    (_KNOB, "warp on"),
    (_KIND, "warp 7"),
    (_TABLE, "warp 9 8 d.toml peers shakes"),
    (_HULL, "4"),
    (_ADDED, "[2, 5] 4"),
    (_APPLY, "5 of nine"),
    (_LIFT, "[('core', 'twice', 2)]"),
    (_RUN, "[('warp core', 1.0)]\n3"),
)


def test_a_new_folder_is_found_without_a_list(tmp_path: Path) -> None:
    (tmp_path / "warp").mkdir()
    (tmp_path / "warp" / "__init__.py").write_text(_SUBJECT, encoding="utf-8")
    (tmp_path / "d.toml").write_text(_MODEL, encoding="utf-8")
    scenario = find_scenario("x460-out-of-box").read_text(encoding="utf-8")
    named = scenario.replace("[system]\n", '[system]\ndrive = "d.toml"\n')
    tables = "[warp]\nfactor = 1\n[system.hull]\nfactor = 3\n"
    (tmp_path / "s.toml").write_text(f"{named}\n{tables}", encoding="utf-8")
    (tmp_path / "listing.txt").write_text("# warpctl -a\nspeed: 5\n", encoding="utf-8")
    found = "import simnet.scenario.parts as parts; parts.__path__.append('.')"
    command = [sys.executable, "-c", "\n".join([found, *(script for script, _ in _SCRIPTS)])]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout == "".join(f"{printed}\n" for _, printed in _SCRIPTS)
