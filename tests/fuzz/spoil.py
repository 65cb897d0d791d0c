"""Damages the files of a result store, as a full disk, a stranger or an editor would."""

import gzip
import json
import zlib
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

DAMAGE_FILE: Final = "damage.json"
"""In a case's files: what to do to the store, as a list of name, place (0 to 1) and seed."""
STORE: Final = "store"
DAMAGES: Final = (
    "cut",
    "empty",
    "byte",
    "swap",
    "edit",
    "drop-key",
    "bomb",
    "text",
    "folder",
    "digit",
)

_BOMB_BYTES: Final = 1 << 31
_MOST_BYTES: Final = 1 << 24


def spoil() -> None:
    """Do to the store what the case says."""
    for name, place, seed in json.loads(Path(DAMAGE_FILE).read_text(encoding="utf-8")):
        files = sorted(path for path in Path(STORE).rglob("*") if path.is_file())
        if files:
            _damage(name, files, place, Random(seed))  # noqa: S311 (damage, no secrets)


def _damage(name: str, files: list[Path], place: float, random: Random) -> None:
    file = files[int(place * len(files))]
    raw = file.read_bytes()
    match name:
        case "cut":
            file.write_bytes(raw[: int(place * len(raw))])
        case "empty":
            file.write_bytes(b"")
        case "byte":
            at = random.randrange(len(raw) or 1)
            file.write_bytes(raw[:at] + random.randbytes(1) + raw[at + 1 :])
        case "swap":
            other = files[0] if file != files[0] else files[-1]
            content = other.read_bytes()
            other.write_bytes(raw)
            file.write_bytes(content)
        case "bomb":
            file.write_bytes(bomb())
        case "text":
            file.write_bytes(random.choice((b"{}", b"\xff\xfe", b"[" * 100_000, b"null")))
        case "folder":
            file.unlink()
            file.mkdir()
        case _:
            _edit(name, file, random)


def _edit(name: str, file: Path, random: Random) -> None:
    """Change what the file says below its first line, and pack it again."""
    try:
        with gzip.open(file) as packed:
            head, _, text = packed.read(_MOST_BYTES).decode().partition("\n")
        found = json.loads(text)
    except (OSError, EOFError, ValueError, zlib.error):
        return
    key = random.choice(sorted(found))
    if name == "digit":
        at = random.choice([at for at, letter in enumerate(text) if letter.isdigit()])
        text = f"{text[:at]}{random.randrange(10)}{text[at + 1 :]}"
    elif name == "drop-key":
        text = json.dumps({other: found[other] for other in found if other != key})
    else:
        odd: Any = random.choice((0, -1, 1e300, None, "", [], {}, "x" * 5000))
        text = json.dumps(found | {key: odd})
    file.write_bytes(gzip.compress(f"{head}\n{text}".encode()))


@cache
def bomb() -> bytes:
    """Return two gigabytes of nothing, packed."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    block = bytes(1 << 24)
    return b"".join([*(packer.compress(block) for _ in range(_BOMB_BYTES >> 24)), packer.flush()])
