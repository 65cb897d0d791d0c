"""Where RPS and RFS send packets, and that a flow that follows its process keeps its order."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from simnet.errors import InputError
from simnet.net.steering.steering import PacketSteering, SocketFlowTable
from simnet.net.steering.version import SteeringRules, rounded_entries, steering_rules
from tests.host.parts import MS, US, Handler
from tests.house.examples import examples
from tests.net.parts import make_socket, segment
from tests.net.steering.steered import RHEL61, UPSTREAM, Flow, Host

FIXED = SteeringRules(hash_bits=16, index_shift=16, symmetric=False, lookup3=False, batches=False)


class TestVersions:
    @pytest.mark.parametrize(
        ("version", "bits", "shift", "rules"),
        [
            ("2.6.32", 16, 32, RHEL61),
            ("2.6.32", 16, 16, FIXED),
            ("2.6.38", 32, 32, UPSTREAM),
            ("2.6.38", 0, 32, UPSTREAM),
            (
                "2.6.34",
                0,
                32,
                SteeringRules(hash_bits=0, symmetric=False, lookup3=False, batches=False),
            ),
            ("2.6.35", 0, 32, SteeringRules(lookup3=False)),
            ("2.6.37", 0, 32, SteeringRules(lookup3=False)),
            ("3.19", 0, 32, SteeringRules()),
            ("4.0", 0, 32, SteeringRules(detects_collisions=True)),
            (
                "2.6.18",
                0,
                32,
                SteeringRules(hash_bits=0, symmetric=False, lookup3=False, batches=False),
            ),
            ("2.6.36", 32, 32, SteeringRules(lookup3=False)),
            ("2.6.39", 32, 32, SteeringRules()),
            ("6.18", 32, 32, SteeringRules(detects_collisions=True)),
        ],
    )
    def test_rules(self, version: str, bits: int, shift: int, rules: SteeringRules) -> None:
        assert steering_rules(version, bits, shift) == rules

    @pytest.mark.parametrize(
        ("written", "size"),
        [(0, 0), (1, 1), (2, 2), (3, 4), (4096, 4096), (30976, 32768), (1 << 30, 1 << 30)],
    )
    def test_tables_are_rounded_up_to_a_power_of_two(self, written: int, size: int) -> None:
        assert rounded_entries(written) == size

    @pytest.mark.parametrize("written", [-1, (1 << 30) + 1])
    def test_the_kernel_refuses_other_sizes(self, written: int) -> None:
        with pytest.raises(InputError, match=r"the kernel takes 0 to 1073741824"):
            rounded_entries(written)

    @given(st.integers(1, 32), st.integers(1, 32))
    def test_a_place_beyond_the_map_is_refused(self, bits: int, shift: int) -> None:
        beyond = ((1 << bits) - 1) * 8 >> shift >= 8
        if beyond:
            with pytest.raises(InputError, match=f"{bits} bits shifted by {shift} is no place"):
                steering_rules("2.6.38", bits, shift)
        else:
            assert steering_rules("2.6.38", bits, shift).index_shift == shift

    def test_a_map_names_cpus_that_exist(self) -> None:
        host = Host()
        with pytest.raises(InputError, match=r"rps_cpus: CPU 4, but the machine has 0 to 3"):
            PacketSteering(UPSTREAM, host.backlogs, host.machine.costs, cpus=(0, 4))


def spread(rules: SteeringRules, flows: int, cpus: tuple[int, ...], seed: int) -> Counter[int]:
    """Number of flows, of one packet each, that each CPU's stack got."""
    host = Host(rules, cpus=8, rps_cpus=cpus, seed=seed, rx_buffers=511)
    made = [Flow(host.sim, number) for number in range(flows)]
    host.feed([(flow, 0) for flow in made], spacing_ps=5 * US)
    host.sim.run_until(20 * MS)
    return Counter(cpu for flow in made for cpu in flow.cpus)


