"""What recorders counted in a running kernel after it had been predicted.

`validation/live/listen.py` loads a socket at a rate, with a backlog; what was predicted of each
such load was frozen before, in a file of its own. Two loads that differ in one of both make a
change. What other recorders measured makes none: a hop's cost is no number of a host.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from simnet._share import folder
from simnet.files import read_bytes
from simnet.study.validate.residuals import Residual
from simnet.study.work.cases import Case

_MOST_BYTES: Final = 1 << 20
_PARTS: Final = ("loads", "more_loads")
_KEY: Final = "ListenOverflows"
# the ways that `validation/live/container.py` times, as a host has them
_WAYS: Final = ("route", "bridge", "route-bridge")


def recorded() -> tuple[Residual, ...]:
    """Each load's number, with what was predicted of it."""
    predicted, found = (_read(f"listen-{name}.json") for name in ("predicted", "6.18"))
    return tuple(
        _number(said, row)
        for part in _PARTS
        for said, row in zip(predicted[part], found[part], strict=True)
    )


def configurations() -> Iterator[tuple[str, Case]]:
    """The configurations that recorders loaded, by id: listening sockets, ways to a container."""
    for part in _PARTS:
        for row in _read("listen-6.18.json")[part]:
            settings = {"system.kernel": "linux-6.18", "listen.rate": row["rate"]}
            settings |= {"listen.arrivals": "poisson", "listen.workers": 1}
            settings |= {"listen.burst": 1, "listen.service": "5 ms"}
            settings |= {"listen backlog": row["backlog"]}
            given = tuple((name, str(value)) for name, value in settings.items())
            yield _listen(row), Case("busy-web", given)
    for way in _WAYS:
        settings = {"system.kernel": "linux-6.18", "container network": way}
        yield f"live.container.{way}", Case("container-udp", tuple(settings.items()))


def _read(name: str) -> Any:
    path = folder("validation") / "live" / name
    return json.loads(read_bytes(path, most_bytes=_MOST_BYTES, kind="record of a kernel"))


def _number(said: Any, row: Any) -> Residual:
    name = _listen(said)
    predicted = said[_KEY]["predicted"]
    return Residual(
        id=name, key=_KEY, kind="rate of drops", configuration=name, measured=row[_KEY],
        fitted=predicted, left_out=predicted,
    )  # fmt: skip


def _listen(row: Any) -> str:
    return f"live.listen.{row['rate']}-per-s.backlog-{row['backlog']}"
