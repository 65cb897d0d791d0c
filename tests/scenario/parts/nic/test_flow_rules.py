"""ethtool -N and -K ntuple: what they make of a scenario, what they refuse, what is typed."""

from typing import Any

import pytest

import simnet
from simnet.errors import InputError
from simnet.scenario.commands.commands import commands
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import load
from simnet.scenario.parts.nic.flow_steering import FlowSteering
from simnet.scenario.parts.nic.schema import Nic
from simnet.scenario.system.build import build

RULES = "ethtool -N eth0"
NTUPLE = "ethtool -K eth0 ntuple"
ONE = "flow-type tcp4 dst-port 32768 action 3"
RFS = {
    "/sys/class/net/eth0/queues/rx-*/rps_flow_cnt": "2048",
    "net.core.rps_sock_flow_entries": "32768",
}
FEW = {"connections": "12"}
PLACED = {"taskset --cpu-list": "16-31"}
MS = 10**9


def rule(port: int, queue: int) -> str:
    return (
        "flow-type tcp4 src-ip 10.0.0.2 dst-ip 10.0.0.1"
        f" src-port 12865 dst-port {port} action {queue}"
    )


def web(settings: dict[str, str], *tunings: str) -> Effective:
    return load("web-25g", settings=FEW | settings, tunings=tunings)


def steering(effective: Effective) -> FlowSteering:
    nic = effective.ports[0].nic
    assert isinstance(nic, FlowSteering)
    return nic


def ran(effective: Effective, ms: int = 14) -> Any:
    system = build(effective, seed=1)
    system.run(ms * MS)
    return system


def fingerprint(settings: dict[str, str], *tunings: str) -> str:
    return str(ran(web(settings, *tunings), 12).fingerprint())


class TestRules:
    def test_flows_go_to_the_queue_of_their_rule(self) -> None:
        every = "; ".join(rule(32768 + flow, 5 + flow % 2) for flow in range(12))
        port = ran(web({RULES: every})).nics[0]
        received = {number: q.rx_packets for number, q in enumerate(port.queues) if q.rx_packets}
        assert set(received) == {5, 6}
        assert port.rx_packets == sum(received.values())
        # some are on their way
        assert 0 <= port.rules.frames - port.rx_packets <= len(received) * 12

    def test_a_part_of_the_flow_s_fields_is_enough(self) -> None:
        port = ran(web({RULES: "flow-type tcp4 src-ip 10.0.0.2 action 9"})).nics[0]
        assert port.queues[9].rx_packets == port.rx_packets > 0

    def test_what_no_rule_names_is_rss_s(self) -> None:
        plain, ruled = ran(web({})).nics[0], ran(web({RULES: ONE})).nics[0]
        assert plain.rules is None
        others = {queue for queue, one in enumerate(plain.queues) if one.rx_packets}
        assert {queue for queue, one in enumerate(ruled.queues) if one.rx_packets} <= others | {3}
        assert 0 < ruled.rules.frames < ruled.rx_packets

    def test_a_peer_has_rules_too(self) -> None:
        effective = web({f"peer:{RULES}": "flow-type tcp4 dst-port 12865 action 4"})
        nic = effective.peers[0].ports[0].nic
        assert isinstance(nic, FlowSteering)
        assert nic.flow_rules == ("flow-type tcp4 dst-port 12865 action 4",)
        assert fingerprint({f"peer:{RULES}": "flow-type tcp4 dst-port 12865 action 4"}) != (
            fingerprint({})
        )


class TestRefusals:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({RULES: rule(32768, 32)}, "eth0 has no queue 32: it has 0 to 31"),
            (
                {RULES: rule(32768, 4), "ethtool -L eth0 combined": "4"},
                "eth0 has no queue 4: it has 0 to 3",
            ),
            (
                {RULES: rule(80, 3)},
                r"action 3; it has src-ip .* dst-ip 10.0.0.1 src-port 12865 dst-port 32768-32779",
            ),
            ({RULES: "flow-type udp4 dst-port 32768 action 3"}, "expected a rule such as"),
            ({RULES: "flow-type tcp4 dst-port 32768"}, "expected a rule such as"),
            ({RULES: "flow-type tcp4 action 3"}, "expected a rule with some of src-ip, dst-ip"),
            ({RULES: "flow-type tcp4 vlan 3 action 3"}, "some of .*, got vlan"),
            ({RULES: "flow-type tcp4 src-ip 10.0.0 action 3"}, "src-ip: expected an address"),
            ({RULES: "flow-type tcp4 src-port 65536 action 3"}, "a port from 0 to 65535"),
            ({RULES: "flow-type tcp4 src-port 12865 action -1"}, "action: expected a queue"),
            ({RULES: f"flow-type tcp4 src-port {'9' * 5000} action 1"}, "a port from 0 to"),
            ({RULES: f"{ONE};"}, "expected a rule such as"),
            ({RULES: "flow-type tcp4 src-port 1 src-port 2 action 1"}, "expected a rule such as"),
            (
                {RULES: f"{ONE}; {rule(32769, 3)}"},
                "all rules of a port of ice name the same fields",
            ),
            ({RULES: ONE, NTUPLE: "off"}, "ice takes rules with ntuple only: ethtool -K eth0"),
        ],
    )
    def test_one_line_says_what_is_wrong(self, settings: dict[str, str], message: str) -> None:
        with pytest.raises(InputError, match=message) as refused:
            web(settings)
        assert "\n" not in str(refused.value)

    @pytest.mark.parametrize("name", [RULES, NTUPLE])
    def test_a_driver_without_it_names_those_that_have_it(self, name: str) -> None:
        value = ONE if name == RULES else "on"
        with pytest.raises(
            InputError, match=r"virtio_net has no such knob; .* i40e, ice, ixgbe, mlx5$"
        ):
            load("vm-virtio", settings={name: value})


