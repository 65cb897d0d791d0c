"""The backlog of a CPU: who polls it and when, what it costs, when it drops."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.steering.version import SteeringRules
from tests.host.parts import MS, NS, US, Handler
from tests.net.steering.steered import RHEL61, UPSTREAM, Flow, Host

BOTH = pytest.mark.parametrize("rules", [RHEL61, UPSTREAM], ids=["rhel6.1", "2.6.38"])


def to_cpu(host: Host, cpu: int) -> Flow:
    """A flow whose process is on a CPU."""
    flow = Flow(host.sim, 0)
    flow.header.rxhash = 4711
    host.record(flow, cpu)
    return flow


def make_host(rules: SteeringRules, **options: Any) -> Host:
    return Host(rules, flow_entries=16, socket_entries=16, **options)


@BOTH
class TestPolling:
    def test_one_interrupt_a_round_brings_all_its_packets(self, rules: SteeringRules) -> None:
        host = make_host(rules)
        flow = to_cpu(host, 2)
        host.feed([(flow, seq) for seq in range(20)])
        host.sim.run_until(MS)
        assert [seq for _, _, seq in flow.log] == list(range(20))
        assert flow.cpus == {2}
        backlog = host.backlogs[2]
        assert (backlog.queued, backlog.processed, backlog.waiting) == (20, 20, 0)
        assert host.cpus[2].hard_interrupts == backlog.received_rps == host.softirqs(0).ipis
        # the rounds of the NIC's CPU, while the first interrupt has not been taken
        assert backlog.received_rps < 5
        assert not backlog.scheduled

    def test_own_packets_need_no_interrupt(self, rules: SteeringRules) -> None:
        host = make_host(rules)
        flow = to_cpu(host, 0)
        host.feed([(flow, seq) for seq in range(20)])
        host.sim.run_until(MS)
        assert [seq for _, _, seq in flow.log] == list(range(20))
        assert host.softirqs(0).ipis == 0

    def test_every_cost_is_paid_where_it_falls(self, rules: SteeringRules) -> None:
        host = make_host(rules)
        flow = to_cpu(host, 1)
        host.feed([(flow, 0)])
        host.sim.run_until(MS)
        polling, target = host.cpus[0].times(), host.cpus[1].times()
        # entry, poll, driver and sk_buff, steering and queueing, the interrupt
        assert polling["softirq_ps"] == (300 + 200 + 700 + 100 + 100 + 250 + 400) * NS
        assert target["irq_ps"] == 400 * NS
        assert target["softirq_ps"] == (300 + 500 + 900) * NS

    def test_ledger_has_what_the_cpus_executed(self, rules: SteeringRules) -> None:
        host = make_host(rules, lines=2, skb_lines=3, latency_ps=50 * NS)
        flow = to_cpu(host, 3)
        flow.work_ps = 0
        host.feed([(flow, seq) for seq in range(100)], spacing_ps=2 * US)
        host.sim.run_until(MS)
        spent = sum(
            times["softirq_ps"] + times["irq_ps"] for times in (c.times() for c in host.cpus)
        )
        assert sum(host.machine.costs.ledger.work().values()) == spent
        # each packet's three lines, and the queue's two when the CPUs take turns
        assert host.machine.costs.ledger.work()["skb_lines"] >= 100 * 3 * 50 * NS
        assert len(flow.log) == 100

    def test_lines_of_a_packet_come_over_once(self, rules: SteeringRules) -> None:
        host = make_host(rules, lines=2, skb_lines=3, latency_ps=50 * NS)
        flow = to_cpu(host, 1)
        host.feed([(flow, 0)])
        host.sim.run_until(MS)
        assert host.machine.costs.ledger.work()["skb_lines"] == (2 + 3) * 50 * NS


class TestPollLimits:
    def test_a_poll_ends_with_the_weight(self) -> None:
        for rules in (RHEL61, UPSTREAM):
            host = make_host(rules, weight=4)
            flow = to_cpu(host, 1)
            # CPU 1 is kept from it until all are there
            host.cpus[1].raise_irq(Handler(host.sim, "long"), 200 * US)
            host.feed([(flow, seq) for seq in range(10)])
            host.sim.run_until(MS)
            assert len(flow.log) == 10
            # 4, 4, 2; a poll of its whole weight is never the last on its own
            assert host.softirqs(1).polls == 3

    def test_in_rhel6_it_ends_with_the_jiffy_and_goes_on(self) -> None:
        host = make_host(RHEL61, weight=1000, tick_ps=100 * US, netdev_budget=10**6)
        flow = to_cpu(host, 1)
        host.cpus[1].raise_irq(Handler(host.sim, "long"), 200 * US)
        host.feed([(flow, seq) for seq in range(150)])
        host.sim.run_until(MS)
        assert len(flow.log) == 150
        # 150 x 1.4 us from 200 us on: jiffies end at 300 and 400 us
        assert host.softirqs(1).polls == 3
        assert host.softirqs(1).time_squeezes == 0

    def test_later_it_ends_with_the_queue(self) -> None:
        host = make_host(UPSTREAM, weight=1000, tick_ps=100 * US, netdev_budget=10**6)
        flow = to_cpu(host, 1)
        host.cpus[1].raise_irq(Handler(host.sim, "long"), 200 * US)
        host.feed([(flow, seq) for seq in range(150)])
        host.sim.run_until(MS)
        assert len(flow.log) == 150
        assert host.softirqs(1).polls == 1

    def test_interrupts_go_out_before_the_own_backlog_is_polled(self) -> None:
        """From 2.6.35 on; in RHEL 6 other CPUs wait for it."""
        taken = {}
        for name, rules in (("rhel6.1", RHEL61), ("2.6.38", UPSTREAM)):
            host = make_host(rules)
            own, other = Flow(host.sim, 0, 50 * US), Flow(host.sim, 1)
            own.header.rxhash, other.header.rxhash = 1, 2
            host.record(own, 0)
            host.record(other, 1)
            host.feed([(own, 0), (other, 0)])
            host.sim.run_until(MS)
            taken[name] = other.log[0][0]
        assert taken["2.6.38"] < 10 * US
        assert taken["rhel6.1"] > 50 * US


class TestLimit:
    @BOTH
    def test_one_more_than_the_limit_waits(self, rules: SteeringRules) -> None:
        host = make_host(rules, limit=10)
        flow = to_cpu(host, 1)
        host.cpus[1].raise_irq(Handler(host.sim, "long"), 500 * US)
        host.feed([(flow, seq) for seq in range(40)])
        host.sim.run_until(MS)
        assert [seq for _, _, seq in flow.log] == list(range(11))
        assert host.accounted()["backlog"] == [0, 29, 0, 0]

    def test_taken_packets_make_room_for_as_many(self) -> None:
        """From 2.6.35 on the limit is on what has not been taken yet."""
        waiting = {}
        for name, rules in (("rhel6.1", RHEL61), ("2.6.38", UPSTREAM)):
            host = make_host(rules, limit=10)
            flow = to_cpu(host, 1)
            host.cpus[1].raise_irq(Handler(host.sim, "first"), 100 * US)
            # the first packet is in the stack for long
            flow.work_ps = 500 * US
            host.feed([(flow, seq) for seq in range(60)], spacing_ps=3 * US)
            host.sim.run_until(400 * US)
            waiting[name] = host.backlogs[1].waiting
        assert waiting == {"rhel6.1": 11, "2.6.38": 21}

    @settings(max_examples=40)
    @given(
        st.sampled_from([UPSTREAM, RHEL61]),
        st.lists(
            st.tuples(st.integers(0, 3), st.integers(0, 2000), st.integers(1, 60)),
            min_size=1,
            max_size=12,
        ),
        st.lists(
            st.tuples(st.integers(0, 3), st.integers(0, 2000), st.integers(1, 800)), max_size=6
        ),
        st.integers(0, 30),
        st.integers(1, 30),
    )
    def test_nothing_is_lost_that_is_not_counted_and_where(
        self,
        rules: SteeringRules,
        bursts: list[tuple[int, int, int]],
        stalls: list[tuple[int, int, int]],
        limit: int,
        weight: int,
    ) -> None:
        """Bursts to four CPUs, which other interrupts keep busy now and then."""
        host = make_host(rules, limit=limit, weight=weight, queues=2, rx_buffers=20)
        flows = [Flow(host.sim, number) for number in range(4)]
        for number, flow in enumerate(flows):
            flow.header.rxhash = number + 1
            host.record(flow, number)
        offered = dict.fromkeys(flows, 0)
        for number, at_us, count in bursts:
            flow = flows[number]
            packets = [(flow, offered[flow] + n) for n in range(count)]
            offered[flow] += count
            host.agenda.at(at_us * US, host.feed, packets, number % 2)
        for index, (number, at_us, length_us) in enumerate(stalls):
            handler = Handler(host.sim, f"stall{index}")
            host.agenda.at(at_us * US, host.cpus[number].raise_irq, handler, length_us * US)
        host.sim.run_until(20 * MS)
        account = host.accounted()
        assert account["waiting"] == 0
        assert sum(offered.values()) == (
            sum(len(flow.log) for flow in flows) + account["ring"] + sum(account["backlog"])
        )
        for number, flow in enumerate(flows):
            backlog = host.backlogs[number]
            assert backlog.processed == backlog.queued == len(flow.log)
            assert not backlog.scheduled
            assert not host.softirqs(number).pending


def test_traced_queue_length() -> None:
    class Tracer:
        def __init__(self) -> None:
            self.values: list[tuple[str, str, int]] = []

        def counter(self, path: str, name: str, now: int, value: int) -> None:  # noqa: ARG002
            self.values.append((path, name, value))

        def span(self, *arguments: object) -> None:
            pass

    host = make_host(UPSTREAM)
    tracer = Tracer()
    sim: Simulator = host.sim
    sim.tracer = tracer
    flow = to_cpu(host, 1)
    host.cpus[1].raise_irq(Handler(host.sim, "long"), 100 * US)
    host.feed([(flow, seq) for seq in range(3)])
    host.sim.run_until(MS)
    lengths = [value for path, _, value in tracer.values if path == "host.cpu1.backlog"]
    assert lengths == [1, 2, 3, 2, 1, 0]
