"""The script collects all that is read of how a host is; a law over what parsers announce."""

from typing import Final

from simnet.importing.kind import kinds
from simnet.importing.parser import parsers
from simnet.importing.writing.script import script

# what is of a test, a capture or another system, needs root, or is said by what is collected, too
OTHERS: Final = frozenset(
    {"lsattr", "no -a", "ethtool_stats.pl", "netstat -an", "sar -n UDP", "sar -n DEV", "sar -u"}
    | {"sar of errors", "iperf3 -J", "iperf3", "iperf", "netperf", "fio job", "fio", "iozone"}
    | {
        "pf_ring info",
        "pfcount",
        "tcpdump",
        "suricata",
        "testpmd",
        "commands",
        "cpu.stat",
        "tc -s filter",
        "dstat",
        "turbostat",
    }
    | {"perf", "ping", "top of BusyBox", "banner", "ip -br link", "ifconfig", "wg show"}
    | {"bonding", "configuration of a bond"}
)


def test_the_script_collects_each_kind_that_is_read() -> None:
    text = script()
    for kind in kinds().values():
        if kind.command:
            assert kind.command.replace("{port}", '"$name"') in text
            assert kind.place.removeprefix("sos_commands/").replace("{port}", "$name") in text
        elif kind.files:
            assert any(f"/{name}" in text for name in kind.files)
        else:
            assert kind.name in OTHERS
    assert {one for one in OTHERS if one in kinds()} == OTHERS


def test_the_script_collects_each_tree_that_is_read() -> None:
    text = script()
    for parser in parsers():
        for tree in parser.trees:
            assert f"/{tree}".replace("{port}", "$name") in text


def test_what_runs_cannot_wait_for_ever() -> None:
    lines = [line.split('" ', 1)[1] for line in script().splitlines() if line.startswith('run "')]
    assert "vmstat 1 2" in lines
    assert "top -b -n 1" in lines
    assert not any(line in {"top", "vmstat 1", "mpstat 1"} for line in lines)
