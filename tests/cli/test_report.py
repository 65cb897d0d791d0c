"""Reports as a user asks for them."""

import html
import json
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Simnet
from tests.report.html.documents import saved_documents

SHORT = ("--set", "nodes=1", "--warm-up", "20 ms", "--duration", "10 ms")


@pytest.mark.nightly
def test_files_and_a_scenario_make_one_report(simnet: Simnet, tmp_path: Path) -> None:
    saved, out = tmp_path / "sweep.json", tmp_path / "report.html"
    saved.write_text(saved_documents()["sweep"], encoding="utf-8")
    status, text, err = simnet("report", str(saved), "x460-out-of-box", *SHORT, "--out", str(out))
    assert (status, text, err) == (0, "", f"simnet: wrote {out}\n")
    page = out.read_text("utf-8")
    assert "Which value of nic.rx_frames gives the best throughput on x460-out-of-box" in page
    assert "What does x460-out-of-box with nodes=1 do, and what holds it back?" in page


@pytest.mark.compiled
def test_tunings_are_compared_with_what_is(simnet: Simnet, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    tuned = ("--tuning", "affinity", "--seeds", "2", "--members", "0", "--jobs", "1")
    status, _, err = simnet("report", "x460-out-of-box", *SHORT, *tuned, "--out", str(out))
    assert (status, err) == (0, f"simnet: wrote {out}\n")
    text = out.read_text("utf-8")
    assert "What would affinity do to x460-out-of-box with nodes=1?" in text
    (again,) = re.findall(r">(simnet whatif [^<]*)<", text)
    _, printed, _ = simnet(*shlex.split(html.unescape(again))[1:], "--json")
    assert json.loads(printed)["fingerprint"] in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x.json", "--out", "x.txt"), "--out: x.txt: expected a name that ends with .html"),
        (("x.json", "--out", "x.html"), "x.json: cannot be read: No such file or directory"),
        (("x.json", "--seed", "1", "--out", "x.html"), "--seed: expected a scenario, too"),
        (("x.json", "--tuning", "a", "--out", "x.html"), "--tuning: expected a scenario, too"),
        (("x460-out-of-box", "--seeds", "2", "--out", "x.html"), "--seeds: only with --tuning"),
        (("x460-out-of-bux", "--out", "x.html"), "x460-out-of-bux: "),
    ],
)
def test_bad_arguments_are_refused_in_one_line(
    simnet: Simnet,
    arguments: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = simnet("report", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"simnet: {message}")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())
