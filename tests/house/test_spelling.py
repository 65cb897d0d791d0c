"""What is suggested for a name that there is not: what is near, and nothing else."""

import pytest

from simnet.spelling import closest, family, nearest

QUEUES = ("ethtool -L eth0 rx", "ethtool -L eth0 tx")
KNOBS = (
    *QUEUES,
    "ethtool -A eth0 autoneg",
    "ethtool -C eth0 rx-frames",
    "ethtool -C eth0 rx-usecs",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "nodes",
    "/sys/class/net/eth0/queues/rx-*/rps_cpus",
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("nods", "nodes"),
        ("ndoes", "nodes"),
        ("NODES", "nodes"),
        ("ethtool -C eth0 rx-frame", "ethtool -C eth0 rx-frames"),
        ("net.ipv4.tcp_rmme", "net.ipv4.tcp_rmem"),
        ("tcp_sack", "net.ipv4.tcp_sack"),
        ("net.tcp_rmem", "net.ipv4.tcp_rmem"),
        ("rx-usec", "ethtool -C eth0 rx-usecs"),
        ("tcp_rmme", "net.ipv4.tcp_rmem"),
        ("/sys/class/net/eth0/queues/rx-0/rps_cpu", "/sys/class/net/eth0/queues/rx-*/rps_cpus"),
    ],
)
def test_a_slip_or_a_missing_word_is_near(typed: str, meant: str) -> None:
    assert closest(typed, KNOBS) == meant
    assert nearest(typed, KNOBS) == f"; did you mean {meant}?"


def test_names_that_begin_with_it_may_be_meant() -> None:
    assert nearest("net", KNOBS) == "; did you mean net.ipv4.tcp_rmem or net.ipv4.tcp_sack?"
    assert closest("net", KNOBS) is None


def test_many_names_that_begin_with_it_are_not_listed() -> None:
    assert nearest("ethtool", [f"ethtool -L eth{number} combined" for number in range(9)]) == ""


@pytest.mark.parametrize(
    "typed",
    [
        "ethtool -L eth0 combined",
        "ethtool -C eth0 adaptive-rx",
        "net.ipv4.tcp_ecn",
        "cores",
        "cpus",
        "x",
        "**",
        "",
    ],
)
def test_what_only_begins_alike_is_not(typed: str) -> None:
    assert nearest(typed, KNOBS) == ""


def test_members_of_a_family_are_named() -> None:
    assert family("ethtool -L eth0 combined", KNOBS) == "; ethtool -L eth0 has rx, tx"
    assert family("net.ipv4.tcp_ecn", KNOBS) == "; net.ipv4 has tcp_rmem, tcp_sack"


def test_no_family_is_named_that_nobody_would_read() -> None:
    assert family("combined", KNOBS) == ""
    assert family("a.combined", KNOBS) == ""
    assert family("a.combined", [f"a.b{number}" for number in range(100)]) == ""
