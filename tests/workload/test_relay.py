"""A relay's workers, load and far hosts."""

import itertools
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet import _engine
from simnet.kernel.random import stream
from simnet.workload.alias import Alias
from simnet.workload.relay_load import Deliveries
from simnet.workload.relay_master import assign_connections, lognormal_weights
from simnet.workload.relay_system import Load, Workers
from tests.host.parts import MS, US
from tests.house.trees import ROOT, run
from tests.workload.relays import COSTS_NS, RelayRig

SECOND = 10**12
ANYWHERE: list[frozenset[int] | None] = [None]


def loads(**more: Any) -> st.SearchStrategy[Load]:
    """Loads from light to more than the machine can carry."""
    return st.builds(
        Load,
        rate_mhz=st.integers(10**6, 5 * 10**7),
        sizes=st.lists(st.tuples(st.integers(1, 4000), st.integers(1, 5)), min_size=1, max_size=3),
        forward_permille=st.sampled_from([0, 300, 500, 1000]),
        sigma=st.sampled_from([0.0, 1.0]),
        batch_permille=st.sampled_from([1000, 1500, 10_000]),
        **more,
    )


def rigs() -> st.SearchStrategy[RelayRig]:
    """Relays with few connections: slow code, devices that lose frames, small send buffers."""
    return st.builds(
        RelayRig,
        connections=st.integers(1, 6),
        workers=st.sampled_from(
            [Workers(ANYWHERE), Workers([frozenset({0}), *ANYWHERE], "random", buffer_bytes=500)]
        ),
        load=loads(),
        seed=st.integers(0, 100),
        cpus=st.sampled_from([1, 2]),
        costs_ns=st.sampled_from([COSTS_NS, COSTS_NS | {"user_relay": 80_000}]),
        nic=st.sampled_from([{}, {"rx_buffers": 3}]),
        sender=st.sampled_from([None, {"wmem_default": 4000, "wmem_max": 4000}]),
    )


# -- what no load may break -------------------------------------------------------------------


def check_stream(ends: tuple[Any, Any, Any, Any]) -> None:
    """Bytes of one direction of a connection are where they are, in order, once."""
    source, incoming, outgoing, sink = ends
    assert source.created >= source.written == source.endpoint.sender.seq.write_seq
    assert source.written >= incoming.socket.receiver.seq.rcv_nxt >= incoming.socket.delivered
    assert outgoing.socket.sender.seq.write_seq >= sink.endpoint.receiver.seq.rcv_nxt == sink.got


@settings(max_examples=8, deadline=None)
@given(rigs(), st.integers(1, 3))
def test_messages_and_bytes_are_delivered_on_their_way_or_waiting(rig: RelayRig, ms: int) -> None:
    rig.run(ms * MS)
    relay = rig.relay
    for directed in (relay.forward, relay.backward):
        assert directed.offered >= directed.delivered == directed.latency.count
    held = 0
    for client, front, back, server in zip(
        relay.clients, relay.fronts, relay.backs, relay.servers, strict=True
    ):
        check_stream((client, front, back, server))
        check_stream((server, back, front, client))
        held += front.socket.delivered - back.left - back.socket.sender.seq.write_seq
        held += back.socket.delivered - front.left - front.socket.sender.seq.write_seq
    # what a worker has in its buffer at this moment is the only thing not in a side's books
    assert 0 <= held <= sum(worker.buffer_bytes for worker in relay.workers)
    counts = relay.counters()
    assert counts["offered_bytes"] == sum(end.created for end in relay.clients + relay.servers)
    assert counts["delivered_bytes"] == sum(end.got for end in relay.clients + relay.servers)


@settings(max_examples=8, deadline=None)
@given(rigs())
def test_everything_arrives_once_the_load_ends_and_little_s_law_holds(rig: RelayRig) -> None:
    rig.run(MS).drain(60 * SECOND)
    relay = rig.relay
    for client, server in zip(relay.clients, relay.servers, strict=True):
        assert (client.created, server.created) == (server.got, client.got)
    for directed in (relay.forward, relay.backward):
        assert directed.offered == directed.delivered
        assert directed.offered_bytes == directed.delivered_bytes
        # nobody is left: messages over time are times over messages
        assert directed.population_ps == directed.latency_ps
        if directed.delivered:
            assert directed.latency.largest <= directed.latency_ps


def events(seed: int) -> tuple[Any, ...]:
    """What a relay has done after some milliseconds."""
    load = Load(rate_mhz=4 * 10**7, sizes=[(100, 2), (900, 1)], sigma=1.0, batch_permille=3000)
    rig = RelayRig(connections=9, load=load, seed=seed, cpus=2).run(5 * MS)
    return (
        rig.relay.counters(),
        rig.relay.forward.latency_buckets(),
        rig.relay.backward.latency_buckets(),
        [cpu.times() for cpu in rig.machine.cpus],
        rig.packets(),
    )


def test_the_same_seed_gives_the_same_run() -> None:
    first = events(1)
    assert first == events(1) != events(2)


