"""Requests that found no room, as a recorder counted them after that had been predicted.

`validation/live/listen.py` loads a socket at a rate, with a backlog; what was predicted of each
such load was frozen before, in a file of its own. Two loads that differ in one of both make a
change. What other recorders measured makes none: a hop's cost is no number of a host.
"""

import json
from typing import Any, Final

from simnet._share import folder
from simnet.files import read_bytes
from simnet.study.validate.residuals import Residual

_MOST_BYTES: Final = 1 << 20
_PARTS: Final = ("loads", "more_loads")
_KEY: Final = "ListenOverflows"


def recorded() -> tuple[Residual, ...]:
    """Each load's number, with what was predicted of it."""
    predicted, found = (_read(f"listen-{name}.json") for name in ("predicted", "6.18"))
    return tuple(
        _number(said, row)
        for part in _PARTS
        for said, row in zip(predicted[part], found[part], strict=True)
    )


def _read(name: str) -> Any:
    path = folder("validation") / "live" / name
    return json.loads(read_bytes(path, most_bytes=_MOST_BYTES, kind="record of a kernel"))


def _number(said: Any, row: Any) -> Residual:
    name = f"live.listen.{said['rate']}-per-s.backlog-{said['backlog']}"
    predicted = said[_KEY]["predicted"]
    return Residual(
        id=name, key=_KEY, kind="rate of drops", configuration=name, measured=row[_KEY],
        fitted=predicted, left_out=predicted,
    )  # fmt: skip
