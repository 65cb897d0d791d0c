"""The comparison of two checkouts notices what differs, and says what kind of thing it is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.trees import ROOT

# What a checkout answers, in place of simulations.
COMMAND = """
import json, sys

RATE = 1.5
DIGEST = "aa"
BUSY = "10.00"
PREDICTED = 2.0
ROW = "rate"

def main(arguments):
    command, name = arguments[0], arguments[1]
    if command == "list" and name == "--json":
        said = {"scenarios": [{"name": "s", "tunings": [{"name": "t"}]}], "models": [{"name": "m"}]}
    elif command == "validate":
        if name == "none":
            sys.stderr.write("simnet: none: no scenario answers this measurement yet\\n")
            sys.exit(2)
        said = [{"id": name, "key": ROW, "predicted": PREDICTED}]
    elif command == "run":
        tuned = "--tuning" in arguments
        print("CPU %busy\\n0 ", BUSY if tuned else "0.00")
        said = {"rate": RATE if tuned else 1.0, "fingerprint": DIGEST, "configuration": {"n": 1}}
    else:
        said = {"digest": DIGEST, "values": {"n": {"value": 1, "source": "s.toml:1"}}}
    print(json.dumps(said))
    sys.exit(0)
"""


def checkout(folder: Path, **changes: str) -> Path:
    """A checkout with some of the answers changed."""
    text = COMMAND
    for name, value in changes.items():
        text = re.sub(rf"^{name} = .*", f"{name} = {value}", text, flags=re.MULTILINE)
    predictions = folder / "validation" / "predictions"
    predictions.mkdir(parents=True)
    (predictions.parent / "measurements").mkdir()
    (predictions / "wanted.toml").write_text(
        'prediction = [{id = "one"}, {id = "none"}]\n', "utf-8"
    )
    (predictions / "day.json").write_text("{}\n", "utf-8")
    (folder / "pyproject.toml").write_text('[project.scripts]\nsimnet = "made_up:main"\n', "utf-8")
    (folder / "made_up.py").write_text(text, "utf-8")
    return folder


def compared(old: Path, new: Path) -> subprocess.CompletedProcess[str]:
    script = ROOT / "bench" / "compare_versions.py"
    command = [sys.executable, str(script), str(old), str(new), "--jobs", "1"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_equal_versions_are_equal(tmp_path: Path) -> None:
    done = compared(checkout(tmp_path / "old"), checkout(tmp_path / "new"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[3:] == [
        "| what | compared | identical | differ |",
        "| --- | --- | --- | --- |",
        "| simulated numbers | 2 | 2 | 0 |",
        "| listings | 29 | 29 | 0 |",
        "| predictions | 2 | 2 | 0 |",
        "| frozen files | 1 | 1 | 0 |",
        "| digests | 9 | 9 | 0 |",
        "| places of values | 7 | 7 | 0 |",
    ]


@pytest.mark.parametrize(
    ("change", "kind", "line", "status"),
    [
        ({"RATE": "1.6"}, "simulated numbers", "vmstat,json: .rate: 1.5, then 1.6", 1),
        ({"BUSY": "'10.01'"}, "listings", ": line 2: '0  10.00', then '0  10.01'", 1),
        ({"PREDICTED": "2.1"}, "predictions", "[one rate].predicted: 2.0, then 2.1", 1),
        ({"ROW": "'other'"}, "predictions", "[one rate].predicted: 2.0, then 'absent'", 1),
        ({"DIGEST": "'bb'"}, "digests", ".fingerprint: 'aa', then 'bb'", 0),
    ],
)  # fmt: skip
def test_a_difference_is_told_by_its_kind(
    change: dict[str, str], kind: str, line: str, status: int, tmp_path: Path
) -> None:
    done = compared(checkout(tmp_path / "old"), checkout(tmp_path / "new", **change))
    assert done.returncode == status, done.stderr
    heading, found = done.stdout.partition(f"{kind} that differ, each place once:\n")[1:]
    assert heading
    assert line in found


def test_a_frozen_file_that_changed_is_named(tmp_path: Path) -> None:
    old, new = checkout(tmp_path / "old"), checkout(tmp_path / "new")
    (new / "validation/predictions/day.json").write_text("{ }\n", "utf-8")
    done = compared(old, new)
    assert done.returncode == 1
    assert "frozen files that differ, each place once:" in done.stdout
    assert "day.json: 'kept', then 'changed'" in done.stdout


def test_a_version_that_does_not_run_is_no_comparison(tmp_path: Path) -> None:
    old, new = checkout(tmp_path / "old"), checkout(tmp_path / "new")
    (new / "made_up.py").write_text("def main(arguments):\n    raise KeyError\n", "utf-8")
    done = compared(old, new)
    assert done.returncode == 2
    assert ": the process has ended\n" in done.stderr
