"""A packetdrill script as a scenario: handshake, segments, calls, and what is expected.

The kernel's sequence numbers begin at 0 with its SYN, as in the scripts; segments that go out in
one burst may be expected as one, as TSO makes them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from simnet.errors import InputError
from simnet.net.link.skb import CE, CWR, ECE, ECT
from simnet.scenario.core.schema import spec_of
from simnet.scenario.core.units import UnitError
from simnet.scenario.parts.tcp.kernel import TcpKernel
from simnet.spelling import nearest
from simnet.study.conform.connection import Connection
from simnet.study.conform.packetdrill import Call, Event, Packet, Script
from simnet.study.conform.recording import Expected, Recording
from simnet.study.conform.step import Step
from simnet.time_units import PS_PER_US

_PREFIX: Final = "net.ipv4."
# what the model has: name to key and form
_SYSCTLS: Final = {
    "tcp_rmem": ("tcp_rmem_bytes", "triple"),
    "tcp_wmem": ("tcp_wmem_bytes", "triple"),
    "tcp_timestamps": ("tcp_timestamps", "flag"),
    "tcp_sack": ("tcp_sack", "flag"),
    "tcp_window_scaling": ("tcp_window_scaling", "flag"),
    "tcp_moderate_rcvbuf": ("tcp_moderate_rcvbuf", "flag"),
    "tcp_slow_start_after_idle": ("tcp_slow_start_after_idle", "flag"),
    "tcp_adv_win_scale": ("tcp_adv_win_scale", "number"),
    "tcp_reordering": ("tcp_reordering", "number"),
    "tcp_tso_win_divisor": ("tcp_tso_win_divisor", "number"),
    "tcp_abc": ("tcp_abc", "number"),
    "tcp_congestion_control": ("tcp_congestion_control", "text"),
    "tcp_rto_min_us": ("rto_min_ps", "microseconds"),
}
# what changes nothing that is modelled, with the only value for which that is so, if there is one
_WITHOUT_EFFECT: Final[dict[str, str | None]] = {
    "tcp_dsack": "1",
    "tcp_ecn": None,
    "tcp_ecn_option": None,
    "tcp_fack": None,
    "tcp_frto": None,
    "tcp_early_retrans": None,
    "tcp_recovery": None,
    "tcp_syn_retries": None,
    "tcp_synack_retries": None,
    "tcp_fastopen": None,
    "tcp_fastopen_key": None,
    "tcp_fastopen_blackhole_timeout_sec": None,
    "tcp_syncookies": None,
    "tcp_pacing_ss_ratio": None,
    "tcp_pacing_ca_ratio": None,
    "tcp_notsent_lowat": None,
    "tcp_no_metrics_save": None,
    "tcp_min_tso_segs": None,
    "tcp_shrink_window": "0",
    "tcp_limit_output_bytes": None,
    "tcp_mtu_probing": "0",
}
_IGNORED_OPTIONS: Final = frozenset({"SO_REUSEADDR", "SO_LINGER", "SO_KEEPALIVE"})
_SOCKET_OPTIONS: Final = {"TCP_QUICKACK": "quickack", "TCP_NODELAY": "nodelay", "TCP_CORK": "cork"}
_CALLS: Final = (
    "socket", "bind", "listen", "accept", "connect", "fcntl", "setsockopt", "read", "recv",
    "write", "send", "close", "shutdown",
)  # fmt: skip
_ENDS: Final = frozenset({"close", "shutdown"})


@dataclass(slots=True)
class _Reader:
    """Goes through a script once."""

    script: Script
    kernel: dict[str, Any]
    active: bool = False
    syn: Packet | None = None
    answer: Packet | None = None
    answered_ps: int = 0
    established: Event | None = None
    offered: int | None = None
    rcvbuf: int = 0
    sndbuf: int = 0
    delack_max_ps: int | None = None
    early: dict[str, int] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)

    def error(self, event: Event, message: str) -> InputError:
        return self.script.error(event.line, message)

    def read(self) -> Recording:
        """The whole script."""
        for event in self.script.events:
            what = event.what
            known = len(self.steps)
            if isinstance(what, Call):
                if what.name in _ENDS and self.established is not None:
                    break
                self._call(event, what)
            elif set(what.flags) & set("FR"):
                break
            elif self.established is None:
                self._handshake(event, what)
            elif "S" in what.flags:
                raise self.error(event, "a SYN in a connection is not modelled")
            elif what.inbound:
                self._inbound(event, what)
            else:
                self._outbound(event, what)
            if len(self.steps) > known:
                self.steps[-1] = replace(self.steps[-1], after=len(self.expected))
        if self.established is None:
            raise self.script.error(
                self.script.events[-1].line, "expected a handshake: S, S. and . in turn"
            )
        if not self.expected:
            raise InputError("no segment is expected before its close", file=self.script.file)
        steps = [Step(0, name, end_seq=value) for name, value in self.early.items()]  # type: ignore[arg-type]
        return Recording(
            self.script.file,
            1,
            "script",
            self._connection(),
            1,
            (*steps, *self.steps),
            tuple(self.expected),
            exact=True,
        )

    # -- handshake --------------------------------------------------------------------------

    def _handshake(self, event: Event, packet: Packet) -> None:
        if "S" in packet.flags and "." not in packet.flags and self.syn is None:
            self.syn = packet
            self.active = not packet.inbound
        elif "S" in packet.flags and self.syn is not None and packet.inbound == self.active:
            self.answer = packet
            self.answered_ps = event.time_ps
        elif self.answer is not None and packet.inbound != self.active:
            self.established = event
            self.offered = packet.window
            if packet.end_seq > packet.seq:
                self._inbound(event, packet)
        else:
            raise self.error(event, "expected a handshake: S, S. and . in turn")

    def _connection(self) -> Connection:
        if self.syn is None or self.answer is None or self.established is None:
            raise LookupError(self.script.file)
        ours, theirs = (self.syn, self.answer) if self.active else (self.answer, self.syn)
        mine, peer = ours.options or {}, theirs.options or {}
        if "..." in mine:
            # whatever the peer has offered
            mine = {name: value for name, value in peer.items() if name != "mss"}
        scaling = "wscale" in peer and "wscale" in mine
        window = theirs.window if self.active else self.offered
        scale = int(peer["wscale"]) if scaling else 0  # type: ignore[call-overload]
        if window is None:
            window = 65_535
        return Connection(
            self.kernel,
            mss=int(peer.get("mss", 536)),  # type: ignore[call-overload]
            advmss=int(mine.get("mss", 1460)),  # type: ignore[call-overload]
            timestamps="TS" in mine and "TS" in peer,
            sack="sackOK" in mine and "sackOK" in peer,
            scaling=scaling,
            quickack=self.script.quickack,
            delack_max_ps=self.delack_max_ps,
            rcvbuf=self.rcvbuf,
            sndbuf=self.sndbuf,
            peer_scale=scale,
            peer_window=window << (0 if self.active else scale),
            ecn="E" in ours.flags and "E" in theirs.flags,
            rtt_ps=max(self.established.time_ps - self.answered_ps, PS_PER_US),
        )

    # -- segments ---------------------------------------------------------------------------

    def _inbound(self, event: Event, packet: Packet) -> None:
        options = packet.options or {}
        if packet.ack is None:
            raise self.error(event, "a segment without an acknowledgement number is not modelled")
        if 0 < self.script.mss < packet.end_seq - packet.seq:
            raise self.error(
                event, f"a segment longer than --mss={self.script.mss} is not modelled"
            )
        self.steps.append(
            Step(
                event.time_ps,
                "receive",
                packet.seq,
                packet.end_seq,
                push="P" in packet.flags,
                ack=packet.ack,
                window=65_535 if packet.window is None else packet.window,
                blocks=options.get("sack", ()),  # type: ignore[arg-type]
                ecn=_bits(packet),
            )
        )

    def _outbound(self, event: Event, packet: Packet) -> None:
        if packet.ack is None:
            raise self.error(event, "a segment without an acknowledgement number is not modelled")
        sack = None
        if packet.options is not None:
            sack = packet.options.get("sack", ())
        first_ps, last_ps = event.time_ps, event.last_ps or event.time_ps
        half_ps = (last_ps - first_ps) // 2
        self.expected.append(
            Expected(
                first_ps + half_ps,
                packet.ack,
                packet.window,
                sack,  # type: ignore[arg-type]
                packet.seq,
                packet.end_seq,
                1 << 62 if event.any_time else half_ps + self.script.tolerance_ps,
                event.line,
                _bits(packet),
                (ECE | CWR) | (0 if packet.ecn is None else ECT | CE),
            )
        )

    # -- calls ------------------------------------------------------------------------------

    def _call(self, event: Event, call: Call) -> None:
        if call.name == "assert":
            self.steps.append(Step(event.time_ps, "check", code=call.arguments[0]))
            return
        if call.name not in _CALLS:
            raise self.error(event, f"call {call.name} is not modelled{nearest(call.name, _CALLS)}")
        if call.name == "setsockopt":
            self._set(event, call)
        elif call.name in {"read", "recv"}:
            count = self._result(event, call)
            self.steps.append(
                Step(event.time_ps, "read", end_seq=count, more=event.last_ps is not None)
            )
        elif call.name in {"write", "send"}:
            count = self._result(event, call)
            flags = call.arguments[3] if len(call.arguments) > 3 else "0"  # noqa: PLR2004
            if flags not in {"0", "MSG_MORE", "MSG_DONTWAIT"}:
                raise self.error(event, f"flag {flags} is not modelled")
            self.steps.append(Step(event.time_ps, "write", end_seq=count, more=flags == "MSG_MORE"))

    def _result(self, event: Event, call: Call) -> int:
        if not re.fullmatch(r"\d{1,10}", call.result):
            raise self.error(event, f"{call.name} that returns {call.result} is not modelled")
        return int(call.result)

    def _set(self, event: Event, call: Call) -> None:
        name = call.arguments[2] if len(call.arguments) > 3 else ""  # noqa: PLR2004
        match = re.fullmatch(r"\[(\d{1,10})\]", call.arguments[3]) if name else None
        if name in _IGNORED_OPTIONS:
            return
        if match is None:
            raise self.error(event, f"setsockopt of {name or 'what'} is not understood")
        value = int(match[1])
        if name == "SO_RCVBUF":
            # sock_setsockopt: doubled, within rmem_max
            doubled = max(2 * min(value, self.kernel["rmem_max_bytes"]), 2304)
            if self.established is None:
                self.rcvbuf = doubled
            else:
                self.steps.append(Step(event.time_ps, "rcvbuf", end_seq=doubled))
        elif name == "SO_SNDBUF":
            self.sndbuf = max(2 * min(value, self.kernel["wmem_max_bytes"]), 4608)
        elif name == "TCP_DELACK_MAX_US":
            self.delack_max_ps = value * PS_PER_US
        elif name in _SOCKET_OPTIONS:
            if self.established is None:
                self.early[_SOCKET_OPTIONS[name]] = value
            else:
                self.steps.append(
                    Step(event.time_ps, _SOCKET_OPTIONS[name], end_seq=value)  # type: ignore[arg-type]
                )
        else:
            known = ("SO_RCVBUF", "SO_SNDBUF", "TCP_DELACK_MAX_US", *_SOCKET_OPTIONS)
            raise self.error(event, f"socket option {name} is not modelled{nearest(name, known)}")


def _bits(packet: Packet) -> int:
    """ECN's bits of a segment."""
    bits = {None: 0, "noecn": 0, "ce": CE}.get(packet.ecn, ECT)
    return bits | (ECE if "E" in packet.flags else 0) | (CWR if "W" in packet.flags else 0)


