"""Ports of a hypervisor behind which a guest sits."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from simnet.diagnose.actions import named
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import counted, ratio
from simnet.diagnose.rule import Action, Found, Hit, Rule

_TAP: Final = re.compile(r"(?:tap|vnet)[\w-]+")
_FULL: Final = re.compile(r"vhost-\d+")
_BUSY: Final = 90
_USUAL: Final = 1000
_LONGER: Final = 10_000
_DROPPED: Final = counted(r"tx_dropped", side="tx", kinds=("link", "stat"))


def _tap(evidence: Evidence) -> Iterator[Found]:
    """Say what a guest did not take from its port."""
    for one in _DROPPED(evidence):
        subject = one.subject if isinstance(one, Hit) else one.fact.subject
        if not _TAP.fullmatch(subject):
            continue
        if not isinstance(one, Hit):
            yield one
            continue
        now = evidence.value("addr", "qlen", subject) or _USUAL
        port = named(subject)
        longer = Action(
            f"ip link set dev {port} txqueuelen {_LONGER}",
            f"ip link set dev {port} txqueuelen {now:.0f}",
        )
        full = [fact for fact in evidence.of("process", "cpu") if _FULL.fullmatch(fact.subject)]
        busy = max(full, key=lambda fact: fact.value, default=None)
        if busy is not None and busy.value >= _BUSY:
            said = f"{one.said}, and {busy.subject} takes {busy.text} of a CPU"
            yield replace(one, facts=(*one.facts, busy), said=said)
        else:
            yield replace(one, actions=(longer,) if now < _LONGER else ())


RULES: Final = (
    Rule(
        "upcalls-lost",
        "softirq",
        "Open vSwitch drops first packets of flows {subject}",
        "lookups of ovs-dpctl show",
        "1 of 1,000 packets that no flow of the datapath was for, and 50",
        "A packet of a flow that the kernel does not know goes up to ovs-vswitchd; its queue was"
        " full: too many flows begin at once, or its CPU is full.",
        "More handler threads (other_config:n-handler-threads), CPU time for ovs-vswitchd, flows"
        " with wider masks; look for scans and for flows that time out soon (max-idle).",
        "man ovs-dpctl, show; Linux net/openvswitch/datapath.c, ovs_dp_upcall",
        ratio("lost", "missed", kind="datapath"),
    ),
    Rule(
        "tap-dropped",
        "ring",
        "The guest behind {subject} does not take its packets in time",
        "tx_dropped of a tap port in ip -s link of the hypervisor",
        "1 packet in 10,000",
        "A tap has no ring of a card: packets wait for the guest in a queue of txqueuelen packets,"
        " which vhost or QEMU empties. It was full: the guest's CPU, vhost's, or the one queue of"
        " its card was too slow.",
        "More queues for the guest's card (queues= of libvirt, ethtool -L in the guest), CPU time"
        " for vhost and guest; where none of them is full, a longer txqueuelen bears bursts.",
        "Linux drivers/net/tun.c, tun_net_xmit",
        _tap,
        hides=("tx-dropped",),
    ),
)
