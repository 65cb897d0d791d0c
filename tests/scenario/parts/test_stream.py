"""One stream over 100 GbE: what each optimisation changes, at both ends."""

from functools import cache

import pytest

import simnet
from simnet.host.ledger import KINDS
from simnet.net.tcp.send.sender import TcpSender
from simnet.scenario.core.load import load
from simnet.scenario.parts.tcp.build import sender_settings
from simnet.study.run.result import Result

SCENARIO = "stream-100g"
ALL = ("tso-gro", "jumbo", "arfs")


@cache
def run(*tunings: str, per_frame: bool = False, **settings: str) -> Result:
    return simnet.run(
        SCENARIO,
        tunings=tunings,
        settings=settings,
        warm_up="20 ms",
        duration="20 ms",
        per_frame=per_frame,
    )


def busy(result: Result) -> set[int]:
    return {cpu.id for cpu in result.cpus if cpu.busy > 1}


class TestPlacement:
    def test_application_and_interrupt_have_a_cpu_of_the_port_s_node_each(self) -> None:
        assert busy(run()) == {1, 2}

    def test_arfs_brings_the_interrupt_to_the_application(self) -> None:
        assert busy(run("arfs")) == {1}

    def test_on_a_remote_node_the_application_takes_it_along(self) -> None:
        result = run(*ALL, "remote-node")
        assert busy(result) == {7}
        assert result.throughput_bps < run(*ALL).throughput_bps


class TestOptimisations:
    def test_offload_takes_tcp_and_ip_out_of_the_receiver_s_work(self) -> None:
        without, merged = run(), run("tso-gro")
        assert merged.throughput_bps > 2 * without.throughput_bps
        assert merged.ends[0].tcpip_percent < without.ends[0].tcpip_percent / 4

    def test_larger_frames_cost_the_driver_less(self) -> None:
        assert run(*ALL[:2]).ends[0].netdev_percent < run("tso-gro").ends[0].netdev_percent / 2

    def test_one_cpu_for_all_needs_no_line_of_the_socket_from_another(self) -> None:
        assert run("tso-gro").ends[0].lock_percent > 0
        assert run(*ALL).ends[0].lock_percent == 0

    def test_a_device_without_tso_leaves_the_cutting_to_the_sender(self) -> None:
        off, on = (run(*ALL, **{"peer:ethtool -K eth0 tso": state}) for state in ("off", "on"))
        rates = [one.throughput_bps / one.ends[1].cpu_percent for one in (off, on)]
        assert rates[0] < rates[1]


class TestCache:
    def test_what_waits_longer_than_the_devices_share_is_fetched_again(self) -> None:
        def lost(size: str) -> float:
            work = {row.mechanism: row.percent for row in run(*ALL, **{"cpu.llc": size}).work}
            return work.get("payload that the last-level cache has lost", 0.0)

        found = [lost(size) for size in ("1 MiB", "19.25 MiB", "1 GiB")]
        assert found[0] > found[1] > found[2]
        assert found[2] < 0.01


class TestEnds:
    def test_both_machines_are_told_of(self) -> None:
        result = run("tso-gro")
        assert [end.name for end in result.ends] == ["sut", "peer0"]
        for end in result.ends:
            shares = [getattr(end, f"{kind}_percent") for kind in KINDS]
            assert sum(shares) == pytest.approx(100)
        assert result.ends[0].cpu_percent == pytest.approx(sum(cpu.busy for cpu in result.cpus))

    def test_a_machine_without_modelled_caches_has_none(self) -> None:
        result = simnet.run("sw1621-t520", warm_up="1 ms", duration="2 ms")
        assert result.ends == ()


class TestShortFlows:
    def test_requests_share_the_application_s_cpu(self) -> None:
        result = run(*ALL, "16-short-flows")
        assert [flow.name for flow in result.flows] == [
            "eth0",
            *(f"eth0.short.{n}" for n in range(16)),
        ]
        assert all(flow.goodput_bps > 0 for flow in result.flows)
        assert busy(result) == {1}
        assert result.flows[0].goodput_bps < run(*ALL).flows[0].goodput_bps

    def test_there_are_none_unless_asked_for(self) -> None:
        assert [flow.asks for flow in load(SCENARIO).flows] == [False]


@pytest.mark.parametrize("tunings", [(), ("tso-gro",), ALL])
def test_the_reference_mode_agrees(tunings: tuple[str, ...]) -> None:
    reference, found = run(*tunings, per_frame=True), run(*tunings)
    assert found.throughput_bps == pytest.approx(reference.throughput_bps, rel=0.02)
    assert found.ends[0].cpu_percent == pytest.approx(reference.ends[0].cpu_percent, rel=0.02)


class TestBelowTcp:
    """Knobs of the sender, which is the peer."""

    def sent(self, name: str, value: str) -> Result:
        return run("tso-gro", **{f"peer:net.ipv4.{name}": value})

    def test_less_than_two_large_segments_may_be_queued(self) -> None:
        usual = run("tso-gro").throughput_bps
        assert self.sent("tcp_limit_output_bytes", "40000").throughput_bps < 0.9 * usual
        assert self.sent("tcp_limit_output_bytes", "1048576").throughput_bps == usual

    def test_without_autocorking_the_rest_of_a_send_goes_alone(self) -> None:
        assert (
            self.sent("tcp_autocorking", "0").throughput_bps < 0.9 * run("tso-gro").throughput_bps
        )

    def test_each_sysctl_is_the_sender_s(self) -> None:
        given = {"min_tso_segs": 3, "tso_rtt_log": 5, "pacing_ss_ratio": 150, "pacing_ca_ratio": 90}
        settings = {f"net.ipv4.tcp_{name}": str(value) for name, value in given.items()}
        host = load(SCENARIO, settings={"system.kernel": "linux-6.6", **settings}).host
        queue = TcpSender(sender_settings(host, host.ports[0])).output.small_queue
        assert {name: getattr(queue, name) for name in given} == given
