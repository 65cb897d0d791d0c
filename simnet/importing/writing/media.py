"""The load of a host that receives datagrams: as many, as large and for as many sockets as seen."""

from typing import Final

from simnet.importing.rates import Rates
from simnet.importing.roles import Role
from simnet.importing.writing.costs import assumed, payload_bytes, table_of, workload

_STREAM: Final = ("media-udp", "udp_stream")
_SERVE: Final = ("dns-udp", "udp_serve")
_FLOWS: Final = 64
_MOST_WORKERS: Final = 1024
_SERVICE: Final = (
    "1 us",
    "what the program does with a datagram: no file says it",
    "0 us",
    "20 us",
)
# of frames received: those sent by a host that answers each, at least and at most
_ANSWERS: Final = (0.5, 1.5)
_TIMES: Final = 2
_LOOKED: Final = 0.5


def lacking(role: Role, rates: Rates | None) -> str:
    """Return why a host's datagrams cannot be simulated; empty if the files say enough."""
    if role.why:
        return role.reason
    received, sent = _both_ways(role, rates)
    if sent > _ANSWERS[1] * received:
        return (
            f"it sends {sent:,} datagrams/s and gets {received:,}: what sends more than an answer"
            " to each is not simulated"
        )
    if "size_bytes" not in role.numbers and rates is None:
        return role.reason
    if rates is not None and received < _LOOKED * rates.rx_packets:
        return (
            f"UDP has {received:,} of {rates.rx_packets:,.0f} packets/s, and loads beside each"
            " other are not simulated"
        )
    return ""


def _both_ways(role: Role, rates: Rates | None) -> tuple[int, int]:
    """Return datagrams a second, received and sent, as counted or as many as the port's frames."""
    received, sent = (role.numbers.get(f"{way}_per_s", 0) for way in ("received", "sent"))
    if rates is not None and "size_bytes" not in role.numbers:
        received, sent = received or round(rates.rx_packets), sent or round(rates.tx_packets)
    return received, sent


def _answers(role: Role, rates: Rates | None) -> bool:
    """Whether a host sends nearly as many datagrams as it gets."""
    received, sent = _both_ways(role, rates)
    return rates is not None and sent > _ANSWERS[0] * received


def test_of(role: Role, rates: Rates | None) -> str:
    """Return the test of the workload."""
    return (_SERVE if _answers(role, rates) else _STREAM)[1]


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
        size = payload_bytes(rates.rx_size)
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
    base, test = _STREAM
    if rates is not None and _answers(role, rates):
        base, test = _SERVE
        values["answer"] = f"{payload_bytes(rates.tx_size)} B"
        words += f"; each is answered by one of {values['answer']}"
    text = workload("udp", test, nodes, size)
    return f"{text}\n{table_of(base, 'udp', values)}", words
