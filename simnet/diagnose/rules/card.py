"""The network card: hangs, resets, checksums, drivers known for a fault, and clouds' allowances."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import named, tool
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.families import counted, logged, percent
from simnet.diagnose.queues import NEARLY_ALL, NO_BUFFER, every_cpu, fullest_queues, handed_to
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule
from simnet.diagnose.vectors import receives_alone

_ENA: Final = "Linux drivers/net/ethernet/amazon/ena/ena_ethtool.c, ena_eni_stats"
_MLX5: Final = "Linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst"
# kernel-2.6.18-194.3.1.el5
_CURED_EL5: Final = (194, 3)
_OWN_WORDS: Final = (
    r"(?:\b(?P<subject>[A-Za-z][\w.-]*): )?(?:[Tt]ransmit (?:queue )?timed out\b"
    r"|TX timeout (?:detected|on queue)|[Tt]x timeout\b.*[Rr]eset|tx_timeout\b.*recovery level)"
)
_EMULATED: Final = frozenset({"e1000", "e1000e", "8139cp", "8139too", "pcnet32", "ne2k-pci"})
_REUSED: Final = 0.3
_MANY: Final = 100_000
_LOST: Final = 1000
_SWITCHED: Final = r"(?P<subject>[A-Za-z]\w{1,14}): Data path switched (?:to|from) VF"
_LONGEST: Final = 110
# percent of a CPU
_FULL: Final = 90


def _timeouts(evidence: Evidence) -> Iterator[Found]:
    for pattern in (
        r"NETDEV WATCHDOG:? (?:CPU: \d+: )?(?P<subject>[\w.-]+) ?\(",
        # since Linux 6.4 the port stands before, and how long it took behind
        r"(?:\b(?P<subject>[A-Za-z][\w.-]*): )?NETDEV WATCHDOG: CPU: \d+: transmit queue",
        # the driver's own words
        _OWN_WORDS,
    ):
        yield from logged(pattern, weight=85)(evidence)
    hang = r"(?:(?P<subject>[A-Za-z][\w.-]*): )?Detected .*Unit Hang"
    yield from logged(hang, weight=85)(evidence)
    for series in evidence.series("stat", r"tx_timeout\w*|os_netdev_wd"):
        fact = series.last
        if fact.value >= 1 and series.growing:
            yield Hit(fact.subject, (fact,), f"{fact.name} {fact.shown}", 55, "likely")
        else:
            yield Clear(fact, f"{fact.name} {fact.shown}")


def _lost(evidence: Evidence) -> Iterator[Found]:
    says = (
        r"(?:\b(?P<subject>[A-Za-z][\w.-]*):? )?(?:\([^)\n]{1,30}\): )?(?:PCIe link lost"
        r"|Adapter removed\b|[Ff]irmware (?:is )?not responding|[Dd]evice's health compromised"
        r"|Device isn't alive|Keep alive watchdog timeout"
        r"|Unrecoverable Error detected in the adapter)"
    )
    yield from logged(says, weight=88)(evidence)
    # drivers of cards: ports of PCIe say the same when a drive is pulled
    sleeps = (
        r"\b(?:igb|igc|e1000e|ixgbe|i40e|ice|r8169|tg3|bnxt_en|mlx[45]_core|atlantic|alx|ath\w+"
        r"|mt76\w*) (?P<subject>[0-9a-f:.]{7,12}): (?:Unable to change power state from D3"
        r"|can't change power state from D3|Refused to change power state)"
    )
    yield from logged(sleeps, weight=88)(evidence)


def _emulated(evidence: Evidence) -> Iterator[Found]:
    below = evidence.last("cpus", "Hypervisor vendor")
    for driver in evidence.of("driver", "driver"):
        if below is not None and driver.text in _EMULATED:
            said = f"driver {driver.text} in a guest of {below.text}"
            yield Hit(driver.subject, (driver, below), said, 43, "possible")


def _bnx2(evidence: Evidence) -> Iterator[Found]:
    release = evidence.last("kernel", "release")
    old = release and re.match(r"2\.6\.18-(\d{1,4})(?:\.(\d{1,4}))?\S*el5", release.text)
    if release is None or not old or (int(old[1]), int(old[2] or 0)) >= _CURED_EL5:
        return
    for driver in evidence.of("driver", "driver"):
        if driver.text == "bnx2":
            said = f"driver bnx2 of {release.text}"
            action = Action(
                "echo 'options bnx2 disable_msi=1' > /etc/modprobe.d/bnx2.conf",
                "rm /etc/modprobe.d/bnx2.conf",
            )
            yield Hit(
                driver.subject,
                (driver, release),
                said,
                60,
                "possible",
                (action, tool("-C", driver.subject, "rx-usecs", 8)),
            )


def _reuse(evidence: Evidence) -> Iterator[Found]:
    for kind in ("rate", "stat"):
        for fact in evidence.of(kind, "rx_cache_reuse"):
            others = [
                other
                for other in evidence.of(kind, "rx_cache_(full|empty|waive)", fact.subject)
                if other.file == fact.file
            ]
            whole = fact.value + sum(other.value for other in others)
            if not others or whole < 10_000:  # noqa: PLR2004 - too few to tell
                continue
            share = fact.value / whole
            said = f"rx_cache_reuse {fact.shown} of {whole:,.0f} pages, {percent(share)}"
            if share < _REUSED:
                yield Hit(fact.subject, (fact, *others), said, 45, "likely")
            else:
                yield Clear(fact, said)


def _redirect(evidence: Evidence) -> Iterator[Found]:
    """XDP sends on the ring of its CPU's number; a CPU beyond the rings has none."""
    word = evidence.last("word", "XDP_REDIRECT|bpf_redirect.*|devmap")
    if word is None:
        return
    cpus = evidence.value("cpus", r"CPU\(s\)|interrupts") or 0
    queues = [fact for fact in evidence.of("channels", "combined") if fact.value]
    if queues and cpus and queues[0].value >= cpus:
        return
    said = f"{word.text} is in use"
    facts = [word]
    sure, weight = "possible", 40.0
    if queues and cpus:
        said += f", with {queues[0].value:.0f} queues on {cpus:.0f} CPUs"
        facts += queues[:1]
        sure, weight = "likely", 60.0
    elif cpus:
        said += f" on {cpus:.0f} CPUs"
        facts += evidence.of("cpus", r"CPU\(s\)|interrupts")[:1]
    subject = queues[0].subject if queues else ""
    yield Hit(subject, tuple(facts), said, weight, sure)


