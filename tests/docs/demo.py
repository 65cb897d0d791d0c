"""Records the terminal that README and the site's first page show, as pictures in `docs/demo`.

`python -m tests.docs.demo` at the top of a checkout. Each command runs in a terminal of its own, 80
columns wide, in an empty folder that holds one file: what somebody pasted.
"""

import errno
import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console
from rich.text import Text

from tests.house.trees import ROOT

FOLDER: Final = ROOT / "docs" / "demo"
SHOWN: Final = {
    "diagnose": ("cat paste.txt", "simnet diagnose paste.txt"),
    "whatif": ("simnet whatif media-udp rmem-25m",),
}
"""What is typed in each picture."""

_PASTE: Final = """\
Udp:
    9712345 packets received
    1412345 packet receive errors
    1412345 receive buffer errors
net.core.rmem_max = 212992
"""
_COLUMNS: Final = 80
# higher than any answer, whose verdict is said again where it has left the screen
_ROWS: Final = 60
# what the terminal from which this is started has set
_OF_ANOTHER: Final = {"COLUMNS", "LINES", "NO_COLOR"}

# The library's own loads fonts from another host.
_SVG: Final = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font: {char_height}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas,
  monospace; line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def recorded(name: str) -> str:
    """Return a picture: what is typed, and what the terminal shows then."""
    shown = Console(
        record=True,
        width=_COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    with TemporaryDirectory() as folder:
        Path(folder, "paste.txt").write_text(_PASTE, encoding="utf-8")
        for index, command in enumerate(SHOWN[name]):
            shown.print(Text(f"{chr(10) if index else ''}$ {command}", style="bold"))
            shown.print(Text.from_ansi(_terminal(command, folder).rstrip()))
    return shown.export_svg(title=" ", code_format=_SVG, unique_id=f"simnet-{name}")


def _terminal(command: str, folder: str) -> str:
    """What a terminal shows of a command, with its colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    plain = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER}
    running = subprocess.Popen(
        command.split(),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**plain, "TERM": "xterm-256color", "PATH": path},
    )
    os.close(theirs)
    with os.fdopen(ours, "rb", buffering=0) as screen:
        text = b"".join(iter(lambda: _read(screen), b""))
    running.wait()
    return text.decode().replace("\r\n", "\n")


def _read(screen: io.FileIO) -> bytes:
    """What comes next; nothing when the last that could write has gone."""
    try:
        return screen.read(65536) or b""
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return b""


if __name__ == "__main__":
    for picture in sys.argv[1:] or SHOWN:
        (FOLDER / f"{picture}.svg").write_text(recorded(picture), encoding="utf-8")
