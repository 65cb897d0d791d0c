"""What a program asks of its UDP sockets, and what all of them may have.

Source: socket(7), udp(7); net/core/sock.c (`sock_setsockopt`) of Linux 6.12.
"""

from typing import Any, Final

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.parts.host.knobs import sysctl
from simnet.scenario.parts.udp.schema import Udp


def _asked(option: str, target: str, typed: str, **more: Any) -> Knob:
    """Return the knob of a socket option that the program itself has to set."""
    spec, name = value_spec(Udp, target), f"setsockopt {option}"
    typed = f"in the program, for each socket: {typed}"
    return Knob(name, spec.doc, spec, "udp", target, typed, by_hand=True, **more)


KNOBS: Final = (
    _asked(
        "SO_RCVBUF",
        "rcvbuf_bytes",
        "setsockopt SO_RCVBUF {value}",
        unit="B",
        note="net.core.rmem_max limits it, and Linux then doubles it",
        unset="in the program: no setsockopt of SO_RCVBUF",
    ),
    _asked("SO_REUSEPORT", "reuseport", "SO_REUSEPORT {value}, and all bound to one port"),
    _asked(
        "SO_ATTACH_REUSEPORT_CBPF",
        "reuseport_program",
        "once for the group: cpu is a program that returns SKF_AD_OFF + SKF_AD_CPU, hash is none"
        " ({value})",
        note="sockets have numbers in the order in which they are bound, and the hash chooses for a"
        " CPU that has none",
    ),
    sysctl("net.ipv4.udp_mem", "udp_mem_pages"),
)
"""What a program asks of its UDP sockets, and what the host grants."""
