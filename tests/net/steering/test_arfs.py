"""Accelerated RFS: a flow's packets come by the queue of the CPU that reads it, and how soon."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.nic.multiqueue import MultiqueuePort
from simnet.net.nic.rss import MICROSOFT_KEY, Rss, Toeplitz
from simnet.net.steering.arfs import Arfs, ArfsDriver
from simnet.net.steering.flow_rules import FlowRule, FlowRules, flow_of
from tests.host.parts import MS, US, Handler
from tests.house.examples import examples
from tests.net.parts import frame
from tests.net.steering.steered import Flow, Host

COMMAND_PS = 100 * US
MLX5 = ArfsDriver(COMMAND_PS)
ICE = ArfsDriver(COMMAND_PS, batches=True, period_ps=20 * MS)
OLD_ICE = ArfsDriver(COMMAND_PS, batches=True, by_flow_entry=True, period_ps=20 * MS)
ENTRIES = 64


class Port:
    """A port with a queue and an interrupt for each of four CPUs; RSS sorts all to queue 0."""

    def __init__(
        self,
        driver: ArfsDriver | None = MLX5,
        rules: tuple[FlowRule, ...] = (),
        entries: int = ENTRIES,
        **more: Any,
    ) -> None:
        self.host = Host(queues=4, flow_entries=entries, socket_entries=1024, **more)
        self.sim, self.rules = self.host.sim, FlowRules(rules)
        rss = Rss(Toeplitz(MICROSOFT_KEY), [0])
        nics = self.host.nics
        self.port = MultiqueuePort(
            self.sim, "host.port", "eth0", nics, tx_queues=4, rss=rss, rules=self.rules
        )
        if driver:
            Arfs(
                self.sim,
                "host.port.arfs",
                driver=driver,
                rules=self.rules,
                lines=self.port.lines,
                queues=self.host.steerings,
                backlogs=self.host.backlogs,
                cpus=self.host.cpus,
            )

    def flow(self, number: int, rxhash: int = 0) -> Flow:
        """A connection, with a hash of its own."""
        flow = Flow(self.sim, number)
        flow.header.rxhash = rxhash or number + 1
        return flow

    def feed(self, *packets: tuple[Flow, int]) -> None:
        """Frames that arrive now."""
        for flow, seq in packets:
            skb = frame(flow, seq, self.sim.now)
            skb.header = flow.header
            self.port.incoming.append(skb)
        self.port.frames_added()

    def after(self, time_ps: int) -> None:
        """Let time pass."""
        self.sim.run_until(self.sim.now + time_ps)

    @property
    def received(self) -> list[int]:
        """Frames that each queue got."""
        return [int(nic.rx_packets) for nic in self.host.nics]

    def counted(self, name: str) -> int:
        """One of the driver's counters."""
        return self.rules.counters()[name]


def send(port: Port, flow: Flow, seqs: range) -> None:
    """Packets with a rest of time between them."""
    for seq in seqs:
        port.feed((flow, seq))
        port.after(50 * US)


