"""Guests of one host, as a user meets them: where threads run, offloads, requests, bad input."""

from pathlib import Path

import pytest

import simnet
from simnet.errors import InputError
from simnet.scenario.core.load import load
from simnet.scenario.scenarios import find_scenario
from simnet.study.run.result import Result


def run(settings: dict[str, str] | None = None, duration: str = "10 ms") -> Result:
    """A short run between two guests."""
    return simnet.run("vm-virtio", settings=settings, warm_up="10 ms", duration=duration)


@pytest.fixture(scope="module")
def plain() -> Result:
    return run()


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"kvm.bridge": "12000 cycles"}, 0.95),
        ({"cpu.costs.copy_line": "24 cycles", "peer:cpu.costs.copy_line": "24 cycles"}, 0.8),
        ({"virsh emulatorpin": "40"}, 0.7),
        ({"virsh emulatorpin": "1"}, 0.8),
        ({"peer:ethtool -K eth0 tso": "off"}, 0.3),
    ],
    ids=lambda one: next(iter(one), "") if isinstance(one, dict) else "",
)
def test_what_costs_more_carries_less(plain: Result, settings: dict[str, str], most: float) -> None:
    assert run(settings).throughput_bps < most * plain.throughput_bps


def test_a_copy_may_cost_as_little_as_its_range_says(plain: Result) -> None:
    cheap = dict.fromkeys(("cpu.costs.copy_line", "peer:cpu.costs.copy_line"), "6 cycles")
    assert run(cheap).throughput_bps > 1.2 * plain.throughput_bps


def test_a_stream_crosses_in_frames_of_64_kib_through_both_workers(plain: Result) -> None:
    own, far = plain.vhost
    assert (own["name"], far["name"]) == ("vhost", "peer0 vhost")
    payload = plain.throughput_bps / 8 / own["frames_rx_per_s"]
    assert 50_000 < payload <= 45 * 1448
    # what one takes the other gives
    assert own["frames_rx_per_s"] == pytest.approx(far["frames_tx_per_s"], rel=0.02)
    assert far["frames_rx_per_s"] == pytest.approx(own["frames_tx_per_s"], rel=0.02)
    assert own["drops"] == far["drops"] == 0
    assert max(own["busy"], far["busy"]) > 90


def test_interrupts_are_those_that_the_workers_ask_for() -> None:
    # a worker asks for one just before the guest wants it, or just after
    found = run(duration="40 ms")
    signals = found.vhost[0]["signals_per_s"]
    assert found.ports[0].interrupts_per_s == pytest.approx(signals, rel=0.02)
    assert signals < found.vhost[0]["frames_rx_per_s"]


def test_each_pair_of_queues_has_a_worker_of_its_own(plain: Result) -> None:
    result = simnet.run("vm-virtio", tunings=["four-pairs"], warm_up="10 ms", duration="10 ms")
    own = [row for row in result.vhost if not str(row["name"]).startswith("peer")]
    assert [row["name"] for row in own] == ["vhost0", "vhost1", "vhost2", "vhost3"]
    assert all(row["frames_rx_per_s"] > 0 for row in own)
    assert result.throughput_bps > 2 * plain.throughput_bps


def test_polling_makes_requests_quicker_and_costs_cpus() -> None:
    latency, busy = {}, {}
    for name, settings in {
        "none": {"/sys/module/kvm/parameters/halt_poll_ns": "0"},
        "halt": {},
        "vhost": {"qemu netdev poll-us": "50", "peer:qemu netdev poll-us": "50"},
    }.items():
        result = run({"test": "tcp_rr"} | settings)
        latency[name] = result.flows[0].latency_us.p50 or 0.0
        busy[name] = result.vhost[0]["busy"]
    assert 0 < latency["vhost"] < latency["halt"] < latency["none"]
    assert busy["vhost"] > 2 * busy["halt"]


