"""ns-3 beside us, where it is installed: Debian's package is libns3-dev."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "bench" / "ns3_bulk.cc"
MODULES = ("ns3-applications", "ns3-internet", "ns3-point-to-point")


class Bulk:
    """`ns3_bulk.cc` as a process that simulates a second whenever it is told to."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def simulate_a_second(self) -> int:
        """Simulate a second, and return its data packets."""
        asked, answered = self._process.stdin, self._process.stdout
        if asked is None or answered is None:
            message = "its input and output are pipes"
            raise TypeError(message)
        asked.write("\n")
        asked.flush()
        return int(answered.readline())

    def cpu_s(self) -> float:
        """Return the CPU time that the process has taken, seconds."""
        status = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii")
        user, system = status.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def bulk() -> Path | None:
    """Return the program, compiled if its source or ns-3 is another; None without ns-3."""
    pkg_config, compiler = shutil.which("pkg-config"), shutil.which("c++")
    if pkg_config is None or compiler is None:
        return None
    if subprocess.run([pkg_config, "--exists", *MODULES], check=False).returncode:
        return None

    def told(*options: str) -> list[str]:
        asked = [pkg_config, *options, *MODULES]
        return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()

    # Debian's full list of libraries names files of packages that libns3-dev does not need
    flags = [*told("--cflags-only-I"), *told("--libs-only-L", "--libs-only-l")]
    command = [compiler, "-O2", "-std=c++17", str(SOURCE), *flags]
    made_of = [SOURCE.read_text(encoding="utf-8"), *command, version()]
    digest = hashlib.blake2b("\0".join(made_of).encode(), digest_size=16).hexdigest()
    target = ROOT / "out" / "bench" / f"ns3_bulk_{digest}"
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([*command, "-o", str(target)], check=True)
    return target


def version() -> str:
    """Return ns-3's version."""
    asked = ["pkg-config", "--modversion", "ns3-core"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
