"""Bonds as users set them up: knobs, checks, and what a short simulation shows."""

from typing import Any

import pytest

from simnet import _engine
from simnet.errors import InputError
from simnet.net.tcp.socket import TcpSocket
from simnet.scenario.commands.commands import commands
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.scenario.system.system import System

MS = 10**9
COMPILED = _engine.active() == "compiled"
SCENARIO = "x460-bonding"
MODE = "modprobe bonding mode"
ALL_MODES = (
    "balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb",
    "balance-alb",
)  # fmt: skip


def make(mode: str, *, per_frame: bool = False, **settings: Any) -> System:
    """Two slaves, or as many as are left on one node, so that a run is short."""
    few = {f"ifenslave bond0 eth{n}": "off" for n in range(2, 8)} | {"nodes": "1", MODE: mode}
    return build(load(SCENARIO, settings=few | settings), seed=1, per_frame=per_frame)


def run(mode: str, length_ms: int = 20, **options: Any) -> System:
    system = make(mode, **options)
    system.run(length_ms * MS)
    return system


def bytes_of(system: System) -> list[int]:
    return [socket.delivered for _, _, socket in system.flows]


def early_segments(system: System) -> list[int]:
    """Return how many segments came before earlier ones, for each stream."""
    ends: list[Any] = [end for _, _, end in system.flows]
    return [end.receiver.out_of_order_segments for end in ends]


SLOW: dict[str, Any] = dict.fromkeys(
    ("nic.link_rate", "peer:nic.link_rate", "switch.link_rate"), "100 Mbit/s"
)


