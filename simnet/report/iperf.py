"""iperf's own report, version 2.0.2: one line a stream.

Formats of `byte_snprintf` (src/stdio.c): bytes in powers of 1024, bits in powers of 1000, four
places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simnet.study.run.result import Result

# sockets 0 to 2 are the terminal's
_FIRST_SOCKET = 3


def iperf(result: Result) -> str:
    """One line a flow: what arrived in the measured time."""
    return "".join(
        _line(_FIRST_SOCKET + number, result.simulated_s, flow.goodput_bps)
        for number, flow in enumerate(result.flows)
    )


def _line(socket: int, elapsed_s: float, goodput_bps: float) -> str:
    moved = _adapted(goodput_bps * elapsed_s / 8, 1024, ("", "K", "M", "G"), "Bytes")
    rate = _adapted(goodput_bps, 1000, ("", "K", "M", "G"), "bits")
    return f"[{socket:3d}]  0.0-{elapsed_s:4.1f} sec  {moved}  {rate}/sec\n"


def _adapted(value: float, base: int, prefixes: tuple[str, ...], unit: str) -> str:
    power = 0
    while value >= base and power < len(prefixes) - 1:
        value /= base
        power += 1
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0  # noqa: PLR2004 - stdio.c
    return f"{value:4.{digits}f} {prefixes[power]}{unit}"
