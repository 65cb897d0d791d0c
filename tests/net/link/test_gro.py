"""Receive offload by version of the kernel: what is held, and when it goes up."""

import pytest

from simnet.kernel.simulator import Simulator
from simnet.net.link.gro import Gro, GroRules, gro_rules
from simnet.net.link.skb import CE, CWR, ECT, Endpoint, Header, Skb, Station, new_skb

SEGMENT = 1448


@pytest.fixture
def flows() -> list[Endpoint]:
    sim = Simulator()
    return [Endpoint(sim, f"flow{n}") for n in range(80)]


def segment(flow: Endpoint, number: int = 0, *, push: bool = False, bucket: int = 0) -> Skb:
    skb = new_skb(flow, number * SEGMENT, (number + 1) * SEGMENT, 0, 0, 1538, push)
    skb.header = Header(Station(1), Station(2))
    skb.header.rss_hash = 8 + bucket
    return skb


def take(gro: Gro) -> list[tuple[str, int]]:
    """What goes up: flow and segments."""
    found = []
    while gro.up.count:
        skb = gro.take()
        found.append((skb.endpoint.path, (skb.end_seq - skb.seq) // SEGMENT))
    return found


def made(version: str, *, enabled: bool = True) -> Gro:
    return Gro(gro_rules(version), enabled=enabled)


@pytest.mark.parametrize(
    ("versions", "rules"),
    [
        (("2.6.29", "3.8", "3.13"), GroRules()),
        (("3.14", "4.18"), GroRules(oldest_leaves=True)),
        (("4.19", "5.3"), GroRules(oldest_leaves=True, buckets=8)),
        (("5.4", "5.11"), GroRules(oldest_leaves=True, buckets=8, normal_batch=8)),
        (("5.12", "6.18"), GroRules(True, 8, 8, True)),  # noqa: FBT003 - all of them
    ],
)
def test_each_rule_came_with_its_version(versions: tuple[str, ...], rules: GroRules) -> None:
    assert [gro_rules(version) for version in versions] == [rules] * len(versions)
    first = GroRules()
    assert (first.oldest_leaves, first.buckets) == (False, 1)
    assert (first.normal_batch, first.counts_segments) == (1, False)


class TestAFullList:
    def fill(self, gro: Gro, flows: list[Endpoint], count: int) -> None:
        for flow in flows[:count]:
            gro.receive(segment(flow), 0)

    def test_before_3_14_a_ninth_flow_goes_up_at_once(self, flows: list[Endpoint]) -> None:
        gro = made("3.13")
        self.fill(gro, flows, 9)
        assert take(gro) == [("flow8", 1)]
        assert gro.held == 8

    def test_from_3_14_on_the_oldest_makes_room(self, flows: list[Endpoint]) -> None:
        gro = made("3.14")
        self.fill(gro, flows, 9)
        assert take(gro) == [("flow0", 1)]
        assert gro.held == 8

    def test_from_4_19_on_each_bucket_holds_eight(self, flows: list[Endpoint]) -> None:
        gro = made("4.19")
        for number, flow in enumerate(flows[:64]):
            gro.receive(segment(flow, bucket=number % 8), 0)
        assert gro.held == 64
        assert take(gro) == []
        gro.receive(segment(flows[64], bucket=3), 0)
        assert take(gro) == [("flow3", 1)]

    def test_before_4_19_the_hash_does_not_matter(self, flows: list[Endpoint]) -> None:
        gro = made("4.18")
        for number, flow in enumerate(flows[:9]):
            gro.receive(segment(flow, bucket=number % 8), 0)
        assert gro.held == 8


class TestABatch:
    def test_before_5_4_each_packet_goes_up_alone(self, flows: list[Endpoint]) -> None:
        gro = made("5.3")
        gro.receive(segment(flows[0], push=True), 0)
        assert gro.due()

    def test_from_5_4_on_eight_go_up_together(self, flows: list[Endpoint]) -> None:
        gro = made("5.4")
        for number in range(8):
            assert not gro.due()
            gro.receive(segment(flows[number], push=True), 0)
        assert gro.due()
        assert len(take(gro)) == 8
        assert not gro.due()

    @pytest.mark.parametrize(("version", "due"), [("5.11", False), ("5.12", True)])
    def test_from_5_12_on_segments_count(
        self, flows: list[Endpoint], version: str, *, due: bool
    ) -> None:
        gro = made(version)
        for number in range(8):
            gro.receive(segment(flows[0], number, push=number == 7), 0)
        assert gro.due() == due
        assert take(gro) == [("flow0", 8)]

    def test_without_offload_frames_are_collected_all_the_same(self, flows: list[Endpoint]) -> None:
        gro = made("5.4", enabled=False)
        for number in range(8):
            gro.receive(segment(flows[0], number), 0)
        assert (gro.held, gro.merged, gro.due()) == (0, 0, True)
        assert take(gro) == [("flow0", 1)] * 8


class TestAbsorbing:
    """What `absorbs` says of a frame is what `receive` then does."""

    @pytest.mark.parametrize("version", ["3.8", "3.14", "4.19", "5.4", "5.12"])
    @pytest.mark.parametrize("enabled", [True, False])
    def test_it_foretells_whether_anything_goes_up(
        self, flows: list[Endpoint], version: str, *, enabled: bool
    ) -> None:
        gro = made(version, enabled=enabled)
        counts = [0] * 20
        seen = set()
        for step in range(3000):
            flow = step * step % 20
            skb = segment(flows[flow], counts[flow], push=step % 7 == 3, bucket=flow % 8)
            counts[flow] += 2 if step % 11 == 5 else 1
            absorbed = gro.absorbs(skb)
            gro.receive(skb, 0)
            assert absorbed == (not gro.due())
            seen.add(absorbed)
            if gro.due():
                take(gro)
        assert seen == ({True, False} if enabled or version.startswith("5") else {False})


class TestAFlush:
    def test_all_that_is_held_goes_up_bucket_by_bucket(self, flows: list[Endpoint]) -> None:
        gro = made("5.4")
        for number in (2, 1, 0):
            gro.receive(segment(flows[number], bucket=number), 0)
        gro.flush(-1)
        assert take(gro) == [("flow0", 1), ("flow1", 1), ("flow2", 1)]
        assert gro.held == 0

    def test_what_came_in_this_jiffy_may_stay(self, flows: list[Endpoint]) -> None:
        gro = made("5.4")
        gro.receive(segment(flows[0]), 7)
        gro.receive(segment(flows[1]), 8)
        gro.receive(segment(flows[0], 1), 8)
        gro.flush(8)
        assert take(gro) == [("flow0", 2)]
        assert gro.held == 1


def test_other_bits_of_ecn_end_a_packet_and_cwr_begins_one(flows: list[Endpoint]) -> None:
    # tcp_gro_receive: flags but CWR have to be the same; what has CWR is not added to anything
    gro = made("6.6")
    for number, bits in enumerate((ECT, ECT, ECT | CE, ECT | CE, ECT | CE | CWR, ECT | CE, ECT)):
        one = segment(flows[0], number)
        one.ecn = bits
        gro.receive(one, 0)
    gro.flush(-1)
    assert [segments for _, segments in take(gro)] == [2, 2, 2, 1]