class TestSetup:
    def test_slaves_and_mode_are_knobs(self) -> None:
        effective = load(SCENARIO, settings={MODE: "802.3ad", "ifenslave bond0 eth3": "off"})
        assert effective.host.bonding.mode == "802.3ad"
        assert [port.enslaved for port in effective.ports] == [True] * 3 + [False] + [True] * 4
        assert len(effective.peers) == 8
        assert [flow.peer for flow in effective.flows] == list(range(8))

    def test_defaults_are_the_drivers(self) -> None:
        bonding = load("x460-out-of-box").host.bonding
        assert (bonding.mode, bonding.miimon_ps, bonding.xmit_hash_policy) == (
            "balance-rr", 0, "layer2",
        )  # fmt: skip

    def test_a_bare_number_is_in_milliseconds(self) -> None:
        assert load(SCENARIO, settings={"modprobe bonding updelay": "400"}).host.bonding == (
            load(SCENARIO, settings={"modprobe bonding updelay": "400 ms"}).host.bonding
        )

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({MODE: "balance"}, "expected one of balance-rr, active-backup"),
            ({"modprobe bonding primary": "eth9"}, "eth9 is no slave of bond0"),
            (
                {"modprobe bonding xmit_hash_policy": "layer2+3"},
                "not in Linux 2.6.16: it came with 2.6.24",
            ),
            ({"replug eth1": "1 s"}, "the cable has to be pulled before"),
            ({"ifenslave bond0 eth1": "off", "unplug eth1": "1 s"}, "eth1 is no slave of a bond"),
            ({"test": "bidirectional"}, "not simulated over a bond"),
            ({"test": "tcp_rr"}, "not simulated over a bond"),
            ({"peer:ifenslave bond0 eth0": "on"}, 'needs peers_simulated = "machines"'),
            ({"peer:unplug eth0": "1 s"}, "only for the system under test"),
            ({"ifenslave bond0 eth9": "on"}, "ibm-x460 has no port eth9"),
            ({"port-channel load-balance": "crc"}, "expected one of src-mac, dst-mac"),
        ],
    )
    def test_what_cannot_be_is_refused(self, settings: dict[str, str], message: str) -> None:
        with pytest.raises(InputError) as refused:
            load(SCENARIO, settings=settings)
        assert message in str(refused.value)

    def test_lacp_rate_is_accepted_and_reported(self) -> None:
        remarks = load(SCENARIO, settings={"modprobe bonding lacp_rate": "fast"}).remarks
        assert remarks == (
            "modprobe bonding lacp_rate: accepted, but not modelled: it changes nothing here",
        )

    def test_a_knob_of_the_peers_is_for_those_that_have_the_port(self) -> None:
        peers = load("x460-bonding-pair").peers
        assert [[port.smp_affinity[:1] for port in peer.ports] for peer in peers[3:]] == [
            [(0,)], [(0,), (8,), (2,), (5,)],
        ]  # fmt: skip
        assert [len(peer.ports) for peer in peers] == [1, 1, 1, 1, 4]
        with pytest.raises(InputError, match="ibm-p5-550 has no interrupt 999"):
            load("x460-bonding-pair", settings={"peer:/proc/irq/999/smp_affinity": "1"})

    def test_what_to_type(self) -> None:
        tuned = load(
            SCENARIO,
            settings={
                MODE: "802.3ad",
                "ifenslave bond0 eth7": "off",
                "port-channel load-balance": "src-dst-ip",
            },
        )
        (lines,) = commands(load(SCENARIO), tuned)
        ports = [f"eth{number}" for number in range(8)]
        said = "# bond0 goes down: a session over it is cut off, so type this at the console"
        apart = (said, "ifconfig bond0 down", "modprobe -r bonding")
        up = "ifconfig bond0 up  # with its address and netmask"
        assert lines.apply == (
            *apart,
            "modprobe bonding miimon=100 mode=802.3ad",
            up,
            f"ifenslave bond0 {' '.join(ports[:7])}",
            "# on the switch, configure terminal: port-channel load-balance src-dst-ip",
        )
        assert lines.undo == (
            "# on the switch, configure terminal: port-channel load-balance src-mac",
            *apart,
            "modprobe bonding mode=balance-rr miimon=100",
            up,
            f"ifenslave bond0 {' '.join(ports)}",
        )

    def test_a_kernel_of_today_sets_the_hash_while_the_bond_is_up(self) -> None:
        today = {"system.kernel": "linux-6.12"}
        base = load(SCENARIO, settings={**today, MODE: "802.3ad"})
        policy = "modprobe bonding xmit_hash_policy"
        (lines,) = commands(base, load(SCENARIO, settings={
            **today, MODE: "802.3ad", policy: "layer3+4"}))  # fmt: skip
        file = "/sys/class/net/bond0/bonding/xmit_hash_policy"
        assert lines.apply == (f"echo layer3+4 > {file}",)
        assert lines.undo == (f"echo layer2 > {file}",)
        (rebuilt,) = commands(base, load(SCENARIO, settings={**today, MODE: "balance-xor"}))
        assert rebuilt.apply[:2] == (
            "# bond0 goes down: a session over it is cut off, so type this at the console",
            "ip link set dev bond0 down",
        )
        assert "ip link set dev eth7 master bond0" in rebuilt.apply


