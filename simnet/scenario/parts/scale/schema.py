"""What nodes of a Spectrum Scale cluster are, and the attributes of its daemon."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final

from simnet.scenario.core.parameter import Value
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Quantity, count, rate, ratio, size, time
from simnet.scenario.core.units import UnitError

_SUFFIXES: Final = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_TYPED: Final = re.compile(r"\s*(\d{1,30})\s*([KMG])?\s*")


@dataclass(frozen=True)
class ScaleSize(Quantity):
    """A size as ``mmchconfig`` takes it: ``32G``, or bytes; and as everywhere here."""

    def parse(self, raw: Any) -> Value:
        """Return the size in bytes; see :meth:`Spec.parse`."""
        typed = _TYPED.fullmatch(str(raw))
        if typed is None:
            return super().parse(raw)
        value = int(typed[1]) * _SUFFIXES.get(typed[2] or "", 1)
        self.check(value)
        return value

    def text(self, value: Any) -> str:
        """Return the size with the largest suffix that leaves it whole."""
        for suffix, scale in reversed(_SUFFIXES.items()):
            if value and value % scale == 0:
                return f"{value // scale}{suffix}"
        return str(value)


@dataclass(frozen=True)
class Counts(Quantity):
    """Numbers, as many as there are."""

    def parse(self, raw: Any) -> Value:
        """Return the numbers; see :meth:`Spec.parse`."""
        items = raw if isinstance(raw, (list, tuple)) else str(raw).split()
        if not items:
            raise UnitError("expected at least one number")
        return tuple(self._parse_one(item) for item in items)

    def text(self, value: Any) -> str:
        """Return the numbers as a person types them."""
        return " ".join(map(str, value))

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        return {"type": "array", "items": {"type": "integer"}, "minItems": 1}


class Lpars(Section):
    """Logical partitions with dedicated cores: the clients of a file system."""

    cores: Annotated[
        tuple[int, ...], Counts("dedicated cores of each partition", "count", "1", "192")
    ]
    memory_bytes: Annotated[int, size("memory of a partition", "1 GiB", "16384 GiB")]
    threads: Annotated[int, count("threads of a core that are on: smtctl -t", 1, 4)]
    smt2_throughput_permille: Annotated[
        int, ratio("work of a core with two threads busy, relative to one", "1", "2")
    ]
    smt4_throughput_permille: Annotated[
        int, ratio("work of a core with four threads busy, relative to one", "1", "4")
    ]
    purr_one_thread_permille: Annotated[
        int, ratio("share of a core that counts as used with one thread busy", "0.1", "1")
    ]
    mtu_bytes: Annotated[int, size("largest IP packet", "576 B", "64 KiB")]
    adapter_bus_bps: Annotated[
        int, rate("of the bus of a network adapter, one way", "1 Gbit/s", "1 Tbit/s")
    ]
    stack_ps: Annotated[
        int, time("a segment between wire and socket, moderation included", "0 us", "10 ms")
    ]
    failover_ps: Annotated[int, time("after which the standby port takes over", "1 ms", "100 s")]
    tcp_window_bytes: Annotated[
        int, size("receive and send buffer of a connection", "4 KiB", "1 GiB")
    ]
    call_ps: Annotated[
        int, time("CPU time of a read() or write(), copying excluded", "0 us", "1 ms")
    ]
    copy_mib_ps: Annotated[
        int, time("CPU time of copying 1 MiB between pagepool and program", "0 us", "10 ms")
    ]
    daemon_mib_ps: Annotated[
        int, time("CPU time of daemon, TCP and driver for 1 MiB sent or received", "0 us", "10 ms")
    ]
    receive_mib_ps: Annotated[
        int, time("of that, of the thread that reads a connection to a server", "0 us", "10 ms")
    ]
    speed_permille: Annotated[
        int, ratio("speed of a core, relative to the one that all CPU times are of", "0.1", "10")
    ] = 1000


class Scale(Section):
    """Spectrum Scale on its clients: attributes of mmchconfig, and the file system's block."""

    block_bytes: Annotated[
        int, ScaleSize("block size of the file system, 1 MiB to 16 MiB", "size", "1 MiB", "16 MiB")
    ]
    maxblocksize_bytes: Annotated[
        int, ScaleSize("largest block size that is mounted", "size", "64 KiB", "16 MiB")
    ]
    pagepool_bytes: Annotated[
        int, ScaleSize("pinned memory that caches data", "size", "256 MiB", "16384 GiB")
    ]
    prefetch_pct: Annotated[int, count("% of the pagepool for prefetch and write-behind", 1, 60)]
    worker_threads: Annotated[int, count("requests at once that processes wait for", 1, 8192)]
    prefetch_threads: Annotated[
        int,
        count(
            "requests at once for prefetch and write-behind; 0: a third of workerThreads", 0, 8192
        ),
    ] = 0
    max_mbps: Annotated[
        int, count("MB/s that prefetch and write-behind are to sustain", 1, 100_000)
    ]
    max_files_to_cache: Annotated[int, count("files whose inodes are in memory", 1, 100_000_000)]
    seq_discard_threshold_bytes: Annotated[
        int,
        ScaleSize(
            "larger files that are read or written in sequence are not kept",
            "size",
            "0 B",
            "16384 GiB",
        ),
    ]
    token_ps: Annotated[int, time("asking the token manager, there and back", "0 us", "1 s")]
    metadata_ps: Annotated[int, time("reading or creating an inode", "0 us", "1 s")]

    @property
    def prefetchers(self) -> int:
        """Requests at once for prefetch and write-behind."""
        return self.prefetch_threads or max(self.worker_threads // 3, 1)
