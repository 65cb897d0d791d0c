"""What a disk model consists of: bus, queue, buffer, and the mechanism or flash behind them."""

from typing import Annotated

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count, rate, ratio, size, time


class Disk(Section):
    """A disk: capacity, bus, command queue, buffer, and its arm and platters or its flash.

    Values that the medium does not have keep their defaults.
    """

    medium: Annotated[
        str, Choice("what holds the data: platters and an arm, or flash", ("magnetic", "flash"))
    ]
    capacity_bytes: Annotated[int, size("what the host can address", "1 MiB", "131072 GiB")]
    bus_rate_bps: Annotated[
        int, rate("between the disk's buffer and the host", "1 Mbit/s", "1 Tbit/s")
    ]
    command_overhead_ps: Annotated[
        int, time("arrival of a command until the disk can act on it", "0 us", "10 ms")
    ]
    queue_depth: Annotated[int, count("commands that the disk holds at once", 1, 65536)]
    queue_policy: Annotated[
        str,
        Choice(
            "which command goes next: as they came (fcfs), least cylinders (sstf), next inwards"
            " (c-look), least time until it passes (sptf)",
            ("fcfs", "sstf", "c-look", "sptf"),
        ),
    ] = "fcfs"
    queue_age_limit_ps: Annotated[
        int, time("a command that waits longer goes first; 0: never", "0 ms", "100 s")
    ] = 0
    write_cache: Annotated[bool, Flag("a write is complete when it is in the buffer")] = False
    cache_bytes: Annotated[int, size("buffer of reads and writes", "0 B", "64 GiB")] = 0
    cache_segments: Annotated[
        int, count("streams that it reads ahead for; 0: no read-ahead", 0, 1024)
    ] = 0
    rpm: Annotated[int, count("revolutions per minute", 0, 100_000)] = 0
    heads: Annotated[int, count("recording surfaces", 0, 64)] = 0
    zones: Annotated[int, count("bands of tracks with equally many sectors", 1, 1000)] = 1
    outer_rate_bps: Annotated[
        int, rate("sustained rate of the outermost zone", "0 bit/s", "100 Gbit/s")
    ] = 0
    inner_rate_bps: Annotated[
        int, rate("sustained rate of the innermost zone", "0 bit/s", "100 Gbit/s")
    ] = 0
    seek_track_ps: Annotated[int, time("read seek to the next cylinder", "0 ms", "1 s")] = 0
    seek_average_ps: Annotated[int, time("read seek, mean over random ones", "0 ms", "1 s")] = 0
    seek_full_ps: Annotated[int, time("read seek across the disk", "0 ms", "1 s")] = 0
    write_settle_ps: Annotated[
        int, time("longer that a seek or switch takes before a write", "0 ms", "100 ms")
    ] = 0
    head_switch_ps: Annotated[
        int, time("to another surface of the same cylinder", "0 ms", "100 ms")
    ] = 0
    flash_channels: Annotated[int, count("pages read or programmed at a time", 0, 4096)] = 0
    flash_page_bytes: Annotated[int, size("a page of flash", "0 B", "1 MiB")] = 0
    command_interval_ps: Annotated[
        int, time("least time between two commands that an NVMe controller takes", "0 us", "10 ms")
    ] = 0
    flash_read_ps: Annotated[int, time("reading a page", "0 us", "100 ms")] = 0
    flash_read_step_ps: Annotated[
        int,
        time(
            "how much longer the second and the third page of cells of three bits takes than the"
            " one before it; flash_read is of the second",
            "0 us",
            "100 ms",
        ),
    ] = 0
    flash_program_ps: Annotated[int, time("programming a page", "0 us", "100 ms")] = 0
    program_unit_bytes: Annotated[
        int, size("pages that are programmed at once; 0: one", "0 B", "16 MiB")
    ] = 0
    write_amplification_permille: Annotated[
        int, ratio("pages programmed for one that is written at a random place", "1", "100")
    ] = 1000
    queues: Annotated[int, count("I/O queues of an NVMe drive; 0: another interface", 0, 65535)] = 0
