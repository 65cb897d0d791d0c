"""A conversation that plays: when its dots leave and arrive, and that it needs nothing else."""

import re
from xml.etree import ElementTree as ET

import pytest

from lessons.ladder import Segment
from lessons.moving import moving

MS = 10**9
SVG = "{http://www.w3.org/2000/svg}"
TALK = [
    Segment(from_left=True, sent_ps=0, arrived_ps=2 * MS, seq=0, end_seq=100, ack=0),
    Segment(from_left=False, sent_ps=20 * MS, arrived_ps=22 * MS, seq=0, end_seq=0, ack=100),
    Segment(from_left=True, sent_ps=30 * MS, arrived_ps=None, seq=100, end_seq=300, ack=0),
    Segment(from_left=True, sent_ps=39 * MS, arrived_ps=41 * MS, seq=300, end_seq=400, ack=0),
    Segment(from_left=True, sent_ps=45 * MS, arrived_ps=47 * MS, seq=400, end_seq=500, ack=0),
]


def drawn(kind: str, group: str) -> list[ET.Element]:
    root = ET.fromstring(moving(TALK, until_ms=40).svg)  # noqa: S314 (its own text)
    return [one for one in root.iter(SVG + kind) if one.get("class", "").startswith(group)]


def test_a_dot_for_each_segment_that_leaves_before_the_end() -> None:
    assert len(drawn("circle", "dot")) == len(drawn("line", "way")) == 4


@pytest.mark.parametrize(("number", "sent", "arrived"), [(0, 0, 2), (1, 20, 22), (3, 39, 40)])
def test_it_travels_while_the_segment_does(number: int, sent: float, arrived: float) -> None:
    svg = moving(TALK, until_ms=40).svg
    (frames,) = re.findall(rf"-w{number}{{0%,([0-9.]+)%.*?}}([0-9.]+)%,100%", svg)
    assert [float(one) for one in frames] == pytest.approx([92 * sent / 40, 92 * arrived / 40])


def test_a_way_leads_from_one_line_to_the_other_and_a_lost_one_ends_before_it() -> None:
    ys = [(float(one.get("y1", 0)), float(one.get("y2", 0))) for one in drawn("line", "way")]
    assert ys[0] == ys[1][::-1]
    assert ys[2][0] < ys[2][1] < ys[0][1]
    # half of the last one's way is after the end
    assert ys[3][1] == pytest.approx(sum(ys[0]) / 2)


def test_a_pause_is_said() -> None:
    svg = moving(TALK, until_ms=40).svg
    assert "nothing for 18.0 ms" in svg
    assert "nothing for" not in moving(TALK, until_ms=40, quiet_ms=19).svg


def test_a_label_for_which_there_is_no_room_is_left_out() -> None:
    busy = [
        Segment(from_left=True, sent_ps=at * MS, arrived_ps=(at + 2) * MS, seq=0, end_seq=at, ack=0)
        for at in range(100, 140, 2)
    ]
    texts = re.findall(
        r'<text x="([0-9.]+)" y="54" [^>]*>([^<]*)</text>', moving(busy, until_ms=140).svg
    )
    assert 1 < len(texts) < 20
    ends = [float(x) + 5.6 * len(text) for x, text in texts]
    assert all(end < float(x) for end, (x, _) in zip(ends, texts[1:], strict=False))
    assert max(ends) <= 800


def test_two_pictures_in_a_page_do_not_take_each_others_rules() -> None:
    names = [re.findall(r'class="(moving-\w+)"', moving(TALK, until_ms=at).svg) for at in (40, 50)]
    assert names[0] != names[1]


def test_it_needs_no_script_and_no_network() -> None:
    svg = moving(TALK, until_ms=40, title="<b>a & b</b>").svg
    assert "<script" not in svg
    assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]
    assert "url(" not in svg
    assert "<b>" not in svg
