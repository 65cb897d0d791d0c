"""``simnet whatif``: what a tuning would do, and whether it is worth it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from simnet.cli.completion import tunings
from simnet.cli.machines import machine_options, write_machines
from simnet.cli.options import (
    WholeNumber,
    case_to_simulate,
    jobs_option,
    json_option,
    scenario_argument,
    scenario_options,
    settings_of,
)
from simnet.cli.output import answer, card_option, message, out_option, write_card, write_out
from simnet.cli.status import Status
from simnet.errors import InputError
from simnet.printable import markdown, printable
from simnet.terminal import folded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simnet.study.whatif.whatif import WhatIf


@click.command("whatif")
@scenario_argument
@click.argument("wanted", nargs=-1, required=True, metavar="TUNING...", shell_complete=tunings)
@scenario_options
@click.option(
    "--seeds",
    type=WholeNumber(2, 1000),
    help="Pairs of runs with equal seeds, at most; 8 by default, 24 of short ones.",
)
@click.option(
    "--members",
    type=WholeNumber(0, 10000),
    help="Pairs of runs over the uncertain parameters, at most; 0 for none.",
)
@click.option(
    "--max-p99",
    metavar="TIME",
    help="No tuning is worth a longer p99 latency, of requests the round trip; by default twice"
    " what it is.",
)
@click.option(
    "--goal",
    metavar="GOAL",
    help="What decides: throughput, p99, cpu or loss; by default what counts for the load.",
)
@jobs_option
@click.option(
    "--check",
    is_flag=True,
    help="Ask whether a TUNING makes anything worse that counts; see the exit status.",
)
@click.option("--intervals", is_flag=True, help="Show what each interval is made of.")
@click.option("--commands", is_flag=True, help="Show what to type for every tuning.")
@card_option
@machine_options
@out_option("the changes with their intervals")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown", "prometheus"]),
    help="How to print it; markdown is a card of each tuning.",
)
@json_option("The same as --format json.")
@click.pass_context
def whatif_command(
    context: click.Context,
    /,
    scenario: str,
    wanted: tuple[str, ...],
    assignments: tuple[str, ...],
    *,
    out: Path | None,
    intervals: bool,
    commands: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare SCENARIO as it is with each TUNING, and say which is worth it.

    A TUNING is a name that the scenario defines or its system has ready (affinity, rps, queues=4),
    several with + between, KNOB=VALUE, several with commas between, or a command such as
    "ethtool -G eth0 rx 4096" or "sysctl -p FILE", which is read and not executed. --set and
    --tuning change what is. Simulations end when every verdict is clear.

    What counts follows from the load: the rate of bulk streams, then CPU time; rate and p99 of
    requests; p99, then CPU time, where what is offered is carried; the time of jobs. A --goal
    decides instead, and what else counts may then get worse by little.

    No gain is worth a loss of packets that rises by more than 1 percentage point, a flow that gets
    nothing, or flows of one kind at one port so unequal that Jain's index of their rates falls by
    more than 10 %; and where latency counts, none is worth a p99 more than twice as long (see
    --max-p99).

    The exit status is 0 when the best-ranked tuning is recommended, 1 when none is, and 3 when
    the intervals are too wide to tell; with --check 0 when no tuning makes it worse, 1 when one
    does, and 3 when that cannot be told.
    """
    ansible, tuned = options.pop("ansible"), options.pop("tuned")
    form, check = options.pop("form"), options.pop("check")
    if as_json and form:
        raise InputError("give it or --json, not both", key="--format")
    asked, left_out = _loaded(wanted)
    if not asked:
        sentence = f"simnet does not know {', '.join(left_out)}"
        if not check:
            raise InputError(sentence, key="TUNING")
        answer(folded(f"cannot tell: {sentence}"))
        context.exit(Status.NO_ANSWER)
    base = case_to_simulate(scenario, assignments, **options, asked=asked)
    from simnet.report.progress import progress, said, terminal
    from simnet.study.whatif.whatif import whatif

    card = options.pop("card")
    given = {name: value for name, value in options.items() if value is not None}
    given["base_tunings"] = given.pop("tunings")
    console = terminal()
    given["looked"] = said(console)
    with progress("simulating", console) as callback:
        found = whatif(
            scenario, asked, settings=settings_of(assignments), progress=callback, **given
        )
    for remark in found.remarks:
        message(remark)
    write_out(out, found.to_json, found.plot)
    if card is not None:
        from simnet.report.card.card import judged

        write_card(card, judged(found, base))
    write_machines(found, ansible, tuned)
    form = "json" if as_json else form or "text"
    printed = _printed(found, form, commands=commands, intervals=intervals)
    status = found.exit_status
    if check:
        from simnet.study.whatif.harm import harm

        status, sentence = harm(found, left_out)
        printed = _checked(printed, form, printable(sentence))
    answer(printed, nl=False)
    context.exit(status)


def _loaded(wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the tunings, files of sysctls as what they set, and names that nobody simulates."""
    from simnet.scenario.commands.sysctl_file import files_loaded, read_sysctl_files

    found: list[str] = []
    left_out: list[str] = []
    for text in wanted:
        files = files_loaded(text)
        if files is None:
            found.append(text)
            continue
        loaded = read_sysctl_files(files)
        if not loaded.settings and not loaded.others:
            raise InputError("the file sets nothing", key=text)
        if loaded.settings:
            found.append(",".join(f"{name}={value}" for name, value in loaded.settings.items()))
            if loaded.others:
                message(f"{text}: not known, left out: {', '.join(loaded.others)}")
        left_out += loaded.others
    return found, left_out


def _checked(printed: str, form: str, sentence: str) -> str:
    """Return an answer with what a check says of it, where the format has a place for that."""
    if form == "text":
        return f"{printed}\n{folded(sentence)}\n"
    return f"{markdown(sentence)}\n\n{printed}" if form == "markdown" else printed


def _printed(found: WhatIf, form: str, *, commands: bool, intervals: bool) -> str:
    """Return an answer as `--format` says."""
    match form:
        case "json":
            return f"{found.to_json()}\n"
        case "prometheus":
            from simnet.report.tools.prometheus import whatif

            return whatif(found)
        case "markdown":
            from simnet.report.card.card import as_markdown, judged

            return "\n".join(as_markdown(judged(found, None, one)) for one in found.tunings)
        case _:
            from simnet.report.whatif import whatif as text

            return text(found, all_commands=commands, intervals=intervals)
