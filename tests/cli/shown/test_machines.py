"""`--ansible` and `--tuned` of `whatif`."""

from pathlib import Path

import pytest

from tests.cli.conftest import Simnet

ASKED = ("whatif", "x460-out-of-box")
QUICK = ("--seeds", "3", "--members", "0", "--jobs", "1")
pytestmark = pytest.mark.usefixtures("made_up")


def test_what_is_worth_it_is_written(simnet: Simnet) -> None:
    outcome = simnet(*ASKED, "affinity", *QUICK, "--ansible", "a.yml", "--tuned", "profile")
    assert (outcome.status, outcome.err) == (0, "")
    assert (
        Path("a.yml").read_text().splitlines()[1].startswith("# affinity on x460-out-of-box: yes")
    )
    assert {one.name for one in Path("profile").iterdir()} == {"tuned.conf", "script.sh"}
    assert Path("profile/script.sh").stat().st_mode & 0o111
    # once more, over what is there
    assert simnet(*ASKED, "affinity", *QUICK, "--tuned", "profile").status == 0


def test_what_is_not_worth_it_is_not_written(simnet: Simnet) -> None:
    outcome = simnet(*ASKED, "numactl", *QUICK, "--ansible", "a.yml", "--tuned", "profile")
    line = "simnet: a.yml and profile: not written: nothing is worth it\n"
    assert (outcome.status, outcome.err) == (1, line)
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--ansible", "a.txt"),
         "--ansible: a.txt: expected a name that ends with one of .yml, .yaml"),
        (("--tuned", "no/profile"), "--tuned: no/profile: expected a folder, or a name in one"),
    ],
)  # fmt: skip
def test_where_nothing_can_be_written(
    simnet: Simnet, arguments: tuple[str, ...], line: str
) -> None:
    assert simnet(*ASKED, "affinity", *arguments) == (2, "", f"simnet: {line}\n")
