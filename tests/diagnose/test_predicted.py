"""What a cure would change is predicted for the load that the files show, or not at all."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from simnet.cli import _simnet
from simnet.cli.commands.diagnose import diagnose_command
from simnet.diagnose.described import Described
from simnet.diagnose.diagnosis import Diagnosis, diagnose
from simnet.diagnose.predicted import predicted
from simnet.diagnose.prediction import Prediction
from simnet.importing import source
from simnet.importing.files.files import Files
from simnet.importing.source import opened
from simnet.report.diagnosis import diagnosis

INTERRUPTS = """$ grep eth0 /proc/interrupts
 41:  912345678          0   PCI-MSI 524288-edge      eth0-TxRx-0
 42:  901234567          0   PCI-MSI 524289-edge      eth0-TxRx-1
"""
CPUS = "Linux 5.15.0-91-generic (cache3)  02/03/2024  _x86_64_  (2 CPU)\n"
PORTS = """$ sar -n DEV 5 1
10:00:01 AM     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s
Average:         eth0 {rx:.2f} {rx:.2f}   {size:.2f}  {size:.2f}      0.00      0.00      0.00
"""
SOFTIRQS = """$ mpstat 5 1
10:11:12 AM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
Average:     all    0.50    0.00    0.50    0.00    0.00   48.00    0.00    0.00    0.00   51.00
"""
RING = """$ ethtool -S eth0
NIC statistics:
     rx_packets: 9123456
     rx_missed_errors: 812345
"""
CARD = "$ ethtool -i eth0\ndriver: igb\n"


def answered(tmp_path: Path, *texts: str) -> tuple[Diagnosis, Prediction]:
    paste = tmp_path / "paste.txt"
    paste.write_text("".join(texts), encoding="utf-8")
    with Described([str(paste)]) as described:
        found = predicted(diagnose([str(paste)]), described, jobs=1)
    first = found.findings[0].prediction
    assert first is not None
    return found, first


def test_a_load_that_is_shown_is_simulated(tmp_path: Path) -> None:
    found, told = answered(tmp_path, CPUS, INTERRUPTS, CARD, PORTS.format(rx=20_000, size=2000))
    assert told.why == ""
    assert told.verdict in {"yes", "no", "no difference", "cannot tell"}
    assert told.whatif == "/proc/irq/42/smp_affinity_list=1"
    assert told.load.startswith("paste.txt")
    rows = {row.metric: row for row in told.changes}
    assert {"throughput", "latency_p99", "cpu_per_byte"} <= set(rows)
    assert all(row.before > 0 and "to" in row.range for row in rows.values())
    assert f"Predicted: {told.verdict}: " in diagnosis(found)
    assert found.exit_status == 1


def test_streams_that_are_assumed_predict_nothing(tmp_path: Path) -> None:
    found, told = answered(tmp_path, CPUS, INTERRUPTS, CARD)
    assert told.verdict == ""
    assert "nothing says what it carries; sar -n DEV" in told.why
    assert "No prediction: " in diagnosis(found)


def test_a_host_that_forwards_is_not_taken_for_a_server(tmp_path: Path) -> None:
    load = PORTS.format(rx=80_000, size=61_000)
    _, told = answered(tmp_path, CPUS, INTERRUPTS, CARD, load, SOFTIRQS)
    assert "this is a router, and its load cannot be simulated" in told.why


def test_a_loss_that_the_model_does_not_have_is_not_cured(tmp_path: Path) -> None:
    load = PORTS.format(rx=2_000, size=200)
    _, told = answered(tmp_path, CPUS, RING, CARD, load)
    assert told.whatif.startswith("ethtool -G eth0 rx=")
    assert told.why.startswith("the simulated host loses no packet")


def test_the_command_asks_only_when_told_to(tmp_path: Path) -> None:
    paste = tmp_path / "paste.txt"
    paste.write_text(CPUS + INTERRUPTS + CARD, encoding="utf-8")
    run = CliRunner()
    without = run.invoke(diagnose_command, [str(paste), "--json"])
    asked = run.invoke(diagnose_command, [str(paste), "--predict", "--json"])
    assert without.exit_code == asked.exit_code == 1
    (told,) = [one["prediction"] for one in json.loads(without.stdout)["findings"]]
    assert told["why"].startswith("the load is not in the files, and an import assumes one")
    first = json.loads(asked.stdout)["findings"][0]["prediction"]
    assert first["why"].startswith("streams to the host are assumed")


@pytest.mark.parametrize("more", [["diagnose", "--predict", "--jobs", "1"], ["import"]])
def test_what_is_asked_is_opened_once(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paste = tmp_path / "paste.txt"
    paste.write_text(CPUS + INTERRUPTS + CARD + PORTS.format(rx=20_000, size=2000), "utf-8")
    asked: list[str] = []

    def counted(name: str) -> tuple[Files, list[str]]:
        asked.append(name)
        return opened(name)

    monkeypatch.setattr(source, "opened", counted)
    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(_simnet, [*more, str(paste)])
    assert answer.stdout
    assert asked == [str(paste)]


def test_standard_input_is_told_and_imported_as_a_file_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = CPUS + INTERRUPTS + CARD + RING + PORTS.format(rx=20_000, size=2000)
    (tmp_path / "paste.txt").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    run = CliRunner()
    files = [run.invoke(_simnet, ["import", "paste.txt", "--out", "file"])]
    files += [run.invoke(_simnet, ["import", "-", "--out", "piped"], input=text)]
    assert [one.exit_code for one in files] == [0, 0]
    scenarios = [Path(name, "scenario.toml").read_text("utf-8") for name in ("file", "piped")]
    assert "rx_missed_errors" in scenarios[1]
    assert scenarios[1].replace("standard-input", "paste") == scenarios[0]
    told = [run.invoke(_simnet, ["diagnose", "paste.txt", "--json"])]
    told += [run.invoke(_simnet, ["diagnose", "-", "--json"], input=text)]
    first, second = ([f["commands"] for f in json.loads(o.stdout)["findings"]] for o in told)
    assert first == second
    assert first[0][0]["whatif"]
