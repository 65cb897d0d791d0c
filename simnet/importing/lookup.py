"""Which of our models is nearest to what was read: of a processor, a kernel, a NIC.

What is taken from another model is assumed, and its costs get a range twice as wide to either side
as the value: nobody has measured them on this processor.
"""

import re
from functools import cache
from typing import Any, Final

from simnet.scenario.core.library import find_model, model_names, read_model
from simnet.scenario.parts.nic.schema import Nic

_ANY_NIC: Final = "neutral-ethernet"
# networks inside of one host
_VIRTUAL: Final = ("hypervisor", "bridge")
_ORDINARY: Final = re.compile(r"linux-[\d.]+(?:-(rhel|sles)[\d.]+)?")
_EL: Final = re.compile(r"\.?el\d|\dELsmp|\.EL\b")
_RED_HAT: Final = re.compile(
    r"Red Hat Enterprise|CentOS|Rocky|Alma|Oracle Linux|Scientific Linux|\brhel\b", re.IGNORECASE
)
_SUSE: Final = re.compile(r"SUSE Linux Enterprise|\bsles\b", re.IGNORECASE)
_RELEASE: Final = re.compile(r"\d+")
_FIRST_OF_TEN_WEEKS: Final = (3, 0)
# how many releases each major version had; of 2 those of 2.6
_RELEASES: Final = ((2, 40), (3, 20), (4, 21), (5, 20), (6, 20))


def nearest_cpu(description: str) -> str:
    """Return the model of the processor nearest in family to what a host calls its own."""
    fits = [
        (distance, name)
        for name in model_names("cpu")
        for distance, pattern in enumerate(_form("cpu", name).stands_for)
        if re.search(pattern.pattern, description, re.IGNORECASE)
    ]
    return min(fits)[1]


def release_of(version: str) -> tuple[int, ...]:
    """Return a kernel's version as numbers, of `5.14.0-362.el9` (5, 14, 0)."""
    return tuple(int(number) for number in _RELEASE.findall(version.partition("-")[0])[:3])


def nearest_kernel(version: str, distribution: str = "") -> str:
    """Return the model of a kernel: of its family and of kernel.org's, the nearest in releases.

    Families are those of distributions that keep a version for years and build it their own way;
    Ubuntu's, Debian's and all others are kernel.org's. Another family's model counts where it has
    the very version. Releases are some ten weeks apart, so their number is time: 4.18 is nearer to
    5.4 than to 2.6.32. Before 3.0 no later model counts: kernels lacked then what those have.
    Models of special machines count as little as those of other systems.

    Args:
        version: as `uname -r` prints it.
        distribution: as os-release names it.
    """
    wanted, family = release_of(version), _family(version, distribution)
    place = _place(wanted)
    known = {
        name: (release_of(name.removeprefix("linux-")), matched[1] or "")
        for name in model_names("kernel")
        if (matched := _ORDINARY.fullmatch(name))
    }

    def distance(name: str) -> tuple[int, bool, bool]:
        release, own = known[name]
        return abs(_place(release) - place), own != family, release > wanted

    fits = [
        name
        for name, (release, own) in known.items()
        if (_place(release) == place or own in {"", family})
        and (release <= wanted or wanted >= _FIRST_OF_TEN_WEEKS)
    ]
    return min(fits, key=distance) if fits else min(known, key=lambda name: known[name])


def _place(release: tuple[int, ...]) -> int:
    """The number of a release since 2.6.0, of 3.10 (3, 10): 50."""
    major, minor, patch = (*release, 0, 0, 0)[:3]
    if major < _FIRST_OF_TEN_WEEKS[0]:
        return patch if (major, minor) == (2, 6) else minor - 6
    return minor + sum(count for first, count in _RELEASES if first < major)


def _family(version: str, distribution: str) -> str:
    if _EL.search(version) or _RED_HAT.search(distribution):
        return "rhel"
    return "sles" if _SUSE.search(distribution) else ""


def distribution_of(version: str, distribution: str) -> str:
    """Return whose services and files a host has, as a kernel's model names it.

    Ubuntu has netplan since 17.10, and before it what Debian has.

    Args:
        version: as `uname -r` prints it.
        distribution: as os-release, or another file, names it.
    """
    family = _family(version, distribution)
    if family or _OF_RED_HAT.search(f"{version} {distribution}"):
        return family or "rhel"
    if _OF_UBUNTU.search(distribution):
        told = _YEAR.search(distribution)
        if told is not None:
            return "ubuntu" if (int(told[1]), int(told[2])) >= _FIRST_WITH_NETPLAN else "debian"
        return "ubuntu" if release_of(version) >= _KERNEL_WITH_NETPLAN else "debian"
    for named in ("debian", "openwrt"):
        if named in distribution.lower():
            return named
    return "systemd" if release_of(version) >= _FIRST_OF_TEN_WEEKS else ""


_OF_RED_HAT: Final = re.compile(r"\.fc\d{1,2}\b|Fedora")
_OF_UBUNTU: Final = re.compile(r"Ubuntu|Linux Mint", re.IGNORECASE)
_YEAR: Final = re.compile(r"Ubuntu (\d{1,2})\.(\d{2})\b")
_FIRST_WITH_NETPLAN: Final = (17, 10)
_KERNEL_WITH_NETPLAN: Final = (4, 13)


def nearest_nic(driver: str, *, guest: bool = False, called: str = "") -> tuple[str, bool]:
    """Return a NIC's model of a driver, and whether there is one; else the neutral one.

    Args:
        driver: as ethtool names it.
        guest: the devices of guests count, too.
        called: as lspci names the card: of several models that of its chip, else the first.
    """
    # the kernel's module of mlx5
    wanted = driver.removesuffix("_core")
    known = _of_drivers(guest=guest).get(wanted, ())
    words = tuple(_WORD.findall(called.lower()))
    own = [name for name in known if _among(words, (name.rpartition("-")[2],))]
    also = [name for name in known if _among(words, _chips(_form("nic", name).description))]
    return next(iter((*own, *also, *known)), _ANY_NIC), bool(known)


def _among(words: tuple[str, ...], chips: tuple[str, ...]) -> bool:
    """Whether a card's name has one of some chips, as 82599ES has 82599."""
    return any(word.startswith(chip) for word in words for chip in chips)


def _chips(description: str) -> tuple[str, ...]:
    """Return the chips that a model is said to be of."""
    words = _WORD.findall(description.lower())
    return tuple(word for word in words if len(word) >= _CHIP_LETTERS and not word.isalpha())


def queue_a_cpu(model: str) -> int:
    """Return the most queues of a card whose driver has one for each CPU; 0 of other drivers."""
    form = _form("nic", model)
    return int(form.rx_queues.value) if Nic.variants()[form.driver].queue_a_cpu else 0


def last_release(model: str) -> tuple[int, ...]:
    """Return the last kernel that a card's rules are of; empty where later ones have them, too."""
    return tuple(getattr(Nic.variants()[_form("nic", model).driver], "last", ()))


_WORD: Final = re.compile(r"[a-z0-9]{1,30}")
_CHIP_LETTERS: Final = 4


@cache
def _of_drivers(*, guest: bool) -> dict[str, tuple[str, ...]]:
    left_out = _VIRTUAL[: 1 if guest else None]
    found: dict[str, tuple[str, ...]] = {}
    for name in model_names("nic"):
        driver = _form("nic", name).driver
        if Nic.variants()[driver].network not in left_out:
            found[driver] = (*found.get(driver, ()), name)
    return found


def _form(kind: str, name: str) -> Any:
    return read_model(kind, find_model(kind, name))[0]
