"""Ports whose driver has no rules of its own here: what is read of them, and what is not known.

Source: `alloc_etherdev`, one queue, in the drivers that are listed (drivers/net/ethernet and
drivers/net/usb of Linux 6.12); `netif_get_num_default_rss_queues` with DEFAULT_MAX_NUM_RSS_QUEUES 8
(net/core/dev.c, include/linux/netdevice.h) for the others: one a CPU, at most 8.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from simnet.importing.host import ReadHost
from simnet.importing.kind import Told
from simnet.importing.lookup import last_release, nearest_nic, queue_a_cpu, release_of
from simnet.importing.read_nic import Read, ReadNic
from simnet.importing.writing.link_rates import link_of
from simnet.importing.writing.models import Draft, plain
from simnet.importing.writing.ranked import Note, Rank
from simnet.scenario.core.knobs import knob_of
from simnet.scenario.parts.nic.drivers.neutral import DRIVER

_QUEUES: Final = "rx_queues"
_MOST: Final = 8
_ONE_QUEUE: Final = (
    "r8169 8139too 8139cp r8152 ax88179_178a cdc_ether cdc_ncm lan78xx smsc95xx asix"
    " e100 3c59x natsemi ns83820 sis190 sis900 pcnet32 ne2k-pci tulip via-rhine via_velocity"
    " sky2 skge forcedeth b44 bgmac jme atl1 atl1e atl2 smsc911x dm9000 ftgmac100 virtio_net"
)
_CHECKSUMS: Final = ("ethtool -K {port} rx", "ethtool -K {port} tx")


def with_queues(nic: ReadNic, host: ReadHost) -> ReadNic:
    """Return a port with a number of queues, assumed where no file says it.

    Args:
        nic: as it was read; a driver with a model of its own has what that model has.
        host: it is of; rules of earlier kernels are none of its driver's.
    """
    cpus, kernel = len(host.topology.cpus), host.facts.get("kernel")
    nic = _by_rules(nic, str(kernel.value) if kernel is not None else "")
    driver = nic.text("driver")
    base, same = nearest_nic(driver, called=nic.text("called"))
    own = queue_a_cpu(base) if same else 0
    if _QUEUES in nic.facts or (same and not own):
        return nic
    if same:
        found = Read(min(cpus, own), "", f"no file says it: one a CPU, at most {own} as {base} has")
    elif driver in _ONE_QUEUE.split():
        found = Read(1, "", f"cards of the driver {driver} have one")
    else:
        found = Read(min(cpus, _MOST), "", f"no file says it: one a CPU, at most {_MOST}")
    return replace(nic, facts={**nic.facts, _QUEUES: found})


def _by_rules(nic: ReadNic, version: str) -> ReadNic:
    """Return a port, as a card without rules if its driver's are of earlier kernels.

    Args:
        nic: as it was read.
        version: of the host's kernel; empty if no file says it.
    """
    driver = nic.text("driver")
    base, same = nearest_nic(driver, called=nic.text("called"))
    last = last_release(base) if same else ()
    release = release_of(version)
    if not last or release <= last:
        return nic
    # of 2.6.32 all three numbers
    said = ".".join(map(str, release[: len(last)] if release[0] == last[0] else release[:2]))
    return _without_rules(nic, f"{driver} of Linux {said}")


def _without_rules(nic: ReadNic, called: str) -> ReadNic:
    """Return a port whose driver is called so, which has no rules; its link stays the driver's."""
    rate, assumed = link_of(nic)
    source = nic.facts["link_bps"].source if "link_bps" in nic.facts else ""
    known = {
        "link_bps": Read(rate, source, assumed),
        "driver": Read(called, nic.facts["driver"].source),
    }
    return replace(nic, facts={**nic.facts, **known})


def of_cards(
    told: Iterable[Told], nics: Sequence[ReadNic], drafts: Mapping[str, Draft]
) -> tuple[Told, ...]:
    """Return the settings of a host, with the reason at those whose meaning nobody knows.

    Where ethtool says that a card computes no checksums the port's draft says it, too.

    Args:
        told: as read.
        nics: the ports that are simulated.
        drafts: the models, by file.
    """
    found = list(told)
    for nic in nics:
        if nearest_nic(nic.text("driver"))[1]:
            continue
        draft = drafts[f"nic-{nic.name}.toml"]
        names = [name.format(port=nic.name) for name in _CHECKSUMS]
        off = [one for one in found if one.name in names and one.raw == "off"]
        if len(off) == len(names):
            draft.read("checksum", "cpu", off[0].source)
            found = [one for one in found if one not in off]
        found = [_doubtful(one, nic) for one in found]
    return tuple(found)


def _doubtful(one: Told, nic: ReadNic) -> Told:
    """Return a setting, with the reason if it is the port's and nobody knows what it does."""
    knob, parts = knob_of(one.name) or (None, {})
    if one.why or knob is None or parts.get("port") != nic.name:
        return one
    if knob.fits(DRIVER.name(), DRIVER.model_fields):
        return one
    return replace(one, why=DRIVER.unknown(knob.name, {"stands_in_for": nic.text("driver")}))


def odd_of(nics: Sequence[ReadNic], file: str | None, why: str) -> list[ReadNic] | None:
    """Return the ports, one of them as a card without rules: its driver's do not fit the host.

    Args:
        nics: the ports.
        file: of the model that was refused, as `models/nic-eth0.toml`.
        why: the reason.

    Returns:
        None if that is no model of a port with rules.
    """
    name = PurePath(file or "").name
    for place, nic in enumerate(nics):
        driver = nic.text("driver")
        if name != f"nic-{nic.name}.toml" or not nearest_nic(driver)[1]:
            continue
        said = _OF_VERSION.match(why)
        called = said[0] if said is not None else f"{driver} of this kernel"
        return [*nics[:place], _without_rules(nic, called), *nics[place + 1 :]]
    return None


_OF_VERSION: Final = re.compile(r"[\w-]{1,20} of Linux [\d.]{1,12}\b")


def remarks(nic: ReadNic) -> Iterator[Note]:
    """Yield what is not known of a port, one line each; nothing if its driver has rules."""
    driver = nic.text("driver")
    known = nic.facts.get("driver")
    if known is not None and known.why:
        said = f"{nic.name}: the driver {plain(driver, 40)} is assumed: {known.why}"
        yield Note(said, Rank.RULES)
    if not nearest_nic(driver)[1]:
        called = f"driver {plain(driver, 40)}" if driver else "no file says which driver it has"
        said = f"{nic.name}: {called}: queues, rings and speed as read, moderation unknown"
        yield Note(said, Rank.RULES)
    queues = nic.facts.get(_QUEUES)
    if queues is not None and not queues.source:
        number = "one queue is" if queues.value == 1 else f"{queues.value} queues are"
        said = f"{nic.name}: {number} assumed: {queues.why}: ethtool -l {nic.name}"
        yield Note(said, Rank.PORTS)
