"""CPU time, traffic and disk columns of sysstat, by whatever name a tool of it gives them.

Sources: sar(1), mpstat(1), iostat(1), sadf(1) of sysstat 12. `%system` of sar includes time in
hard and soft interrupts, `%sys` of mpstat and of `sar -u ALL` does not. A kB has 1024 bytes.
"""

from collections.abc import Iterator, Mapping
from typing import Final

_BITS_PER_KB: Final = 8 * 1024
_CPU: Final = {
    "usr": "user",
    "user": "user",
    "nice": "user",
    "guest": "user",
    "gnice": "user",
    "sys": "system",
    "irq": "irq",
    "soft": "softirq",
    "iowait": "iowait",
    "steal": "steal",
    "idle": "idle",
}
_PORT: Final = {
    "rxpck": ("rx_packets_per_s", 1),
    "txpck": ("tx_packets_per_s", 1),
    "rxkB": ("rx_bps", _BITS_PER_KB),
    "txkB": ("tx_bps", _BITS_PER_KB),
}
_DISK: Final = {
    "r/s": "reads_per_s",
    "w/s": "writes_per_s",
    "rkB/s": "read_kb_per_s",
    "wkB/s": "written_kb_per_s",
    "rkB": "read_kb_per_s",
    "wkB": "written_kb_per_s",
    "await": "await_ms",
    "avgqu-sz": "queue",
    "aqu-sz": "queue",
    "util": "util_percent",
    "util-percent": "util_percent",
}


def cpu_metrics(cpu: str, columns: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield shares of a CPU, or of `all`; niced and guests' time is the user's, as in a result."""
    shares: dict[str, float] = {}
    for column, value in columns.items():
        name = _CPU.get(column.removeprefix("%"))
        if name is not None:
            shares[name] = shares.get(name, 0.0) + value
    kernel = columns.get("%system", columns.get("system"))
    if kernel is None and "system" in shares:
        kernel = sum(shares.get(name, 0.0) for name in ("system", "softirq", "irq"))
    if kernel is not None:
        shares["kernel"] = kernel
    if "idle" in shares:
        away = sum(shares.get(name, 0.0) for name in ("idle", "iowait", "steal"))
        shares["busy"] = max(100.0 - away, 0.0)
    for name, value in shares.items():
        yield f"cpu.{cpu}.{name}", value


def port_metrics(port: str, columns: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield rates of a network port."""
    for column, value in columns.items():
        name, scale = _PORT.get(column.removesuffix("/s"), ("", 0))
        if name:
            yield f"port.{port}.{name}", value * scale


def disk_metrics(disk: str, columns: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield rates and times of a disk; the mean time of reads and writes together."""
    for column, value in columns.items():
        name = _DISK.get(column.removeprefix("%"))
        if name:
            yield f"disk.{disk}.{name}", value
    done = columns.get("r/s", 0.0) + columns.get("w/s", 0.0)
    if "r_await" in columns and done:
        spent = columns["r_await"] * columns["r/s"] + columns["w_await"] * columns["w/s"]
        yield f"disk.{disk}.await_ms", spent / done
