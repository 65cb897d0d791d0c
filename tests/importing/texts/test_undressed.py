"""What is around an output is taken off, and what tools print stays, line by line."""

from pathlib import Path

import pytest

from simnet.importing.files.undressed import undressed
from simnet.importing.source import read_source

PLAIN = ["NIC statistics:", "     rx_packets: 9", "     rx_missed: 5", "     tx_packets: 3"]


@pytest.mark.parametrize(
    "dressed",
    [
        [f"> {line}" for line in PLAIN],
        [f">> > {line}" for line in PLAIN],
        [f"\x1b[01;31m\x1b[K{line}\x1b[m\x1b[K" for line in PLAIN],
        [f"^[[32m{line}^[[0m" for line in PLAIN],
        [f"{n:6}\t{line}" for n, line in enumerate(PLAIN, 1)],
        [f"2025-05-06T10:11:12.123456Z stdout F {line}" for line in PLAIN],
        [f"May  6 10:11:12 db1 monitor[812]: {line}" for line in PLAIN],
        [f"[code]{PLAIN[0]}", *PLAIN[1:3], f"{PLAIN[3]}[/code]"],
        [f"<pre>{PLAIN[0]}", *PLAIN[1:3], f"{PLAIN[3]}</pre>"],
        [line.replace("     ", "\u00a0" * 5) for line in PLAIN],
    ],
)
def test_what_is_around_an_output_is_taken_off(dressed: list[str]) -> None:
    assert [line.strip() for line in undressed(dressed)] == [line.strip() for line in PLAIN]


def test_a_table_of_markdown_is_read_as_counters() -> None:
    rows = ["| counter | value |", "|---|---:|", "| rx_missed | 1,234 |", "| a | b | c |"]
    assert undressed(rows) == ["counter  value", "", "rx_missed: 1234", "a  b  c"]


@pytest.mark.parametrize(
    "lines",
    [
        [" 24:  5  0  PCI-MSI eth0-0", " 25:  6  0  PCI-MSI eth0-1", " 26:  7  0  PCI-MSI eth0-2"],
        ["1: lo: <LOOPBACK>", "2: eth0: <UP>", "3: eth1: <UP>"],
        ["05:10:01 AM  all  1.0", "05:10:02 AM  all  1.0", "05:10:03 AM  all  1.0"],
        ["Jan  1 10:00:01 h kernel: eth0: Link is Down"] * 3,
        ["[Mon Jan  1 10:00:01 2024] eth0: Link is Down"] * 3,
        ["$ ethtool -S eth0", "> tcp", "rx: 5"],
        ["|          |--12.3%-- tcp_ack", "|          |", "|--3.1%-- ip_rcv"],
    ],
)
def test_what_tools_print_stays(lines: list[str]) -> None:
    assert undressed(lines) == lines


def test_a_quoted_paste_is_imported(tmp_path: Path) -> None:
    text = "$ lscpu\nArchitecture: x86_64\nCPU(s): 4\n$ ethtool -i eth7\ndriver: igb\nversion: 5\n"
    file = tmp_path / "mail.txt"
    file.write_text("".join(f"> {line}\n" for line in text.splitlines()), "utf-8")
    host = read_source(str(file))
    assert len(host.topology.cpus) == 4
    assert [nic.name for nic in host.nics] == ["eth7"]


CODE = """$ ip -s link show eth0
2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq
    RX:  bytes packets errors dropped
          8000       8      0       1

$ lspci -vv
\t\tLnkSta: Speed 8GT/s"""


@pytest.mark.parametrize(
    "dressed",
    [
        "\n".join(f"    {line}" if line else "" for line in CODE.splitlines()),
        "\n".join(f"    > {line}" for line in CODE.splitlines()),
        "\n".join(f"{n:5}  {line}" for n, line in enumerate(CODE.splitlines(), 1)),
        "\n".join(f"{n:6}\t{line}" for n, line in enumerate(CODE.splitlines(), 1)),
    ],
)
def test_what_stands_before_each_line_goes_and_the_indentation_of_the_text_stays(
    dressed: str,
) -> None:
    assert "\n".join(undressed(dressed.splitlines())) == CODE


def test_rows_that_are_all_indented_stay_as_they_are() -> None:
    rows = ["     rx_missed: 5", "     rx_fifo: 0", "     tx_packets: 9"]
    assert undressed(["NIC statistics:", *rows]) == ["NIC statistics:", *rows]
