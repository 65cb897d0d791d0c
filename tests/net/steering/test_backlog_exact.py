"""The backlog packet by packet: times, lines, counters, and whose turn it is."""

from typing import Any

import pytest

from simnet.net.steering.version import SteeringRules
from tests.host.parts import MS, NS, US, Handler
from tests.net.steering.steered import RHEL61, UPSTREAM, Flow, Host

BOTH = pytest.mark.parametrize("rules", [RHEL61, UPSTREAM], ids=["rhel6.1", "2.6.38"])
# on the CPU of the NIC up to the queue: handler, entry, poll, driver, sk_buff, steering, queueing
FIRST = 800 + 300 + 200 + 700 + 100 + 100 + 250
# interprocessor interrupt, sent and taken; entry; IP
OTHER = 400 + 400 + 300 + 500


def make_host(rules: SteeringRules, **options: Any) -> Host:
    return Host(rules, flow_entries=16, socket_entries=16, **options)


def flow_on(host: Host, cpu: int, number: int = 0, work_ps: int = 900_000) -> Flow:
    flow = Flow(host.sim, number, work_ps)
    flow.header.rxhash = 4711 + number
    host.record(flow, cpu)
    return flow


@BOTH
class TestTimes:
    def test_at_first_nothing_was_queued(self, rules: SteeringRules) -> None:
        backlog = make_host(rules).backlogs[1]
        assert (backlog.queued, backlog.processed, backlog.drops) == (0, 0, 0)
        assert (backlog.waiting, backlog.received_rps, backlog.head) == (0, 0, 0)

    def test_a_packet_to_another_cpu(self, rules: SteeringRules) -> None:
        host = make_host(rules)
        flow = flow_on(host, 1)
        host.feed([(flow, 0)])
        host.sim.run_until(MS)
        assert flow.log == [((FIRST + OTHER) * NS, 1, 0)]
        backlog = host.backlogs[1]
        assert (backlog.queued, backlog.processed, backlog.head) == (1, 1, 1)

    def test_a_packet_for_the_own_cpu_waits_for_the_drivers_poll(
        self, rules: SteeringRules
    ) -> None:
        host = make_host(rules)
        flow = flow_on(host, 0)
        host.feed([(flow, 0)])
        host.sim.run_until(MS)
        # no register costs anything: IP follows at once
        assert flow.log == [((FIRST + 500) * NS, 0, 0)]

    @pytest.mark.parametrize("work_ps", [0, 900_000])
    def test_what_tcp_does_is_over_before_the_next_packet(
        self, rules: SteeringRules, work_ps: int
    ) -> None:
        host = make_host(rules)
        flow = flow_on(host, 1, work_ps=work_ps)
        # all are queued before the other CPU is ready
        host.cpus[1].raise_irq(Handler(host.sim, "long"), 50 * US)
        host.feed([(flow, seq) for seq in range(3)])
        host.sim.run_until(MS)
        # handler and interrupt come first
        begin = 50_000 + 400 + 300 + 500
        step = 500 + work_ps // NS
        assert flow.log == [((begin + n * step) * NS, 1, n) for n in range(3)]

    def test_the_head_moves_when_a_packet_is_taken_or_when_it_is_done(
        self, rules: SteeringRules
    ) -> None:
        host = make_host(rules)
        flow = flow_on(host, 1)
        host.cpus[1].raise_irq(Handler(host.sim, "long"), 50 * US)
        host.feed([(flow, seq) for seq in range(2)])
        begin = 50_000 + 400 + 300
        seen = []
        for at in (begin + 1, begin + 500 + 1, begin + 1399, begin + 1401, begin + 2801):
            host.sim.run_until(at * NS)
            seen.append(int(host.backlogs[1].head))
        # by batches: when TCP is done with it; else when it leaves the queue
        assert seen == ([0, 0, 0, 1, 2] if rules.batches else [1, 1, 1, 2, 2])


