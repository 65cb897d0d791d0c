"""How long a round of softirqs may take: by the kernel's version, its HZ and its sysctl."""

from pathlib import Path
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.importing.import_host import import_host
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from tests.importing.trees import folder

USECS = "net.core.netdev_budget_usecs"


def jiffies(**settings: str) -> int:
    """After how many jiffies a round ends: one that is longer by one has gone on too long."""
    system = build(load("media-udp", settings=settings), seed=1)
    softirqs: Any = system.machine.cpus[0].softirqs
    return int(softirqs.time_limit_jiffies) + 1


@pytest.mark.parametrize(
    ("hz", "usecs", "rounds"),
    [
        # usecs_to_jiffies rounds up
        ("250", "1", 1),
        ("250", "4000", 1),
        ("250", "4001", 2),
        ("1000", "4001", 5),
        ("100", "20000", 2),
        # two milliseconds, unless somebody sets it
        ("250", "", 1),
        ("1000", "", 2),
    ],
)
def test_a_round_has_as_many_jiffies_as_the_time_takes(hz: str, usecs: str, rounds: int) -> None:
    given = {USECS: usecs} if usecs else {}
    assert jiffies(HZ=hz, **given) == rounds


def test_an_earlier_kernel_has_no_such_sysctl() -> None:
    with pytest.raises(InputError, match=r"not in Linux 4\.10: it came with Linux 4\.12"):
        load("media-udp", settings={USECS: "8000", "system.kernel": "linux-4.10"})


@pytest.mark.parametrize(
    ("kernel", "hz", "usecs"),
    [
        ("4.18.0-513.el8.x86_64", 1000, 0),
        ("5.14.0-362.el9.x86_64", 1000, 2000),
        ("6.8.9-300.fc40.x86_64", 1000, 2000),
        # other processors have another timer, which no file says
        ("4.18.0-513.el8.aarch64", 250, 0),
        ("5.15.0-91-generic", 250, 8000),
        ("5.10.184-175.731.amzn2.x86_64", 250, 8000),
        ("5.4.0-150-generic", 250, 0),
    ],
)
def test_an_import_takes_timer_and_rounds_of_the_distribution(
    tmp_path: Path, kernel: str, hz: int, usecs: int
) -> None:
    """Two jiffies since Linux 5.7, unless a sysctl says otherwise."""
    for told, expected in (("", usecs), (f"$ sysctl {USECS}\n{USECS} = 6000\n", 6000)):
        place = tmp_path / f"of{expected}{len(told)}"
        text = f"$ uname -r\n{kernel}\n{told}"
        import_host(folder(place, {"pasted.txt": text})).write(place / "out")
        made = load(place / "out" / "scenario.toml").host.kernel
        assert (made.hz, made.netdev_budget_usecs) == (hz, expected)
