"""A card as the command writes it."""

from pathlib import Path

import pytest

from tests.cli.conftest import Simnet

ASKED = ("whatif", "media-udp", "rmem-25m", "--seeds", "2", "--members", "0", "--jobs", "1")
SHORT = ("--duration", "20 ms", "--warm-up", "10 ms")


@pytest.mark.compiled
def test_the_answer_is_on_it(simnet: Simnet, tmp_path: Path) -> None:
    for name in ("card.md", "card.svg"):
        file = tmp_path / name
        status, out, err = simnet(*ASKED, *SHORT, "--card", str(file))
        assert status in {0, 1, 3}, err
        first, _, _ = out.partition("\n")
        assert first.split(" (")[0] in file.read_text("utf-8")


def test_another_kind_of_file_is_refused_before_anything_is_simulated(
    simnet: Simnet, tmp_path: Path
) -> None:
    status, out, err = simnet(*ASKED, "--card", str(tmp_path / "card.doc"))
    assert (status, out) == (2, "")
    assert err.startswith("simnet: --card: ")
    assert "expected a name that ends with one of .md, .png, .svg, .pdf" in err