def test_the_other_engine_gives_the_same_run() -> None:
    if _engine.active() == "interpreted":
        pytest.skip("the compiled engine is compared where it is the one under test")
    command = (
        sys.executable,
        "-c",
        "from tests.workload import test_relay as t; print(t.events(3))",
    )
    done = run(*command, cwd=ROOT, PYTHONPATH=str(ROOT), SIMNET_ENGINE="interpreted")
    assert done.stdout.strip() == str(events(3)), done.stderr


# -- the worker -------------------------------------------------------------------------------


def test_a_message_costs_the_calls_and_the_application_s_code() -> None:
    rig = RelayRig(
        connections=1,
        workers=Workers(ANYWHERE),
        load=Load(rate_mhz=10**6, sizes=[(200, 1)], forward_permille=1000),
        cpus=1,
    ).run(50 * MS)
    worker, ledger = rig.relay.workers[0], rig.machine.costs.ledger
    assert worker.receives == worker.sends == worker.events > 10
    calls = worker.waits + worker.receives + worker.sends
    assert ledger.syscall == 1000 * (
        calls * COSTS_NS["syscall"] + worker.events * COSTS_NS["epoll_event"]
    )
    # a recv may return two messages: each has its share of the application's time
    assert worker.received // 200 >= worker.receives
    assert ledger.application == 1000 * (worker.received // 200) * COSTS_NS["user_relay"]


def test_application_code_delays_messages_by_its_length() -> None:
    def median_ps(user_ns: int) -> int:
        rig = RelayRig(
            load=Load(rate_mhz=10**6, sizes=[(200, 1)]), costs_ns=COSTS_NS | {"user_relay": user_ns}
        )
        return int(rig.run(60 * MS).relay.forward.latency.quantile(0.5))

    assert median_ps(51_000) - median_ps(1000) == pytest.approx(50 * US, rel=0.02)


def test_several_events_are_fetched_by_one_call_under_load() -> None:
    def events_per_wait(rate_mhz: int) -> float:
        rig = RelayRig(
            connections=50,
            workers=Workers([frozenset({1})]),
            load=Load(rate_mhz=rate_mhz, sizes=[(200, 1)]),
            cpus=2,
            costs_ns=COSTS_NS | {"user_relay": 10_000},
        ).run(7 * MS)
        worker = rig.relay.workers[0]
        return float(worker.events / worker.waits)

    assert events_per_wait(10**6) < 1.1
    assert events_per_wait(10**8) > 5


def test_a_source_is_not_read_while_its_partner_s_buffer_is_full() -> None:
    rig = RelayRig(
        connections=1,
        load=Load(rate_mhz=10**7, sizes=[(20_000, 1)], forward_permille=1000),
        sender={"wmem_default": 4000, "wmem_max": 4000},
    ).run(10 * MS)
    worker = rig.relay.workers[rig.relay.handed[0]]
    assert worker.full_sends > 10
    assert rig.relay.backs[0].left <= worker.buffer_bytes
    assert rig.relay.clients[0].written < rig.relay.clients[0].created
    # the flow is limited by the window, and goes on
    got = rig.relay.servers[0].got
    assert rig.run(5 * MS).relay.servers[0].got > got


def test_pinned_workers_stay_where_they_are_and_serve_what_they_were_handed() -> None:
    rig = RelayRig(
        connections=8, workers=Workers([frozenset({2}), frozenset({3})], "round_robin")
    ).run(5 * MS)
    assert rig.relay.handed == [0, 1] * 4
    assert [worker.cpu.cpu_id for worker in rig.relay.workers] == [2, 3]
    assert all(worker.received > 0 for worker in rig.relay.workers)


def test_lost_frames_are_sent_again() -> None:
    load = Load(rate_mhz=10**8, sizes=[(200, 1)], batch_permille=40_000)
    rig = RelayRig(load=load, nic={"rx_buffers": 4}, cpus=1).run(5 * MS).drain(60 * SECOND)
    assert rig.nic.drops > 0
    far = [end.endpoint.sender for end in rig.relay.clients + rig.relay.servers]
    near = [side.socket.sender for side in rig.relay.fronts + rig.relay.backs]
    counts = rig.relay.counters()
    assert counts["retransmissions"] > 0
    assert counts["retransmissions"] == sum(sender.output.retransmissions for sender in far + near)
    assert counts["timeouts"] == sum(sender.timeouts for sender in far + near)
    assert rig.relay.forward.offered == rig.relay.forward.delivered


# -- the load ---------------------------------------------------------------------------------


def test_the_rate_is_the_total_of_both_directions() -> None:
    rig = RelayRig(load=Load(rate_mhz=2 * 10**7, sizes=[(64, 1)], forward_permille=250))
    rig.run(40 * MS)
    forward, backward = rig.relay.forward.offered, rig.relay.backward.offered
    # four standard deviations
    assert forward + backward == pytest.approx(800, abs=113)
    assert forward / (forward + backward) == pytest.approx(0.25, abs=0.065)


def test_batches_have_the_mean_that_was_asked_for() -> None:
    rig = RelayRig(load=Load(rate_mhz=2 * 10**7, sizes=[(64, 1)], batch_permille=4000))
    rig.run(40 * MS)
    load = rig.relay.load
    assert load is not None
    offered = rig.relay.forward.offered + rig.relay.backward.offered
    assert load.batches == pytest.approx(200, abs=57)
    assert offered / load.batches == pytest.approx(4, rel=0.25)


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate_mhz": 0},
        {"batch_permille": 999},
        {"sizes": [(100, 0)]},
        {"forward_permille": 1001},
        {"sigma": -1.0},
    ],
)
def test_a_load_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"rate_mhz": 1000, "sizes": [(100, 1)]}
    with pytest.raises(ValueError, match=r"expected|weights"):
        RelayRig(load=Load(**(usual | wrong)))


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=6).filter(any), st.integers(0, 99))
def test_choices_follow_their_weights(weights: list[int], seed: int) -> None:
    chosen = Alias(weights, stream(seed, "alias"))
    counts = [0] * len(weights)
    for _ in range(600):
        counts[chosen.pick()] += 1
    for weight, count in zip(weights, counts, strict=True):
        share = weight / sum(weights)
        # six standard deviations
        assert abs(count - 600 * share) <= 6 * (600 * share * (1 - share)) ** 0.5 + 1e-9


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=40), st.integers(1, 8))
def test_balanced_workers_differ_by_at_most_one_connection(
    weights: list[int], workers: int
) -> None:
    chosen = assign_connections("balanced", weights, workers, stream(1, "master"))
    loads = [0] * workers
    for weight, worker in zip(weights, chosen, strict=True):
        loads[worker] += weight
    assert max(loads) - min(loads) <= max(weights)


