"""Attributes of AIX and of a file system among a host's files: read, said, not used."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from simnet.importing.source import read_source
from simnet.importing.writing.folder_out import Imported, imported
from tests.importing.trees import folder

CAPTURES = Path(__file__).parents[2] / "validation" / "captures"
LSCPU = """Architecture:        x86_64
CPU(s):              2
On-line CPU(s) list: 0,1
Thread(s) per core:  1
Core(s) per socket:  2
Socket(s):           1
NUMA node(s):        1
Vendor ID:           GenuineIntel
NUMA node0 CPU(s):   0,1
"""


def taken(tmp_path: Path, files: Mapping[str, str]) -> Imported:
    return imported(read_source(str(folder(tmp_path / "host", {"lscpu.txt": LSCPU, **files}))))


@pytest.mark.parametrize(
    ("capture", "name", "value", "what"),
    [
        ("aix-lsattr-ent3", "chdev -l ent3 -a jumbo_size", "9014", "AIX"),
        ("aix-no-a", "no -o arpqsize", "1024", "AIX"),
        ("mmlsconfig-aix-client", "mmchconfig cipherList", "AUTHONLY", "a file system"),
    ],
)
def test_each_attribute_is_listed_with_its_value_file_and_reason(
    tmp_path: Path, capture: str, name: str, value: str, what: str
) -> None:
    found = taken(tmp_path, {f"{capture}.txt": (CAPTURES / f"{capture}.txt").read_text("utf-8")})
    row = next(one for one in found.unused() if one["name"] == name)
    assert (row["value"], row["source"]) == (value, f"{capture}.txt")
    assert what in row["why"]
    assert "--apply" in row["why"]
    [note] = [note for note in found.notes if note.startswith(capture)]
    count = sum(one["source"] == f"{capture}.txt" for one in found.unused())
    assert f"{count} attributes" in note


def test_two_adapters_are_two_listings(tmp_path: Path) -> None:
    files = {
        f"{name}.txt": f"# lsattr -El {name}\nmtu {mtu} Maximum IP packet size True\n"
        for name, mtu in (("en0", 1500), ("en1", 9000))
    }
    rows = {one["name"]: one["value"] for one in taken(tmp_path, files).unused()}
    assert rows["chdev -l en0 -a mtu"] == "1500"
    assert rows["chdev -l en1 -a mtu"] == "9000"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# lsattr -El en0\nmtu 1500 Maximum", "expected attribute, value"),
        (f"# lsattr -El en0\nmtu {'9' * 1000} x True\n", "at most 5000 lines of 400 characters"),
    ],
)
def test_a_cut_or_endless_listing_is_a_note_and_no_value(
    tmp_path: Path, text: str, message: str
) -> None:
    found = taken(tmp_path, {"en0.txt": text})
    [note] = [note for note in found.notes if note.startswith("en0.txt: not used")]
    assert message in note
    assert not [one for one in found.unused() if one["source"] == "en0.txt"]