@pytest.mark.parametrize("driver", [MLX5, ICE])
class TestMovedFlow:
    def test_its_packets_come_by_the_queue_of_the_cpu_that_reads_it(
        self, driver: ArfsDriver
    ) -> None:
        port = Port(driver)
        flow = port.flow(0)
        for turn, cpu in enumerate((2, 1, 0, 3)):
            port.host.record(flow, cpu)
            send(port, flow, range(20 * turn, 20 * turn + 10))
            before = port.received
            send(port, flow, range(20 * turn + 10, 20 * turn + 20))
            came = [now - then for now, then in zip(port.received, before, strict=True)]
            assert came == [10 if queue == cpu else 0 for queue in range(4)]
            # the queue's CPU needs no other's help
            assert {cpu for _, cpu, _ in flow.log[-10:]} == {cpu}
        assert [seq for _, _, seq in flow.log] == list(range(80))
        assert (port.counted("added"), port.counted("updated")) == (1, 3)

    def test_a_rule_takes_the_driver_its_time(self, driver: ArfsDriver) -> None:
        port = Port(driver)
        flow = port.flow(0)
        port.host.record(flow, 2)
        port.feed((flow, 0))
        # the first packet is taken out of its ring a few us after it has come
        port.after(COMMAND_PS)
        port.feed((flow, 1))
        port.after(20 * US)
        port.feed((flow, 2))
        port.after(MS)
        assert port.received == [2, 0, 1, 0]

    def test_while_it_is_under_way_nothing_is_asked_twice(self, driver: ArfsDriver) -> None:
        port = Port(driver)
        flow = port.flow(0)
        port.host.record(flow, 2)
        send(port, flow, range(1))
        port.host.record(flow, 3)
        port.feed((flow, 1))
        port.after(MS)
        assert (port.counted("added"), port.counted("updated")) == (1, 0)
        assert port.rules.steered == {flow_of(flow.header): 2}

    def test_a_flow_that_is_read_where_it_comes_needs_no_rule(self, driver: ArfsDriver) -> None:
        port = Port(driver)
        flow = port.flow(0)
        port.host.record(flow, 0)
        send(port, flow, range(10))
        assert (port.counted("added"), port.received) == (0, [10, 0, 0, 0])

    def test_a_flow_that_nobody_reads_any_more_asks_for_no_rule(self, driver: ArfsDriver) -> None:
        port = Port(driver)
        flow = port.flow(0)
        port.host.record(flow, 2)
        send(port, flow, range(10))
        assert port.host.sockets is not None
        port.host.sockets.reset(flow.header.rxhash)
        send(port, flow, range(10, 20))
        assert (port.counted("added"), port.counted("updated")) == (1, 0)
        # the rule stays until it expires, and the CPU that polls the queue goes on
        assert port.received == [port.received[0], 0, 20 - port.received[0], 0]
        assert {cpu for _, cpu, _ in flow.log[-10:]} == {2}

    def test_an_interrupt_that_moves_takes_the_flow_along(self, driver: ArfsDriver) -> None:
        port = Port(driver)
        flow = port.flow(0)
        port.host.record(flow, 2)
        send(port, flow, range(10))
        # queues 2 and 3 change places; the process follows to where nothing of it waits
        port.host.nics[2].line.smp_affinity = 0b1000
        port.host.nics[3].line.smp_affinity = 0b0100
        port.host.record(flow, 1)
        send(port, flow, range(10, 20))
        port.host.record(flow, 2)
        send(port, flow, range(20, 40))
        assert port.received[3] >= 15


class TestWorkers:
    def test_mlx5_programs_one_rule_after_the_other(self) -> None:
        taken = {}
        for name, driver in (("mlx5", MLX5), ("ice", ICE)):
            port = Port(driver)
            flows = [port.flow(number) for number in range(3)]
            for flow in flows:
                port.host.record(flow, 2)
            port.feed(*((flow, 0) for flow in flows))
            port.after(COMMAND_PS + 50 * US)
            taken[name] = [len(port.rules.steered)]
            port.after(COMMAND_PS)
            taken[name].append(len(port.rules.steered))
        assert taken == {"mlx5": [1, 2], "ice": [3, 3]}

    @pytest.mark.parametrize(("driver", "added"), [(MLX5, 2), (ICE, 2), (OLD_ICE, 1)])
    def test_up_to_6_15_ice_takes_one_flow_for_another(
        self, driver: ArfsDriver, added: int
    ) -> None:
        """They share bucket and entry, though a hash tells them apart."""
        port = Port(driver)
        one, other = port.flow(0, 5), port.flow(1, 5 + 1024 * 64)
        port.host.record(one, 2)
        port.feed((one, 0))
        port.after(MS)
        port.host.record(other, 2)
        port.feed((other, 0))
        port.after(MS)
        assert port.counted("added") == added
        assert (flow_of(other.header) in port.rules.steered) == (added == 2)


