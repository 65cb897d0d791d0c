"""A loop does what its lines do, in their order: the shell itself says so."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.scenario.commands.loops import looped

NAMES = st.from_regex(r"[a-z0-9][a-z0-9_.,-]{0,5}", fullmatch=True)
FORMS = ("echo {} > /proc/irq/{}/smp_affinity", "ethtool -C {} rx-usecs {}", "sysctl -w a.{}={}")


def _said(lines: tuple[str, ...] | list[str]) -> list[str]:
    """What a shell would run: `echo`'s file is a word like others."""
    text = "".join(f"{line.replace(' > ', ' @ ')}\n" for line in lines)
    stubs = "".join(
        f'{name}() {{ printf "%s\\n" "{name} $*"; }}\n' for name in ("ethtool", "sysctl")
    )
    done = subprocess.run(
        ["/bin/bash", "-eu"], input=stubs + text, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(FORMS), NAMES, NAMES), min_size=1, max_size=40))
def test_a_loop_runs_what_its_lines_run(rows: list[tuple[str, str, str]]) -> None:
    rows.sort(key=lambda row: FORMS.index(row[0]))
    lines = [form.format(one, other) for form, one, other in rows]
    assert _said(looped(lines)) == _said(lines)


def test_many_lines_of_one_shape_become_few() -> None:
    masks = [f"echo {irq % 8} > /proc/irq/{irq}/smp_affinity_list" for irq in range(64, 127)]
    found = looped(["systemctl stop irqbalance", *masks])
    assert found[:2] == ("systemctl stop irqbalance", "for each in \\")
    assert len(found) < 12
    assert max(map(len, found)) <= 100


def test_a_mask_of_many_cpus_stays_whole() -> None:
    every = ",".join(["ffffffff"] * 32)
    lines = [f"echo {every} > /proc/irq/{irq}/smp_affinity" for irq in range(64, 80)]
    lines += [f"echo {every[:-1]}{irq % 8} > /proc/irq/{irq}/smp_affinity" for irq in range(80, 96)]
    assert _said(looped(lines)) == _said(lines)


@pytest.mark.parametrize("line", ["echo $(id) > /x/{}", "# note {}", "for i in {}; do id; done"])
def test_what_a_shell_reads_otherwise_in_a_loop_stays_as_it_is(line: str) -> None:
    lines = [line.format(number) for number in range(20)]
    assert looped(lines) == tuple(lines)
