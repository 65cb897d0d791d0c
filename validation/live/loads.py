"""Measure how many datagrams this machine's kernel loses, and where, under loads that are drawn.

The same namespaces and worker as in `udp.py`: bursts come at a rate, and a worker spins on each
datagram. `--wanted` prints what is to be predicted before, `--out` measures it and writes it as a
file of `validation/measurements`. Seed and count give the same loads anywhere. Needs root, Linux
and `ip`; standard library only.

    python3 -m validation.live.loads --seed 30111 --count 60 --wanted
    python3 -m validation.live.loads --seed 30111 --count 60 --out live.toml
"""

from __future__ import annotations

import argparse
import platform
import random
import sys
from pathlib import Path
from typing import Final, NamedTuple

from validation.live.udp import loaded
from validation.live.veth import namespaces

# bytes of SO_RCVBUF; 0: the program does not ask
_BUFFERS: Final = (0, 8192, 20_000, 50_000, 120_000, 400_000)
_BURSTS: Final = (1, 1, 4, 16, 64, 200)
_SPINS_US: Final = (100, 500)
# datagrams that come while one is worked on
_LEAST_LOAD, _MOST_LOAD = 0.5, 3.0
_ROUND: Final = 100
_NOT_POSSIBLE: Final = 2


class Load(NamedTuple):
    """One load, and its id."""

    rate: int
    spin_us: int
    rcvbuf: int
    burst: int

    @property
    def id(self) -> str:
        """Where its settings stand."""
        told = f"{self.rate}-per-s.{self.spin_us}-us.{self.rcvbuf}-B.burst-{self.burst}"
        return f"live.udp.{told}"

    @property
    def said(self) -> str:
        """It in words."""
        asked = f"SO_RCVBUF of {self.rcvbuf} B" if self.rcvbuf else "the default buffer"
        return (
            f"{self.rate} datagrams of 1316 B a second in bursts of {self.burst} for half a second,"
            f" a worker that spins {self.spin_us} us on each, {asked}"
        )


def drawn(seed: int, count: int) -> list[Load]:
    """So many different loads."""
    random_ = random.Random(seed)  # noqa: S311 (loads, not secrets)
    found: dict[str, Load] = {}
    while len(found) < count:
        spin_us = random_.randint(*_SPINS_US)
        load = random_.uniform(_LEAST_LOAD, _MOST_LOAD)
        rate = _ROUND * max(round(load * 1e6 / spin_us / _ROUND), 1)
        one = Load(rate, spin_us, random_.choice(_BUFFERS), random_.choice(_BURSTS))
        found[one.id] = one
    return list(found.values())


def main() -> int:
    """Print what is wanted, or measure it; 2 where namespaces cannot be had."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=30111)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--wanted", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("live.toml"))
    given = parser.parse_args()
    loads = drawn(given.seed, given.count)
    if given.wanted:
        sys.stdout.write("".join(map(_wanted, loads)))
        return 0
    try:
        with namespaces() as (host, peer):
            rows = [_measured(host, peer, one) for one in loads]
    except OSError as error:
        sys.stderr.write(f"loads: namespaces cannot be had: {error}\n")
        return _NOT_POSSIBLE
    head = f'document = "validation/live/loads.py on Linux {platform.release()}"\n'
    given.out.write_text("\n".join((head, *rows)), "utf-8")
    return 0


def _wanted(load: Load) -> str:
    return (
        "\n[[prediction]]\n"
        f'id = "{load.id}"\n'
        f'quantity = "of {load.said}: % lost in the socket, and in backlogs"\n'
        'keys = ["socket_percent", "backlog_percent"]\n'
    )


def _measured(host: str, peer: str, load: Load) -> str:
    found = loaded(host, peer, load.rate, load.spin_us, load.rcvbuf, burst=load.burst)
    socket, backlog = (
        round(100 * found[name] / found["sent"], 3) for name in ("RcvbufErrors", "softnet_dropped")
    )
    return (
        "[[measurement]]\n"
        f'id = "{load.id}"\n'
        f'where = "counters RcvbufErrors and softnet_stat, worker late by {found["late_us"]} us"\n'
        'use = "predicted before known"\n'
        'unit = "percent of what was sent"\n'
        f"value = {{socket_percent = {socket}, backlog_percent = {backlog}}}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
