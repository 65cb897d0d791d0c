"""Many queues of a fast card: they add up until its slot is full."""

import pytest

import simnet
from simnet.errors import InputError
from simnet.study.run.result import Result


def ran(streams: int, *tunings: str, **more: str) -> Result:
    settings = {"xdp.flows": str(streams)} | more
    return simnet.run(
        "xdp-connectx5", settings=settings, tunings=tunings, warm_up="1 ms", duration="2 ms"
    )


def test_queues_add_up_until_the_slot_is_full() -> None:
    one, two, six, seven = (ran(streams).xdp for streams in (1, 2, 6, 7))
    assert one.handled_pps == pytest.approx(25_572_977, rel=0.05)
    assert two.handled_pps == pytest.approx(2 * one.handled_pps, rel=0.03)
    assert one.slot == two.slot == 0
    assert six.slot > 0
    # 15.8 GB/s in messages of 60 and 64 bytes with 24 each
    assert six.handled_pps == pytest.approx(15.8e9 / 172, rel=0.01)
    assert seven.handled_pps == pytest.approx(six.handled_pps, rel=0.01)


def test_a_hash_key_that_leaves_a_queue_empty_is_refused() -> None:
    """All bits of it set, a hash has two values: that of an odd number of bits, and 0."""
    key = ":".join(["ff"] * 40)
    with pytest.raises(InputError, match=r"no port is hashed to queue \d of eth0"):
        ran(6, **{"ethtool -X eth0 hkey": key})


def test_compressed_completions_leave_the_limit_to_the_cpus() -> None:
    found = ran(6, "compressed-completions").xdp
    assert found.slot == 0
    assert found.handled_pps > 140e6


def test_what_the_card_discards_has_its_place() -> None:
    result = ran(6)
    assert {drop.place for drop in result.drops} >= {"slot"}
    assert "rx_discards_phy" in result.xdp.sentence


def test_i40e_does_not_compress() -> None:
    with pytest.raises(simnet.InputError, match="i40e does not compress completions"):
        simnet.run("xdp-firewall", settings={"xdp.cqe_compress": "on"})
