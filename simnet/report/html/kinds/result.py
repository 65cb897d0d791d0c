"""The report of runs: what each CPU does, where time goes, flows; several runs side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import BaseModel, Field, model_validator

from simnet.printable import titled
from simnet.report.html.blocks import Notes, Part, Section, Table, Verdict
from simnet.report.html.cases import cpu_section, latency_section, quantiles_section, work_section
from simnet.report.html.first import resting
from simnet.report.html.kinds import Kind, has_schema
from simnet.report.html.repeat import repeat_section
from simnet.report.html.system import assumptions, known_configuration
from simnet.study.run.duration_text import latency_text
from simnet.study.run.loss import kind_of
from simnet.study.run.machine import machine
from simnet.study.run.measures import rate_text
from simnet.study.run.result import SCHEMA, Result
from simnet.study.run.rows import PORT_COLUMNS, PortRates
from simnet.study.whatif.mechanism import per_unit_us, unit_of


def _parts(found: Sequence[tuple[str, Result]], simulate: bool) -> list[Part]:  # noqa: ARG001, FBT001
    results = {_name(number, one, found): one for number, (_, one) in enumerate(found)}
    (_, first), *_ = found
    sections = result_sections("run", results)
    known = known_configuration(first.scenario, first.tunings, first.settings)
    if known is not None:
        sections.append(assumptions(known))
    named = results if len(results) > 1 else [""]
    sections += [
        repeat_run(one, file, name=name) for name, (file, one) in zip(named, found, strict=True)
    ]
    names = list(dict.fromkeys(one.scenario for one in results.values()))
    verdicts = [_verdict(name if len(results) > 1 else "", one) for name, one in results.items()]
    return [
        Part(
            f"What {'do' if len(names) > 1 else 'does'} {' and '.join(names)} do?",
            verdicts,
            sections,
            of=machine(known) if known else first.machine,
            first=resting(known, first.remarks),
            foot="; ".join(
                f"simnet {one.version}: {one.simulated_s:g} s, seed {one.seed},"
                f" fingerprint {one.fingerprint}"
                for one in results.values()
            ),
        )
    ]


def _verdict(name: str, one: Result) -> Verdict:
    """What it carries, and what that costs."""
    asked = sum(flow.transactions_per_s or 0.0 for flow in one.flows)
    rate = f"{asked:,.0f} transactions/s" if asked else rate_text(one.throughput_bps)
    busy = sum(cpu.busy for cpu in one.cpus)
    reason = [f"It takes {busy / 100:.2f} of {len(one.cpus)} CPUs"]
    if one.cpus:
        most = max(one.cpus, key=lambda cpu: cpu.busy)
        reason.append(f"the busiest, CPU {most.id}, {most.busy:.0f} % of the time")
    if one.latency_us is not None and one.latency_us.p99 is not None:
        reason.append(f"{one.latency_us.kind} p99 {latency_text(one.latency_us.p99)}")
    if one.loss:
        reason.append(f"{100 * one.loss:.2g} % of the packets are lost")
    answer = f"{name}: {rate}" if name else rate
    return Verdict(answer, f"{', '.join(reason)}.", "plain" if one.conclusive else "open")


def repeat_run(one: Result, file: str = "", scenario: str = "", name: str = "") -> Section:
    """How to repeat a run; `scenario` is what it was called, and `name` tells it from others."""
    words = [
        scenario or one.source or one.scenario,
        "--seed",
        str(one.seed),
        "--duration",
        f"{one.simulated_s:g} s",
    ]
    words += ["--warm-up", f"{one.warmup_s:g} s"]
    return repeat_section("run", one, words, one.tunings, file, name)


def result_sections(
    name: str,
    results: Mapping[str, Result],
    latencies: Mapping[str, Sequence[tuple[float, int]]] | None = None,
) -> list[Section]:
    """What runs measured, side by side; `latencies` are histograms where they are known."""
    sections = [quantiles_section(results)]
    warnings = tuple(f"{case}: {line}" for case, one in results.items() for line in one.warnings)
    if warnings:
        sections.append(Section("What to know of these numbers", [Notes(warnings, warning=True)]))
    sections.append(cpu_section(name, results))
    shares = {case: _shares(one) for case, one in results.items()}
    if any(shares.values()):
        placed = {
            one.mechanism for result in results.values() for one in result.work if one.placement
        }
        unit = unit_of(next(iter(results.values())))
        sections.append(work_section(name, shares, sorted(placed), unit))
    known = latencies or {
        case: one.messages.histogram for case, one in results.items() if one.messages
    }
    late = latency_section(name, known, kind_of(one.latency_kind for one in results.values()))
    if late is not None:
        sections.append(late)
    sections += _ports(results)
    return sections


def _shares(result: Result) -> dict[str, float]:
    """CPU time by mechanism; none where the configuration was left out of the result."""
    return per_unit_us(result) if result.configuration else {}


def _ports(results: Mapping[str, Result]) -> list[Section]:
    rows = [
        (port.name, case, *port.cells(PORT_COLUMNS, ","))
        for case, result in results.items()
        for port in result.ports
    ]
    dropped = [
        (drop.place, drop.at, case, str(drop.packets))
        for case, result in results.items()
        for drop in result.drops
    ]
    heading = ("port", "case", *PortRates.headings(PORT_COLUMNS))
    tables = [Table("Ports", heading, tuple(rows), 2)] if rows else []
    if dropped:
        tables.append(Table("Drops", ("dropped in", "of", "case", "packets"), tuple(dropped), 3))
    return [Section("Ports, and what was dropped", tables)] if tables else []


def _name(number: int, one: Result, found: Sequence[tuple[str, Result]]) -> str:
    """What tells a run from the others."""
    name = titled(one.scenario, one.tunings, sorted(one.settings.items()))
    alike = sum(titled(o.scenario, o.tunings, sorted(o.settings.items())) == name for _, o in found)
    return f"{name} ({number + 1})" if alike > 1 else name


class _Nic(BaseModel):
    mtu_bytes: int = Field(ge=68, le=1 << 20)
    driver: str = ""
    link_rate_bps: int = Field(default=0, ge=0)


class _Port(BaseModel):
    nic: _Nic


class _Kernel(BaseModel):
    tcp_timestamps: bool
    version: str = ""


class _Host(BaseModel):
    """What is read of a host: to count packets, and to say what it is."""

    ports: list[_Port]
    kernel: _Kernel


class _Workload(BaseModel):
    test: str = ""


class _Configuration(BaseModel):
    host: _Host
    workload: _Workload = _Workload()


class _Whole(Result):
    """A result whose configuration, if it has one, says how large packets are."""

    @model_validator(mode="after")
    def _sized(self) -> _Whole:
        if self.configuration:
            _Configuration.model_validate(self.configuration)
        return self


KIND: Final = Kind("run", has_schema(SCHEMA), _Whole.model_validate_json, _parts)
