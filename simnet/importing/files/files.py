"""The files of a host, wherever they lie: a folder, an archive, this machine.

Names are relative to the host's root (`proc/cpuinfo`, `sys/class/net/eth0/address`,
`sos_commands/networking/ethtool_-i_eth0`); outputs that somebody collected by hand may have any
name. Files come from strangers: no link is opened, nothing outside the root is read, and there are
bounds for the size of a file, the number of names, and all bytes together.
"""

import posixpath
from abc import ABC, abstractmethod
from typing import Final

UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
"""What a text in UTF-16 begins with."""

MOST_BYTES: Final = 16 << 20
MOST_NAMES: Final = 2_000_000
# as the kernel: MAXSYMLINKS
_MOST_LINKS: Final = 40


class Files(ABC):
    """What can be read of a host."""

    label: str  # what the user called it, for messages

    @abstractmethod
    def data(self, name: str) -> bytes | None:
        """Return the content of a regular file; None if there is none, or it is too large."""

    @abstractmethod
    def target(self, name: str) -> str | None:
        """Return what a link contains; None if the name is no link."""

    @abstractmethod
    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted; empty if there is none."""

    @abstractmethod
    def walk(self) -> list[str]:
        """Return the names of all regular files, sorted, as far as the bounds allow."""

    def text(self, name: str) -> str | None:
        """Return a file's text without its last line break; None if there is none."""
        real = self.real(name)
        data = None if real is None else self.data(real)
        return None if data is None else _decoded(data).rstrip("\n")

    def number(self, name: str) -> int | None:
        """Return the integer that a file holds; None if it holds none."""
        text = (self.text(name) or "").strip()
        return int(text) if text.removeprefix("-").isdecimal() and len(text) < 20 else None  # noqa: PLR2004 - digits of a 64-bit number

    def real(self, name: str) -> str | None:
        """Return a name with all links replaced; None if that leads out of the root or round."""
        links = 0
        done = ""
        parts = [part for part in reversed(name.split("/")) if part not in {"", "."}]
        while parts:
            part = parts.pop()
            if part == "..":
                if not done:
                    return None
                done = posixpath.dirname(done)
                continue
            here = f"{done}/{part}" if done else part
            target = self.target(here)
            if target is None:
                done = here
                continue
            links += 1
            if links > _MOST_LINKS:
                return None
            if target.startswith("/"):
                done = ""
            parts += [piece for piece in reversed(target.split("/")) if piece not in {"", "."}]
        return done


def _decoded(data: bytes) -> str:
    """Return a text: UTF-16 where it begins with that mark, as PowerShell writes it, else UTF-8."""
    if data.startswith(UTF_16):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "replace").replace("\0", "")
