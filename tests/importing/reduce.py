"""Reduces a captured host to the files that an import reads, for `validation/hosts`.

`python -m tests.importing.reduce SOURCE FILE.tar.xz` at the top of a checkout. Names of a
folder that was listed are kept; what was not read is empty.
"""

import io
import sys
import tarfile
from pathlib import Path

from simnet.importing.files.files import Files
from simnet.importing.host import read_host
from simnet.importing.source import opened


class Recorder(Files):
    """Files that remember what was read of them."""

    def __init__(self, files: Files) -> None:
        self.label = files.label
        self._files = files
        self.texts: dict[str, bytes] = {}
        self.links: dict[str, str] = {}
        self.listed: set[str] = set()

    def data(self, name: str) -> bytes | None:
        """See `Files.data`."""
        found = self._files.data(name)
        if found is not None:
            self.texts[name] = found
        return found

    def target(self, name: str) -> str | None:
        """See `Files.target`."""
        found = self._files.target(name)
        if found is not None:
            self.links[name] = found
        return found

    def names(self, folder: str) -> list[str]:
        """See `Files.names`."""
        found = self._files.names(folder)
        real = self.real(folder) or ""
        # processes are no part of what is kept
        if real != "proc":
            self.listed |= {f"{real}/{name}".strip("/") for name in found}
        return found

    def walk(self) -> list[str]:
        """See `Files.walk`."""
        return self._files.walk()

    def write(self, path: Path) -> None:
        """Write what was read as an archive that is the same whenever it is written."""
        names = {*self.texts, *self.links}
        folders = {str(parent) for name in names for parent in Path(name).parents}
        with tarfile.open(path, "w:xz") as made:
            for name in sorted({*names, *self.listed} - folders):
                member = tarfile.TarInfo(name)
                text = self.texts.get(name, b"")
                if name in self.links:
                    member.type, member.linkname, text = tarfile.SYMTYPE, self.links[name], b""
                member.size = len(text)
                made.addfile(member, io.BytesIO(text))


def main() -> None:
    """Reduce one host."""
    source, target = sys.argv[1:]
    files, loose = opened(source)
    recorder = Recorder(files)
    read_host(recorder, loose)
    recorder.write(Path(target))


if __name__ == "__main__":
    main()