class TestWithoutEffect:
    @pytest.mark.parametrize(
        ("more", "why"),
        [
            ({}, "RFS is off, by rps_flow_cnt or net.core.rps_sock_flow_entries"),
            ({"net.core.rps_sock_flow_entries": "4096"}, "RFS is off"),
            ({"ethtool -L eth0 combined": "1"} | RFS, "eth0 has one receive queue"),
        ],
    )
    def test_ntuple_says_so(self, more: dict[str, str], why: str) -> None:
        said = [line for line in web({NTUPLE: "off"} | more).remarks if line.startswith(NTUPLE)]
        assert len(said) == 1
        assert f"has no effect in this scenario, because {why}" in said[0]
        assert fingerprint({NTUPLE: "off"} | more) == fingerprint(more)

    def test_with_rfs_it_has(self) -> None:
        assert not [line for line in web({NTUPLE: "on"} | RFS).remarks if line.startswith(NTUPLE)]
        assert fingerprint({NTUPLE: "off"} | RFS) != fingerprint(RFS)

    def test_i40e_has_rules_and_no_arfs(self) -> None:
        driver = Nic.variants()["i40e"]
        assert issubclass(driver, FlowSteering)
        model = driver.model_construct(driver="i40e", ntuple=True, flow_rules=())
        assert model.why_no_arfs("6.6") == "i40e has no aRFS; ice and mlx5 have it"
        assert model.rx_flow_steer("6.6") is None

    @pytest.mark.parametrize(
        ("name", "since", "before"), [("ice", "5.8", "5.7"), ("mlx5", "4.7", "4.6")]
    )
    def test_a_driver_has_arfs_since_a_version(self, name: str, since: str, before: str) -> None:
        driver = Nic.variants()[name]
        assert issubclass(driver, FlowSteering)
        model = driver.model_construct(
            driver=name, ntuple=True, flow_rules=(), command_latency_ps=1
        )
        assert model.rx_flow_steer(since) is not None
        assert model.why_no_arfs(before) == f"{name} has aRFS since Linux {since}"

    def test_arfs_of_ice_needs_whole_flows(self) -> None:
        model = steering(web({RULES: ONE} | RFS))
        assert "aRFS of ice needs rules with all of src-ip, dst-ip" in model.why_no_arfs("6.6")
        assert model.rx_flow_steer("6.6") is None
        whole = steering(web({RULES: rule(32768, 3)} | RFS))
        assert whole.rx_flow_steer("6.6") is not None


class TestCommands:
    def test_each_rule_has_a_location_and_all_go_again(self) -> None:
        rules = f"{rule(32768, 3)}; {rule(32769, 4)}"
        (typed,) = commands(web({}), web({RULES: rules}))
        first, second = rule(32768, 3), rule(32769, 4)
        assert typed.apply == (f"ethtool -N eth0 {first} loc 0; ethtool -N eth0 {second} loc 1",)
        listed = "ethtool -n eth0 | sed -n 's/^Filter: //p'"
        undo = f"for loc in $({listed}); do ethtool -N eth0 delete $loc; done"
        assert typed.undo == (undo,)

    def test_the_feature(self) -> None:
        (typed,) = commands(web(RFS), web({NTUPLE: "off"} | RFS))
        assert (typed.apply, typed.undo) == (
            ("ethtool -K eth0 ntuple off",),
            ("ethtool -K eth0 ntuple on",),
        )

    def test_a_file_lists_them(self) -> None:
        assert steering(web({RULES: f" {ONE} ;{ONE}"})).flow_rules == (ONE, ONE)
        assert steering(web({RULES: "none"})).flow_rules == ()


class TestAcceleratedRfs:
    def test_frames_come_where_their_process_is(self) -> None:
        system = ran(web(PLACED, "arfs"))
        port = system.nics[0]
        before = [queue.rx_packets for queue in port.queues]
        system.run(4 * MS)
        came = [queue.rx_packets - then for queue, then in zip(port.queues, before, strict=True)]
        assert sum(came[16:]) > 0.9 * sum(came)
        software = ran(web(PLACED, "rfs-all"), 18).nics[0]
        shares = [queue.rx_packets for queue in software.queues]
        assert sum(shares[16:]) < 0.8 * sum(shares)

    def test_the_result_counts_its_rules(self) -> None:
        result = simnet.run(
            "web-25g", settings=FEW | PLACED, tunings=("arfs",), warm_up="14 ms", duration="2 ms"
        )
        row = result.to_frame("flow_rules").loc["eth0"]
        assert row["rules"] == 0
        assert 6 <= row["steered"] <= 12
        assert row["frames_percent"] > 30

    def test_one_stream_comes_to_its_application_without_a_mask_placed_by_hand(self) -> None:
        system = ran(load("stream-100g", tunings=("tso-gro", "arfs-moves")), 20)
        port = system.nics[0]
        before = [queue.rx_packets for queue in port.queues]
        system.run(5 * MS)
        came = [queue.rx_packets - then for queue, then in zip(port.queues, before, strict=True)]
        assert came[0] == 0
        assert came[1] > 1000