class TestMap:
    @settings(max_examples=examples(60))
    @given(
        st.integers(1, 32).flatmap(lambda shift: st.tuples(st.integers(1, shift), st.just(shift))),
        st.sets(st.integers(0, 7), min_size=1),
        st.integers(0, 2**32 - 1),
    )
    def test_no_hash_leads_out_of_it(
        self, hashing: tuple[int, int], cpus: set[int], seed: int
    ) -> None:
        bits, shift = hashing
        rules = SteeringRules(hash_bits=bits, index_shift=shift)
        shares = spread(rules, 40, tuple(cpus), seed)
        assert set(shares) <= cpus
        assert sum(shares.values()) == 40

    @pytest.mark.parametrize("rules", [UPSTREAM, FIXED], ids=["2.6.38", "rhel6.3"])
    @pytest.mark.parametrize("seed", [1, 4711])
    def test_flows_are_split_evenly(self, rules: SteeringRules, seed: int) -> None:
        """Each CPU's share within the binomial 99 % interval, for all eight at once."""
        flows, cpus = 1000, 8
        shares = spread(rules, flows, tuple(range(cpus)), seed)
        low, high = binom.interval(0.99 ** (1 / cpus), flows, 1 / cpus)
        assert sum(shares.values()) == flows
        assert all(low <= shares[cpu] <= high for cpu in range(cpus))

    def test_in_rhel_6_1_all_go_to_the_first_cpu_of_the_map(self) -> None:
        assert spread(RHEL61, 200, (2, 3, 5, 7), 1) == {2: 200}

    def test_a_flow_has_one_cpu(self) -> None:
        host = Host(rps_cpus=(0, 1, 2, 3))
        flows = [Flow(host.sim, number) for number in range(8)]
        host.feed([(flow, seq) for seq in range(10) for flow in flows])
        host.sim.run_until(MS)
        assert all(len(flow.cpus) == 1 and len(flow.log) == 10 for flow in flows)

    def test_another_seed_splits_otherwise(self) -> None:
        assert spread(UPSTREAM, 100, (0, 1, 2, 3), 1) != spread(UPSTREAM, 100, (0, 1, 2, 3), 2)

    def test_without_map_and_table_the_polling_cpu_goes_on(self) -> None:
        host = Host()
        flow = Flow(host.sim, 0)
        host.feed([(flow, seq) for seq in range(5)])
        host.sim.run_until(MS)
        assert (flow.cpus, host.steerings[0].local) == ({0}, 5)
        assert host.cpus[0].times()["softirq_ps"] > 0
        # nothing is chosen, so choosing costs nothing
        assert host.machine.costs.ledger.work()["driver"] == 5 * (700 + 100 + 500) * 1000


