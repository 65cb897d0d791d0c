"""Every datagram is delivered, dropped under a name, or still in flight, on every path."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

MS = 10**9
RPS = "/sys/class/net/eth0/queues/rx-*/rps_cpus"

loads = st.fixed_dictionaries(
    {
        "udp.flows": st.sampled_from([1, 3, 8]),
        "udp.rate": st.sampled_from([50_000, 400_000, 1_500_000]),
        "udp.size": st.sampled_from(["64 B", "600 B", "1472 B"]),
        "udp.burst": st.sampled_from([1, 40, 700]),
        "udp.arrivals": st.sampled_from(["periodic", "poisson"]),
        "udp.workers": st.integers(1, 5),
        "udp.reuseport": st.sampled_from(["on", "off"]),
        "udp.placement": st.sampled_from(["pinned", "scheduler"]),
        "udp.service": st.sampled_from(["0 us", "1 us", "30 us"]),
        "udp.rcvbuf": st.sampled_from(["0 B", "1 B", "4 KiB", "1 MiB"]),
    },
    optional={
        RPS: st.sampled_from(["2", "f0"]),
        "net.core.netdev_max_backlog": st.sampled_from(["1", "50"]),
        "net.ipv4.udp_mem": st.sampled_from(["8 8 8", "40 60 80"]),
        "net.core.rmem_max": st.just("4194304"),
        "ethtool -G eth0 rx": st.sampled_from(["64", "4096"]),
        "ethtool -L eth0 combined": st.sampled_from(["1", "4"]),
        "switch.buffer_per_port": st.just("64 KiB"),
        "system.kernel": st.sampled_from(["linux-5.4", "linux-6.12", "linux-6.18"]),
    },
)


containers = st.fixed_dictionaries(
    {
        "container network": st.sampled_from(["host", "route", "route-bridge", "bridge"]),
        "container.conntrack": st.sampled_from(["on", "off"]),
    },
    optional={
        "ip netns exec container ethtool -K eth0 gro": st.just("on"),
        "ethtool --features veth tso": st.just("off"),
        "ip netns exec container /sys/class/net/eth0/queues/rx-0/rps_cpus": st.just("c"),
    },
)


answering = st.fixed_dictionaries(
    {
        "udp.answer": st.sampled_from(["1 B", "300 B", "1472 B"]),
        "udp.batch": st.sampled_from([1, 3, 64]),
        "setsockopt SO_ATTACH_REUSEPORT_CBPF": st.sampled_from(["hash", "cpu"]),
    },
    optional={
        "net.core.wmem_default": st.just("4608"),
        "/sys/class/net/eth0/queues/tx-*/xps_cpus": st.just("f"),
        "net.core.default_qdisc": st.sampled_from(["fq", "fq_codel"]),
    },
)


def lost(counts: Any) -> int:
    """Datagrams dropped anywhere on their way in."""
    places = ("wire", "ring", "backlog", "veth", "rcvbuf_errors", "mem_errors")
    return sum(getattr(counts, place, 0) for place in places)


@settings(max_examples=15)
@given(loads, containers)
def test_datagrams_to_a_container_are_delivered_or_dropped_under_a_name(
    chosen: dict[str, Any], way: dict[str, Any]
) -> None:
    chosen.pop("system.kernel", None)
    every_datagram_has_an_end("container-udp", chosen | way)


@settings(max_examples=30)
@given(loads, answering)
def test_requests_are_answered_once_or_dropped_under_a_name(
    chosen: dict[str, Any], answer: dict[str, Any]
) -> None:
    if chosen["udp.reuseport"] == "off":
        answer = answer | {"setsockopt SO_ATTACH_REUSEPORT_CBPF": "hash"}
    every_datagram_has_an_end("dns-udp", chosen | answer)


@settings(max_examples=60)
@given(loads)
def test_datagrams_are_delivered_or_dropped_under_a_name(chosen: dict[str, Any]) -> None:
    every_datagram_has_an_end("media-udp", chosen)


def every_datagram_has_an_end(scenario: str, chosen: dict[str, Any]) -> None:
    given_ = {name: str(value) for name, value in chosen.items()}
    if given_.get("system.kernel") == "linux-5.4":
        given_ |= {"ethtool -C eth0 adaptive-rx": "off", "ethtool -C eth0 adaptive-tx": "off"}
    system = build(load(scenario, settings=given_), seed=1)
    built = system.parts["udp"]
    for _ in range(3):
        system.run(MS)
        counts = built.counts()
        assert 0 <= counts.waiting <= counts.sent - counts.received - lost(counts)
        assert counts.sent_bytes == counts.sent * built.sources[0].size_bytes
    for source in built.sources:
        source.burst = 0
    system.run(400 * MS)
    counts = built.counts()
    assert counts.sent == counts.received + lost(counts)
    assert counts.waiting == 0
    assert counts.received == sum(socket.latency.count for socket in built.sockets)
    if built.serving is not None:
        assert counts.received == counts.answers + counts.qdisc
        assert counts.answers == sum(one.latency.count for one in built.serving.answers)
        assert counts.received == sum(reader.answered for reader in built.readers)
        assert all(output.wmem_alloc == 0 for output in built.serving.outputs)
    for socket in built.sockets:
        assert socket.memory.rmem_alloc == 0
    system.close()