def test_a_guest_has_as_many_cpus_as_are_pinned() -> None:
    host = load("vm-virtio", settings={"virsh vcpupin": "0-2,40"}).host
    assert host.online == host.cpus_of(0) == (0, 1, 2, 3)
    assert host.node_of(3) == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"virsh vcpupin": "0,99"}, "CPU 99: the host has CPUs 0 to 63"),
        ({"virsh emulatorpin": "64"}, "CPU 64: the host has CPUs 0 to 63"),
        ({"virsh vcpupin": "0"}, "CPU 1 is beyond the machine"),
        ({"ethtool -G eth0 rx": "300"}, "expected one of 256, 512, 1024 descriptors, got 300"),
        (
            {"ethtool -C eth0 rx-usecs": "10"},
            "virtio_net has no such knob: vhost-net does not offer",
        ),
        ({"ethtool -L eth0 combined": "9"}, "eth0 has 8 queues"),
        ({"peers_simulated": "ends"}, "the ends are guests of one host"),
        ({"test": "relay"}, "relay reaches no guest here"),
    ],
    ids=lambda one: next(iter(one), "") if isinstance(one, dict) else "",
)
def test_what_cannot_be_is_one_line(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load("vm-virtio", settings=settings)


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        ({'kvm = "kvm-x86"\n': ""}, "a guest needs a host with KVM"),
        ({'[system.guest]\nvcpupin = "0-1"\nemulatorpin = "2"\n': ""}, "only in a guest"),
        ({"lake-guests": "lake-e810", "irq/24": "irq/80"}, "its driver ice is none of a guest"),
    ],
    ids=["no KVM", "no guest", "no virtio"],
)
def test_a_guest_needs_a_host_and_its_devices(
    tmp_path: Path, replaced: dict[str, str], message: str
) -> None:
    file = tmp_path / "guests.toml"
    text = find_scenario("vm-virtio").read_text(encoding="utf-8")
    for old, new in replaced.items():
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load(str(file))


class TestPeerOutside:
    """A stream between a guest and a server beyond the host's own port."""

    LINE = 25e9 * 1448 / 1538

    def run(self, **settings: str) -> Result:
        return simnet.run("vm-outside", settings=settings, warm_up="40 ms", duration="10 ms")

    @pytest.mark.parametrize("test", ["netserver", "netperf"])
    def test_a_stream_fills_the_line_both_ways(self, test: str) -> None:
        result = self.run(test=test)
        assert 0.97 * self.LINE < result.throughput_bps <= 1.001 * self.LINE
        # large segments cross between guest and host
        (worker,) = result.vhost
        way = "rx" if test == "netserver" else "tx"
        assert result.throughput_bps / 8 / worker[f"frames_{way}_per_s"] > 5 * 1448

    def test_a_request_waits_for_the_switch_too(self) -> None:
        times = []
        for latency in ("600 ns", "10600 ns"):
            asked = {"test": "tcp_rr", "switch.latency": latency}
            found = self.run(**asked).flows[0].latency_us
            assert found is not None
            assert found.p50 is not None
            times.append(found.p50)
        # once each way
        assert times[1] - times[0] == pytest.approx(20, abs=1)

    def test_the_hosts_cpu_is_the_limit_where_it_is_slow(self) -> None:
        slow = self.run(**{"kvm.bridge": "40000 cycles"})
        assert slow.throughput_bps < 0.8 * self.LINE

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"guest.uplink_cpus": "2"}, "CPU 2 has a thread of the guest"),
            ({"guest.uplink_cpus": "64"}, "CPU 64: the host has CPUs 0 to 63"),
        ],
    )
    def test_its_cpus_are_the_hosts_and_free(self, settings: dict[str, str], message: str) -> None:
        with pytest.raises(InputError, match=message):
            load("vm-outside", settings=settings)

    def test_without_them_the_peer_has_to_be_a_guest(self, tmp_path: Path) -> None:
        text = find_scenario("vm-outside").read_text("utf-8")
        (tmp_path / "bad.toml").write_text(text.replace('uplink_cpus = "3"\n', ""), "utf-8")
        with pytest.raises(InputError, match=r"for a peer outside, guest\.uplink_cpus says"):
            load(str(tmp_path / "bad.toml"))

    def test_several_queues_have_a_cpu_each(self) -> None:
        several = {"guest.uplink_cpus": "3-4", "connections": "4"}
        found = simnet.explain(
            "vm-outside", settings=several, warm_up="40 ms", duration="5 ms"
        ).resources
        used = {one.name: one.utilisation for one in found}
        assert min(used["host cpu3"], used["host cpu4"]) > 0.1