class TestLines:
    @BOTH
    def test_the_queues_lines_go_back_and_forth(self, rules: SteeringRules) -> None:
        host = make_host(rules, lines=2, latency_ps=50 * NS)
        flow = flow_on(host, 1)
        host.feed([(flow, 0)])
        host.sim.run_until(MS)
        # fresh lines are nobody's; CPU 1 fetches two
        assert host.machine.costs.ledger.skb_lines == 2 * 50 * NS
        host.feed([(flow, 1)])
        host.sim.run_until(2 * MS)
        assert host.machine.costs.ledger.skb_lines == 3 * 2 * 50 * NS
        assert flow.log[0][0] == (FIRST + OTHER + 2 * 50) * NS

    @BOTH
    def test_a_packet_that_is_dropped_costs_freeing_it(self, rules: SteeringRules) -> None:
        host = make_host(rules, limit=0)
        flow = flow_on(host, 1)
        host.cpus[1].raise_irq(Handler(host.sim, "long"), 50 * US)
        host.feed([(flow, 0), (flow, 1)])
        host.sim.run_until(MS)
        assert host.accounted()["backlog"] == [0, 1, 0, 0]
        assert [seq for _, _, seq in flow.log] == [0]
        assert host.backlogs[1].queued == 1

    def test_batches_touch_the_queue_once_for_all_that_wait(self) -> None:
        costs = {}
        for name, rules in (("rhel6.1", RHEL61), ("2.6.38", UPSTREAM)):
            host = make_host(rules, lines=2, latency_ps=50 * NS)
            flow = flow_on(host, 1)
            host.cpus[1].raise_irq(Handler(host.sim, "long"), 50 * US)
            host.feed([(flow, seq) for seq in range(10)])
            host.sim.run_until(MS)
            costs[name] = host.machine.costs.ledger.skb_lines
        assert costs == {"rhel6.1": 100 * NS, "2.6.38": 100 * NS}


class TestPolls:
    @BOTH
    @pytest.mark.parametrize(("weight", "polls"), [(9, 1), (8, 2), (7, 2), (4, 3), (3, 3), (1, 9)])
    def test_of_eight_packets(self, rules: SteeringRules, weight: int, polls: int) -> None:
        host = make_host(rules, weight=weight)
        flow = flow_on(host, 1)
        host.cpus[1].raise_irq(Handler(host.sim, "long"), 100 * US)
        host.feed([(flow, seq) for seq in range(8)])
        host.sim.run_until(MS)
        assert [seq for _, _, seq in flow.log] == list(range(8))
        # one that used up its weight has not seen that nothing is left
        assert host.softirqs(1).polls == polls
        assert not host.backlogs[1].scheduled
        assert not host.softirqs(1).pending

    @BOTH
    def test_a_device_has_its_turn_between_two_polls(self, rules: SteeringRules) -> None:
        host = make_host(rules, weight=2, queues=2)
        steered, own = flow_on(host, 1), Flow(host.sim, 9)
        host.cpus[1].raise_irq(Handler(host.sim, "long"), 100 * US)
        host.feed([(steered, seq) for seq in range(6)])
        # queue 1 interrupts CPU 1, while the first packet is in the stack
        host.agenda.at(101 * US + 500 * NS, host.feed, [(own, 0)], 1)
        host.sim.run_until(MS)
        order = [(at, f"steered {seq}") for at, _, seq in steered.log]
        order += [(at, "own") for at, *_ in own.log]
        names = [name for _, name in sorted(order)]
        assert names == ["steered 0", "steered 1", "own", *(f"steered {n}" for n in (2, 3, 4, 5))]


@BOTH
def test_where_nothing_is_chosen_nothing_is_paid_for(rules: SteeringRules) -> None:
    host = Host(rules)
    flow = Flow(host.sim, 0)
    host.feed([(flow, 0)])
    host.sim.run_until(MS)
    steering = host.steerings[0]
    assert (steering.local, steering.steered, steering.by_flow, steering.moves) == (1, 0, 0, 0)
    work = host.machine.costs.ledger.work()
    assert (work["softirq"], work["driver"]) == ((300 + 200) * NS, (700 + 100 + 500) * NS)
    assert host.cpus[0].times()["softirq_ps"] == (300 + 200 + 700 + 100 + 500 + 900) * NS


@BOTH
def test_a_packet_by_the_map_has_no_entry(rules: SteeringRules) -> None:
    host = Host(rules, rps_cpus=(2,))
    flow = Flow(host.sim, 0)
    host.feed([(flow, 0)])
    host.sim.run_until(MS)
    steering = host.steerings[0]
    assert (steering.local, steering.steered, steering.by_flow, steering.moves) == (0, 1, 0, 0)
    assert flow.log == [((FIRST + OTHER) * NS, 2, 0)]


@BOTH
def test_entries_and_their_moves_are_counted(rules: SteeringRules) -> None:
    host = make_host(rules)
    flow = flow_on(host, 0)
    counts = []
    for seq, cpu in enumerate((0, 3, 3, 1)):
        host.record(flow, cpu)
        host.feed([(flow, seq)])
        host.sim.run_until((seq + 1) * MS)
        steering = host.steerings[0]
        counts.append((steering.by_flow, steering.moves))
    assert counts == [(1, 1), (2, 2), (3, 2), (4, 3)]
    assert [cpu for _, cpu, _ in flow.log] == [0, 3, 3, 1]
