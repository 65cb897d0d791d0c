"""What a disk is: the numbers that `models/disks/` holds, in base units."""

from dataclasses import dataclass

SECTOR_BYTES = 512
QUEUE_POLICIES = ("fcfs", "sstf", "c-look", "sptf")


@dataclass(frozen=True)
class DiskModel:
    """One kind of disk, mechanical or flash; the schema of a disk model explains each value.

    Attributes:
        medium: "magnetic" or "flash".
        capacity_bytes: what the host can address.
        bus_rate_bps: between the disk's buffer and the host.
        command_overhead_ps: from the arrival of a command until the disk can act on it.
        queue_depth: commands that the disk holds at once.
        queue_policy: one of `QUEUE_POLICIES`; flash takes commands as they come.
        queue_age_limit_ps: a command that waits longer goes first; 0 for never.
        write_cache: whether a write is complete when it is in the buffer.
        cache_bytes: the buffer, of reads and writes.
        cache_segments: streams that the buffer can read ahead for; 0 for no read-ahead.
        rpm: revolutions per minute.
        heads: recording surfaces.
        zones: bands of tracks with equally many sectors.
        outer_rate_bps, inner_rate_bps: sustained, of the first and of the last zone.
        seek_track_ps, seek_average_ps, seek_full_ps: to the neighbour track, between random
            places, across the disk.
        write_settle_ps: longer that a seek takes before a write.
        head_switch_ps: to another surface of the same cylinder.
        command_interval_ps: least time between two commands that the controller takes.
        flash_channels: pages that are read or programmed at the same time.
        flash_page_bytes, flash_read_ps, flash_program_ps: a page, and what it takes.
        flash_read_step_ps: how much longer the second and the third page of cells of three bits
            takes than the one before it; `flash_read_ps` is of the second.
        program_unit_bytes: what is programmed at once; 0 for a page.
        write_amplification_permille: pages programmed for one that is written at a random place.
        queues: I/O queues of an NVMe drive, each `queue_depth` deep; 0 for other interfaces.
    """

    medium: str
    capacity_bytes: int
    bus_rate_bps: int
    command_overhead_ps: int
    queue_depth: int
    queue_policy: str = "fcfs"
    queue_age_limit_ps: int = 0
    write_cache: bool = False
    cache_bytes: int = 0
    cache_segments: int = 0
    rpm: int = 0
    heads: int = 0
    zones: int = 1
    outer_rate_bps: int = 0
    inner_rate_bps: int = 0
    seek_track_ps: int = 0
    seek_average_ps: int = 0
    seek_full_ps: int = 0
    write_settle_ps: int = 0
    head_switch_ps: int = 0
    command_interval_ps: int = 0
    flash_channels: int = 0
    flash_page_bytes: int = 0
    flash_read_ps: int = 0
    flash_read_step_ps: int = 0
    flash_program_ps: int = 0
    program_unit_bytes: int = 0
    write_amplification_permille: int = 1000
    queues: int = 0

    def __post_init__(self) -> None:
        if self.queue_policy not in QUEUE_POLICIES:
            legal = ", ".join(QUEUE_POLICIES)
            raise ValueError(f"queue_policy {self.queue_policy!r} is not one of {legal}")
        if self.medium not in {"magnetic", "flash"}:
            raise ValueError(f"medium {self.medium!r} is not magnetic or flash")
        needed = (
            ("flash_channels", "flash_page_bytes", "flash_read_ps", "flash_program_ps")
            if self.medium == "flash"
            else ("rpm", "heads", "outer_rate_bps", "inner_rate_bps")
        )
        for name in needed:
            if getattr(self, name) < 1:
                raise ValueError(f"a {self.medium} disk needs {name} above 0")
        if self.medium == "flash":
            self._check_flash()
        elif self.queues:
            raise ValueError(f"an NVMe drive is flash: a {self.medium} disk has no queues")

    def _check_flash(self) -> None:
        for name in ("flash_page_bytes", "program_unit_bytes"):
            if 0 < getattr(self, name) < SECTOR_BYTES:
                key = name.removesuffix("_bytes")
                least = f"a sector of {SECTOR_BYTES} B"
                raise ValueError(f"{key}: expected at least {least}, got {getattr(self, name)} B")
        if self.flash_read_step_ps >= self.flash_read_ps:
            read_us, step_us = (ps / 10**6 for ps in (self.flash_read_ps, self.flash_read_step_ps))
            message = f"expected less than flash_read, {read_us:g} us, got {step_us:g} us"
            raise ValueError(f"flash_read_step: {message}")
        unit_bytes = self.unit_bytes
        if self.queues and self.cache_bytes < unit_bytes:
            least = f"the {unit_bytes} B that are programmed at once"
            raise ValueError(f"cache: expected at least {least}, got {self.cache_bytes} B")

    @property
    def unit_bytes(self) -> int:
        """What flash programs at once."""
        return self.program_unit_bytes or self.flash_page_bytes

    @property
    def sectors(self) -> int:
        """Sectors of 512 bytes that the host can address."""
        return self.capacity_bytes // SECTOR_BYTES

    def bus_ps(self, sectors: int) -> int:
        """Time that a transfer takes on the bus."""
        return sectors * SECTOR_BYTES * 8 * 10**12 // self.bus_rate_bps
