import functools
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from simnet import _share
from simnet.errors import InputError
from simnet.scenario.core import jsonschema as schemas
from simnet.scenario.core.library import (
    MODEL_FOLDERS,
    MODELS,
    find_model,
    flat,
    model_names,
    read_model,
)
from simnet.scenario.core.schema import ModelKind, file_model

MODEL_FILES = [(kind, name) for kind in MODEL_FOLDERS for name in model_names(kind)]


def test_every_value_has_source_and_state() -> None:
    for kind, name in MODEL_FILES:
        form, _ = read_model(kind, find_model(kind, name))
        values, _ = flat(form)
        assert values, name
        for key, parameter in values.items():
            assert parameter.source.strip(), (name, key)
            assert parameter.state in {"measured", "datasheet", "calibrated", "assumed"}, (
                name,
                key,
            )


def test_every_assumed_cost_has_a_range_around_its_value() -> None:
    for kind, name in MODEL_FILES:
        form, _ = read_model(kind, find_model(kind, name))
        for key, parameter in flat(form)[0].items():
            if key == "costs.line_latency":
                continue  # for what latency the other costs are stated
            if parameter.state == "assumed" and key.startswith(("costs.", "memory.")):
                assert parameter.low is not None, (name, key)
                assert parameter.high is not None, (name, key)
                assert isinstance(parameter.value, int)
                assert parameter.low <= parameter.value <= parameter.high, (name, key)


def test_equal_texts_are_each_called_by_their_own_file(tmp_path: Path) -> None:
    text = find_model("kernel", "linux-6.1").read_text("utf-8")
    for name in ("one.toml", "other.toml"):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        _, document = read_model("kernel", path)
        assert document.file == str(path)
        # what was put together from a file that has not changed is used again
        assert read_model("kernel", path)[1] is document


def _values(kind: ModelKind, name: str) -> dict[str, Any]:
    form, _ = read_model(kind, find_model(kind, name))
    return {key: parameter.value for key, parameter in flat(form)[0].items()}


def test_tg3_moderates_as_the_driver_of_the_era_does() -> None:
    nic = _values("nic", "broadcom-bcm5704")
    receive = [nic[key] for key in ("rx_usecs", "rx_frames", "rx_usecs_irq", "rx_frames_irq")]
    transmit = [nic[key] for key in ("tx_usecs", "tx_frames", "tx_usecs_irq", "tx_frames_irq")]
    assert receive == [20_000_000, 5, 20_000_000, 5]
    assert transmit == [72_000_000, 53, 20_000_000, 5]
    assert (nic["rx_ring"], nic["rx_buffers_posted"], nic["tx_ring"]) == (512, 200, 511)
    assert nic["tso"] is False


def test_the_kernel_has_the_constants_of_its_source() -> None:
    kernel = _values("kernel", "linux-2.6.16-sles10")
    assert kernel["hz"] == 250
    assert kernel["delack_min"] == kernel["ato_min"] == 40 * 10**9
    assert kernel["delack_max"] == kernel["rto_min"] == 200 * 10**9
    assert kernel["tcp_rmem"] == (4096, 87380, 174760)
    assert kernel["tcp_wmem"] == (4096, 16384, 131072)


def test_the_x460_has_64_logical_cpus_and_two_ports_a_node() -> None:
    server, cpu = _values("server", "ibm-x460"), _values("cpu", "intel-xeon-7040")
    sockets = server["nodes"] * server["sockets_per_node"]
    assert sockets * cpu["cores_per_socket"] * cpu["threads_per_core"] == 64
    form: Any = read_model("server", find_model("server", "ibm-x460"))[0]
    assert [port.node for port in form.ports] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [port.irq for port in form.ports] == list(range(177, 234, 8))


def test_the_json_schema_in_the_folder_is_current() -> None:
    for name in schemas.NAMES:
        folder = _share.folder("scenarios" if name == "scenario" else "models")
        file = folder / "schema" / f"{name}.json"
        assert file.read_text("utf-8") == schemas.text(name), (
            f"{file}: simnet show --schema {name} > {file}"
        )


def test_the_text_of_a_schema_has_what_fits_on_a_line_there() -> None:
    for name in schemas.NAMES:
        text = schemas.text(name)
        assert json.loads(text) == schemas.schema(name)
        assert not re.search(r"{\n *\"\$ref\": \"[^\"]{0,70}\"\n", text), name


@functools.cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    place: Any = "scenarios" if name == "scenario" else "models"
    schema = (_share.folder(place) / "schema" / f"{name}.json").read_text("utf-8")
    return jsonschema.Draft202012Validator(json.loads(schema))


def _refused(name: str, above: str, path: Path) -> list[str]:
    """Return what an editor marks in a file that begins with where its schema stands."""
    text = path.read_text("utf-8")
    assert text.startswith(f"#:schema {above}schema/{name}.json\n"), path
    return [
        f"{path}: {error.json_path}: {error.message}"
        for error in _validator(name).iter_errors(tomllib.loads(text))
    ]


def test_an_editor_accepts_every_model() -> None:
    for kind, name in MODEL_FILES:
        assert _refused(kind, "../", find_model(kind, name)) == []


def test_an_editor_accepts_every_scenario() -> None:
    scenarios = sorted(_share.folder("scenarios").glob("*.toml"))
    assert scenarios
    for path in scenarios:
        assert _refused("scenario", "", path) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('clock = {value = "3.0 GHz"', "clock = {value = 3"),
        ('clock = {value = "3.0 GHz"', 'clok = {value = "3.0 GHz"'),
        ('state = "datasheet"', 'state = "sure"'),
        ('kind = "cpu"', 'kind = "nic"'),
    ],
)
def test_an_editor_marks_what_the_loader_refuses(old: str, new: str) -> None:
    text = find_model("cpu", "intel-xeon-7040").read_text("utf-8")
    assert old in text
    data = tomllib.loads(text.replace(old, new, 1))
    assert not _validator("cpu").is_valid(data)
    with pytest.raises(ValueError, match="validation error"):
        file_model(MODELS["cpu"], "cpu").model_validate(data)


@pytest.mark.parametrize("name", ["", "ibm-x46O", "a" * 300, "../servers/ibm-x460", "a\0b"])
def test_what_no_model_is_called_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"^unknown server model "):
        find_model("server", name)
