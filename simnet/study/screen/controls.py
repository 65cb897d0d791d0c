"""The knobs of a scenario as a person can turn them: real names, current values, legal values."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final

from simnet.errors import InputError
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.entries import EACH_PORT
from simnet.scenario.core.knob import Knob
from simnet.scenario.core.knobs import KNOBS
from simnet.scenario.core.parameter import Parameter, Spec
from simnet.scenario.core.specs import Choice, Flag, Quantity
from simnet.scenario.core.units import parse_quantity
from simnet.study.work.cases import Case, Member

# from the value as it is, down and up; a network's knobs are powers of two, or nearly
_FACTORS: Final = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)
_FROM_NOTHING: Final = (0, 1, 2, 4, 8, 16, 32, 64)
# a unit in which such steps mean nothing, and how many of it do
_TOO_SMALL: Final = {"ns": 1000, "B": 1024}


@dataclass(frozen=True)
class Control:
    """One knob."""

    name: str  # as an administrator types it; `{port}` stands for every port
    doc: str  # what it does
    names: tuple[str, ...]  # what is set: the same for each port
    value: str  # as it is
    values: tuple[str, ...]  # what it may be set to, as typed; `value` is one of them
    ordered: bool  # whether the values are numbers, ascending: a slider
    of_kernel: bool  # whether it is a value of the kernel, not of the ports' NIC
    target: str  # the attribute that it is
    spec: Spec  # form of its values

    @property
    def place(self) -> str:
        """Where its value stands in a configuration."""
        return f"{'host.kernel' if self.of_kernel else 'host.ports[0].nic'}.{self.target}"

    def taking(self, value: str) -> Control:
        """The same with one more value, in its place."""
        if value in self.values:
            return self
        values = [*self.values, value]
        if self.ordered:
            values.sort(key=self.spec.parse)
        return replace(self, values=tuple(values))

    def settings(self, value: str) -> Iterator[tuple[str, str]]:
        """What setting it means, knob by knob; nothing where it is as it was."""
        if value != self.value:
            yield from ((name, value) for name in self.names)


def controls(base: Case, names: Collection[str] | None = None) -> tuple[Control, ...]:
    """The knobs of ports and kernel that a simulation of the scenario depends on.

    Args:
        base: the scenario as it is.
        names: of those that are wanted; all when None.
    """
    within = [_within(base, one) for one in possible(base) if names is None or one.name in names]
    return tuple(one for one in within if len(one.values) > 1)


def possible(base: Case) -> list[Control]:
    """The same before anything is tried: the system may not take some of their values."""
    effective = Member(base).effective()
    return [one for knob in KNOBS if (one := _control(knob, effective)) is not None]


def present(case: Case, found: Collection[Control]) -> dict[str, str]:
    """The values that knobs have in a case, by name; of none that its system lacks."""
    provenance = Member(case).effective().provenance
    return {one.name: provenance[one.place].text for one in found if one.place in provenance}


def _control(knob: Knob, effective: Effective) -> Control | None:
    if not knob.modelled or knob.compile_time or knob.system != effective.kernel.system:
        return None
    if knob.scope == "kernel" and "{" not in knob.name:
        place = "host.kernel"
        names: tuple[str, ...] = (knob.name,)
    elif knob.scope == "nic" and effective.ports and knob.name.count("{") == 1:
        nic = effective.ports[0].nic
        if EACH_PORT not in knob.name or not knob.fits(nic.driver, type(nic).model_fields):
            return None
        place = "host.ports[0].nic"
        names = tuple(knob.name.replace(EACH_PORT, port.name) for port in effective.ports)
    else:
        return None
    parameter = effective.provenance.get(f"{place}.{knob.target}")
    values = () if parameter is None else _values(knob, parameter)
    if parameter is None or len(values) < 2:  # noqa: PLR2004 (one value cannot be changed)
        return None
    spec = knob.spec
    ordered = isinstance(spec, Quantity)
    of_kernel = knob.scope == "kernel"
    return Control(
        knob.name, knob.doc, names, parameter.text, values, ordered, of_kernel, knob.target, spec
    )


def _values(knob: Knob, parameter: Parameter) -> tuple[str, ...]:
    """Values around that as it is, within what is legal."""
    spec = knob.spec
    if isinstance(spec, Flag):
        return "off", "on"
    if isinstance(spec, Choice):
        return tuple(dict.fromkeys((parameter.text, *spec.choices)))
    if not isinstance(spec, Quantity) or spec.length or not isinstance(parameter.value, int):
        return ()
    low, high = (int(parse_quantity(end, spec.quantity_kind)) for end in (spec.low, spec.high))
    now = parameter.value
    unit = int(parse_quantity(f"1 {knob.unit}".strip(), spec.quantity_kind))
    near = {int(now * factor) // unit * unit for factor in _FACTORS} if now else set()
    some = unit * _TOO_SMALL.get(knob.unit, 1)
    wanted = near or {step * some for step in _FROM_NOTHING}
    legal = sorted({one for one in wanted if low <= one <= high} | {now})
    return tuple(parameter.as_text(one) for one in legal)


def _within(base: Case, one: Control) -> Control:
    """The same without values that this system does not take, or does not read."""
    taken = (text for text in one.values if text == one.value or _taken(base, one, text))
    return replace(one, values=tuple(taken))


def _taken(base: Case, one: Control, value: str) -> bool:
    settings = (*base.settings, *one.settings(value))
    try:
        found = Member(Case(base.scenario, settings, base.tunings, base.apply)).effective()
    except InputError:
        return False
    return not any(remark.startswith(name) for remark in found.remarks for name in one.names)
