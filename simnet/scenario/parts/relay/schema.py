"""The relay's side of a scenario: connections, messages and worker processes."""

from typing import Annotated

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, count, ratio, size


class Relay(Section):
    """Messages that worker processes take from one port's connections and send out by the other.

    Each connection of a client, behind the first port, has one to an upstream server, behind the
    second. The load is open: messages of the size that `workload.message` says come whether or not
    earlier ones have been relayed.
    """

    rate: Annotated[int, count("messages a second, both directions together", 1, 100_000_000)]
    connections: Annotated[int, count("connections of clients", 1, 1_000_000)]
    upstream_message_bytes: Annotated[
        int, size("of a message from an upstream server; 0: as of a client's", "0 B", "64 KiB")
    ] = 0
    upstream_share_permille: Annotated[
        int, ratio("share of the messages that upstream servers send to clients", "0", "1")
    ] = 500
    rate_spread_permille: Annotated[
        int,
        ratio(
            "how unequal connections are: sigma of the log-normal distribution of their rates",
            "0",
            "4",
        ),
    ] = 1000
    population: Annotated[
        int,
        count(
            "which clients there are: the seed of their rates, addresses and workers; 0: as the"
            " run's, so that other runs have other clients",
            0,
            1_000_000,
        ),
    ] = 0
    arrivals: Annotated[
        str,
        Choice(
            "how messages come: each at random (Poisson), or in bursts at random times",
            ("poisson", "bursty"),
        ),
    ] = "poisson"
    burst_messages: Annotated[
        int, count("mean of the geometric number of messages in a burst", 1, 10_000)
    ] = 8
    workers: Annotated[int, count("worker processes", 1, 1024)]
    placement: Annotated[
        str,
        Choice(
            "where workers run: worker k on CPU k (worker_cpu_affinity), or where the scheduler"
            " puts them",
            ("pinned", "scheduler"),
        ),
    ] = "pinned"
    balance: Annotated[
        str,
        Choice(
            "how the master hands connections to workers: by their rates, in turn, or at random",
            ("balanced", "round_robin", "random"),
        ),
    ] = "balanced"
    recv_bytes: Annotated[int, size("buffer of one recv()", "64 B", "16 MiB")] = 16384
    max_events: Annotated[int, count("connections that one epoll_wait returns", 1, 65536)] = 512
