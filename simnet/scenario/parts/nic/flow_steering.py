"""Ports that send flows to queues by rules: those of ``ethtool -N``, and those of aRFS.

Sources: ethtool(8); of Linux 6.12 ``mlx5e_set_feature_arfs`` (mlx5/core/en_main.c),
``ice_fdir_set_hw_fltr_rule`` (ice_ethtool_fdir.c: all rules name the same fields),
``ice_set_netdev_features``, ``ice_set_features`` (ice_main.c), ``i40e_check_fdir_input_set``
(i40e_ethtool.c) and ``i40e_config_netdev`` (i40e_main.c: on by default, without aRFS).
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from simnet.host.release import release
from simnet.scenario.core.knob import Knob
from simnet.scenario.core.parameter import Spec, Value
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import Flag
from simnet.scenario.core.units import UnitError
from simnet.scenario.parts.nic.queues import Queues

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.net.steering.arfs import ArfsDriver
    from simnet.net.steering.flow_rules import FlowRules
    from simnet.scenario.core.section import Section
    from simnet.scenario.parts.nic.schema import Given

_NONE: Final = "none"
_TYPE: Final = "flow-type tcp4"
_EXAMPLE: Final = "flow-type tcp4 dst-port 32768 action 3"
_FIELDS: Final = ("src-ip", "dst-ip", "src-port", "dst-port")
_MOST_PORT: Final = 65535
_MOST_QUEUE: Final = 9999


def rule_of(text: str) -> dict[str, int]:
    """Return fields and queue of what ``ethtool -N PORT`` takes, by names of `FlowRule`.

    Raises:
        UnitError: it does not; the message says what was expected.
    """
    words = text.split()
    named = dict(zip(words[2::2], words[3::2], strict=False))
    if " ".join(words[:2]) != _TYPE or len(words) != 2 + 2 * len(named) or "action" not in named:
        raise UnitError(f"expected a rule such as '{_EXAMPLE}', got {text!r}")
    unknown = [name for name in named if name not in {*_FIELDS, "action"}]
    if unknown or len(named) == 1:
        got = f", got {unknown[0]}" if unknown else ""
        raise UnitError(f"expected a rule with some of {', '.join(_FIELDS)}{got}")
    values = {_key(name): _field(name, value) for name, value in named.items()}
    values["queue"] = values.pop("action")
    return values


def matches(rule: Mapping[str, int], flow: tuple[int, int, int, int]) -> bool:
    """Return whether a rule meets source, destination address, source, destination port."""
    pairs = zip(_FIELDS, flow, strict=True)
    return all(rule.get(_key(name), value) == value for name, value in pairs)


def _field(name: str, value: str) -> int:
    if name.endswith("ip"):
        try:
            return int(ipaddress.IPv4Address(value))
        except ValueError:
            raise UnitError(f"{name}: expected an address such as 10.0.0.2, got {value}") from None
    most = _MOST_QUEUE if name == "action" else _MOST_PORT
    if not value.isdecimal() or len(value) > len(str(most)) or int(value) > most:
        what = "a queue" if name == "action" else f"a port from 0 to {most}"
        raise UnitError(f"{name}: expected {what}, got {value}")
    return int(value)


def _text(rule: Mapping[str, int]) -> str:
    words = [
        f"{name} {ipaddress.IPv4Address(value) if name.endswith('ip') else value}"
        for name in _named(rule)
        for value in (rule[_key(name)],)
    ]
    return " ".join((_TYPE, *words, f"action {rule['queue']}"))


def _key(name: str) -> str:
    return name.replace("-", "_")


def _named(rule: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(name for name in _FIELDS if _key(name) in rule)


@dataclass(frozen=True)
class RuleList(Spec):
    """Rules as ``ethtool -N`` takes them: a list, or one text with ``;`` between."""

    def parse(self, raw: Any) -> Value:
        """Return each rule's words, fields in ethtool's order; see :meth:`Spec.parse`."""
        texts = raw if isinstance(raw, (list, tuple)) else str(raw).split(";")
        if [str(text).strip() for text in texts] == [_NONE]:
            return ()
        return tuple(_text(rule_of(str(text))) for text in texts)

    def text(self, value: Any) -> str:
        """Return the rules in one line."""
        return "; ".join(value) or _NONE

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        one = {"type": "string"}
        return {"anyOf": [one, {"type": "array", "items": one}]}


class FlowSteering(Queues):
    """A port with ntuple filters."""

    one_input_set: ClassVar[bool] = False  # all of its rules name the same fields, aRFS's all four
    rules_need_ntuple: ClassVar[bool] = False  # without the feature there are no rules
    # first version of Linux whose driver makes rules for RFS; None: none does
    arfs_since: ClassVar[tuple[int, int] | None] = None

    ntuple: Annotated[bool, Flag("flow rules; with RFS the driver makes its own (aRFS)")] = False
    flow_rules: Annotated[
        tuple[str, ...], RuleList("rules that send flows to receive queues before RSS is asked")
    ] = ()

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse rules that the driver refuses; see `Nic.check`."""
        super().check(given)
        rules = [rule_of(text) for text in given["flow_rules"]]
        if not rules:
            return
        name, queues = given.tree.get(given.port)["name"], given["rx_queues"]
        for rule in rules:
            if rule["queue"] >= queues:
                message = f"{name} has no queue {rule['queue']}: it has 0 to {queues - 1}"
                raise given.error("flow_rules", message, "rx_queues")
        if cls.rules_need_ntuple and not given["ntuple"]:
            message = f"{cls.name()} takes rules with ntuple only: ethtool -K {name} ntuple on"
            raise given.error("flow_rules", message, "ntuple")
        if cls.one_input_set and len({_named(rule) for rule in rules}) > 1:
            message = f"all rules of a port of {cls.name()} name the same fields"
            raise given.error("flow_rules", message)

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return what ``ethtool`` sets of rules, too."""
        return (*super().knobs(), *_KNOBS)

    def rules(self) -> FlowRules | None:
        """Return the rules of ``ethtool -N``; None for none."""
        from simnet.net.steering.flow_rules import FlowRule, FlowRules

        texts = self.flow_rules
        return FlowRules([FlowRule(**rule_of(text)) for text in texts]) if texts else None

    def rx_flow_steer(self, version: str) -> ArfsDriver | None:
        """Return how the driver programs rules for RFS; None: it makes none, as it is set.

        Args:
            version: of the kernel.
        """
        return self._arfs(version) if self.ntuple and not self.why_no_arfs(version) else None

    @property
    def learns_flows(self) -> bool:
        """Whether the driver makes rules of its own from what it sends."""
        return False

    def why_no_arfs(self, version: str) -> str:
        """Return why the driver makes no rules for RFS though ntuple is on; empty if it does."""
        if self.arfs_since is None:
            having = [name for name, one in self.variants().items() if _has_arfs(one)]
            return f"{self.name()} has no aRFS; {' and '.join(having)} have it"
        if release(version) < self.arfs_since:
            return f"{self.name()} has aRFS since Linux {'.'.join(map(str, self.arfs_since))}"
        partial = any(_named(rule_of(text)) != _FIELDS for text in self.flow_rules)
        if self.one_input_set and partial:
            return f"aRFS of {self.name()} needs rules with all of {', '.join(_FIELDS)}"
        return ""

    def _arfs(self, version: str) -> ArfsDriver:
        """Return how the driver programs rules for RFS by a version of Linux that can."""
        raise NotImplementedError


def _has_arfs(section: type[Section]) -> bool:
    return issubclass(section, FlowSteering) and section.arfs_since is not None


class _Rules(Knob):
    """The rules of a port, each typed by itself and at a location of its own."""

    def typed(self, value: str, parts: Mapping[str, str], *, today: bool = False) -> str:  # noqa: ARG002 - as of all knobs
        """Return the commands in one line; without rules, those that delete all."""
        port = parts["port"]
        if value == _NONE:
            listed = f"ethtool -n {port} | sed -n 's/^Filter: //p'"
            return f"for loc in $({listed}); do ethtool -N {port} delete $loc; done"
        rules = enumerate(value.split("; "))
        return "; ".join(f"ethtool -N {port} {rule} loc {number}" for number, rule in rules)


_KNOBS: Final = (
    Knob(
        "ethtool -K {port} ntuple",
        value_spec(FlowSteering, "ntuple").doc,
        value_spec(FlowSteering, "ntuple"),
        "nic",
        "ntuple",
        "ethtool -K {port} ntuple {value}",
        since="2.6.34",
    ),
    _Rules(
        "ethtool -N {port}",
        value_spec(FlowSteering, "flow_rules").doc,
        value_spec(FlowSteering, "flow_rules"),
        "nic",
        "flow_rules",
        "ethtool -N {port} {value}",
        since="2.6.34",
    ),
)
