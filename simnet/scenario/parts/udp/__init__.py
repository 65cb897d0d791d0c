"""Datagrams: senders that wait for nothing, workers that receive, requests and responses."""

from simnet.scenario.core.subject import Exchange, Part, Setup, Subject, late
from simnet.scenario.parts.udp.schema import Datagrams, Udp

SUBJECT = Subject(
    "udp",
    order=95,
    adds={"kernel": late("udp.schema:UdpKernel")},
    parts=(
        Part(
            "udp",
            Udp,
            key="udp",
            doc="senders and receivers, with test = udp_stream or udp_serve",
            order=116,
        ),
        Part(
            "datagrams",
            Datagrams,
            key="datagrams",
            doc="costs, with test = udp_rr or udp_send",
            order=117,
        ),
    ),
    knobs=late("udp.knobs:KNOBS"),
    exchanges=(
        Exchange(
            ("udp_rr",),
            doc=", udp_rr likewise in datagrams",
            load="requests",
            asks=True,
            whole="ends answer no requests",
            connect=late("udp.build_requests:connect_requests"),
        ),
        Exchange(
            ("udp_send",),
            doc=", udp_send sends datagrams to them as netperf's UDP_STREAM does",
            whole="ends take no datagrams",
            connect=late("udp.build_requests:connect_stream"),
        ),
    ),
    setups=(
        Setup(
            late("udp.build:build"),
            types=("udp",),
            tests=("udp_stream", "udp_serve"),
            doc=", udp_stream receives datagrams from senders that wait for nothing, udp_serve"
            " answers them",
            load="media",
            rate="udp.rate",
            order=16,
        ),
    ),
    check=late("udp.checks:check_udp"),
    check_host=late("udp.checks:check_host"),
    needs=late("udp.checks:needs"),
    columns=late("udp.columns:COLUMNS"),
    idle=late("udp.checks:idle"),
    unused=late("udp.checks:unused"),
)
