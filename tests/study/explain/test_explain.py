"""What holds scenarios back, proven by lifting it."""

import json

import jsonschema
import pytest

import simnet
from simnet.errors import InputError
from simnet.study.explain.explain import Explanation, explain, schema
from tests.scenario.parts.test_ess import SHORT

SCENARIO = "x460-out-of-box"
TIME = "12 ms"
# two streams by two ports of one node, windows large enough not to matter
STREAMS = {
    "nodes": "1",
    "peer:net.ipv4.tcp_wmem": "4096 65536 131072",
    "peer:modprobe e1000 InterruptThrottleRate": "0",
}
FASTER_NETWORK = {
    "switch.link_rate": "2 Gbit/s",
    "nic.link_rate": "2 Gbit/s",
    "peer:nic.link_rate": "2 Gbit/s",
}
PORTS = {"eth0 receive", "peer0.eth0 send"}


def _explained(**settings: str) -> Explanation:
    return explain(SCENARIO, settings=settings, duration=TIME, warm_up=TIME)


@pytest.fixture(scope="module")
def fast() -> Explanation:
    """The network is what is full."""
    return _explained(**STREAMS)


@pytest.fixture(scope="module")
def slow_cpus() -> Explanation:
    """CPUs are."""
    return _explained(**STREAMS, **{"cpu.clock": "1 GHz"})


def test_a_faster_network_lifts_what_the_network_holds_back(fast: Explanation) -> None:
    held = fast.limits[0]
    assert held.first in PORTS
    assert held.next == "cpu0"
    assert held.at_most is not None
    after = _explained(**STREAMS, **FASTER_NETWORK)
    assert after.throughput_bps > 1.5 * fast.throughput_bps


def test_faster_cpus_do_not(fast: Explanation) -> None:
    after = _explained(**STREAMS, **{"cpu.clock": "6 GHz"})
    assert after.throughput_bps == pytest.approx(fast.throughput_bps, rel=0.01)
    assert after.limits[0].first in PORTS


def test_faster_cpus_lift_what_cpus_hold_back(slow_cpus: Explanation) -> None:
    held = slow_cpus.limits[0]
    assert held.first == "cpu0"
    # the next one, and how much is gained until then
    assert held.next in PORTS
    after = _explained(**STREAMS, **{"cpu.clock": "2 GHz"})
    assert after.limits[0].first in PORTS
    gain = after.limits[0].goodput_bps / held.goodput_bps
    assert gain == pytest.approx(held.at_most, rel=0.05)


def test_a_faster_network_does_not(slow_cpus: Explanation) -> None:
    after = _explained(**STREAMS, **{"cpu.clock": "1 GHz"}, **FASTER_NETWORK)
    assert after.throughput_bps < 1.06 * slow_cpus.throughput_bps
    assert after.limits[0].first == "cpu0"


def test_a_window_is_what_is_full_where_it_is_small(fast: Explanation) -> None:
    found = _explained(nodes="1", **{"peer:net.ipv4.tcp_wmem": "4096 8192 8192"})
    held = found.limits[0]
    assert (held.verdict, held.first) == ("window", None)
    assert held.waits[0].reason == "send buffer"
    assert held.waits[0].limit < 8192
    assert fast.throughput_bps > 1.5 * found.throughput_bps


def test_requests_one_at_a_time_wait_for_latency() -> None:
    found = explain("sw1621-t520", settings={"test": "tcp_rr"}, duration="5 ms", warm_up="2 ms")
    held = found.limits[0]
    assert (held.verdict, held.first) == ("latency", None)
    assert max(one.utilisation for one in found.resources) < 0.5


def test_jobs_tell_what_their_time_goes_to() -> None:
    found = explain("ess-sas", settings=SHORT)
    result = simnet.run("ess-sas", settings=SHORT)
    assert found.fingerprint == result.fingerprint
    assert not found.warnings
    (limit,) = found.limits
    shares = {one.reason: one.share for one in limit.waits}
    assert sum(shares.values()) == pytest.approx(1)
    real_s = sum(job.real_s or 0 for job in result.jobs)
    assert shares["blocks"] == pytest.approx(sum(job.io_wait_s for job in result.jobs) / real_s)
    most = limit.waits[0].reason
    assert limit.sentence.startswith(f"nothing is full: its time goes to {most}")


def test_the_run_is_the_one_that_run_makes(fast: Explanation) -> None:
    plain = simnet.run(SCENARIO, settings=STREAMS, duration=TIME, warm_up=TIME)
    assert fast.fingerprint == plain.fingerprint
    busy = {one.name: one.utilisation for one in fast.resources if one.kind == "cpu"}
    assert busy["cpu0"] == pytest.approx(plain.cpus[0].busy / 100)


def test_the_document_is_as_its_schema_says(fast: Explanation) -> None:
    document = json.loads(fast.to_json())
    jsonschema.validate(document, schema())
    assert document["schema"] == "simnet.explanation/1"
    assert Explanation.model_validate_json(fast.to_json()) == fast


def test_knobs_are_told_apart() -> None:
    settings = {**STREAMS, "net.ipv4.tcp_fack": "0"}
    found = explain(SCENARIO, settings=settings, duration="1 ms", warm_up="1 ms")
    assert [knob.name for knob in found.knobs if not knob.modelled] == ["net.ipv4.tcp_fack"]
    assert "net.ipv4.tcp_rmem" in found.modelled_knobs
    assert "net.ipv4.tcp_fack" in found.ignored_knobs
    # of another system, and of another driver
    assert not any("no -o" in name for name in (*found.modelled_knobs, *found.ignored_knobs))
    assert "modprobe e1000e InterruptThrottleRate" not in found.modelled_knobs


def test_tables_and_picture(fast: Explanation) -> None:
    frame = fast.to_frame()
    contexts = frame.loc["cpu0", ["irq", "softirq", "system", "user"]]
    assert frame.loc["cpu0", "utilisation"] == pytest.approx(contexts.sum())
    assert list(fast.to_frame("limits")["verdict"]) == ["resource"] * len(fast.limits)
    with pytest.raises(InputError, match="one of resources"):
        fast.to_frame("cpus")
    axes = fast.plot().axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[:2] == ["this system", fast.resources[0].name]
    assert "cpu0" in names[: names.index("its peers")]


def test_a_bottleneck_between_the_hosts_is_what_is_full() -> None:
    found = explain(
        "wan-transfer",
        tunings=["both-buffers"],
        settings={"netem.delay": "1 ms"},
        duration="50 ms",
        warm_up="300 ms",
    )
    assert found.limits[0].first == "way sut.eth0.to.peer0.eth0"
    assert found.resources[0].kind == "way"
    assert 100 * found.resources[0].utilisation == pytest.approx(100, abs=1)
    free = explain(
        "wan-transfer", settings={"netem.rate": "0 bit/s"}, duration="50 ms", warm_up="300 ms"
    )
    assert "way" not in {one.kind for one in free.resources}