class TestExpiry:
    def steered(self, port: Port) -> tuple[Flow, Flow]:
        """Two flows with rules, of which the second has sent a hundred packets since."""
        idle, busy = port.flow(0), port.flow(1)
        for flow in (idle, busy):
            port.host.record(flow, 2)
        port.feed((idle, 0))
        port.after(MS)
        send(port, busy, range(100))
        assert port.counted("steered") == 2
        return idle, busy

    @pytest.mark.parametrize(("entries", "left"), [(4, 0), (64, 1)])
    def test_a_rule_goes_when_others_have_come_for_ten_tables(
        self, entries: int, left: int
    ) -> None:
        port = Port(ICE, entries=entries, rx_buffers=400)
        idle, busy = self.steered(port)
        # the timer of the service task
        port.after(20 * MS)
        assert flow_of(busy.header) in port.rules.steered
        assert (flow_of(idle.header) in port.rules.steered) == bool(left)
        assert (port.counted("steered"), port.counted("expired")) == (1 + left, 1 - left)

    def test_mlx5_looks_when_it_programs_another(self) -> None:
        port = Port(MLX5, entries=4)
        _, busy = self.steered(port)
        port.host.record(busy, 3)
        send(port, busy, range(100, 110))
        assert (port.counted("steered"), port.counted("expired")) == (1, 1)

    def test_a_flow_whose_entry_is_another_s_has_none_for_long(self) -> None:
        port = Port(ICE, entries=1)
        one, other = port.flow(0, 5), port.flow(1, 6)
        port.host.record(one, 2)
        send(port, one, range(4))
        port.host.record(other, 2)
        send(port, other, range(4))
        port.after(20 * MS)
        assert port.counted("expired") > 0


class TestOrder:
    def test_what_waits_in_the_old_ring_is_overtaken(self) -> None:
        """As in the kernel: only the entry of the CPU's backlog is waited for, not the ring."""
        port = Port(ICE)
        flow = port.flow(0)
        port.host.record(flow, 2)
        port.feed((flow, 0))
        port.after(COMMAND_PS + 2 * US)
        # CPU 0 does not come to its ring
        port.host.cpus[0].raise_irq(Handler(port.sim, "busy"), 500 * US)
        port.feed((flow, 1))
        port.after(48 * US)
        port.feed((flow, 2))
        port.after(MS)
        assert port.received == [2, 0, 1, 0]
        assert [seq for _, _, seq in flow.log] == [0, 2, 1]

    def test_what_waits_in_a_backlog_is_not(self) -> None:
        """The entry in the other queue's table knows of packets that came by the old one."""
        port = Port(ICE)
        # CPU 1 serves the queue of CPU 2, which has no time
        port.host.nics[2].line.smp_affinity = 0b0110
        port.host.nics[2].line.route()
        port.host.cpus[2].raise_irq(Handler(port.sim, "busy"), 500 * US)
        flow = port.flow(0)
        port.host.record(flow, 2)
        port.feed((flow, 0))
        port.after(COMMAND_PS + 50 * US)
        port.host.record(flow, 3)
        port.feed((flow, 1))
        port.after(MS)
        assert port.received == [1, 0, 1, 0]
        assert [(cpu, seq) for _, cpu, seq in flow.log] == [(2, 0), (2, 1)]

    @settings(max_examples=examples(60), deadline=None)
    @given(
        st.sampled_from([MLX5, ICE, OLD_ICE]),
        st.lists(
            st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 3)),
            min_size=1,
            max_size=40,
        ),
        st.sampled_from([1, 4, 64]),
        st.integers(0, 300),
    )
    def test_each_packet_goes_to_one_existing_queue_and_up_the_stack_once(
        self, driver: ArfsDriver, steps: list[tuple[int, int, int]], entries: int, gap_us: int
    ) -> None:
        """(flow, CPU that reads it, packets) one after the other."""
        port = Port(driver, entries=entries)
        flows = [port.flow(number) for number in range(6)]
        sent = [0] * 6
        for number, cpu, packets in steps:
            port.host.record(flows[number], cpu)
            for _ in range(packets):
                port.feed((flows[number], sent[number]))
                sent[number] += 1
            port.after(gap_us * US)
        port.after(10 * MS)
        assert sum(port.received) == sum(sent)
        for flow, count in zip(flows, sent, strict=True):
            assert sorted(seq for _, _, seq in flow.log) == list(range(count))
        assert set(port.rules.steered.values()) <= set(range(4))
        # with time to settle, a flow's packets come where it is read
        for flow, count in zip(flows, sent, strict=True):
            port.host.record(flow, 3)
            for more in range(4):
                port.feed((flow, count + more))
                port.after(MS)
            assert flow.log[-1][1] == 3

    @settings(max_examples=20, deadline=None)
    @given(st.lists(st.integers(0, 3), min_size=1, max_size=8))
    def test_at_rest_the_queue_is_the_one_that_interrupts_the_reader(self, cpus: list[int]) -> None:
        port = Port(MLX5)
        flow = port.flow(0)
        seq = 0
        for cpu in cpus:
            port.host.record(flow, cpu)
            send(port, flow, range(seq, seq + 8))
            before = port.received
            port.feed((flow, seq + 8))
            port.after(50 * US)
            seq += 9
            assert port.received[cpu] == before[cpu] + 1