def test_rates_are_lognormal_with_the_sigma_that_was_asked_for() -> None:
    assert lognormal_weights(3, 0.0, stream(1, "weights")) == [10**9] * 3
    weights = sorted(lognormal_weights(2000, 1.0, stream(1, "weights")))
    assert weights[1000] / 10**9 == pytest.approx(1, rel=0.1)
    assert weights[1682] / 10**9 == pytest.approx(2.71828, rel=0.1)


def _busy(sigma: float, balance: str) -> list[float]:
    """Share of time that each CPU works, at a load that four equal ones carry with 30 % idle."""
    workers = Workers([frozenset({n}) for n in range(4)], balance)
    load = Load(rate_mhz=5 * 10**7, sizes=[(200, 1)], sigma=sigma)
    costs = COSTS_NS | {"user_relay": 40_000}
    rig = RelayRig(connections=200, workers=workers, load=load, costs_ns=costs).run(100 * MS)
    offered = rig.relay.forward.offered + rig.relay.backward.offered
    idle = [cpu.times()["idle_ps"] / rig.sim.now for cpu in rig.machine.cpus]
    rig.drain(SECOND)
    assert rig.relay.counters()["delivered"] == offered
    return [1 - one for one in idle]


@pytest.mark.compiled
def test_unequal_connections_in_turn_fill_one_cpu_while_others_idle() -> None:
    equal, unequal = _busy(0.0, "round_robin"), _busy(1.75, "round_robin")
    assert max(equal) < 0.85
    assert max(equal) < 1.15 * sum(equal) / 4
    assert max(unequal) > 0.95
    assert max(unequal) > 1.2 * sum(unequal) / 4
    # a master that knew their rates could make workers equal all the same
    assert max(_busy(1.75, "balanced")) < 0.85


def test_a_population_keeps_its_rates_and_workers_in_other_runs() -> None:
    def drawn(seed: int, population: int) -> tuple[list[int], list[int]]:
        load = Load(rate_mhz=10**7, sizes=[(200, 1)], sigma=1.0, population=population)
        workers = Workers([None, None], "random")
        relay = RelayRig(connections=20, workers=workers, load=load, seed=seed).relay
        return relay.weights, relay.handed

    assert drawn(1, 7) == drawn(2, 7) == drawn(7, 0)
    assert drawn(1, 0) != drawn(2, 0)


def test_latency_is_counted_from_creation() -> None:
    directed = Deliveries()
    for size_bytes, (created, arrived) in zip(itertools.repeat(10), [(0, 5), (5, 6)], strict=False):
        directed.offer(size_bytes, created)
        directed.deliver(created, arrived)
    assert (directed.latency_ps, directed.population_ps, directed.offered_bytes) == (6, 6, 20)
    assert directed.latency_buckets() == ((1, 1), (5, 1))


def test_servers_messages_may_have_another_size() -> None:
    load = Load(rate_mhz=10**7, sizes=[(100, 1)], upstream_sizes=[(300, 1)])
    rig = RelayRig(load=load).run(10 * MS)
    assert rig.relay.forward.offered_bytes == 100 * rig.relay.forward.offered > 0
    assert rig.relay.backward.offered_bytes == 300 * rig.relay.backward.offered > 0