class TestFlowTables:
    def test_packets_follow_the_process(self) -> None:
        host = Host(rps_cpus=(0,), flow_entries=64, socket_entries=64)
        flow = Flow(host.sim, 0)
        host.feed([(flow, 0)])
        host.sim.run_until(MS)
        for seq, cpu in enumerate((3, 1, 2), 1):
            host.record(flow, cpu)
            host.feed([(flow, seq)])
            host.sim.run_until((seq + 1) * MS)
        assert [cpu for _, cpu, _ in flow.log] == [0, 3, 1, 2]
        assert host.steerings[0].moves == 3

    def test_not_while_packets_of_it_wait(self) -> None:
        host = Host(rps_cpus=(0,), flow_entries=64, socket_entries=64)
        flow = Flow(host.sim, 0)
        host.feed([(flow, 0)])
        host.sim.run_until(MS)
        host.record(flow, 1)
        host.cpus[1].raise_irq(Handler(host.sim, "busy"), 500 * US)
        host.feed([(flow, 1)])
        host.sim.run_until(MS + 100 * US)
        host.record(flow, 2)
        host.feed([(flow, 2)])
        host.sim.run_until(2 * MS)
        host.feed([(flow, 3)])
        host.sim.run_until(3 * MS)
        assert [(cpu, seq) for _, cpu, seq in flow.log] == [(0, 0), (1, 1), (1, 2), (2, 3)]

    def test_without_an_entry_the_map_decides(self) -> None:
        host = Host(RHEL61, rps_cpus=(1, 2, 3), flow_entries=64, socket_entries=64)
        flow = Flow(host.sim, 0)
        host.feed([(flow, seq) for seq in range(3)])
        host.sim.run_until(MS)
        assert flow.cpus == {1}
        assert host.steerings[0].by_flow == 0

    def test_small_tables_mix_flows_up(self) -> None:
        """Two flows with one entry: both go where either was read last."""
        host = Host(rps_cpus=(0,), flow_entries=1, socket_entries=1)
        one, other = Flow(host.sim, 0), Flow(host.sim, 1)
        host.feed([(one, 0), (other, 0)])
        host.sim.run_until(MS)
        host.record(one, 1)
        host.record(other, 2)
        host.feed([(one, 1), (other, 1)])
        host.sim.run_until(2 * MS)
        assert [cpu for _, cpu, _ in one.log] == [0, 2]
        assert [cpu for _, cpu, _ in other.log] == [0, 2]

    def test_from_4_0_on_an_entry_is_one_flow_s(self) -> None:
        rules = SteeringRules(detects_collisions=True)
        table = SocketFlowTable(1, 4, rules)
        table.record(0x12345678, 2)
        assert table.wanted(0x12345678) == 2
        assert table.wanted(0x12345670) == -2
        table.reset(0x12345678)
        assert table.wanted(0x12345678) == -2
        before = SocketFlowTable(1, 4, UPSTREAM)
        before.record(0x12345678, 2)
        assert before.wanted(0x12345670) == 2

    @pytest.mark.parametrize(("cpus", "bits"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (64, 6)])
    def test_of_the_hash_an_entry_keeps_what_the_cpu_leaves_room_for(
        self, cpus: int, bits: int
    ) -> None:
        table = SocketFlowTable(1, cpus, SteeringRules(detects_collisions=True))
        table.record(1 << 20, 0)
        # a flow that differs in the lowest bits is not told from it
        assert table.wanted((1 << 20) + (1 << bits) - 1) == 0
        assert table.wanted((1 << 20) + (1 << bits)) == -2

    def test_a_hash_of_0_is_none(self) -> None:
        table = SocketFlowTable(4, 4, UPSTREAM)
        table.record(0, 2)
        assert [table.wanted(entry) for entry in range(4)] == [-1] * 4
        # 4 has the entry of 0
        table.record(4, 3)
        table.record(1, 2)
        table.reset(0)
        assert [table.wanted(entry) for entry in range(4)] == [3, 2, -1, -1]
        table.reset(1)
        table.reset(4)
        assert [table.wanted(entry) for entry in range(4)] == [-1] * 4

    def test_a_table_has_entries(self) -> None:
        assert SocketFlowTable(30976, 8, RHEL61).entries == 32768
        with pytest.raises(InputError, match=r"leave it out"):
            SocketFlowTable(0, 8, RHEL61)

    @pytest.mark.parametrize("bits", [16, 32])
    def test_a_device_s_hash_is_used_if_there_is_one(self, bits: int) -> None:
        host = Host()
        rules = SteeringRules(hash_bits=bits)
        steering = PacketSteering(
            rules, host.backlogs, host.machine.costs, cpus=(0, 1), device_hash=True
        )
        host.nics[0].steering = steering
        given, computed = Flow(host.sim, 0), Flow(host.sim, 1)
        given.header.rss_hash = 0x12345678
        host.feed([(given, 0), (computed, 0)])
        host.sim.run_until(MS)
        assert given.header.rxhash == 0x12345678 & ((1 << bits) - 1)
        assert 0 < computed.header.rxhash < 1 << bits