def recording_of(script: Script, kernel: Mapping[str, Any]) -> Recording:
    """The scenario of a script, on a kernel with these constants.

    Raises:
        InputError: the script has something that is not modelled.
    """
    values = dict(kernel)
    for name, (text, line) in script.sysctls.items():
        _sysctl(script, values, name, text, line)
    if script.rto_min_us is not None:
        values["rto_min_ps"] = script.rto_min_us * PS_PER_US
    return _Reader(script, values).read()


def _sysctl(script: Script, values: dict[str, Any], name: str, text: str, line: int) -> None:
    short = name.removeprefix(_PREFIX)
    if not name.startswith(_PREFIX) or short not in _SYSCTLS:
        if short not in _WITHOUT_EFFECT:
            raise script.error(line, f"sysctl {name} is not modelled{nearest(short, _SYSCTLS)}")
        if _WITHOUT_EFFECT[short] not in {None, text}:
            raise script.error(line, f"sysctl {name} is modelled only as {_WITHOUT_EFFECT[short]}")
        return
    key, form = _SYSCTLS[short]
    try:
        if form == "triple":
            low, usual, most = map(int, text.split())
            values[key] = (low, usual, most)
        elif form == "text":
            values[key] = text
        elif form == "flag":
            values[key] = int(text) > 0
        else:
            values[key] = int(text) * (PS_PER_US if form == "microseconds" else 1)
        spec = spec_of(TcpKernel, key)
        if spec is not None:
            spec.check(values[key])
    except UnitError as error:
        raise script.error(line, f"sysctl {name}: {error}") from error
    except ValueError as error:
        raise script.error(line, f"sysctl {name}: {text} is no value") from error
