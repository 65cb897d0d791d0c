"""Which settings and parts of the path were compared with a measurement, and how far off."""

from collections.abc import Callable
from pathlib import Path

import pytest

from simnet.errors import InputError
from simnet.study.validate import compared as room
from simnet.study.validate.changes import KnownChange, discrepancy_of_changes, known_changes
from simnet.study.validate.compared import (
    Checked,
    checked,
    compared,
    differing,
    names_compared,
    never_compared,
    part_of,
    parts_never_compared,
    parts_used,
    register,
)
from simnet.study.work.cases import Case, Member
from tests.study.synthetic import known_change

DEFER = {
    "/sys/class/net/{port}/gro_flush_timeout",
    "/sys/class/net/{port}/napi_defer_hard_irqs",
}


def names(one: KnownChange) -> set[str]:
    return set(names_compared(one.before.id, one.after.id))


def parts(one: KnownChange) -> set[str]:
    return set(map(part_of, names(one)))


def test_what_differs_has_the_names_of_settings_and_of_values_in_either_order() -> None:
    plain, tuned = Case("memcached-100g"), Case("memcached-100g", (), ("defer50",))
    assert differing(plain, tuned) == differing(tuned, plain) == DEFER
    loaded = Case("memcached-100g", (("memcached.qps", "800000"),), ("defer50",))
    assert differing(tuned, loaded) == {"memcached.qps"}
    assert differing(tuned, tuned) == frozenset()


def test_a_mask_and_a_list_of_cpus_are_one_setting() -> None:
    sides = [
        Case("web-25g", (("irqbalance", "off"), (f"/proc/irq/80/{name}", value)))
        for name, value in (("smp_affinity", "100"), ("smp_affinity_list", "9"))
    ]
    assert differing(*sides) == {"/proc/irq/{irq}/smp_affinity"}


def test_a_part_is_used_where_it_is_there_and_not_as_by_default() -> None:
    used = {
        name: parts_used(Member(Case(name)).effective())
        for name in ("wan-transfer", "x460-bonding", "x460-out-of-box")
    }
    assert [name for name in used if "netem" in used[name]] == ["wan-transfer"]
    assert [name for name in used if "bonding" in used[name]] == ["x460-bonding"]
    assert all({"tcp", "nic", "host"} <= of for of in used.values())
    fq = Case("wan-transfer", (("net.core.default_qdisc", "fq"),))
    assert "qdisc" in parts_used(Member(fq).effective())


def test_how_far_off_a_setting_was_is_that_of_its_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = tuple(known_change(0.0, off) for off in (0.1, -0.2, 0.4))
    monkeypatch.setattr(room, "names_compared", lambda _before, _after: frozenset({"a", "b"}))
    found = Checked("a", changes)
    assert (found.usual, found.worst) == pytest.approx((1.2214, 1.4918), abs=1e-4)
    assert (found.alone({"a"}), found.alone({"a", "b"})) == (0, 3)


def test_a_setting_was_compared_or_it_was_not() -> None:
    found = register()
    listed = [one.setting for one in found.settings]
    assert listed == sorted(listed, key=lambda name: -len(checked()[name].changes))
    never = {name for names in never_compared().values() for name in names}
    assert never.isdisjoint(listed)
    assert {"net.ipv4.tcp_autocorking", "ethtool -C {port} rx-usecs"} <= never
    assert set(listed) >= DEFER
    by_part = {one.part: one for one in found.parts}
    assert by_part["memcached"].numbers >= len(checked()["memcached.qps"].changes)
    assert [name for name in parts_never_compared() if by_part[name].numbers] == []
    assert "bonding" in parts_never_compared()


@pytest.mark.parametrize("of", [names, parts])
def test_of_a_setting_that_was_never_compared_nine_changes_in_ten_lie_inside(
    of: Callable[[KnownChange], set[str]],
) -> None:
    """So the interval is no wider for it: nor is it for a part of the path that never was."""
    known = known_changes()
    inside = {"setting": [], "load": [], "hardware": []}  # type: dict[str, list[bool]]
    for one in known:
        others = [other for other in known if not of(one) & of(other)]
        most = discrepancy_of_changes(others, one.kind, one.sort).of(one.predicted)
        inside[one.sort].append(one.off <= most)
    for found in inside.values():
        assert sum(found) >= 0.9 * len(found)


def test_a_list_that_is_damaged_is_named(tmp_path: Path) -> None:
    (tmp_path / "compared.json").write_text('{"schema": "simnet.compared/1", "parts": {}}')
    with pytest.raises(InputError, match=r"compared\.json: differences: "):
        compared(tmp_path)
