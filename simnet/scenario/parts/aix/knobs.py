"""The knobs of AIX's TCP: attributes of no(1), and of an interface (ISNO) where chdev(1) sets them.

An attribute of the interface wins over that of no(1). Source: IBM's AIX documentation, commands
no(1) and chdev(1).
"""

from dataclasses import dataclass
from typing import Any, Final

from simnet.scenario.core.knob import Knob, ignored
from simnet.scenario.core.parameter import Spec, Value
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import Flag, count, size
from simnet.scenario.core.subject import model_section
from simnet.scenario.core.units import UnitError
from simnet.scenario.parts.nic.schema import Nic

_UNITS: Final = {"_ps": "ms", "_bytes": "B"}
_PLAIN_BYTES: Final = 1500
_JUMBO_BYTES: Final = 9000


@dataclass(frozen=True)
class YesNo(Flag):
    """A flag as attributes of AIX's adapters have it."""

    def parse(self, raw: Any) -> Value:
        """Return True or False; see :meth:`Spec.parse`."""
        if raw not in {"yes", "no"}:
            raise UnitError(f"expected yes or no, got {raw!r}")
        return str(raw) == "yes"

    def text(self, value: Any) -> str:
        """Return ``yes`` or ``no``."""
        return "yes" if value else "no"


@dataclass(frozen=True)
class JumboFrames(YesNo):
    """The MTU that an interface has with and without jumbo frames."""

    def parse(self, raw: Any) -> Value:
        """Return the MTU in bytes; see :meth:`Spec.parse`."""
        return _JUMBO_BYTES if super().parse(raw) else _PLAIN_BYTES

    def text(self, value: Any) -> str:
        """Return ``yes`` where the MTU is larger than an ordinary frame's."""
        return super().text(value > _PLAIN_BYTES)


def _of_no(attribute: str) -> dict[str, Any]:
    return {"system": "aix", "keep": f"no -p -o {attribute}={{value}}"}


def _no(attribute: str, target: str, doc: str = "") -> Knob:
    spec = value_spec(model_section("kernel"), target)
    unit = next((unit for suffix, unit in _UNITS.items() if target.endswith(suffix)), "")
    name = f"no -o {attribute}"
    text = doc or spec.doc.removeprefix("AIX: ")
    more: dict[str, Any] = {"unit": unit, **_of_no(attribute)}
    return Knob(name, text, spec, "kernel", target, f"{name}={{value}}", **more)


def _ignored(attribute: str, doc: str, spec: Spec, **more: Any) -> Knob:
    name = f"no -o {attribute}"
    return ignored(name, doc, spec, f"{name}={{value}}", **_of_no(attribute), **more)


def _isno(attribute: str, target: str, doc: str) -> Knob:
    name = f"chdev -l {{port}} -a {attribute}"
    return Knob(
        name,
        doc,
        size(doc, "0 B", "2 GiB"),
        "interface",
        target,
        f"{name}={{value}}",
        default=0,
        unit="B",
        unset=f"{name}=",
        system="aix",
        keep="",
    )


def _adapter(attribute: str, target: str, doc: str, spec: Spec, unit: str = "") -> Knob:
    name = f"chdev -l {{port}} -a {attribute}"
    more: dict[str, Any] = {"unit": unit, "system": "aix", "keep": ""}
    return Knob(name, doc, spec, "nic", target, f"{name}={{value}}", **more)


_MTU: Final = value_spec(Nic, "mtu_bytes")
_ANY_NUMBER: Final = count("", 0, 2**31 - 1)
_ON_OFF: Final = Flag("on or off")

AIX: Final = (
    _no("fasttimo", "fasttimo_ps"),
    _no("tcp_nodelayack", "tcp_nodelayack"),
    _no("tcp_nagle_limit", "tcp_nagle_limit_bytes"),
    _no("tcp_init_window", "tcp_init_window"),
    _no("rfc2414", "rfc2414"),
    _no("rfc1323", "tcp_timestamps", "window scaling and timestamps: 12 bytes a segment"),
    _no("sack", "tcp_sack"),
    _no("tcp_recvspace", "tcp_recvspace_bytes"),
    _no("tcp_sendspace", "tcp_sendspace_bytes"),
    _no("sb_max", "sb_max_bytes"),
    _isno("tcp_recvspace", "recvspace_bytes", "receive buffer of connections by it; 0: not set"),
    _isno("tcp_sendspace", "sendspace_bytes", "send buffer of connections by it; 0: not set"),
    _adapter("mtu", "mtu_bytes", "largest IP packet", _MTU, "B"),
    _adapter("jumbo_frames", "mtu_bytes", "MTU of 9000 bytes, or 1500", JumboFrames("yes or no")),
    _adapter("large_send", "tso", "TCP segmentation by the adapter", YesNo("yes or no")),
    _ignored("delayack", "delays ACKs of what opens and closes connections", count("", 0, 3)),
    _ignored("hstcp", "HighSpeed TCP, RFC 3649", _ON_OFF),
    _ignored("tcp_newreno", "NewReno, which is on here", _ON_OFF),
    _ignored("tcp_limited_transmit", "limited transmit, RFC 3042", _ON_OFF),
    _ignored("tcp_nagleoverride", "no Nagle for any connection", _ON_OFF),
    _ignored("tcp_ecn", "explicit congestion notification", _ON_OFF),
    _ignored("tcp_low_rto", "shortest timeout, ms", _ANY_NUMBER),
    _ignored("thewall", "KiB for all mbufs", _ANY_NUMBER),
)
