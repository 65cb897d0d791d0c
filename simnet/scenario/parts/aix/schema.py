"""What AIX sets with no(1); part of every kernel, read of AIX's alone."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Flag, count, size, time


class NetworkOptions(Section):
    """Attributes of no(1), by their names there. `sack` is `tcp_sack`, `rfc1323` timestamps."""

    @classmethod
    def unused(cls, values: Mapping[str, Any]) -> Collection[str]:
        """Return these options, of any system but AIX."""
        return () if values["system"] == "aix" else NetworkOptions.model_fields

    fasttimo_ps: Annotated[
        int, time("AIX: period of the scan that sends delayed ACKs", "50 ms", "200 ms")
    ] = 200 * 10**9
    tcp_nodelayack: Annotated[bool, Flag("AIX: each segment is acknowledged at once")] = False
    tcp_nagle_limit_bytes: Annotated[
        int, size("AIX: segments of this size or more do not wait for Nagle", "0 B", "65535 B")
    ] = 65535
    tcp_init_window: Annotated[
        int, count("AIX: first congestion window, segments; 0: RFC 2414", 0, 32767)
    ] = 0
    rfc2414: Annotated[bool, Flag("AIX: the first window is more than a segment")] = True
    tcp_recvspace_bytes: Annotated[
        int, size("AIX: receive buffer, where the interface has none", "4 KiB", "2 GiB")
    ] = 16384
    tcp_sendspace_bytes: Annotated[
        int, size("AIX: send buffer, where the interface has none", "4 KiB", "2 GiB")
    ] = 16384
    sb_max_bytes: Annotated[int, size("AIX: largest buffer of a socket", "4 KiB", "2 GiB")] = (
        1 << 20
    )
