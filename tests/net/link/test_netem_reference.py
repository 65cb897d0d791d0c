"""The way between two hosts beside its algorithm, written down once more as lists and fractions."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.random import RandomStream, stream
from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.net.link.netem import LOST, Netem

MS = 10**9
PPB = 10**9

SHARES = st.sampled_from([0, 1, PPB // 5, PPB // 2, PPB - 1, PPB])


def happens(luck: RandomStream, ppb: int) -> bool:
    """What is certain is not drawn."""
    return ppb == PPB or (ppb > 0 and luck.below(PPB) < ppb)


def losses(luck: RandomStream, frames: int, *, loss: int, chain: tuple[int, ...]) -> list[bool]:
    """`loss_event`: first each frame by itself, then `loss_gilb_ell`, if there are bursts."""
    begin, end, bad, good = chain
    state, found = "good", []
    for _ in range(frames):
        if happens(luck, loss):
            found.append(True)
        elif begin == 0:
            found.append(False)
        elif state == "good":
            state = "bad" if happens(luck, begin) else "good"
            found.append(happens(luck, good))
        else:
            state = "good" if happens(luck, end) else "bad"
            found.append(happens(luck, bad))
    return found


@given(
    st.lists(st.tuples(st.integers(0, 2 * MS), st.integers(60, 1514)), min_size=1, max_size=60),
    st.tuples(
        st.sampled_from([0, 1, MS, 20 * MS]),
        st.sampled_from([0, 1_000_000, 10_000_000]),
        st.integers(0, 9),
    ),
    SHARES,
    st.tuples(SHARES, SHARES, SHARES, SHARES),
    st.integers(1, 50),
)
def test_each_frame_leaves_or_is_lost_as_netem_says(
    frames: list[tuple[int, int]],
    bottleneck: tuple[int, int, int],
    loss: int,
    chain: tuple[int, int, int, int],
    seed: int,
) -> None:
    delay, rate, limit = bottleneck
    begin, end, bad, good = chain
    way = Netem(
        "way", stream(seed, "way"), delay_ps=delay, rate_bps=rate, limit=limit, loss_ppb=loss,
        begin_ppb=begin, end_ppb=end, bad_ppb=bad, good_ppb=good,
    )  # fmt: skip
    lost = losses(stream(seed, "way"), len(frames), loss=loss, chain=chain)
    now, accepted, dropped, carried = 0, [0], 0, 0
    for (gap, length), gone in zip(frames, lost, strict=True):
        now += gap
        found = way.leaves_ps(now, length + UNCOUNTED_BYTES)
        if gone:
            assert found == LOST
        elif limit and sum(leaves > now for leaves in accepted[1:]) >= limit:
            dropped += 1
            assert found == LOST
        else:
            start = max(now + delay, accepted[-1]) if rate else now + delay
            accepted.append(start + (length * (8 * 10**12 // rate) if rate else 0))
            carried += length
            assert found == accepted[-1]
    assert (way.sent, way.lost, way.dropped) == (len(frames), sum(lost), dropped)
    assert way.bytes == carried
    assert (way.name, way.rate_bps) == ("way", rate)


def test_what_is_not_asked_for_does_not_happen() -> None:
    way = Netem("way", None)
    assert [way.leaves_ps(5, 1000) for _ in range(100)] == [5] * 100
    bursts = Netem("way", stream(1, "way"), begin_ppb=PPB)
    assert [bursts.leaves_ps(5, 1000) for _ in range(100)] == [5] * 100
    # no draw was needed: the stream is where it began
    assert bursts.stream.below(PPB) == stream(1, "way").below(PPB)


@pytest.mark.parametrize("delay", [0, 5 * MS])
def test_the_bottleneck_has_served_what_its_rate_allows(delay: int) -> None:
    # 1250 bytes at 10 Mbit/s take 1 ms
    way = Netem("way", None, delay_ps=delay, rate_bps=10_000_000)
    for _ in range(3):
        way.leaves_ps(0, 1250 + UNCOUNTED_BYTES)
    for tenths in range(40):
        served = min(Fraction(1250 * tenths, 10), 3750)
        assert way.carried_bytes(tenths * MS // 10) == served
    way.leaves_ps(10 * MS, 1250 + UNCOUNTED_BYTES)
    assert way.carried_bytes(10 * MS) == 3750
    assert way.carried_bytes(20 * MS) == 5000
