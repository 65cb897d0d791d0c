"""AIX as the kernel of a host: its knobs, what they reach, what is refused."""

from pathlib import Path

import pytest

from simnet.errors import InputError
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.send.sender import TcpSender
from simnet.scenario.commands.commands import commands
from simnet.scenario.core.knob import Knob
from simnet.scenario.core.knobs import KNOBS
from simnet.scenario.core.load import load
from simnet.scenario.core.section import Section
from simnet.scenario.parts.aix import knobs
from simnet.scenario.parts.tcp.build import receiver_settings, sender_settings
from simnet.study.conform.conform import conform
from simnet.study.run.run import run
from tests.host.parts import MS
from tests.scenario.parts.test_delayed_ack_knobs import SCENARIO

KERNEL = "aix-7.2-ess"
AIX = [knob for knob in KNOBS if knob.name in {one.name for one in knobs.AIX}]
MODELLED = {
    "fasttimo", "tcp_nodelayack", "tcp_nagle_limit", "tcp_init_window", "rfc2414", "rfc1323",
    "sack", "tcp_recvspace", "tcp_sendspace", "sb_max", "mtu", "jumbo_frames", "large_send",
}  # fmt: skip


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario whose system runs AIX."""
    file = tmp_path / "mine.toml"
    file.write_text(SCENARIO.format(kernel=KERNEL), "utf-8")
    return file


def test_what_is_modelled() -> None:
    names = {knob.name.rpartition(" ")[2] for knob in AIX if knob.modelled}
    assert names == MODELLED
    assert "hstcp" in {knob.name.rpartition(" ")[2] for knob in AIX if not knob.modelled}


def test_linux_has_none_of_it_and_aix_no_sysctl(scenario: Path) -> None:
    for knob in (AIX[0], AIX[-1], next(k for k in AIX if k.scope == "interface")):
        name = knob.name.format(port="eth0")
        with pytest.raises(InputError) as caught:
            load("x460-out-of-box", settings={name: "1"})
        assert caught.value.message == "only in AIX; ibm-x460 runs Linux 2.6.16"
    with pytest.raises(InputError) as caught:
        load(scenario, settings={"net.ipv4.tcp_sack": "0"})
    assert caught.value.message == "only in Linux; ibm-x460 runs AIX 7.2"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("no -o fasttimo", "201", "201 ms is outside the legal range 50 ms to 200 ms"),
        ("no -o tcp_nodelayacc", "1", "unknown knob; did you mean no -o tcp_nodelayack?"),
        ("no -o tcp_recvspace", "33554433", "33554433 B is more than sb_max, 33554432 B"),
        (
            "chdev -l eth3 -a tcp_sendspace",
            "40000000",
            "40000000 B is more than sb_max, 33554432 B",
        ),
    ],
)
def test_a_bad_value_is_refused(scenario: Path, name: str, value: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(scenario, settings={name: value})
    assert (caught.value.key, caught.value.message) == (name, message)


def test_a_linux_host_has_no_such_model_values() -> None:
    assert not any("fasttimo" in name for name in load("x460-out-of-box").provenance)
    with pytest.raises(InputError, match="unknown knob"):
        load("x460-out-of-box", settings={"kernel.fasttimo": "100 ms"})


@pytest.mark.parametrize("knob", [knob for knob in AIX if knob.modelled], ids=lambda k: k.name)
def test_setting_the_default_changes_nothing(scenario: Path, knob: Knob) -> None:
    plain = load(scenario)
    name = knob.name.format(port="eth0")
    port = plain.ports[0]
    place: Section = {"interface": port, "nic": port.nic}.get(knob.scope, plain.kernel)
    default = knob.admin_text(getattr(place, knob.target))
    assert load(scenario, settings={name: default}).digest() == plain.digest()


def test_knobs_reach_the_connection(scenario: Path) -> None:
    effective = load(
        scenario,
        settings={
            "no -o tcp_nodelayack": "0",
            "no -o fasttimo": "150",
            "no -o tcp_nagle_limit": "1000",
            "no -o tcp_init_window": "7",
            "chdev -l eth2 -a tcp_recvspace": "1048576",
            "chdev -l eth2 -a tcp_sendspace": "524288",
        },
    )
    receivers = [TcpReceiver(receiver_settings(effective.host, port)) for port in effective.ports]
    senders = [TcpSender(sender_settings(effective.host, port)) for port in effective.ports]
    assert [receiver.window.rcvbuf for receiver in receivers[1:4]] == [876544, 1048576, 876544]
    assert [sender.seq.sndbuf for sender in senders[1:4]] == [876544, 524288, 876544]
    assert receivers[0].delack.segments_per_ack == 2
    assert receivers[0].delack.scan_jiffies == 15
    assert senders[0].output.nagle_limit == 1000
    assert senders[0].congestion.cwnd == 7
    assert receivers[0].sack


def test_what_to_type(scenario: Path) -> None:
    settings = {
        "no -o tcp_nodelayack": "off",
        "no -o fasttimo": "200 ms",
        "chdev -l eth2 -a tcp_recvspace": "1048576",
    }
    found = commands(load(scenario), load(scenario, settings=settings))[0]
    assert found.apply == (
        "no -o tcp_nodelayack=0",
        "no -o fasttimo=200",
        "chdev -l eth2 -a tcp_recvspace=1048576",
    )
    assert found.undo == (
        "chdev -l eth2 -a tcp_recvspace=",
        "no -o fasttimo=100",
        "no -o tcp_nodelayack=1",
    )
    assert found.keep == ("no -p -o tcp_nodelayack=0", "no -p -o fasttimo=200")
    assert found.drop == ("no -p -o fasttimo=100", "no -p -o tcp_nodelayack=1")


def test_a_host_says_what_of_aix_is_modelled(scenario: Path) -> None:
    assert load(scenario).remarks == (
        "ibm-x460: of AIX only TCP is modelled; interrupts and scheduler are Linux's",
    )


def test_peers_may_run_it_and_acknowledge_each_segment_or_every_second(tmp_path: Path) -> None:
    text = SCENARIO.format(kernel="linux-2.6.16-sles10").replace("linux-2.6.9-rhel4", KERNEL)
    text = text.replace('"netserver"', '"netperf"\npeers_simulated = "ends"')
    file = tmp_path / "peers.toml"
    file.write_text(text.replace("nodes = 4", "nodes = 1"), "utf-8")
    packets = []
    for value in ("1", "0"):
        result = run(
            file, settings={"peer:no -o tcp_nodelayack": value}, warm_up="10 ms", duration="20 ms"
        )
        packets.append(sum(port.rx_packets_per_s for port in result.ports))
    assert packets[0] == pytest.approx(2 * packets[1], rel=0.1)


def test_traces_of_linux_are_not_judged_by_it() -> None:
    with pytest.raises(InputError, match="expected a kernel model of Linux"):
        conform(["x.pkt"], KERNEL)


def test_the_unit_of_fasttimo_is_a_millisecond(scenario: Path) -> None:
    assert load(scenario, settings={"no -o fasttimo": "60"}).kernel.fasttimo_ps == 60 * MS
