"""XDP programs that run outside of the driver."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import named
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule

_FUNCTIONS: Final = (
    r"netif_receive_generic_xdp|do_xdp_generic|bpf_prog_run_generic_xdp|generic_xdp_tx"
)


def _generic(evidence: Evidence) -> Iterator[Found]:
    hot = evidence.of("hot", _FUNCTIONS)
    found = False
    for fact in evidence.of("addr", "xdp"):
        if fact.text != "xdpgeneric":
            yield Clear(fact, f"{fact.subject} has its program in the driver ({fact.text})")
            continue
        found = True
        port = named(fact.subject)
        actions = (
            Action(
                f"ip link set dev {port} xdpgeneric off",
                f"ip link set dev {port} xdpgeneric obj FILE sec SECTION",
            ),
        )
        said = f"{fact.subject} has {fact.text}"
        said += "".join(f", {one.name} takes {one.text}" for one in hot[:1])
        yield Hit(fact.subject, (fact, *hot[:1]), said, 57, "likely", actions)
    if hot and not found:
        yield Hit("", tuple(hot[:1]), f"{hot[0].name} takes {hot[0].text}", 50, "likely")


RULES: Final = (
    Rule(
        "xdp-generic",
        "softirq",
        "XDP runs behind the driver and costs more than it saves: {subject}",
        "xdpgeneric of ip link; functions of perf top",
        "always: generic mode is for tests",
        "The driver has no XDP, or the program was loaded in generic mode: the kernel has made its"
        " buffer already, and copies packets that lack room in front.",
        "Load it in the driver (xdpdrv, ip link set dev PORT xdp obj FILE) where the driver can; it"
        " refuses where not, or with an MTU or LRO that XDP does not take. Else nftables or tc do"
        " the same for less.",
        "Linux net/core/dev.c, netif_receive_generic_xdp; man ip-link, xdp",
        _generic,
    ),
)
