"""Reading what lsattr, no and mmlsconfig print: whole, cut, foreign."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet._share import folder
from simnet.errors import InputError
from simnet.scenario.commands.attribute_listing import Listing, parse_listing, read_listing
from simnet.scenario.commands.captured import attributes
from simnet.scenario.parts.scale.listings import is_of_servers

CAPTURES = folder("validation") / "captures"
CLUSTER = """\
Configuration data for cluster gpfs.example:
--------------------------------------------
clusterName gpfs.example
dmapiFileHandleSize 32
[gss_ppc64]
pagepool 76168560640
nsdRAIDTracks 131072
[common]
maxblocksize 16M
[sas1,sas2]
pagepool 32G
[common]
adminMode central

File systems in cluster gpfs.example:
-------------------------------------
/dev/saswork
"""


def parsed(text: str) -> Listing:
    return parse_listing(text, "x.txt")


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parsed(text)
    return str(caught.value)


def values(listing: Listing) -> dict[str, str]:
    return {one.name: one.value for one in listing.attributes}


@pytest.mark.parametrize(
    ("file", "title", "count", "some"),
    [
        ("aix-lsattr-ent3", "lsattr -El ent3", 51, {"jumbo_size": "9014", "large_send": "yes"}),
        ("aix-no-a", "no -a", 146, {"fasttimo": "100", "delayackports": "{}"}),
        ("mmlsconfig-aix-client", "mmlsconfig", 22, {"pagepool": "34359738368"}),
        (
            "mmlsconfig-ess-server",
            "mmlsconfig",
            76,
            {
                "nsdRAIDBufferPoolSizePct": "80",
                "envVar": "MLX4_USE_MUTEX 1 MLX5_SHUT_UP_BF 1 MLX5_USE_MUTEX 1",
            },
        ),
    ],
)
def test_captures_are_read_whole(file: str, title: str, count: int, some: dict[str, str]) -> None:
    listing = read_listing(CAPTURES / f"{file}.txt")
    assert (listing.title, len(listing.attributes)) == (title, count)
    assert values(listing).items() >= some.items()
    assert is_of_servers(listing, "") == (file == "mmlsconfig-ess-server")
    known = {(command, name) for command, name, *_ in attributes()}
    assert {(listing.command, one.name) for one in listing.attributes} <= known


def test_a_printed_cluster_has_sections() -> None:
    listing = parsed(CLUSTER)
    assert listing.nodes == ("gss_ppc64", "sas1,sas2")
    found = [(one.nodes, one.name, one.value, one.line) for one in listing.attributes]
    assert ("", "maxblocksize", "16M", 9) in found
    assert ("sas1,sas2", "pagepool", "32G", 11) in found
    assert ("", "adminMode", "central", 13) in found
    assert len(found) == 7
    assert [is_of_servers(listing, nodes) for nodes in ("", "gss_ppc64", "sas2")] == [
        False,
        True,
        False,
    ]


def test_an_empty_value_is_told_by_its_column() -> None:
    listing = parsed(
        "alias4                       IPv4 Alias including Subnet Mask True\n"
        "mtu           9000           Maximum IP Packet Size           True\n"
    )
    assert values(listing) == {"alias4": "", "mtu": "9000"}
    assert listing.device == ""


def test_a_prompt_may_stand_above() -> None:
    assert parsed("# no -a\n       sack = 1\n").command == "no"
    assert parsed("$ lsattr -El en3\nmtu 9000 Maximum size True\n").device == "en3"
    assert parsed("[root@gss01 ~]# mmlsconfig\npagepool 32G\n").command == "mmlsconfig"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.txt: the file is empty: expected output of lsattr -El, no -a or mmlsconfig"),
        ("# no -a\n", "x.txt: no attributes: expected attribute = value"),
        ("CPU %user %nice\n", "x.txt:1: expected output of lsattr -El, no -a or mmlsconfig"),
        ("sack = 1\nsb_max =\n", "x.txt:2: expected attribute = value, as no -a prints, got"),
        ("sack = 1\nsb_max = 33", "x.txt:2: the line is cut here: expected a line end"),
        ("pagepool 32G\nprefetchPct\n", "x.txt:2: expected attribute and value, as mmlsconfig"),
        ("sack = 1\npagepool 32G\n", "x.txt:2: expected attribute = value, as no -a prints"),
        (CLUSTER[:250], "x.txt:12: expected attribute and value, as mmlsconfig prints, got '[comm"),
        (
            "\n".join(CLUSTER.splitlines()[:11]) + "\n",
            "x.txt:11: the listing is cut here: expected `File systems in cluster`",
        ),
        ("sack = 1\nsack = 0\n", "x.txt:2: sack: 0 here, but 1 in line 1"),
        ("sack = 1\n\0\n", "x.txt:2: not text"),
    ],
)
def test_cut_and_foreign_text_is_refused(text: str, message: str) -> None:
    assert refused(text).startswith(message)
    assert "\n" not in refused(text)


def test_what_is_said_twice_the_same_way_is_noted() -> None:
    listing = parsed("! nspdQueues 64\n! pagepool 32G\n! nspdQueues 64\n")
    assert [one.repeats for one in listing.attributes] == [False, False, True]


def test_files_that_are_no_text(tmp_path: Path) -> None:
    binary = tmp_path / "core"
    binary.write_bytes(b"sack = 1\n\xff\xfe\n")
    large = tmp_path / "large"
    large.write_text("sack = 1\n" * 200_000)
    for file, message in (
        (binary, f"{binary}:2: is not UTF-8 text"),
        (large, f"{large}: larger than 1 MiB, which is no listing of attributes"),
        (tmp_path, f"{tmp_path}: cannot be read: Is a directory"),
        (tmp_path / "none", f"{tmp_path / 'none'}: cannot be read: No such file or directory"),
    ):
        with pytest.raises(InputError) as caught:
            read_listing(file)
        assert str(caught.value) == message


@pytest.mark.parametrize("file", ["aix-lsattr-ent3", "aix-no-a"])
@given(data=st.data())
def test_no_cut_within_a_line_goes_unnoticed(file: str, data: st.DataObject) -> None:
    text = (CAPTURES / f"{file}.txt").read_text("utf-8")
    end = data.draw(st.integers(1, len(text) - 1).filter(lambda n: text[n - 1] != "\n"))
    assert refused(text[:end]).startswith("x.txt")


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    said = ""
    try:
        assert parsed(text).attributes
    except InputError as error:
        said = str(error)
    assert len(said.splitlines()) <= 1
