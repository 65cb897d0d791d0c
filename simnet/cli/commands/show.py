"""``simnet show``: a model or a scenario with its values, sources and states."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from simnet.cli.completion import shown
from simnet.cli.options import effective, json_option, scenario_options
from simnet.cli.output import answer, message, table
from simnet.errors import InputError
from simnet.printable import printable
from simnet.terminal import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simnet.scenario.core.effective import Effective, Port
    from simnet.scenario.core.parameter import Parameter
    from simnet.scenario.core.schema import ModelKind

_HEADING = ("name", "value", "state", "range", "source")


@click.command("show")
@click.argument("name", required=False, shell_complete=shown)
@scenario_options
@json_option()
@click.option("--schema", metavar="KIND", help="Print the JSON schema of a kind of file.")
def show_command(
    name: str | None,
    assignments: tuple[str, ...],
    schema: str | None,
    *,
    as_json: bool,
    **times: Any,
) -> None:
    """Show NAME, a scenario or a model: every value, defaults included, with source and state."""
    if (name is None) == (schema is None):
        raise click.UsageError("expected the name of a scenario or model, or --schema KIND")
    if schema is not None:
        _show_schema(schema)
        return
    kind = _model_kind(str(name))
    if kind is None:
        configuration = effective(str(name), assignments, **times)
        (_scenario_json if as_json else _scenario_tables)(configuration)
    elif assignments or any(value not in {None, ()} for value in times.values()):
        raise InputError("a model takes no settings, only a scenario does", key=name)
    else:
        _show_model(kind, str(name), as_json=as_json)


def _show_schema(kind: str) -> None:
    from simnet.scenario.core import jsonschema
    from simnet.study.run.arguments import check_one_of

    check_one_of(kind, jsonschema.NAMES, "--schema")
    answer(jsonschema.text(kind), nl=False)


def _model_kind(name: str) -> ModelKind | None:
    """Return the kind of a model's name or file; None when it has to be a scenario's.

    Raises:
        InputError: neither a scenario nor a model has this name; names the nearest.
    """
    from simnet.scenario.core.library import MODEL_FOLDERS, kind_of, model_names
    from simnet.scenario.scenarios import is_folder, scenario_names
    from simnet.spelling import nearest

    if name in scenario_names() or is_folder(name):
        return None
    for kind in MODEL_FOLDERS:
        if name in model_names(kind):
            return kind
    if name.endswith(".toml"):
        return kind_of(name)
    known = [*scenario_names(), *(other for kind in MODEL_FOLDERS for other in model_names(kind))]
    hint = nearest(name, known) or ": simnet list shows scenarios, and simnet list models the rest"
    raise InputError(f"no scenario and no model has this name{hint}", key=name)


def _show_model(kind: ModelKind, name: str, *, as_json: bool) -> None:
    from simnet.scenario.core.library import find_model, flat, read_model

    form: Any = read_model(kind, find_model(kind, name))[0]
    values, structure = flat(form)
    if as_json:
        document = {
            "schema": "simnet.model/1",
            "kind": kind,
            "name": name,
            "description": form.description,
            "notes": form.notes,
            **structure,
            "values": _json_values(values),
        }
        answer(json.dumps(document, indent=2))
        return
    answer(folded(printable(f"# {kind} {name}: {form.description}")))
    for line in form.notes.strip().splitlines():
        answer(folded(f"# {line}"))
    answer("")
    if structure:
        rows = [(key, _structure_text(value)) for key, value in structure.items()]
        table("parts", ("name", "value"), rows)
    table("values", _HEADING, _rows(values))


def _structure_text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "; ".join(_structure_text(item) for item in value)
    if isinstance(value, dict):
        return " ".join(str(item) for item in value.values())
    return str(value)


def _json_values(values: Mapping[str, Parameter]) -> dict[str, Any]:
    return {name: parameter.model_dump(mode="json") for name, parameter in values.items()}


def _rows(values: Mapping[str, Parameter]) -> list[tuple[str, ...]]:
    return [(name, p.text, p.state, p.range, p.source) for name, p in values.items()]


def _scenario_json(configuration: Effective) -> None:
    from dataclasses import asdict

    document = {
        "schema": "simnet.effective/1",
        "scenario": configuration.scenario,
        "tunings": configuration.tunings,
        "digest": configuration.digest(),
        "models": configuration.models,
        "knobs": [asdict(knob) for knob in configuration.applied],
        "captured": [asdict(attribute) for attribute in configuration.captured.attributes],
        "remarks": configuration.remarks,
        "not_modelled": _unread(configuration),
        "configuration": configuration.model_dump(mode="json"),
        "values": _json_values(configuration.provenance),
    }
    answer(json.dumps(document, indent=2))


def _scenario_tables(configuration: Effective) -> None:
    for remark in configuration.remarks:
        message(remark)
    tuned = f" with {'+'.join(configuration.tunings)}" if configuration.tunings else ""
    title = printable(
        f"# scenario {configuration.scenario}{tuned}, digest {configuration.digest()}"
    )
    answer(folded(f"{title}\n"))
    for title, values in _groups(configuration):
        table(title, _HEADING, _rows(values))
    if configuration.ports:
        _network_tables(configuration)
    if unread := _unread(configuration):
        answer(folded(f"# not modelled, a change has no effect: {', '.join(unread)}\n"))
    table(
        "knobs that are set",
        ("name", "value", "before", "modelled", "source", "apply"),
        (
            (k.name, k.value, k.before, "yes" if k.modelled else "no", k.source, k.apply)
            for k in configuration.applied
        ),
    )
    _captured_tables(configuration)


def _network_tables(configuration: Effective) -> None:
    """Where interrupts go, and the streams."""
    from simnet.scenario.parts.interrupts.build_apic import apic_mode_of

    mode = apic_mode_of(configuration.machine, configuration.cpu, configuration.kernel)
    placed = configuration.irqbalance
    if placed == "daemon":
        placed += f" {configuration.balancer.daemon}"
    table(
        f"interrupts (irqbalance: {placed}, APIC mode: {mode.name})",
        ("port", "node", "irq", "smp_affinity", "state", "source"),
        _interrupt_rows(configuration),
    )
    table(
        "streams",
        ("port", "peer", "peer's port", "cpubind", "preferred"),
        (
            (
                flow.name,
                str(flow.peer),
                configuration.peers[flow.peer].ports[flow.peer_port].name,
                _node(flow.cpubind_node),
                _node(flow.preferred_node),
            )
            for flow in configuration.flows
        ),
    )


def _captured_tables(configuration: Effective) -> None:
    """Every attribute of the files that were applied, and what became of it."""
    rows = configuration.captured.attributes
    for file, command in dict.fromkeys((row.file, row.command) for row in rows):
        table(
            f"{command}: {file}",
            ("line", "nodes", "attribute", "value", "unit", "state", "meaning", "note"),
            (
                (
                    str(row.line),
                    row.nodes,
                    row.name,
                    row.value,
                    row.unit,
                    row.state,
                    row.meaning,
                    row.note,
                )
                for row in rows
                if (row.file, row.command) == (file, command)
            ),
        )


def _unread(configuration: Effective) -> list[str]:
    """Return the names of the system's and the switch's values that no mechanism reads."""
    from simnet.scenario.core.knobs import UNREAD

    return [
        name
        for title, values in _groups(configuration)
        if not title.startswith("peer ")
        for name, parameter in values.items()
        if name.rpartition(".")[2] + parameter.suffix in UNREAD
    ]


def _node(node: int | None) -> str:
    return "any" if node is None else str(node)


def _interrupt_rows(configuration: Effective) -> Iterable[tuple[str, ...]]:
    for number, port in enumerate(configuration.ports):
        p = configuration.provenance[f"host.ports[{number}].smp_affinity"]
        yield port.name, str(port.node), str(port.irq), p.text, p.state, p.source


def _groups(configuration: Effective) -> Iterable[tuple[str, dict[str, Parameter]]]:
    """Yield title and values of each part; ports and peers that are alike share one part.

    Names are those that ``--set`` takes.
    """
    yield "workload", _part(configuration, "workload", "")
    yield "run", _part(configuration, "run", "")
    for place in (
        *("hypervisor", "kvm", "lpars", "scale", "storage", "disk"),
        *("log_disk", "filesystem", "sas"),
    ):
        if place in configuration.models:
            title = f"{place}: {configuration.models[place]}"
            yield title, _part(configuration, place, f"{place}.")
    if configuration.pool:
        yield "pool of processors", _part(configuration, "pool", "pool.")
    if configuration.gpfsperf:
        yield "gpfsperf", _part(configuration, "gpfsperf", "gpfsperf.")
    yield from _host(configuration, "host", configuration.ports, "")
    if configuration.irqbalance == "daemon":
        yield "irqbalance", _part(configuration, "balancer", "irqbalance.")
    if "switch" in configuration.models:
        title = f"switch: {configuration.models['switch']}"
        yield title, _part(configuration, "switch", "switch.")
    for title, place, prefix in _storage(configuration):
        yield title, _part(configuration, place, prefix)
    seen: dict[str, list[int]] = {}
    for number, peer in enumerate(configuration.peers):
        seen.setdefault(peer.model_dump_json(), []).append(number)
    for numbers in seen.values():
        place = f"peers[{numbers[0]}]"
        ports = configuration.peers[numbers[0]].ports
        for title, values in _host(configuration, place, ports, "peer:"):
            which = ", ".join(map(str, numbers))
            yield f"peer {which}, {title}", values


def _storage(configuration: Effective) -> Iterable[tuple[str, str, str]]:
    """Yield title, dotted path and prefix of the names, of each part of a storage that there is."""
    if configuration.vscsi:
        yield "virtual SCSI", "vscsi", "vscsi."
    for number, group in enumerate(configuration.ffsb):
        yield f"ffsb: {group.name} on {group.disk}", f"ffsb[{number}]", f"ffsb.{group.name}."
    hosts = [("host", "", configuration.host)]
    hosts += [(f"peers[{n}]", "peer:", peer) for n, peer in enumerate(configuration.peers)]
    for place, prefix, host in hosts:
        whose = f"peer {place[6:-1]}, " if prefix else ""
        for number, disk in enumerate(host.disks):
            here = f"{place}.disks[{number}]"
            if model := configuration.models.get(f"{here}.disk"):
                yield f"{whose}disk {disk.name}: {model}", f"{here}.disk", f"{prefix}disk."
            on = f", on {disk.backing}" if disk.backing else ""
            yield f"{whose}queue of {disk.name}{on}", f"{here}.queue", f"{prefix}{disk.name}."
            for row, part in enumerate(disk.partitions):
                title = f"{whose}partition {part.name}"
                yield title, f"{here}.partitions[{row}]", f"{prefix}{part.name}."


def _host(
    configuration: Effective, place: str, ports: tuple[Port, ...], prefix: str
) -> Iterable[tuple[str, dict[str, Parameter]]]:
    for part in ("machine", "cpu", "kernel"):
        title = f"{part}: {configuration.models[f'{place}.{part}']}"
        yield title, _part(configuration, f"{place}.{part}", f"{prefix}{part}.")
    if partition := _part(configuration, f"{place}.partition", f"{prefix}partition."):
        yield "partition", partition
    if guest := _part(configuration, f"{place}.guest", f"{prefix}guest."):
        yield "guest", guest
    alike: dict[str, list[int]] = {}
    for number, port in enumerate(ports):
        alike.setdefault(port.nic.model_dump_json(), []).append(number)
    for numbers in alike.values():
        here = f"{place}.ports[{numbers[0]}].nic"
        names = ", ".join(ports[number].name for number in numbers)
        title = f"nic of {names}: {configuration.models[here]}"
        yield title, _part(configuration, here, f"{prefix}nic.")


def _part(configuration: Effective, place: str, prefix: str) -> dict[str, Parameter]:
    return {
        prefix + path.removeprefix(f"{place}.").removesuffix(parameter.suffix): parameter
        for path, parameter in configuration.provenance.items()
        if path.startswith(f"{place}.")
    }