class TestSocket:
    def test_it_records_where_it_is_read_and_leaves_its_entry(self) -> None:
        host = Host(flow_entries=64, socket_entries=64)
        assert host.sockets is not None
        socket = make_socket(host.sim, host.machine, host.nics[0])
        socket.flows = host.sockets
        cpu = host.cpus[2]
        # no packet has come yet: no hash
        socket.lock(cpu)
        socket.unlock(cpu)
        assert [host.sockets.wanted(rxhash) for rxhash in range(64)] == [-1] * 64
        skb = segment(socket, 0)
        skb.header = Flow(host.sim, 0).header
        skb.header.rxhash = 5
        socket.receive(skb, host.cpus[0])
        socket.lock(cpu)
        socket.unlock(cpu)
        assert (socket.rxhash, host.sockets.wanted(5)) == (5, 2)
        # a card with another hash has taken over
        skb = segment(socket, 1000)
        skb.header = Flow(host.sim, 1).header
        skb.header.rxhash = 6
        socket.receive(skb, host.cpus[0])
        assert (socket.rxhash, host.sockets.wanted(5)) == (6, -1)


Migration = tuple[int, int, int]
MIGRATIONS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 400), st.integers(0, 3)), min_size=20, max_size=30
)
STALLS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 400), st.integers(20, 150)), min_size=4, max_size=8
)
GAPS = st.lists(st.integers(1, 8), min_size=80, max_size=100)


def run_flows(
    rules: SteeringRules,
    migrations: list[Migration],
    stalls: list[Migration],
    gaps: list[int],
    weight: int,
    entries: int,
) -> list[Flow]:
    """Four flows on two queues whose processes move, on CPUs that other interrupts keep busy."""
    host = Host(
        rules,
        queues=2,
        rps_cpus=(0, 1, 2, 3),
        flow_entries=entries,
        socket_entries=16,
        weight=weight,
        lines=1,
        latency_ps=50_000,
    )
    flows = [Flow(host.sim, number, 300_000 * number) for number in range(4)]
    # each flow has its entry from the first packet on
    for number, flow in enumerate(flows):
        flow.header.rxhash = number + 1
        host.record(flow, number)
    for number, at_us, cpu in migrations:
        host.agenda.at(at_us * US, host.record, flows[number], cpu)
    for index, (cpu, at_us, length_us) in enumerate(stalls):
        handler = Handler(host.sim, f"stall{index}")
        host.agenda.at(at_us * US, host.cpus[cpu].raise_irq, handler, length_us * US)
    sequence = dict.fromkeys(flows, 0)
    at_us = 0
    for index, gap in enumerate(gaps):
        at_us += gap
        number = (index * 7 + gap) % 4
        flow = flows[number]
        host.agenda.at(at_us * US, host.feed, [(flow, sequence[flow])], number % 2)
        sequence[flow] += 1
    host.sim.run_until(10 * MS)
    assert sum(len(flow.log) for flow in flows) == len(gaps)
    return flows


class TestOrder:
    @settings(max_examples=30)
    @given(MIGRATIONS, STALLS, GAPS, st.integers(1, 8), st.sampled_from([1, 2, 16]))
    def test_a_flow_with_an_entry_is_never_reordered(
        self,
        migrations: list[Migration],
        stalls: list[Migration],
        gaps: list[int],
        weight: int,
        entries: int,
    ) -> None:
        for flow in run_flows(UPSTREAM, migrations, stalls, gaps, weight, entries):
            assert [seq for _, _, seq in flow.log] == list(range(len(flow.log)))

    def test_in_rhel_6_a_packet_in_the_stack_can_be_overtaken(self) -> None:
        """It counts as taken when it is: an interrupt on its CPU lets the next one pass."""
        orders = {}
        for name, rules in (("rhel6.1", RHEL61), ("2.6.38", UPSTREAM)):
            host = Host(rules, flow_entries=16, socket_entries=16)
            flow = Flow(host.sim, 0)
            flow.header.rxhash = 1
            host.record(flow, 1)
            host.feed([(flow, 0)])
            backlog = host.backlogs[1]
            while backlog.waiting or not backlog.queued:
                host.sim.run_until(host.sim.now + US // 10)
            # CPU 1 has taken the packet and is on its way through IP
            assert not flow.log
            host.cpus[1].raise_irq(Handler(host.sim, "busy"), 100 * US)
            host.record(flow, 2)
            host.feed([(flow, 1)])
            host.sim.run_until(host.sim.now + MS)
            orders[name] = [seq for _, _, seq in flow.log]
        assert orders == {"rhel6.1": [1, 0], "2.6.38": [0, 1]}
