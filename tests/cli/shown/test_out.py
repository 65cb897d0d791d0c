"""Each command with a result writes it where --out says."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Simnet

SHORT = ("--set", "nodes=1", "--warm-up", "5 ms", "--duration", "2 ms")
X460 = "x460-out-of-box"


@pytest.mark.parametrize(
    "words",
    [
        ("run", X460, *SHORT),
        ("explain", X460, *SHORT),
        ("whatif", X460, "numactl", *SHORT, "--seeds", "2", "--members", "0"),
        ("screen", X460, "--knobs", "net.ipv4.tcp_sack", "--paths", "2", *SHORT),
    ],
    ids=lambda words: words[0],
)
def test_the_document_is_written_as_json_prints_it(
    simnet: Simnet, tmp_path: Path, words: tuple[str, ...]
) -> None:
    file, drawn = tmp_path / "found.json", tmp_path / "found.svg"
    status, out, _ = simnet(*words, "--json", "--out", str(file))
    assert status in {0, 1, 3}
    assert json.loads(file.read_text("utf-8")) == json.loads(out)
    assert file.read_text("utf-8").endswith("}\n")
    assert simnet(*words, "--out", str(drawn)).status == status
    assert "<svg" in drawn.read_text("utf-8")


@pytest.mark.parametrize(
    "words",
    [
        ("run", X460),
        ("whatif", X460, "numactl"),
        ("capacity", "relay-untuned", "--max-loss", "1 %"),
        ("conform", "trace.pkt"),
        ("calibrate", X460),
        ("compare", "prediction.json", "sar.txt"),
    ],
    ids=lambda words: words[0],
)
def test_a_file_that_cannot_be_written_is_refused_first(
    simnet: Simnet, words: tuple[str, ...]
) -> None:
    status, out, err = simnet(*words, "--out", "found.xls")
    assert (status, out) == (2, "")
    expected = "simnet: --out: found.xls: expected a name that ends with"
    assert err.startswith(expected)
    assert err.count("\n") == 1
    assert ".json" in err