class TestSimulation:
    @pytest.mark.parametrize("mode", ALL_MODES)
    def test_every_stream_gets_through(self, mode: str) -> None:
        system = run(mode)
        assert min(bytes_of(system)) > 10_000
        assert {port for _, port, _ in system.flows} == {"bond0"}

    @pytest.mark.parametrize("mode", ["active-backup", "balance-tlb"])
    def test_one_port_receives_for_all(self, mode: str) -> None:
        ports = run(mode).snapshot().ports
        assert ports[0].rx_packets > 500
        assert ports[1].rx_packets == 0

    def test_alb_gives_every_client_a_port(self) -> None:
        first, second = (port.rx_packets for port in run("balance-alb").snapshot().ports[:2])
        assert min(first, second) > 500

    def test_acks_leave_by_all_slaves_in_turn(self) -> None:
        first, second = (port.tx_packets for port in run("balance-rr").snapshot().ports[:2])
        assert abs(first - second) <= 1

    def test_copies_of_an_ack_are_no_losses(self) -> None:
        system = run("broadcast")
        assert [sender.sender.output.retransmissions for sender in system.parts["senders"]] == [
            0,
            0,
        ]

    @pytest.mark.parametrize("mode", ["balance-rr", "active-backup", "broadcast", "balance-alb"])
    def test_one_event_a_frame_gives_what_arithmetic_gives(self, mode: str) -> None:
        settings = {"unplug eth0": "12 ms"}
        length = 30 if COMPILED else 14
        one, other = (
            run(mode, length, per_frame=per_frame, **settings) for per_frame in (False, True)
        )
        assert one.snapshot() == other.snapshot()

    def test_a_full_buffer_of_the_switch_is_a_loss_that_tcp_repairs(self) -> None:
        settings: dict[str, Any] = {
            "peer:net.ipv4.tcp_wmem": "4096 65536 65536",
            "switch.buffer_per_port": "48 KiB",
        }
        system = run("active-backup", 50, **settings, **SLOW)
        (egress,) = [part for part in system.parts["switch"] if part.path == "switch.to.sut.eth0"]
        assert egress.dropped > 0
        assert sum(sender.sender.output.retransmissions for sender in system.parts["senders"]) > 0
        for (_, _, socket), sender in zip(system.flows, system.parts["senders"], strict=True):
            assert isinstance(socket, TcpSocket)
            assert socket.receiver.seq.copied_seq <= socket.receiver.seq.rcv_nxt
            assert (
                sender.sender.seq.snd_una
                <= socket.receiver.seq.rcv_nxt
                <= sender.sender.seq.snd_nxt
            )

    def test_failover_takes_what_the_monitor_takes_and_then_the_streams_go_on(self) -> None:
        settings: dict[str, Any] = {"unplug eth0": "30 ms", "modprobe bonding miimon": "40"}
        system = make("active-backup", **settings, **SLOW)
        system.run(39 * MS)
        stopped = bytes_of(system)
        assert system.parts["bonds"][0].current == 0
        system.run(2 * MS)
        assert system.parts["bonds"][0].current == 1
        assert sum(bytes_of(system)) - sum(stopped) < 20_000
        # until the retransmission timers, which wait 200 ms, have run
        system.run(500 * MS)
        now = bytes_of(system)
        assert min(more - less for more, less in zip(now, stopped, strict=True)) > 100_000

    def test_a_client_that_only_receives_takes_arp_replies(self) -> None:
        """The clients are told their slaves' addresses at the first tick, after 100 ms."""
        system = run("balance-alb", 110, test="netperf", **SLOW)
        assert system.parts["monitors"][0].rlb.updates == 2
        assert min(bytes_of(system)) > 1_000_000

    def test_frames_by_several_slaves_come_out_of_order_and_tcp_learns_how_far(self) -> None:
        """Streams share the slaves, so queues differ, and so do the ways of a burst's frames."""
        settings: dict[str, Any] = {"test": "netperf", "net.ipv4.tcp_wmem": "4096 65536 65536"}
        system = run("balance-rr", 20, **settings)
        assert sum(early_segments(system)) > 0
        assert early_segments(run("balance-xor", 20, **settings)) == [0, 0]

    def test_a_peer_may_have_a_bond_of_its_own(self) -> None:
        settings = {"peers_simulated": "machines", "peer:ifenslave bond0 eth0": "on"}
        settings |= {"peer:modprobe bonding mode": "balance-xor"}
        system = run("802.3ad", 12, **settings)
        assert [bond.path for bond in system.parts["bonds"]] == [
            "sut.bond0", "peer0.bond0", "peer1.bond0",
        ]  # fmt: skip
        assert min(bytes_of(system)) > 10_000

    def test_streams_of_one_station_share_a_port_of_the_switch_channel(self) -> None:
        """Four streams from the bonded peer: one address, one bucket, one port."""
        system = build(load("x460-bonding-pair"), seed=1)
        system.run(12 * MS)
        single, bonded = bytes_of(system)[:4], bytes_of(system)[4:]
        assert len(bonded) == 4
        assert sum(bonded) < 1.4 * max(single)
        peers_bond = system.parts["bonds"][1]
        assert sum(slave.nic.tx_packets > 100 for slave in peers_bond.slaves) > 1

    def test_addresses_come_from_the_seed(self) -> None:
        effective = load(SCENARIO, settings={"nodes": "1"})
        macs = {seed: build(effective, seed=seed).parts["bonds"][0].station.mac for seed in (1, 2)}
        assert macs[1] != macs[2]
        assert build(effective, seed=1).parts["bonds"][0].station.mac == macs[1]
