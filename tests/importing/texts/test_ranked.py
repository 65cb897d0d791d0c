"""What decides an answer is said first: who makes a note says what it is about."""

from pathlib import Path

from simnet.importing.writing.ranked import Note, Rank, ranked
from tests.importing.test_few_outputs import taken


def test_the_heaviest_stands_first_and_equal_ones_as_they_came() -> None:
    notes = [
        Note("d", Rank.KERNEL),
        Note("c"),
        Note("b", Rank.LOAD),
        Note("c again"),
        Note("a", Rank.NOT_SIMULATED),
    ]
    assert ranked(notes) == ("a", "b", "c", "c again", "d")


def test_an_import_says_its_load_first_and_last_what_is_always_so(tmp_path: Path) -> None:
    text = "$ uname -r\n6.8.0-31-generic\n$ ethtool -i eth0\ndriver: r8125\n"
    notes = taken(tmp_path, {"p.txt": text}).notes
    begin = [note.partition(": ")[0] for note in notes]
    assert begin[0] == "workload"
    assert begin[1] == "8 CPUs are assumed"
    assert begin[2] == "no port says how fast its link is"
    assert begin[3:5] == ["eth0", "eth0"]
    # the peer's queues, the peer, costs, constants
    assert notes[-3].startswith("the peer is assumed")
    assert notes[-2].startswith("the processor's costs")
    assert notes[-1].startswith("Linux 6.8.0-31-generic")
