"""A key-value server and its clients."""

from simnet.scenario.core.subject import Part, Setup, Subject, late
from simnet.scenario.parts.memcached.schema import Memcached

SUBJECT = Subject(
    "memcached",
    parts=(
        Part(
            "memcached",
            Memcached,
            key="memcached",
            doc="server and clients, with test = memcached",
            order=115,
        ),
    ),
    setups=(
        Setup(
            late("memcached.build:build"),
            types=("memcached",),
            tests=("memcached",),
            doc=", memcached answers mutilate",
            load="offered",
            order=15,
        ),
    ),
    check=late("memcached.checks:check_memcached"),
    needs=late("memcached.checks:needs"),
    columns=late("memcached.columns:COLUMNS"),
)
