"""``simnet run``: one simulation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simnet.cli.completion import format_names
from simnet.cli.options import (
    effective,
    json_option,
    scenario_argument,
    scenario_options,
    settings_of,
)
from simnet.cli.output import answer, message, out_option, write_out
from simnet.errors import InputError

if TYPE_CHECKING:
    from simnet.study.calibrate.capture import Capture


@click.command("run")
@scenario_argument
@scenario_options
@click.option(
    "--format",
    "formats",
    metavar="LIST",
    shell_complete=format_names,
    help="One or more of text, json, sar, mpstat, interrupts, vmstat, netperf, iperf, fio,"
    " fio-json, iostat, prometheus, compare; commas between.",
)
@json_option("The same as --format json.")
@click.option(
    "--capture", metavar="FILE", help="A listing of sar to compare with; implies --format compare."
)
@out_option("the CPUs' time")
@click.option("--trace", metavar="FILE", help="Write a timeline for Perfetto.")
@click.option("--pcap", metavar="FILE", help="Write the frames of a port for Wireshark (pcapng).")
@click.option("--pcap-port", metavar="NAME", help="Which port, as in eth1; the first by default.")
@click.option("--per-frame", is_flag=True, help="One event a frame: the slow reference.")
def run_command(
    scenario: str,
    assignments: tuple[str, ...],
    formats: str | None,
    capture: str | None,
    trace: str | None,
    *,
    out: Path | None,
    as_json: bool,
    per_frame: bool,
    **times: Any,
) -> None:
    """Simulate SCENARIO, a name or a file, and print what was measured."""
    if capture and not formats and not as_json:
        formats = "compare"
    chosen = _formats(formats, as_json=as_json)
    if capture and "compare" not in chosen:
        raise InputError("only with --format compare", key="--capture")
    listing = _listing(capture)
    pcap, pcap_port = times.pop("pcap"), times.pop("pcap_port")
    configuration = effective(scenario, assignments, **times)
    if "netperf" in chosen and not configuration.flows:
        raise InputError("netperf shows flows of netperf, and there are none", key="--format")
    for remark in configuration.remarks:
        message(remark)
    from simnet.kernel.huge_pages import use_huge_pages
    from simnet.report.formats import FORMATS, compare
    from simnet.report.progress import watching
    from simnet.study.run.run import pcap_file, recorded, simulate

    use_huge_pages()
    with watching(configuration):
        result = simulate(
            configuration,
            settings=recorded(times["apply"], settings_of(assignments)),
            trace=trace,
            pcap=pcap_file(pcap, pcap_port),
            per_frame=per_frame,
            vmstat="vmstat" in chosen,
            source=scenario,
        )
    if not {"text", "json"} & set(chosen):
        for warning in result.warnings:
            message(warning)
    write_out(out, result.to_json, result.plot)
    texts = [
        compare(result, listing) if name == "compare" else FORMATS[name](result) for name in chosen
    ]
    answer("\n".join(texts), nl=False)


def _formats(formats: str | None, *, as_json: bool) -> list[str]:
    """Return the names of the formats, before any time is spent on simulating."""
    from simnet.report.formats import FORMATS
    from simnet.study.run.arguments import check_one_of

    if as_json and formats:
        raise InputError("give it or --json, not both", key="--format")
    names = ["json"] if as_json else [name.strip() for name in (formats or "text").split(",")]
    for name in names:
        check_one_of(name, FORMATS, "--format")
    return names


def _listing(file: str | None) -> Capture | None:
    """Read the listing to compare with, before any time is spent on simulating."""
    if file is None:
        return None
    from simnet.study.calibrate.capture import read_capture

    return read_capture(Path(file))
