"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from simnet.cli.completion import scenarios, settings, tunings
from simnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simnet.scenario.core.effective import Effective
    from simnet.study.work.cases import Case

_F = TypeVar("_F", bound="Callable[..., Any]")


class WholeNumber(click.IntRange):
    """A whole number from `low` to `high`, any from there on where that is None."""

    def __init__(self, low: int, high: int | None = None) -> None:
        super().__init__(low, high)
        self._expected = f"expected a whole number, {low:,} or more"
        if high is not None:
            self._expected = f"expected a whole number from {low:,} to {high:,}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; one message says what is wrong with it and what would be right."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{self._expected}, got {value!r}", param, ctx)


def _there(_context: click.Context, _parameter: click.Parameter, name: str | None) -> str | None:
    """Return the name of a scenario that there is, and whose file is TOML."""
    if name is not None:
        from simnet.scenario.core.toml import as_typed, read
        from simnet.scenario.scenarios import find_scenario

        path = find_scenario(name)
        read(path, as_typed(path))
    return name


scenario_argument: Final = click.argument("scenario", shell_complete=scenarios, callback=_there)
tuning_option: Final = click.option(
    "--tuning",
    "tunings",
    metavar="NAME[+NAME]",
    shell_complete=tunings,
    multiple=True,
    help="Apply a tuning of the scenario; may be repeated, later ones on top.",
)
apply_option: Final = click.option(
    "--apply",
    metavar="[WHERE:]FILE",
    multiple=True,
    help="Set what lsattr -El, no -a or mmlsconfig printed; WHERE is peer, or a node class.",
)
set_option: Final = click.option(
    "--set",
    "assignments",
    metavar="NAME=VALUE",
    shell_complete=settings,
    multiple=True,
    help="Set a knob, a scenario parameter or a model value; may be repeated.",
)
jobs_option: Final = click.option(
    "--jobs", type=WholeNumber(1, 1024), help="Processes; one a CPU by default."
)
scheduler_option: Final = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Simulate on the workers of this Dask scheduler, as in tcp://host:8786.",
)
warm_up_option: Final = click.option(
    "--warm-up", metavar="TIME", help="Simulated time before measuring."
)
_precision_option: Final = click.option(
    "--precision",
    metavar="RATIO",
    help='Run as long as 95 % intervals that narrow need, as in "1 %"; --duration at most.',
)


def scenario_options(command: _F) -> _F:
    """Add what chooses a run: tunings, files, settings, seed, times and precision."""
    return tuning_option(run_options(command))


def run_options(command: _F) -> _F:
    """Add files, settings, seed, times and precision."""
    return _settings_and_seed(_precision_option(_times(command)))


def case_options(command: _F) -> _F:
    """Add what chooses runs of equal length: tunings, files, settings, seed and times."""
    return tuning_option(_settings_and_seed(_times(command)))


def _times(command: _F) -> _F:
    return duration_option('Simulated time measured, as in "2 s".')(warm_up_option(command))


def duration_option(text: str) -> Callable[[_F], _F]:
    """Add ``--duration``; the text says of what it is the time."""
    return click.option("--duration", metavar="TIME", help=text)


def json_option(text: str = "Print JSON.") -> Callable[[_F], _F]:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help=text)


def _settings_and_seed(command: _F) -> _F:
    seed = click.option("--seed", type=WholeNumber(0), help="Seed of all random numbers.")
    return apply_option(set_option(seed(command)))


def settings_of(assignments: tuple[str, ...]) -> dict[str, str]:
    """Return ``NAME=VALUE`` texts as a dictionary; the last of a name wins.

    Raises:
        InputError: a text without ``=`` or without a name.
    """
    settings = {}
    for text in assignments:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise InputError("expected NAME=VALUE", file="--set", key=text)
        settings[name.strip()] = value.strip()
    return settings


def case_to_simulate(
    scenario: str,
    assignments: tuple[str, ...],
    tunings: tuple[str, ...],
    apply: tuple[str, ...],
    *,
    jobs: int | None,
    asked: Sequence[str] = (),
    knobs: Sequence[str] = (),
    scheduler: str | None = None,
    **_more: Any,
) -> Case:
    """Return the case that the options choose, which can be simulated, with workers for it.

    They start while it is read if all that is named stands in the scenario's file, and else only
    when it has been: one slip in a name would cost a second of two processors. What simulates is
    imported afterwards. `asked` are tunings that the case is to be compared with, `knobs` what a
    search is to turn; a scheduler of Dask has workers of its own.
    """
    named = (part for one in (*tunings, *asked) for part in one.split("+"))
    known = not (assignments or apply or knobs) and _defined(scenario).issuperset(named)
    if known:
        expect_workers(jobs, scheduler)
    from simnet.study.work.cases import Member, case_of

    case = case_of(scenario, settings_of(assignments), tunings, apply)
    Member(case).effective()
    if asked:
        from simnet.study.whatif.alternative import alternatives_to

        alternatives_to(case, asked)
    if knobs:
        from simnet.study.screen.factors import check, names

        check(knobs, names(case))
    expect_workers(jobs, scheduler)
    return case


def _defined(scenario: str) -> set[str]:
    """Return the names of the tunings in a scenario's file."""
    from simnet.scenario.core.toml import as_typed, read
    from simnet.scenario.scenarios import find_scenario

    path = find_scenario(scenario)
    tunings = read(path, as_typed(path)).data.get("tunings", {})
    return set(tunings) if isinstance(tunings, dict) else set()


def expect_workers(jobs: int | None, scheduler: str | None) -> None:
    """Have workers start that are needed soon; a scheduler of Dask has its own."""
    if scheduler is None:
        from simnet.study.work.workers import expected

        expected(jobs)


def effective(
    scenario: str,
    assignments: tuple[str, ...],
    *,
    tunings: tuple[str, ...] = (),
    apply: tuple[str, ...] = (),
    seed: int | None,
    duration: str | None,
    warm_up: str | None,
    precision: str | None = None,
) -> Effective:
    """Return the configuration that the options choose."""
    from simnet.scenario.core.load import load

    return load(
        scenario,
        settings=settings_of(assignments),
        tunings=tunings,
        seed=seed,
        duration=duration,
        warm_up=warm_up,
        precision=precision,
        apply=apply,
    )
