"""A reference that nobody has set is named before anything happens."""

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache

import pytest

from simnet import _engine
from simnet.errors import SimulationError
from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.kernel.wiring import check_wiring, needs_of
from simnet.scenario.core.load import load
from simnet.scenario.parts.bonding.build import connect
from simnet.scenario.system.build import build

# Set in the course of a simulation, by what follows them.
_OF_THE_MOMENT = {
    "followed": "compared with a frame, and not followed",
    "last_coming": "of a list that is not empty",
    "submitting": "by the process that submits",
    "submitter": "by the process that submits",
    "next_polled": "a list of what is to be polled",
    "home": "of what has been scheduled once",
    "writer": "beside reader",
    "elevator": "only a queue that merges has one",
    "outlet": "what is sent to an unknown station is flooded",
    "path_out": "a socket or link that leaves by it needs it",
    "remote": "the end of a stream has none: frames go where the link ends",
}


class Plug(Component):
    needs = ("other.inner|outer", "far.end")

    def __init__(self, sim: Simulator, path: str) -> None:
        super().__init__(sim, path)
        self.other: object = None
        self.outer: object = None


class Far:
    end: object = None


class TestNeeds:
    def test_one_of_several_is_enough(self) -> None:
        sim = Simulator()
        Plug(sim, "plug").outer = object()
        check_wiring(sim)

    def test_what_is_empty_is_named_with_its_component(self) -> None:
        sim = Simulator()
        Plug(sim, "plug")
        with pytest.raises(SimulationError, match=r"^plug: other.inner\|outer is empty: a Plug"):
            check_wiring(sim)

    def test_nothing_is_needed_where_the_field_is_not_had(self) -> None:
        sim = Simulator()
        plug = Plug(sim, "plug")
        plug.outer = object()
        plug.far = Far()  # type: ignore[attr-defined]
        with pytest.raises(SimulationError, match=r"^plug: far.end is empty"):
            check_wiring(sim)


def test_a_stream_that_the_bond_has_not_taken_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "simnet.scenario.parts.network.streams.connect",
        lambda s, e, m, p, bonded, **o: connect(s, e, m, p, bonded[1:], **o),
    )
    effective = load("x460-bonding-pair", settings={"short_flows": "1"})
    with pytest.raises(SimulationError, match=r"^flow\..*socket: header\|nic.path_out.header is e"):
        build(effective, seed=1)


@cache
def _sources() -> dict[str, ast.Module]:
    """Return the modules of the compiled core."""
    return {
        f"simnet.{file.removesuffix('.py').replace('/', '.')}": ast.parse(text)
        for file, text in _engine.core_sources().items()
        if b"\nimport cython\n" in text
    }


def _references() -> Iterator[tuple[type, str]]:
    """Yield each field of a compiled class that refers to one, and that others alone set."""
    sources = _sources()
    classes = {
        node.name: (module, node)
        for module, tree in sources.items()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and "@cython.cclass" in ast.unparse(node)
    }
    for name, (module, node) in classes.items():
        own = ast.unparse(node)
        for field in node.body:
            if isinstance(field, ast.AnnAssign):
                public = re.fullmatch(r"Public\[(\w+)\]", ast.unparse(field.annotation))
                of = ast.unparse(field.target)
                sets = re.search(rf"\bself\.{of}\b[^=\n]*=(?!=)", own)
                if public and public[1] in classes and not sets:
                    yield getattr(importlib.import_module(module), name), of


@pytest.mark.compiled  # sources are the same on both engines, and reading them takes long
def test_every_reference_that_nobody_asks_for_is_declared() -> None:
    code = "\n".join(map(ast.unparse, _sources().values()))
    asks = re.findall(r"\b(?:if|and|or|not) ([\w.]+)|\.(\w+) is (?:not )?None", code)
    looked_at = {name for chain, name in asks for name in (*chain.split(".")[1:], name)}
    found = list(_references())
    assert len(found) > 20
    for cls, field in found:
        asked = field in looked_at
        needed = any(field in re.split(r"[.|]", need) for need in needs_of(cls))
        assert asked or needed or field in _OF_THE_MOMENT, (
            f"{cls.__name__}.{field}: others set it, and nobody asks whether they have: see `needs`"
        )
