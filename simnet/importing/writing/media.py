"""The load of a host that receives datagrams: as many, as large and for as many sockets as seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.importing.writing.costs import assumed, payload_bytes, table_of, workload

if TYPE_CHECKING:
    from simnet.importing.rates import Rates
    from simnet.importing.roles import Role

_BASE: Final = "media-udp"
_FLOWS: Final = 64
_MOST_WORKERS: Final = 1024
_SERVICE: Final = (
    "1 us",
    "what the program does with a datagram: no file says it",
    "0 us",
    "20 us",
)
# of frames received: those sent by a host that answers each
_ANSWERS: Final = 0.5
_TIMES: Final = 2
_LOOKED: Final = 0.5


def lacking(role: Role, rates: Rates | None) -> str:
    """Return why a host's datagrams cannot be simulated; empty if the files say enough."""
    if role.called:
        return role.reason
    sent, received = role.numbers.get("sent_per_s"), role.numbers.get("received_per_s")
    if rates is not None and "size_bytes" not in role.numbers:
        received, sent = received or round(rates.rx_packets), sent or round(rates.tx_packets)
    if sent and received and sent > _ANSWERS * received:
        return f"it answers ({sent:,} datagrams/s), and answering by UDP is not simulated"
    if "size_bytes" not in role.numbers and rates is None:
        return role.reason
    if rates is not None and received and received < _LOOKED * rates.rx_packets:
        return (
            f"UDP has {received:,} of {rates.rx_packets:,.0f} packets/s, and loads beside each"
            " other are not simulated"
        )
    return ""


def datagrams(role: Role, rates: Rates | None, nodes: int) -> tuple[str, str]:
    """Return the tables of the scenario, and what is simulated in words.

    Args:
        role: the host's, with what its file tells of sockets.
        rates: of the port that receives; None where a test tells them.
        nodes: whose ports carry traffic.
    """
    numbers = role.numbers
    if "size_bytes" in numbers or rates is None:
        size, offered = numbers["size_bytes"], numbers["received_per_s"]
    else:
        size = payload_bytes(rates)
        offered = max(round(rates.rx_packets), numbers.get("received_per_s", 0))
    workers = min(max(numbers.get("sockets", 1), 1), _MOST_WORKERS)
    flows = numbers.get("flows", 0)
    said = f"{flows} flows" if flows else f"{_FLOWS} flows are assumed"
    flows = flows or _FLOWS
    buffer = numbers.get("buffer_bytes", 0)
    values = {
        "flows": numbers["flows"]
        if "flows" in numbers
        else assumed(flows, "no file says it", 1, 1000),
        "rate": max(-(-offered // flows), 1),
        "size": f"{size} B",
        "arrivals": "poisson",
        "workers": workers,
        # sockets of a program that have one port share it
        "reuseport": workers > 1 and "flows" not in numbers,
        "placement": "scheduler",
        "service": assumed(*_SERVICE),
    }
    if buffer:
        values["rcvbuf"] = f"{buffer // _TIMES} B"
    words = (
        f"{offered:,} datagrams/s of {size:,} B for {workers} socket{'s' * (workers > 1)}; {said},"
        " and what the program does with each"
    )
    text = workload("udp", "udp_stream", nodes, size)
    return f"{text}\n{table_of(_BASE, 'udp', values)}", words