def _one_ring(evidence: Evidence) -> Iterator[Found]:
    for rings in evidence.of("rss", "rings"):
        used = {fact.value: fact for fact in evidence.of("rss", r"ring \d+", rings.subject)}
        if rings.value >= 2 and len(used) == 1:  # noqa: PLR2004 - one has nothing to spread
            only = next(iter(used.values()))
            said = (
                f"all of the indirection table points to ring {only.value:.0f} of {rings.value:.0f}"
            )
            lost = [
                one
                for one in evidence.series("stat", NO_BUFFER, rings.subject)
                if one.value >= _LOST and one.growing
            ]
            soft = receives_alone(evidence)
            facts: tuple[Fact, ...] = (only, rings)
            weight, sure = 25, "possible"
            if lost:  # a ring that overflows beside idle ones tells that it was not meant
                facts, weight, sure = (only, rings, lost[0].last), 96, "likely"
                said += f", and {lost[0].last.name} is {lost[0].last.shown}"
            elif soft is not None:
                facts, weight, sure = (only, rings, soft), 60, "likely"
                said += f", and {soft.name} takes nearly all NET_RX"
            action = tool("-X", rings.subject, "equal", int(rings.value), "")
            undo = f"ethtool -X {named(rings.subject)} equal 1"
            actions = (Action(action.do, undo, action.whatif),)
            yield Hit(rings.subject, facts, said, weight, sure, actions)
        elif used:
            yield Clear(rings, f"RSS uses {len(used)} of {rings.value:.0f} rings")


def _hash(evidence: Evidence) -> Iterator[Found]:
    for one in fullest_queues(evidence, least=4):
        said = f"{one.fact.name} has {percent(one.share)} of the packets of {one.queues} queues"
        if one.share >= NEARLY_ALL:
            action = handed_to(one.port, one.queue or 0, every_cpu(evidence))
            soft = max(evidence.of("cpu", "soft"), key=lambda fact: fact.value, default=None)
            if soft is not None and soft.subject != "all" and soft.value >= _FULL:
                said += f"; %soft {soft.shown} on {soft.subject}"
                yield Hit(one.port, (one.fact, soft), said, 70, "likely", (action,))
            else:
                yield Hit(one.port, (one.fact,), said, 55, "likely", (action,))
        else:
            yield Clear(one.fact, said)


