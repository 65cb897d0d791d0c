"""The cable and what is at its other end."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import look, named, tool, wider_ring
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import counted, logged
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule
from simnet.printable import typed

_STATISTICS: Final = "Linux Documentation/networking/statistics.rst"
_GIGABIT: Final = 1000


def _module(_evidence: Evidence, port: str) -> tuple[Action, ...]:
    return (look("ethtool", "-m", named(port)),)


_LENGTHS: Final = (
    r"(port[._])?rx_(oversize\w*|length_errors|long_length_errors|jabbers?\w*|too_long\w*"
    r"|(in|out)_range_length_error)|rx_over_length\w*|rx_giants"
)
_DAMAGE: Final = counted(
    r"(port[._])?rx_(crc|fcs)_err\w*|rx_crc\w*|rx_frame(_errors)?|rx_align_errors"
    r"|.*\bcrc_errors?\b.*|rx_dribble\w*|(?:\w+_)?bad_(?:crc|fcs)\w*|in_fcs_error"
    r"|Rx(?:Crc|Fcs|Align)Err\w*",
    kinds=("stat", "link"),
    possible=1e-5,
    fewest=100,
    act=_module,
    scale=1.15,
)


def _damaged(evidence: Evidence) -> Iterator[Found]:
    """Yield frames whose checksum is wrong.

    What the kernel calls `frame` counts frames of a wrong length, too (dev_seq_printf_stats).
    """
    for found in _DAMAGE(evidence):
        fact = found.facts[0] if isinstance(found, Hit) else found.fact
        long = sum(one.value for one in evidence.series("stat", _LENGTHS, fact.subject))
        if isinstance(found, Hit) and fact.kind == "link" and 2 * long >= fact.value:
            yield Clear(fact, f"{fact.name} {fact.shown}: {long:,.0f} are of a wrong length")
        else:
            yield found


def _uncorrected(evidence: Evidence) -> Iterator[Found]:
    """Yield ports that correct no errors, and have some."""
    damaged = {found.subject: found for found in _damaged(evidence) if isinstance(found, Hit)}
    for fact in evidence.of("phy", "Active FEC encodings?"):
        found = damaged.get(fact.subject)
        if fact.text.lower() in {"off", "none"} and found is not None:
            said = f"Active FEC encoding: {fact.text}, and {found.said}"
            set_fec = ("ethtool", "--set-fec", named(fact.subject), "encoding")
            action = Action(typed(*set_fec, "rs"), typed(*set_fec, "off"))
            yield Hit(fact.subject, (*found.facts, fact), said, 78, "likely", (action,))


def _half(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("phy", "Duplex"):
        if fact.text == "Half":
            yield Hit(fact.subject, (fact,), "Duplex: Half", 75, "certain")
    for fact in evidence.logged(
        r"(?P<subject>\S+)[: ].*[Ll]ink.*[Uu]p.*(?:[Hh]alf[ -][Dd]uplex|/Half)"
    ):
        yield Hit(fact.subject.rstrip(":"), (fact,), "the link came up half duplex", 70, "certain")


def _slow(evidence: Evidence) -> Iterator[Found]:
    for speed in evidence.of("phy", "Speed"):
        modes = evidence.of("phy", "(Supported|Advertised).*", speed.subject)
        fastest = max(modes, key=lambda fact: fact.value, default=None)
        if fastest and 0 < speed.value < fastest.value:
            partner = evidence.value("phy", "Link partner.*", speed.subject) or 0
            other = f"; the other end offers {partner:g}" if partner else ""
            said = f"Speed {speed.text}, but {fastest.value:g} Mb/s is possible here{other}"
            times = fastest.value / speed.value
            agreed = 0 < partner <= speed.value
            tenth = times >= 10 and speed.value < _GIGABIT and not agreed  # noqa: PLR2004 - downshift is to a tenth
            sure = "certain" if tenth else "likely"
            yield Hit(speed.subject, (speed, fastest), said, 70 if sure == "certain" else 45, sure)
    gigabit = (
        r"(?:igb|igc|e1000e?|tg3|bnx2|r8169|atlantic)\b.*\b(?P<subject>\w+):? (?:NIC )?"
        r"(?:Copper )?Link is [Uu]p (?:at )?(?:- )?100 ?M"
    )
    for fact in evidence.logged(gigabit)[:1]:
        said = "the log says 100 Mbit/s, of a driver of gigabit cards"
        yield Hit(fact.subject, (fact,), said, 55, "likely")
    # a PHY of phylib is called by its bus and address, `stmmac-0:01`: no port
    shifted = (
        r"(?i)(?:(?<![\w:.-])(?P<subject>[a-z][\w.]*): )?[^:\n]*\b(?:downshift(?:ed)?\b|smartspeed)"
    )
    for fact in evidence.logged(shifted):
        yield Hit(fact.subject, (fact,), "the PHY took a lower speed than agreed", 71, "certain")


def _no_link(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("phy", "Link detected"):
        if fact.text.startswith("no") and evidence.meant(fact):
            yield Hit(fact.subject, (fact,), f"Link detected: {fact.text}", 54, "certain")


def _flaps(evidence: Evidence) -> Iterator[Found]:
    pattern = (
        r"(?P<subject>[A-Za-z][\w.-]{1,14}):? (?:NIC )?(?:Copper |Fib\w+ |SerDes )?"
        r"[Ll]ink (?:is )?[Dd]own|(?P<other>[A-Za-z][\w.-]{1,14}): Lost carrier"
    )
    yield from logged(pattern, at_least=3, weight=65)(evidence)
    for fact in evidence.of("stat", r"link_down_events(_phy)?"):
        if fact.value >= 10:  # noqa: PLR2004 - some come with each boot
            yield Hit(fact.subject, (fact,), f"{fact.name} {fact.shown}", 45, "likely")


RULES: Final = (
    Rule(
        "crc-errors",
        "cable",
        "Frames arrive damaged at {subject}",
        "rx_crc_errors, rx_fcs_errors of ethtool -S; frame of ifconfig",
        "1 frame in 100,000: 10GBASE-T and optics are specified to lose less than one in 10^8",
        "The checksum of a frame is wrong: bits changed on the cable, in an optic or in the PHY.",
        "Replace or clean cable and optic, try another port of the switch. No setting helps.",
        f"{_STATISTICS}, rx_crc_errors; IEEE 802.3, 4.2.4.1",
        _damaged,
        outside=True,
        hides=("port-errors",),
    ),
    Rule(
        "fec-off",
        "cable",
        "{subject} corrects no errors of its line, and has some",
        "ethtool --show-fec; rx_crc_errors, rx_fcs_errors of ethtool -S",
        "frames that are damaged (see crc-errors), and FEC off",
        "From 25 Gbit/s on all but the shortest cables rely on forward error correction: without it"
        " single bits are wrong all the time. Both ends must have the same.",
        "Set the same FEC at this port and at the switch's: RS where both can.",
        "IEEE 802.3 clauses 91 and 108; man ethtool, --set-fec",
        _uncorrected,
        hides=("crc-errors", "port-errors"),
    ),
    Rule(
        "symbol-errors",
        "cable",
        "The signal on the cable of {subject} is bad",
        "symbol errors and code errors of ethtool -S",
        "1 in 100,000 frames: a link that is well has none",
        "The PHY receives symbols that do not exist: bad cable, optic, connector or interference.",
        "Replace or clean cable and optic. No setting helps.",
        "Linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst",
        counted(
            r".*symbol_err\w*|rx_pcs_symbol_err_phy|.*illegal_bytes|rx_code_error\w*|.*bad_symbols?",
            possible=1e-5,
            fewest=100,
            act=_module,
            scale=1.1,
        ),
        outside=True,
    ),
    Rule(
        "fec-uncorrectable",
        "cable",
        "Forward error correction of {subject} fails",
        "uncorrectable blocks of ethtool -S or ethtool -I --show-fec",
        "10 blocks: each is several frames lost",
        "More bits of a block are wrong than the code can repair.",
        "Replace or clean cable and optic; set the same FEC at both ends.",
        "Linux Documentation/networking/statistics.rst, FEC; IEEE 802.3 clause 91",
        counted(r".*fec_?uncor\w*|.*uncorrectable\w*", possible=1e-6, fewest=10, act=_module),
        outside=True,
    ),
    Rule(
        "late-collisions",
        "cable",
        "Frames of {subject} collide late",
        "late collisions of ethtool -S",
        "1 frame in 10,000",
        "A collision after 64 bytes: one end is full duplex and the other half (duplex mismatch).",
        "Let both ends negotiate; fix speed and duplex at neither or at both.",
        "IEEE 802.3, 4.2.3; Linux Documentation/networking/statistics.rst, tx_window_errors",
        counted(
            r".*late_coll\w*|tx_window_errors",
            side="tx",
            fewest=50,
            act=lambda _e, port: (Action(tool("-s", port, "autoneg", "on").do),),
        ),
    ),
    Rule(
        "half-duplex",
        "cable",
        "The link of {subject} is half duplex",
        "Duplex of ethtool, or the log",
        "always: no switch of today is half duplex",
        "One end did not negotiate, so the other fell back: frames collide and"
        " are lost under load.",
        "Let both ends negotiate.",
        "IEEE 802.3 clause 28, parallel detection",
        _half,
    ),
    Rule(
        "slow-link",
        "cable",
        "The link of {subject} is slower than its ends",
        "Speed against the modes of ethtool, or the log",
        "always: certain where it is a tenth of what is possible and below a gigabit",
        "A gigabit needs four good pairs: with a bad one the PHY falls back to 100 Mb/s.",
        "Replace the cable; see what the other end offers and whether somebody fixed the speed.",
        "IEEE 802.3 clause 40; Linux drivers/net/phy/phy-core.c, phy_check_downshift",
        _slow,
        outside=True,
    ),
    Rule(
        "no-link",
        "cable",
        "{subject} has no link",
        "Link detected of ethtool",
        "always, where it was pasted",
        "Nothing is at the other end, or both do not agree: cable, optic, speed, FEC, or the port"
        " is down at either end.",
        "ip link set dev PORT up; then cable, optic, and the switch's port and its FEC.",
        "Linux Documentation/networking/ethtool-netlink.rst, LINKSTATE_GET",
        _no_link,
        outside=True,
    ),
    Rule(
        "link-flaps",
        "cable",
        "The link of {subject} goes down and up",
        "the log, or link_down_events of ethtool -S",
        "3 times in a log: once is a cable that was moved",
        "Each time everything in flight is lost, and the switch may block the port for seconds.",
        "Replace cable and optic; look at the switch's log; switch off Energy Efficient Ethernet.",
        "Linux Documentation/networking/operstates.rst",
        _flaps,
        outside=True,
    ),
    Rule(
        "pause-received",
        "cable",
        "The switch or the peer stops {subject} with pause frames",
        "pause frames received, of ethtool -S",
        "1 for 50,000 frames sent: each may stop the port for 65,535 x 512 bit times, in which"
        " 2,800 full frames fit",
        "Whoever is at the other end cannot take more: queues here fill up and sending waits.",
        "Find out who is slow at the other end. `ethtool -A rx off` turns waiting into loss.",
        "IEEE 802.3 annex 31B; Linux Documentation/networking/statistics.rst, pause",
        counted(
            r"(rx_pause(_ctrl_phy|_frames?)?|rx_flow_control_xoff|(rx_)?(lx)?xoff_rx|port\.link_xoff_rx"
            r"|link_xoff_rx\w*|rx_xoff\w*|rx_prio\d+_pause|rx_mac_control\w*|rx_global_pause\w*"
            r"|rx_pause_frames)",
            side="tx",
            possible=2e-5,
            fewest=1000,
            scale=0.75,
        ),
        outside=True,
    ),
    Rule(
        "pause-sent",
        "ring",
        "{subject} stops the switch with pause frames",
        "pause frames sent, of ethtool -S",
        "1 for 1,000 frames received",
        "The card's own buffer is full: this host, or its PCIe link, takes frames too slowly.",
        "Widen the receive ring, spread its interrupts, look at PCIe.",
        "IEEE 802.3 annex 31B; Linux Documentation/networking/statistics.rst, pause",
        counted(
            r"(tx_pause(_ctrl_phy|_frames?)?|tx_flow_control_xoff|(tx_)?(lx)?xoff_tx"
            r"|port\.link_xoff_tx|link_xoff_tx\w*|tx_xoff\w*|tx_prio\d+_pause|tx_global_pause\w*)",
            possible=1e-3,
            fewest=1000,
            scale=0.7,
            act=wider_ring(),
        ),
    ),
    Rule(
        "oversize",
        "cable",
        "{subject} is sent frames that are too long",
        "length and oversize errors of ethtool -S",
        "1 frame in 10,000",
        "The sender's MTU is larger than that of this port: large packets vanish, small ones pass.",
        "Set the same MTU on all ports of the network.",
        f"{_STATISTICS}, rx_length_errors; RFC 1191",
        counted(
            _LENGTHS,
            act=lambda _e, port: (
                Action(
                    f"ip link set dev {named(port)} mtu 9000",
                    f"ip link set dev {named(port)} mtu 1500",
                    f"ip link set dev {named(port)} mtu 9000",
                ),
            ),
        ),
        hides=("port-errors",),
    ),
    Rule(
        "carrier-errors",
        "cable",
        "{subject} loses the carrier while it sends",
        "carrier errors of ethtool -S, ip -s link or ifconfig",
        "1 frame in 10,000",
        "The link went away in the middle of a frame: cable, PHY or duplex.",
        "Replace the cable; let both ends negotiate.",
        f"{_STATISTICS}, tx_carrier_errors",
        counted(r"tx_carrier\w*|.*lost_carrier\w*", side="tx", kinds=("stat", "link"), fewest=100),
        outside=True,
    ),
    Rule(
        "port-errors",
        "cable",
        "{subject} counts receive errors",
        "rx_errors of ip -s link, ifconfig, netstat -i or ethtool -S",
        "1 frame in 10,000",
        "Damaged or lost frames; `ethtool -S` says of which kind.",
        "Look at the counters of the card.",
        f"{_STATISTICS}, rx_errors",
        counted(
            r"rx_errors(_phy)?",
            kinds=("stat", "link"),
            scale=0.8,
            act=lambda _e, port: (look("ethtool", "-S", named(port)),),
        ),
    ),
)
