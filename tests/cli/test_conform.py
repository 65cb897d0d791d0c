import json
from pathlib import Path

from tests.cli.conftest import Simnet

TRACES = Path(__file__).parents[2] / "validation/external/linux-tcp-receiver-traces.jsonl"


def first(folder: Path, *, spoilt: bool = False) -> str:
    """A file with the first recorded scenario."""
    trace = json.loads(TRACES.read_text(encoding="utf-8").splitlines()[0])
    if spoilt:
        trace["acks"][0][1] = 7
    path = folder / "first.jsonl"
    path.write_text(json.dumps(trace), encoding="utf-8")
    return str(path)


def test_one_line_a_scenario_and_a_count(simnet: Simnet, tmp_path: Path) -> None:
    status, out, err = simnet("conform", first(tmp_path))
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert "startup_60seg_2ms" in lines[0]
    assert lines[0].startswith("agrees")
    assert lines[1].startswith("1 of 1 scenarios agree")


def test_a_difference_is_exit_status_1(simnet: Simnet, tmp_path: Path) -> None:
    status, out, _ = simnet("conform", first(tmp_path, spoilt=True))
    assert status == 1
    assert "ACK 1: expected 7 at 0.106 ms, win 62, sent 1001" in out


def test_json_has_what_was_expected_and_sent(simnet: Simnet, tmp_path: Path) -> None:
    status, out, _ = simnet("conform", first(tmp_path), "--json")
    found = json.loads(out)
    (scenario,) = found["scenarios"]
    assert (status, found["agrees"], scenario["agrees"]) == (0, True, True)
    assert [ack["ack"] for ack in scenario["expected"]] == [ack["ack"] for ack in scenario["sent"]]
    assert scenario["sent"][0]["window"] == 62


def test_a_missing_file_is_bad_input(simnet: Simnet, tmp_path: Path) -> None:
    for name in ("none.jsonl", "none.pkt"):
        file = tmp_path / name
        message = f"simnet: {file}: cannot be read: No such file or directory\n"
        assert simnet("conform", str(file)) == (2, "", message)