def _cloud(name: str, title: str, counter: str, means: str) -> Rule:
    return Rule(
        name,
        "cloud",
        title,
        f"{counter}_allowance_exceeded of ethtool -S of ena",
        "1,000 packets, or 1 in 10,000: the counter is of packets that were queued or dropped",
        means,
        "Take a larger instance, or spread the load. No setting of the host helps.",
        _ENA,
        counted(rf"{counter}_allowance_exceeded", possible=1e-4, fewest=1000, scale=1.1),
        outside=True,
    )


def _bad_offload(evidence: Evidence) -> Iterator[Found]:
    lines = evidence.logged(r"skb_warn_bad_offload|(?:\b(?P<subject>[A-Za-z][\w.-]*)): caps=\(0x")
    if not lines:
        return
    port = next((fact.subject for fact in lines if fact.subject), "")
    fact = next((one for one in lines if one.subject), lines[0])
    actions = tuple(tool("-K", port, name, "off", "on") for name in ("gro", "tso"))
    yield Hit(port, (fact,), f"logged: {fact.text}"[:160], 66, "likely", actions)


def _synthetic(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("stat", "vf_rx_packets"):
        series = evidence.series("stat", r"rx_queue_\d+_packets", fact.subject)
        packets = sum(one.value for one in series)
        if fact.value == 0 and packets >= _MANY:
            said = f"vf_rx_packets 0, {packets:,.0f} packets by the synthetic path"
            yield Hit(fact.subject, (fact, series[0].last), said, 52, "likely")
        elif fact.value:
            yield Clear(fact, f"vf_rx_packets {fact.shown}")
    for port, line in {one.subject: one for one in evidence.logged(_SWITCHED)}.items():
        if "switched from VF" in line.text:
            yield Hit(port, (line,), f"logged last: {line.text[:_LONGEST]}", 60, "likely")


RULES: Final = (
    Rule(
        "netvsc-without-vf",
        "card",
        "{subject} receives without its virtual function",
        "vf_rx_packets and rx_queue_N_packets of ethtool -S of hv_netvsc, or the log",
        "100,000 packets by the synthetic path, none by the virtual function; or the log says last"
        " that the data path was switched from it",
        "Accelerated networking is off, its driver (mlx5, mana) is not loaded, or the host has"
        " taken the virtual function away and not given it back: each packet is copied by the"
        " hypervisor.",
        "Switch accelerated networking on for the instance; see with lspci and dmesg that the"
        " virtual function is there and bound.",
        "Linux Documentation/networking/device_drivers/ethernet/microsoft/netvsc.rst",
        _synthetic,
    ),
    Rule(
        "bad-offload",
        "card",
        "Packets are to be cut by hardware that cannot do it: {subject}",
        "skb_warn_bad_offload in the kernel's log",
        "always",
        "A packet was left for the card to cut or to add up (GSO, checksum), and the port it comes"
        " to does not do that: the kernel does it itself, slowly, or drops it. A bridge, a tunnel"
        " or a driver has promised what another cannot.",
        "Switch off GRO and LRO where packets come in, or TSO and GSO where they go out, until the"
        " driver or kernel is mended.",
        "Linux net/core/dev.c, skb_warn_bad_offload; Documentation/networking/segmentation-"
        "offloads.rst",
        _bad_offload,
    ),
    Rule(
        "tx-timeout",
        "card",
        "{subject} stopped sending and was reset",
        "the kernel's log; tx_timeout of ethtool -S",
        "always: a queue stood still for seconds",
        "The card has not completed what it was given: firmware, driver, PCIe power saving, or a"
        " lost interrupt.",
        "Update driver and firmware; switch off ASPM and Energy Efficient Ethernet; try tso off.",
        "Linux net/sched/sch_generic.c, dev_watchdog",
        _timeouts,
        outside=True,
    ),
    Rule(
        "suspect-gro",
        "card",
        "The driver of {subject} merges packets in a way that spoils TCP's acknowledgements",
        "the kernel's log",
        "always",
        "Packets were handed up as merged without saying of how many: TCP counts too few, sends"
        " acknowledgements late and its window grows slowly.",
        "Switch LRO (then GRO) off at this port, update the driver.",
        "Linux net/ipv4/tcp_input.c, tcp_gro_dev_warn",
        logged(
            r"(?P<subject>[\w.-]+): Driver has suspect GRO implementation",
            weight=52,
            sure="likely",
            act=lambda _e, port: (
                tool("-K", port, "lro", "off", "on"),
                tool("-K", port, "gro", "off", "on"),
            ),
        ),
    ),
    Rule(
        "card-lost",
        "card",
        "The host has lost {subject}: the card or its firmware does not answer",
        "the kernel's log",
        "always",
        "Reads of the card's registers give nothing: it fell off PCIe, its firmware stands still,"
        " or power saving did not wake it.",
        "Update firmware and driver, switch off ASPM and runtime power saving of the device, reseat"
        " it; a cold start brings it back. No tuning helps.",
        "Linux drivers/net/ethernet/intel/igc/igc_main.c, igc_rd32; drivers/pci/pci.c,"
        " pci_power_up; drivers/net/ethernet/mellanox/mlx5/core/health.c",
        _lost,
        outside=True,
        hides=("tx-timeout", "card-reset", "link-flaps", "no-link"),
    ),
    Rule(
        "card-hot",
        "card",
        "{subject} is too hot and has stopped or slowed down",
        "the kernel's log",
        "always",
        "The card measures its own temperature and protects itself.",
        "Look at fans and at the air in front of the card; a card of a server in a desk needs a fan"
        " of its own. No setting helps.",
        "Linux drivers/net/ethernet/intel/ixgbe/ixgbe_main.c, ixgbe_overheat_msg;"
        " drivers/net/ethernet/mellanox/mlx5/core/events.c, temp_warn",
        logged(
            r"(?:\b(?P<subject>[A-Za-z][\w.-]*|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d): )?"
            r"(?:Network adapter has been stopped because it has over ?heated"
            r"|High temperature on sensors"
            r"|[Tt]he (?:network )?(?:adapter|device) link speed was downshifted because it over"
            r"|[Tt]emperature .{0,40}\bexceed\w* .{0,40}threshold)",
            weight=82,
        ),
        outside=True,
    ),
    Rule(
        "emulated-card",
        "hypervisor",
        "{subject} is a card that the hypervisor emulates",
        "ethtool -i, and the hypervisor of lscpu",
        "possible: a driver of e1000, e1000e, 8139cp, pcnet32 in a guest",
        "Each access to a register of the card leaves the guest, for each packet or two: some"
        " hundred Mbit/s to a few Gbit/s at a full CPU.",
        "Give the guest a virtio card (vmxnet3 with VMware, netvsc with Hyper-V), or a virtual"
        " function. No setting of the guest helps.",
        "Linux Documentation/networking/device_drivers/; drivers/net/virtio_net.c",
        _emulated,
        outside=True,
    ),
    Rule(
        "card-reset",
        "card",
        "{subject} is reset again and again",
        "the kernel's log",
        "3 lines",
        "The driver restarts the card after an error: each time everything in the rings is lost.",
        "Update driver and firmware; look at what is logged just before.",
        "Linux drivers/net/ethernet, the drivers' reset tasks",
        logged(
            r"(?P<subject>[A-Za-z][\w.-]+|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d)?:? "
            r"(?:[Rr]eset adapter|Adapter reset|[Rr]esetting .*(?:adapter|device)"
            r"|Hardware [Ee]rror|PF reset|VF is resetting|TX driver issue detected|MDD event)",
            at_least=3,
            weight=60,
            sure="likely",
        ),
        outside=True,
    ),
    Rule(
        "firmware-discards",
        "card",
        "The firmware of {subject} discards packets",
        "rx_fw_discards, rx_ftq_discards of ethtool -S of bnx2",
        "1 packet in 10,000",
        "The card's processor or its queues are full before packets reach the ring.",
        "Widen the ring and interrupt sooner; update the firmware.",
        "Linux drivers/net/ethernet/broadcom/bnx2.c, bnx2_stats_str_arr",
        counted(r"rx_fw_discards|rx_ftq_discards|rx_brb_discard|brb_discard|brb_truncate"),
    ),
    Rule(
        "card-checksum",
        "card",
        "Packets with wrong checksums arrive at {subject}",
        "rx_csum_offload_errors and the like of ethtool -S",
        "1 packet in 1,000: few are normal on the Internet",
        "The checksum of IP, TCP or UDP is wrong though the frame's is right: damaged in a device"
        " on the way, or the card cannot check this protocol.",
        "Look for the device that changes packets; `ethtool -K rx off` shows"
        " whether it is the card.",
        "Linux drivers/net/ethernet/intel/igb/igb_ethtool.c, hw_csum_rx_error",
        counted(
            r".*csum_(offload_)?err\w*|rx_csum_(bad|errors?)|.*hw_csum_rx_error|rx_xsum_err\w*",
            possible=1e-3,
            scale=0.8,
        ),
    ),
    Rule(
        "bnx2-lost-interrupt",
        "card",
        "bnx2 of this kernel loses interrupts at {subject}",
        "ethtool -i and uname -r",
        "RHEL or CentOS 5 before kernel-2.6.18-194.3.1",
        "A BCM5709 with MSI-X may miss an interrupt: its ring stays full and drops until another"
        " comes. It is a defect, no tuning.",
        "Update the kernel; until then disable_msi=1, no deep C-states, or interrupts that come"
        " sooner.",
        'Linux commit "bnx2: Fix lost MSI-X problem on 5709 NICs"',
        _bnx2,
        outside=True,
    ),
    Rule(
        "page-cache",
        "card",
        "{subject} allocates a page for nearly every packet",
        "rx_cache_reuse against rx_cache_full of ethtool -S of mlx5",
        "less than 30 % reused",
        "The driver finds no page to use again. With XDP a packet takes a whole page, so truesize"
        " doubles: a socket buffer holds half as much and TCP's window is smaller.",
        "Enlarge the receive buffers of sockets; read packets on another CPU sooner.",
        f"{_MLX5}, rx_cache_reuse",
        _reuse,
    ),
    Rule(
        "xdp-redirect-ring",
        "card",
        "XDP redirects on CPUs that have no transmit ring {subject}",
        "words of a description or log; queues; CPUs",
        "likely where there are fewer queues than CPUs; possible where the queues are not known",
        "XDP_REDIRECT sends on the ring with the number of the CPU it runs on. i40e, ice, ixgbe and"
        " mlx5 refuse where there is none: packets that interrupts on higher CPUs take are lost.",
        "Serve the port's interrupts only on CPUs below its number of queues, or have as many"
        " queues as CPUs.",
        "Linux drivers/net/ethernet/intel/i40e/i40e_txrx.c, i40e_xdp_xmit",
        _redirect,
    ),
    Rule(
        "rss-one-ring",
        "card",
        "RSS sends everything of {subject} to one ring",
        "ethtool -x",
        "always; it is possible that it was meant, unless packets find no buffer there",
        "One CPU takes all packets of the port; the others' rings are idle. It limits the rate,"
        " not the latency of a port with little to do.",
        "Spread over all rings, unless it was meant (few packets, or other rings served badly).",
        "Linux Documentation/networking/scaling.rst, RSS",
        _one_ring,
    ),
    Rule(
        "rss-one-queue",
        "card",
        "The card puts nearly everything of {subject} into one queue",
        "packets of each queue, of ethtool -S",
        "90 % of 100,000 packets in one of four or more queues",
        "One flow, or packets whose ports the card cannot see (fragments, tunnels, ESP, PPPoE):"
        " all have one hash. More queues do not help.",
        "Let the kernel spread them: RPS on the queue's CPUs; or more flows.",
        "Linux Documentation/networking/scaling.rst, RPS",
        _hash,
    ),
    _cloud(
        "cloud-bandwidth-in",
        "The cloud limits what {subject} receives",
        "bw_in",
        "More came in than the instance may have: the cloud queues it, then drops.",
    ),
    _cloud(
        "cloud-bandwidth-out",
        "The cloud limits what {subject} sends",
        "bw_out",
        "More went out than the instance may have: the cloud queues it, then drops.",
    ),
    _cloud(
        "cloud-packets",
        "The cloud limits the packets per second of {subject}",
        "pps",
        "More packets in both directions than the instance may have.",
    ),
    _cloud(
        "cloud-connections",
        "The cloud limits the connections of {subject}",
        "conntrack",
        "The cloud tracks no more connections for this instance; new ones fail.",
    ),
    _cloud(
        "cloud-link-local",
        "The cloud limits DNS, time and metadata of {subject}",
        "linklocal",
        "More than 1,024 packets per second to services of the link: resolver, clock, metadata.",
    ),
)
