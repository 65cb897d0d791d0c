"""Sliders in a notebook: the page's controls and its answer, of some knobs of a scenario.

In a running kernel they move. Anywhere else, as in a notebook that is read on the web, what is
shown is the answer for an example.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from typing import Any

from markupsafe import Markup

from simnet.errors import InputError
from simnet.page.answers import first
from simnet.page.offer import Offer
from simnet.scenario.core.library import read_scenario
from simnet.scenario.scenarios import find_scenario
from simnet.spelling import nearest
from simnet.study.run.arguments import Names, Settings, names_of
from simnet.study.screen.controls import controls
from simnet.study.work.cases import Case, case_of

# as wide as the notebook; high enough for a table and CPUs of a few nodes
_FRAME = '<iframe src="{}" width="100%" height="720" style="border: 0"></iframe>'


@dataclass(frozen=True, repr=False)
class Sliders:
    """What `sliders` returns: Jupyter shows it."""

    offer: Offer  # the scenario as it is, and what can be moved of it

    def __repr__(self) -> str:
        return f"{self.offer.base.scenario}: {self._movable}"

    def _repr_html_(self) -> str:
        """The answer for an example of a change, and what could be moved."""
        return str(Markup("{}<p>{}</p>").format(self._first, self._movable))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002 (the protocol)
        """The page within the notebook, in a kernel; elsewhere `_repr_html_` says all."""
        if not _in_a_kernel():
            return {}
        return {"text/html": _FRAME.format(self._address), "text/plain": repr(self)}

    @cached_property
    def _address(self) -> str:
        from simnet.page.serve import served

        return served(self.offer)

    @cached_property
    def _first(self) -> Markup:
        kept = _Kept()
        first(self.offer, self._example, kept)
        return Markup("").join(Markup(one["answer"]) for one in kept.told if "answer" in one)  # noqa: S704 (escaped there)

    @property
    def _example(self) -> dict[str, Any]:
        """The first tuning, else the first knob at one end."""
        for tuning in self.offer.tunings:
            return {"tunings": [tuning]}
        for one in self.offer.controls:
            return {"settings": {one.name: next(v for v in one.values[::-1] if v != one.value)}}
        return {}

    @property
    def _movable(self) -> str:
        knobs = [
            f"{one.name} ({one.value} of {', '.join(one.values)})" for one in self.offer.controls
        ]
        movable = "; ".join((*knobs, *(f"tuning {name}" for name in self.offer.tunings)))
        return f"In a running notebook these can be moved: {movable}."


class _Kept:
    """Who waits for an answer: a reader."""

    def __init__(self) -> None:
        self.told: list[Mapping[str, Any]] = []

    def say(self, what: Mapping[str, Any], /) -> None:
        self.told.append(what)

    @contextmanager
    def turn(self) -> Iterator[None]:
        yield


def sliders(
    scenario: str | PathLike[str],
    knobs: str | Sequence[str] = (),
    *,
    choices: Names = (),
    settings: Settings | None = None,
    tunings: Names = (),
    apply: Names = (),
) -> Sliders:
    """Sliders and selectors for knobs of a scenario, with the answer below, for a notebook.

    A change is answered from a short run each of before and after, then better and better, as on
    `simnet page`. On the web it stands still.

    Args:
        scenario: a scenario's name, or the path of its file.
        knobs: which, by the names that `simnet page` shows, such as
            `"ethtool -C {port} rx-usecs"`; `{port}` stands for every port.
        choices: tunings of the scenario that can be switched on.
        settings: knobs that are set from the beginning.
        tunings: tunings that are part of what is.
        apply: files with what `lsattr -El`, `no -a` or `mmlsconfig` printed.

    Raises:
        InputError: the scenario has no such knob or tuning, or no other value of it.
    """
    base = case_of(scenario, settings, tunings, apply)
    wanted = (knobs,) if isinstance(knobs, str) else tuple(knobs)
    found = {one.name: one for one in controls(base, wanted)}
    for name in wanted:
        if name not in found:
            raise _unknown(base, name, [one.name for one in controls(base)], "knobs")
    defined = tuple(read_scenario(find_scenario(base.scenario))[0].tunings)
    switched = names_of(choices, "choices")
    for name in switched:
        if name not in defined:
            raise _unknown(base, name, defined, "choices")
    return Sliders(Offer(base, switched, wanted))


def _unknown(base: Case, name: str, known: Sequence[str], key: str) -> InputError:
    """The error that says which name is nearest, else all."""
    hint = nearest(name, known) or f": expected {' or '.join(known) or 'none'}"
    return InputError(f"{name}: nothing that {base.scenario} lets move{hint}", key=key)


def _in_a_kernel() -> bool:
    """Whether a notebook's kernel runs this, and not a shell."""
    shell = import_module("IPython").get_ipython() if find_spec("IPython") else None
    return getattr(shell, "kernel", None) is not None
