"""What a what-if says of how its settings were ever compared with a measurement."""

from simnet.study.whatif.checked import how_checked
from simnet.study.work.cases import Case, Member


def said(scenario: str, *tunings: str, **settings: str) -> str:
    given = tuple((name.replace("__", "."), value) for name, value in settings.items())
    base, tuned = Case(scenario), Case(scenario, given, tunings)
    return how_checked(base, tuned, [Member(one).effective() for one in (base, tuned)])


def test_settings_that_were_compared_together_are_told_once() -> None:
    found = said("memcached-100g", "defer50")
    assert found.startswith("of /sys/class/net/{port}/gro_flush_timeout, /sys/class/net/{port}/")
    assert found.count("40 measured changes were compared, usually off by a factor of 1.03") == 1
    assert "other settings" not in found
    one = said("memcached-100g", **{"/sys/class/net/eth0/napi_defer_hard_irqs": "9"})
    assert "40 measured changes were compared, always with other settings, usually off" in one


def test_a_single_change_says_by_how_much_it_was_off() -> None:
    found = said("home-router", "software-offload")
    assert found == (
        "of uci firewall.@defaults[0].flow_offloading 1 measured change was compared,"
        " off by a factor of 1.05"
    )


def test_a_setting_that_was_never_compared_says_so() -> None:
    found = said("memcached-100g", net__ipv4__tcp_autocorking="0")
    assert found == (
        "no measured change of net.ipv4.tcp_autocorking was compared;"
        " how far off it may be is taken from other settings"
    )
    both = said("memcached-100g", "defer50", net__ipv4__tcp_autocorking="0")
    assert both.endswith("; no measured change of net.ipv4.tcp_autocorking was compared")


def test_a_part_of_the_path_that_was_never_compared_is_named() -> None:
    own = said("x460-bonding", **{"modprobe bonding mode": "balance-xor"})
    assert own.endswith("; this part of the path (bonding) was never compared with a measurement")
    beside = said("x460-bonding", net__ipv4__tcp_low_latency="1")
    assert beside.endswith("; of the path bonding was never compared with a measurement")


def test_what_sets_nothing_else_says_nothing() -> None:
    assert not said("memcached-100g", test="memcached")
