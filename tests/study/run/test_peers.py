"""Whether a peer was what could do no more, and that a what-if says it."""

from pathlib import Path

import pytest

import simnet
from simnet.importing.import_host import import_host
from simnet.scenario.core.effective import Effective
from simnet.scenario.system.resource import Resource
from simnet.study.run.peers import full_peer
from simnet.study.run.result import Result
from simnet.study.whatif import whatif as study
from simnet.study.work import task
from simnet.time_units import PS_PER_S
from tests.importing.trees import folder
from tests.study.synthetic import simulated


def used(name: str, kind: str, percent: int, *, simulated: bool = True) -> Resource:
    """A part that was busy for some percent of two seconds."""
    return Resource(name, kind, percent * PS_PER_S // 50, PS_PER_S, simulated=simulated)


@pytest.mark.parametrize(
    ("own", "peer", "found"),
    [
        (used("cpu0", "cpu", 50), used("peer0 cpu0", "peer cpu", 99), "peer0 cpu0"),
        (used("cpu0", "cpu", 50), used("peer0 cpu0", "peer cpu", 90), ""),
        (used("cpu0", "cpu", 97), used("peer0 cpu0", "peer cpu", 99), ""),
        (used("eth0 send", "port", 97), used("peer0 cpu0", "peer cpu", 99), ""),
        # what nothing waits for holds nobody up
        (used("bus", "bus", 99, simulated=False), used("peer0 cpu1", "peer cpu", 99), "peer0 cpu1"),
        (used("cpu0", "cpu", 50), used("peer0.eth0 receive", "peer port", 99), ""),
    ],
)
def test_a_peer_is_full_where_nothing_else_is(own: Resource, peer: Resource, found: str) -> None:
    assert full_peer((), (own, peer), 2 * PS_PER_S) == found


def test_what_was_used_before_does_not_count() -> None:
    peer = used("peer0 cpu0", "peer cpu", 99)
    assert full_peer((peer,), (peer,), 2 * PS_PER_S) == ""


PASTE = (
    "$ uname -a\nLinux h1 5.14.0-362.el9 #1 SMP x86_64\n$ nproc\n4\n"
    "$ ethtool -i eth0\ndriver: mlx5_core\n$ iperf3 -c 10.0.0.1\n"
    "Connecting to host 10.0.0.1, port 5201\n"
    "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
    "[  5]   0.00-10.00  sec  21.10 GBytes   18 Gbits/sec    0             sender\n"
)


def test_one_stream_to_a_peer_ends_at_its_cpu(tmp_path: Path) -> None:
    import_host(folder(tmp_path / "host", {"p.txt": PASTE})).write(tmp_path / "out")
    scenario = tmp_path / "out" / "scenario.toml"
    assert simnet.run(scenario, warm_up="10 ms", duration="10 ms").full_peer
    slow = {"switch.link_rate": "1 Gbit/s"}
    assert simnet.run(scenario, warm_up="10 ms", duration="10 ms", settings=slow).full_peer == ""


@pytest.mark.parametrize(
    ("always", "words"), [(True, "is full with it and without,"), (False, "is full,")]
)
def test_a_whatif_says_it(monkeypatch: pytest.MonkeyPatch, words: str, *, always: bool) -> None:
    def made_up(effective: Effective, **options: object) -> Result:
        full = "peer0 cpu3" if always or effective.tunings else ""
        return simulated(effective, **options).model_copy(update={"full_peer": full})

    monkeypatch.setattr(task, "simulate", made_up)
    monkeypatch.setattr(study, "known_changes", tuple)
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    answer = simnet.whatif("x460-out-of-box", "affinity", seeds=3, members=0, jobs=1)
    warning = next(one for one in answer.tunings[0].warnings if one.startswith("the peer limits"))
    assert f"the peer limits the answer: peer0 cpu3 {words}" in warning


def test_nothing_is_said_where_the_host_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "simulate", simulated)
    monkeypatch.setattr(study, "known_changes", tuple)
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    answer = simnet.whatif("x460-out-of-box", "affinity", seeds=3, members=0, jobs=1)
    assert not any("the peer limits" in one for one in answer.tunings[0].warnings)
