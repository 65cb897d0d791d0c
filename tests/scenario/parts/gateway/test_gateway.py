"""A home router: which CPU does what, what a mask and a flow table change, what is refused."""

import pytest

import simnet
from simnet.host.costs import Spread
from simnet.net.forward.far_end import FarEnd
from simnet.net.forward.gateway import GoesOut
from simnet.net.link.skb import new_skb
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

MS = 10**9
PORT = "/sys/class/net/eth0/queues/rx-0/rps_cpus"
BRIDGE = "/sys/class/net/br-lan/queues/rx-0/rps_cpus"
# no component of work is left to chance
EVEN = {"cpu.work_spread": "0"}


def result(port: str = "0", bridge: str = "0", *tunings: str, **more: str) -> simnet.Result:
    settings = EVEN | {PORT: port, BRIDGE: bridge} | more
    return simnet.run(
        "home-router", settings=settings, tunings=tunings, warm_up="40 ms", duration="30 ms"
    )


def busy(found: simnet.Result) -> list[int]:
    return [round(100 - cpu.idle) for cpu in found.cpus]


def test_without_masks_the_cpu_of_the_interrupt_does_all() -> None:
    found = result()
    assert busy(found) == [100, 0]
    assert found.gateway.handed_over == 0


def test_a_mask_of_the_bridge_moves_acknowledgements_alone() -> None:
    found, none = result("0", "2"), result()
    first, second = busy(found)
    assert first == 100
    assert 20 < second < 60
    assert found.throughput_bps > 1.2 * none.throughput_bps
    assert 0.4 < found.gateway.bridged / (found.gateway.received - found.gateway.bridged) < 0.6


def test_a_mask_of_the_interrupts_own_cpu_only_costs() -> None:
    none = result().throughput_bps
    assert result("1", "0").throughput_bps < 0.95 * none
    assert 0.9 * none < result("0", "1").throughput_bps < none


def test_packets_of_the_port_and_of_the_bridge_on_different_cpus() -> None:
    both, port = result("2", "1"), result("2", "0")
    assert busy(port)[1] == 100
    assert min(busy(both)) > 70
    assert both.throughput_bps > 1.1 * port.throughput_bps


def test_a_flow_table_makes_packets_cheaper_and_leaves_masks_their_sense() -> None:
    found, none = result("0", "0", "software-offload"), result()
    assert found.throughput_bps > 1.5 * none.throughput_bps
    assert result("0", "2", "software-offload").throughput_bps > 1.05 * found.throughput_bps


def test_lists_spare_packets_of_the_wide_area_alone() -> None:
    spared, full = result(), result(**{"gateway.list_saved": "0 cycles"})
    assert spared.throughput_bps > 1.1 * full.throughput_bps
    # those that RPS has moved, those of a flow table and of a switch with DSA are single
    for given in (("2", "0"), ("0", "0", "software-offload")):
        same = result(*given, **{"gateway.list_saved": "0 cycles"})
        assert same.gateway == result(*given).gateway
    dsa = {"gateway.switch_ports": "dsa"}
    none = result(**dsa, **{"gateway.list_saved": "0 cycles"})
    assert none.gateway == result(**dsa).gateway


def test_the_line_is_the_limit_of_a_fast_router() -> None:
    found = result("2", "4", "bcm4908", **{"gateway.forward": "1000 cycles"})
    assert found.throughput_bps == pytest.approx(941_000_000, rel=0.005)


def test_streams_share_what_the_router_carries() -> None:
    one, four = result(), result(**{"gateway.streams": "4"})
    assert len(four.flows) == 4
    assert four.throughput_bps == pytest.approx(one.throughput_bps, rel=0.1)


def test_a_cpu_that_sends_takes_what_the_other_wants_to_send() -> None:
    system = build(load("home-router", settings={BRIDGE: "2"}), seed=1)
    system.run(20 * MS)
    counts = system.parts["gateway"].counts()
    assert 0 < counts.handed_over < counts.sent // 2
    system.close()


def test_a_packet_that_is_sent_for_another_cpu_costs_the_one_that_sends() -> None:
    system = build(load("home-router", settings=EVEN), seed=1)
    built = system.parts["gateway"]
    gateway, (first, second) = built.gateway, system.machine.cpus
    out = GoesOut(built.nic.sim, "out", gateway, bridged=False, spread=Spread(0, 0))
    out.way = FarEnd(built.nic.sim, "far")
    frames = [new_skb(out, 0, 1448, 0, 0, 1538, push=False) for _ in range(4)]
    for skb in frames:
        skb.tsval = 0
    whole = gateway.send(frames[0], first)
    assert gateway.send(frames[1], first) == whole > gateway.xmit_ps
    assert gateway.owes_ps(first) == 0
    assert gateway.send(frames[2], second) < gateway.xmit_ps
    assert gateway.owes_ps(second) == 0
    assert gateway.owes_ps(first) >= whole
    assert gateway.owes_ps(first) == 0
    assert (gateway.sent, gateway.handed_over, out.way.frames) == (4 - 1, 1, 3)
    system.close()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({BRIDGE: "4"}, "br-lan.*CPU 2, but the machine has 0 to 1"),
        ({"system.kernel": "linux-5.4"}, "linux 5.4 is not modelled: expected Linux 5.10 on"),
        (
            {"system.server": "dell-r410-82574"},
            "expected one port, and two peers|e1000e is not modelled: expected one of bcm4908_enet",
        ),
    ],
)
def test_what_is_not_modelled_is_refused(settings: dict[str, str], said: str) -> None:
    with pytest.raises(simnet.InputError, match=said):
        load("home-router", settings=settings)


def test_the_commands_are_those_of_openwrt() -> None:
    found = load("home-router", settings={BRIDGE: "2"}, tunings=("software-offload",))
    commands = {one.name: one.apply for one in found.applied}
    assert commands[BRIDGE] == f"echo 2 > {BRIDGE}"
    offload = commands["uci firewall.@defaults[0].flow_offloading"]
    assert offload.startswith("uci set firewall.@defaults[0].flow_offloading=1; uci commit")


def test_values_that_nothing_reads_are_named() -> None:
    plain = load("home-router", settings={"gateway.offload": "1000 cycles"})
    assert any("there is no flow table" in remark for remark in plain.remarks)
