"""`simnet capacity` as a user meets it."""

import json
from pathlib import Path

import pytest

from simnet._share import folder
from simnet.study.work import task
from tests.cli.conftest import Simnet
from tests.study.synthetic import CARRIED_PER_S, relayed

SCENARIO = "x460-out-of-box"
LOAD = "net.core.netdev_max_backlog"
ASKED = ("--max-loss", "0.1%", "--max-p99", "1ms", "--load", LOAD, "--precision", "20 %",
         "--duration", "1 s", "--jobs", "1")  # fmt: skip


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(task, "simulate", relayed)
    monkeypatch.setenv("SIMNET_CACHE_DIR", str(tmp_path / "kept"))


def test_the_answer_is_an_interval_with_what_it_is_made_of(simnet: Simnet) -> None:
    status, out, err = simnet("capacity", SCENARIO, *ASKED, "--set", f"{LOAD}=90000")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith(f"{SCENARIO}: between ")
    assert lines[0].endswith(f" ({LOAD}) (95 % confidence)")
    assert lines[1].startswith(
        "limits: packets lost at most 0.1 %, latency p99 at most 1,000 us, messages"
    )
    assert "port  rx Mbit/s  tx Mbit/s  rx pkt/s  tx pkt/s" in lines
    assert any(line.startswith("# received in all: ") for line in lines)
    runs = (["4"], ["8"], ["16"], ["32"])
    verdicts = [line.split()[1] for line in lines if line.split()[2:3] in runs]
    assert set(verdicts) == {"pass", "fail"}
    status, out, _ = simnet("capacity", SCENARIO, *ASKED, "--set", f"{LOAD}=90000", "--json")
    document = json.loads(out)
    assert (status, document["schema"]) == (0, "simnet.capacity/1")
    assert f"{document['low']:,.0f} and {document['high']:,.0f}" in lines[0]


def test_the_exit_status_says_when_no_load_meets_the_limits(simnet: Simnet) -> None:
    status, out, err = simnet("capacity", SCENARIO, *ASKED, "--between", "200000..400000")
    assert (status, err) == (1, "")
    assert out.startswith(
        f"{SCENARIO}: no load from 200,000 packets queued per CPU ({LOAD}) on meets the limits\n"
    )


def test_the_load_of_a_relay_is_its_rate(simnet: Simnet, tmp_path: Path) -> None:
    text = (folder("scenarios") / f"{SCENARIO}.toml").read_text(encoding="utf-8")
    text = text.replace('test = "netserver"', 'test = "relay"')
    relay = "[relay]\nrate = 70000\nconnections = 9\nworkers = 4\n\n[run]\n"
    file = tmp_path / "relay.toml"
    file.write_text(text.replace("[run]\n", relay), encoding="utf-8")
    limits = ("--max-loss", "0.1%", "--precision", "30 %", "--duration", "1 s", "--jobs", "1")
    status, out, err = simnet("capacity", str(file), *limits, "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert document["setting"] == "relay.rate"
    assert document["low"] <= CARRIED_PER_S < document["high"]
    assert 70_000 in [one["load"] for one in document["loads"]]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--max-loss", "1 %"],
         ("x460-out-of-box: no open-loop load, whose rate does not wait for answers:"
          " netserver sends as fast as it is answered")),
        ([], "expected a limit: --max-loss, --max-p99, or both"),
        (["--max-loss", "2"],
         "--max-loss: expected a share above 0 and at most 50 %, got '2'"),
        (["--max-p99", "1 ms", "--load", "mesage"],
         "--load: mesage: unknown knob; did you mean message?"),
        (["--max-p99", "1 ms", "--load", LOAD, "--tuning", "numaclt"],
         "--tuning: numaclt: unknown tuning; did you mean numactl?"),
        (["--max-p99", "1 ms", "--load", LOAD, "--set", "nods=1"],
         "--set: nods: unknown knob; did you mean nodes?"),
        (["--max-p99", "1 ms", "--load", LOAD, "--duration", "1"],
         "--duration: missing unit in '1': expected a time such as '20 us'"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(simnet: Simnet, arguments: list[str], line: str) -> None:
    assert simnet("capacity", SCENARIO, *arguments) == (2, "", f"simnet: {line}\n")