class TestRules:
    def test_those_of_the_administrator_come_first(self) -> None:
        port = Port(MLX5, (FlowRule(dst_port=80, src_port=1024, queue=1),))
        ruled, free = port.flow(0), port.flow(1)
        for flow in (ruled, free):
            port.host.record(flow, 2)
            send(port, flow, range(10))
        send(port, ruled, range(10, 20))
        assert port.received[1] == 20
        assert port.received[2] > 5

    def test_the_first_that_matches_decides(self) -> None:
        port = Port(None, (FlowRule(src_port=1025, queue=3), FlowRule(dst_port=80, queue=2)))
        for number in range(3):
            port.feed((port.flow(number), 0))
        port.after(MS)
        assert port.received == [0, 0, 2, 1]
        assert port.rules.frames == 3

    @pytest.mark.parametrize("field", ["src_ip", "dst_ip", "src_port", "dst_port"])
    def test_each_field_counts(self, field: str) -> None:
        values = {"src_ip": 0x0A000001, "dst_ip": 0x0A00FF01, "src_port": 1024, "dst_port": 80}
        other = values | {field: values[field] + 7}
        port = Port(None, (FlowRule(**other, queue=3), FlowRule(**values, queue=2)))
        port.feed((port.flow(0), 0))
        port.after(MS)
        assert port.received == [0, 0, 1, 0]

    def test_what_has_no_addresses_is_rss_s(self) -> None:
        port = Port(None, (FlowRule(queue=3),))
        flow = port.flow(0)
        skb = frame(flow, 0, 0)
        port.port.incoming.append(skb)
        port.port.frames_added()
        port.after(MS)
        assert port.received == [1, 0, 0, 0]

    def test_a_queue_without_a_flow_table_gets_no_rule(self) -> None:
        port = Port(None)
        Arfs(
            port.sim,
            "host.port.arfs",
            driver=MLX5,
            rules=port.rules,
            lines=port.port.lines,
            queues=[*port.host.steerings[:2], None, port.host.steerings[3]],
            backlogs=port.host.backlogs,
            cpus=port.host.cpus,
        )
        flow = port.flow(0)
        port.host.record(flow, 2)
        send(port, flow, range(10))
        assert (port.counted("added"), port.received) == (0, [10, 0, 0, 0])
        # in software it goes there all the same
        assert {cpu for _, cpu, _ in flow.log} == {2}
