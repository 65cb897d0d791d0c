"""Short connections: a listening socket's queues, who accepts, visitors that wait for nobody."""

from simnet.scenario.core.subject import Part, Setup, Subject, late
from simnet.scenario.parts.listen.schema import Listen

SUBJECT = Subject(
    "listen",
    order=97,
    adds={"kernel": late("listen.schema:ListenKernel")},
    parts=(
        Part(
            "listen",
            Listen,
            key="listen",
            doc="visitors and workers, with test = tcp_accept",
            order=118,
        ),
    ),
    knobs=late("listen.knobs:KNOBS"),
    setups=(
        Setup(
            late("listen.build:build"),
            types=("listen",),
            tests=("tcp_accept",),
            doc=", tcp_accept answers short connections that begin whether or not others are"
            " answered",
            load="offered",
            rate="listen.rate",
            order=17,
        ),
    ),
    check=late("listen.checks:check_listen"),
    check_host=late("listen.checks:check_host"),
    columns=late("listen.columns:COLUMNS"),
    unused=late("listen.checks:unused"),
)
