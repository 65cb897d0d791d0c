"""RDMA: adapters that lose, repeat or wait."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import Find, percent, weight_of
from simnet.diagnose.rule import Clear, Found, Hit, Rule

_COUNTERS: Final = "Linux Documentation/ABI/stable/sysfs-class-infiniband"
_MLX5: Final = "Linux drivers/infiniband/hw/mlx5/counters.c"
# what an adapter has done, to compare with
# the largest rate of adapters by chip
_GBIT: Final = {
    "MT4099": 56, "MT4103": 56, "MT4113": 56, "MT4115": 100, "MT4119": 100, "MT4121": 100,
    "MT4123": 200, "MT4129": 400,
}  # fmt: skip
_WORK: Final = r"port_(rcv|xmit)_packets|rx_(write|read|atomic)_requests"


def _counted(names: str, least: float, fewest: float, weight: float) -> Find:
    def find(evidence: Evidence) -> Iterator[Found]:
        for series in evidence.series("rdma", names):
            fact = series.last
            done = evidence.series("rdma", _WORK, fact.subject)
            work = max((one.value for one in done), default=0.0)
            share = series.value / work if work else 0.0
            enough = series.value >= fewest and (share >= least or not share)
            said = f"{fact.name} {fact.shown}"
            said += f" of {work:,.0f}, {percent(share)}" if share else ""
            if enough and series.growing:
                heavy = max(weight, 0.8 * weight_of(share)) if share else weight
                yield Hit(fact.subject, (fact,), said, heavy, "likely")
            else:
                yield Clear(fact, said)

    return find


def _state(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("rdma", "physical state|state"):
        if fact.text.lower() in {"down", "polling", "disabled", "initializing"}:
            yield Hit(fact.subject, (fact,), f"{fact.name} {fact.text}", 60, "certain")


def _slow(evidence: Evidence) -> Iterator[Found]:
    for rate in evidence.of("rdma", "rate"):
        kind = evidence.last("rdma", "ca type", rate.subject)
        layer = evidence.said("rdma", "link layer", rate.subject)
        could = _GBIT.get(kind.text) if kind is not None else None
        if kind is None or could is None or layer != "InfiniBand" or not rate.value:
            continue
        said = f"Rate {rate.text} Gbit/s; {kind.text} can have {could}"
        if rate.value < could:
            yield Hit(rate.subject, (rate, kind), said, 44, "possible")
        else:
            yield Clear(rate, said)


RULES: Final = (
    Rule(
        "rdma-slow",
        "cable",
        "The port of {subject} is slower than its adapter can be",
        "Rate and CA type of ibstat",
        "possible: some cards of a chip are made for less, as ConnectX-6 with 100 Gbit/s",
        "The link was trained at a lower rate: a cable or a switch for less, or lanes are missing.",
        "Look at the card's own type (mlxfwmanager), the cable's and the switch port's rate"
        " (iblinkinfo). No setting of the host helps.",
        "Linux drivers/infiniband/core/sysfs.c, rate_show; data sheets of ConnectX-3 to 7",
        _slow,
        outside=True,
    ),
    Rule(
        "rdma-loss",
        "protocol",
        "RDMA packets of {subject} are lost on the way and sent again",
        "out_of_sequence, packet_seq_err, local_ack_timeout_err of the adapter's counters",
        "1 request in 10,000, and 100",
        "RoCE goes back to the lost packet and repeats all after it: a small loss costs most of the"
        " rate. The network drops, as no priority is lossless end to end, or a cable is bad.",
        "Check PFC and ECN on every switch of the way and the DSCP of the traffic; look at"
        " symbol errors and discards of ports.",
        f"{_MLX5}, out_of_sequence, packet_seq_err; InfiniBand Architecture Specification, 9.7.5",
        _counted(
            r"out_of_sequence|packet_seq_err|local_ack_timeout_err|implied_nak_seq_err|roce_adp_retrans"
            r"|duplicate_request",
            1e-4,
            100,
            58,
        ),
        outside=True,
    ),
    Rule(
        "rdma-not-ready",
        "application",
        "The receiver of {subject} has posted no buffers (RNR)",
        "rnr_nak_retry_err, out_of_buffer of the adapter's counters",
        "1 request in 10,000, and 100",
        "A message came and no receive request was there for it: the sender waits and tries again.",
        "Post more receive requests, post them sooner; raise the RNR retry count.",
        f"{_MLX5}, out_of_buffer; InfiniBand Architecture Specification, 9.7.5.2.8",
        _counted(r"rnr_nak_retry_err|out_of_buffer|rx_rnr\w*", 1e-4, 100, 52),
    ),
    Rule(
        "rdma-congestion",
        "protocol",
        "The network slows down what {subject} sends",
        "port_xmit_wait; CNPs received of the adapter's counters",
        "1 in 100 packets",
        "A switch or the receiver cannot take more: by credits (InfiniBand) or by congestion"
        " notifications (RoCE) the adapter sends more slowly.",
        "Look for many senders to one port, and for a slow receiver (its PCIe, its pause frames).",
        f"{_COUNTERS}, port_xmit_wait; IEEE 802.1Q, clause 30",
        _counted(r"port_xmit_wait|rp_cnp_handled", 1e-2, 10_000, 34),
        outside=True,
    ),
    Rule(
        "rdma-cable",
        "cable",
        "The cable of {subject} is bad",
        "symbol_error, link_downed, port_rcv_errors of the adapter's counters",
        "100 symbol errors or damaged packets, 3 times down",
        "The port receives symbols that do not exist, or packets with wrong checksums.",
        "Replace or clean cable and optic. No setting helps.",
        f"{_COUNTERS}, symbol_error",
        lambda evidence: (
            *_counted(
                r"symbol_error|link_error_recovery|port_rcv_errors|local_link_integrity_errors"
                r"|rx_icrc_encapsulated",
                1e-6,
                100,
                66,
            )(evidence),
            *_counted(r"link_downed", 0, 3, 50)(evidence),
        ),
        outside=True,
    ),
    Rule(
        "rdma-down",
        "cable",
        "The port of {subject} has no link",
        "ibstat",
        "always",
        "No cable, no port at the other end, or no subnet manager (Initializing).",
        "Look at cable and switch; run opensm on one host of an InfiniBand network.",
        "man ibstat; InfiniBand Architecture Specification, 14.4.1",
        _state,
        outside=True,
    ),
)
