"""Files for commands: those that come with simnet, changed."""

import json
import re
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from simnet._share import folder
from simnet.scenario.core.library import MODEL_FOLDERS, find_model, model_names
from simnet.scenario.scenarios import find_scenario
from tests.fuzz.mutate import mutated


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _stored(raw: bytes) -> str:
    return raw.decode("latin-1")


@cache
def _models() -> tuple[tuple[str, Path], ...]:
    return tuple(
        (name, find_model(kind, name)) for kind in MODEL_FOLDERS for name in model_names(kind)
    )


def scenario(random: Random, name: str) -> tuple[dict[str, str], str]:
    """Return files with a changed scenario, or an unchanged one of a changed model."""
    text = _text(find_scenario(name))
    used = [one for one in _models() if re.search(rf'"{re.escape(one[0])}"', text)]
    if used and random.random() < 0.4:
        model_name, path = random.choice(used)
        own = text.replace(f'"{model_name}"', '"mine.toml"', 1)
        changed = mutated(random, _text(path), _text(random.choice(_models())[1]))
        return {"s.toml": _stored(own.encode()), "mine.toml": _stored(changed)}, "s.toml"
    return {"s.toml": _stored(mutated(random, text, _text(random.choice(_models())[1])))}, "s.toml"


def any_toml(random: Random) -> str:
    """Return the text of some model."""
    return _text(random.choice(_models())[1])


def model(random: Random) -> tuple[dict[str, str], str]:
    """Return files with a changed model."""
    path = random.choice(_models())[1]
    return {
        "m.toml": _stored(mutated(random, _text(path), _text(random.choice(_models())[1])))
    }, "m.toml"


@cache
def listings() -> tuple[tuple[str, str], ...]:
    """Return name and text of what tools printed on real systems."""
    files = sorted((folder("validation") / "captures").glob("*.txt"))
    return tuple((path.stem, _text(path)) for path in files)


def listing(random: Random) -> tuple[dict[str, str], str, str]:
    """Return files with a changed listing, its name there, and whose it was."""
    whose, text = random.choice(listings())
    raw = mutated(random, text, random.choice(listings())[1])
    return {"l.txt": _stored(raw)}, "l.txt", whose


@cache
def traces() -> tuple[str, ...]:
    """Return recorded traces, the short ones of them."""
    text = _text(folder("validation") / "external" / "linux-tcp-receiver-traces.jsonl")
    return tuple(sorted(text.splitlines(), key=len)[:40])


@cache
def scripts() -> tuple[str, ...]:
    """Return packetdrill scripts."""
    return tuple(
        _text(path) for path in sorted((folder("validation") / "packetdrill").glob("*.pkt"))
    )


def conformance(random: Random) -> tuple[dict[str, str], str]:
    """Return files with a changed trace or script."""
    if random.random() < 0.5:
        raw = mutated(random, random.choice(scripts()), random.choice(scripts()))
        return {"c.pkt": _stored(raw)}, "c.pkt"
    return {"c.jsonl": _stored(trace(random))}, "c.jsonl"


def trace(random: Random) -> bytes:
    """Return a trace whose text or whose values are changed."""
    text = random.choice(traces())
    if random.random() < 0.3:
        return mutated(random, text)
    found: dict[str, Any] = json.loads(text)
    for _ in range(random.choice((1, 1, 2, 3))):
        _spoil(random, found)
    return json.dumps(found).encode()


_ODD: Final[tuple[Any, ...]] = (
    0, -1, 1, 0.0, -0.5, 1e300, 1e-300, 2**31, 2**32, 2**63, 2**64, 10**400, True, None, "", "x",
    [], {}, [[]], [0], [0, 0, 0, 0], float("nan"), float("inf"), "default", 65536, 1460, 88,
)  # fmt: skip


def _spoil(random: Random, at: Any) -> None:
    """Change a value somewhere inside."""
    keys: list[Any] = list(at) if isinstance(at, dict) else list(range(len(at)))
    if not keys:
        return
    key = random.choice(keys)
    if isinstance(at[key], (dict, list)) and at[key] and random.random() < 0.8:
        _spoil(random, at[key])
    elif random.random() < 0.15:
        del at[key]
    elif isinstance(at, list) and random.random() < 0.2:
        at.append(deepcopy(at[key]))
    else:
        at[key] = deepcopy(random.choice(_ODD))
