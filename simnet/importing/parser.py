"""How a parser announces itself: which files it reads, and what it makes of them.

Each module of :mod:`simnet.importing.parsers` may have a ``PARSER``; nothing else lists them. What
`simnet import` looks for, what the script collects and what `--live` asks all follow from these.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from simnet.importing.evidence import Evidence
from simnet.importing.kind import Kind, Told, announced
from simnet.importing.rates import NetworkTest, Rates
from simnet.importing.roles import Role


def _nothing(evidence: Evidence) -> tuple[()]:  # noqa: ARG001 - others read it
    return ()


@dataclass(frozen=True)
class Parser:
    """What one module reads."""

    kinds: tuple[Kind, ...] = ()  # files and outputs
    # patterns of further files below the host's root, for the script; `{port}` stands for
    # each interface with a device
    trees: tuple[str, ...] = ()
    # yields the settings that the host has
    settings: Callable[[Evidence], Iterable[Told]] = field(default=_nothing)
    # yields name, value and file of what is said in the report, or chooses a model
    facts: Callable[[Evidence], Iterable[tuple[str, str, str]]] = field(default=_nothing)
    notes: Callable[[Evidence], Iterable[str]] = field(default=_nothing)  # yields lines for people
    # yields what each port carried
    rates: Callable[[Evidence], Iterable[Rates]] = field(default=_nothing)
    # yields tests of the network that were run
    tests: Callable[[Evidence], Iterable[NetworkTest]] = field(default=_nothing)
    # yields what else was observed: name, value, file
    uses: Callable[[Evidence], Iterable[tuple[str, float, str]]] = field(default=_nothing)
    # yields what the host does with its packets, where it is no end of TCP's streams
    roles: Callable[[Evidence], Iterable[Role]] = field(default=_nothing)


def parsers() -> tuple[Parser, ...]:
    """Return what the modules announce, by their names."""
    return announced()
