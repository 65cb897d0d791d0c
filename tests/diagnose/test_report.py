"""The report of a diagnosis says all of it, and what strangers wrote stays text."""

import html
import json
from pathlib import Path

import pytest

from simnet.cli import main
from simnet.diagnose.diagnosis import diagnose
from simnet.diagnose.prediction import Moves, Prediction
from simnet.report.diagnosis import diagnosis
from tests.diagnose.table import RULES

PASTE = """$ ethtool -S eth0
NIC statistics:
     rx_packets: 9123456
     rx_crc_errors: 0
     rx_missed_errors: 812345
$ ethtool -g eth0
Ring parameters for eth0:
Pre-set maximums:
RX:             4096
Current hardware settings:
RX:             512
[root@box ~]# frob <b>loud</b> & $(reboot)
<script>alert("\x1b]0;x\x07")</script>
"""


def report(tmp_path: Path, text: str, status: int, *options: str) -> str:
    (tmp_path / "paste.txt").write_text(text, "utf-8")
    out = tmp_path / "out.html"
    with pytest.raises(SystemExit) as caught:
        main(["diagnose", str(tmp_path / "paste.txt"), "--out", str(out), *options])
    assert caught.value.code == status
    return out.read_text("utf-8")


@pytest.mark.parametrize(
    ("source", "typed"), [("a.txt", "a.txt"), ("-", "FOLDER"), ("/dev/fd/63", "FOLDER")]
)
def test_what_has_no_name_is_not_in_what_to_type(tmp_path: Path, source: str, typed: str) -> None:
    (tmp_path / "a.txt").write_text(PASTE, "utf-8")
    said = diagnosis(diagnose([str(tmp_path / "a.txt")]), [source])
    assert f"simnet import {typed} --out host" in said


def test_the_first_screen_has_place_evidence_and_how_sure(tmp_path: Path) -> None:
    text = html.unescape(report(tmp_path, PASTE, 1))
    assert "<h1>Where does it hurt, by paste.txt?</h1>" in text
    assert "<strong>Packets are lost before the receive ring of eth0</strong>" in text
    assert (
        "This is certain: rx_missed_errors 812,345 of 9,123,456 rx packets, 8.9 % (paste.txt:5)."
        " The place: ring, in this host." in text
    )
    for said in ("ethtool -G eth0 rx 4096", "ethtool -G eth0 rx 512", "ruled out", "no file tells"):
        assert said in text
    assert "what files say</div>" in text


def test_what_was_not_understood_is_said_and_stays_text(tmp_path: Path) -> None:
    text = report(tmp_path, PASTE, 1)
    assert "Commands of whose outputs nothing was understood" in text
    assert "frob &lt;b&gt;loud&lt;/b&gt; &amp; $(reboot)" in text
    assert "paste.txt:12" in text
    assert "<b>loud" not in text
    assert "alert(" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        (RULES["ring-full"].quiet, 0, "Nothing is wrong"),
        ("driver: i40e\n", 3, "Outputs that would tell most: ethtool -S PORT and nstat -az"),
        (RULES["cloud-bandwidth-in"].fires, 1, "outside of what this host can set"),
        ("\n".join(pair.fires for pair in RULES.values()), 1, "What else was found"),
    ],
)
def test_each_verdict_has_a_report(tmp_path: Path, text: str, status: int, said: str) -> None:
    assert said in html.unescape(report(tmp_path, text, status))


def test_a_saved_document_gives_the_same_report(tmp_path: Path) -> None:
    direct = report(tmp_path, PASTE, 1)
    saved = tmp_path / "found.json"
    with pytest.raises(SystemExit) as caught:
        main(["diagnose", str(tmp_path / "paste.txt"), "--out", str(saved)])
    assert caught.value.code == 1
    with pytest.raises(SystemExit) as caught:
        main(["report", str(saved), "--out", str(tmp_path / "later.html")])
    assert caught.value.code == 0
    later = (tmp_path / "later.html").read_text("utf-8")
    assert later.replace(f"<dt>read from</dt><dd>{saved}</dd>\n", "") == direct


def test_a_prediction_stands_beside_its_cure(tmp_path: Path) -> None:
    (tmp_path / "paste.txt").write_text(PASTE, "utf-8")
    document = json.loads(diagnose([str(tmp_path / "paste.txt")]).to_json())
    moves = Moves(
        metric="throughput", unit="bit/s", before=9.5e8, after=9.9e8, change="+4.2 %",
        range="-2.8 to +40.4",
    )  # fmt: skip
    told = Prediction(
        whatif="ethtool -G eth0 rx=4096", verdict="cannot tell", said="Loss counts most",
        load="sar.txt:3", changes=(moves,),
    )  # fmt: skip
    document["findings"][0]["prediction"] = told.model_dump()
    saved = tmp_path / "found.json"
    saved.write_text(json.dumps(document), "utf-8")
    with pytest.raises(SystemExit):
        main(["report", str(saved), "--out", str(tmp_path / "a.html")])
    text = html.unescape((tmp_path / "a.html").read_text("utf-8"))
    assert "The cure is predicted: cannot tell. Loss counts most." in text
    assert "a prediction by simulation" in text
    assert "Load: sar.txt:3." in text
    for said in ("\u22122.8 to +40.4", "+4.2 %", "throughput (Mbit/s)", "<td>950.0</td>"):
        assert said in text


def test_a_document_that_contradicts_itself_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "paste.txt").write_text(PASTE, "utf-8")
    document = json.loads(diagnose([str(tmp_path / "paste.txt")]).to_json())
    document["verdict"] = "nothing wrong"
    (tmp_path / "found.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(SystemExit) as caught:
        main(["report", str(tmp_path / "found.json"), "--out", str(tmp_path / "a.html")])
    assert caught.value.code == 2
    assert "expected findings where the verdict is found" in capsys.readouterr().err
