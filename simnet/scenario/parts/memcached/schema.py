"""The key-value server of a scenario, and what asks it."""

from typing import Annotated

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count, ratio, size, time
from simnet.scenario.parts.placement.schema import FirstCpu
from simnet.workload.mutilate_sizes import ARRIVALS


class Memcached(Section):
    """memcached behind the first port, and hosts with mutilate behind that of the peer.

    The peer stands for all the clients' hosts: of them TCP, the link, and threads with a fixed time
    for each request are simulated.
    """

    qps: Annotated[
        int,
        count(
            "requests a second that the clients try to make (-q); 0: as many as are answered",
            0,
            100_000_000,
        ),
    ]
    workers: Annotated[int, count("worker threads (-t)", 1, 1024)]
    first_cpu: FirstCpu = 0
    binding: Annotated[
        str,
        Choice(
            "CPUs of a worker (taskset): its own, those that workers begin on, or any",
            ("own", "all-workers", "any"),
        ),
    ] = "own"
    napi_ids: Annotated[
        bool,
        Flag("a connection goes to the worker of its receive queue (-N); else to each in turn"),
    ] = True
    max_events: Annotated[int, count("connections that one epoll_wait returns", 1, 65536)] = 4096
    busy_poll_usecs: Annotated[
        int,
        count("microseconds that epoll_wait polls before it sleeps (EPIOCSPARAMS)", 0, 2**31 - 1),
    ] = 0
    busy_poll_budget: Annotated[int, count("packets that it takes in one poll", 1, 65535)] = 8
    prefer_busy_poll: Annotated[
        bool, Flag("it polls at least once, and interrupts wait for it")
    ] = False
    other_packets: Annotated[
        int, count("packets a second that the machine's other devices receive", 0, 10_000_000)
    ] = 0
    other_queues: Annotated[
        int, count("their queues, polled by the port's rules, from CPU 0 on", 1, 1024)
    ] = 1
    hosts: Annotated[int, count("hosts with clients", 1, 1024)]
    threads: Annotated[int, count("threads of each", 1, 1024)]
    connections: Annotated[
        int, count("connections of each thread, with one request each", 1, 10000)
    ]
    arrivals: Annotated[
        str, Choice("distribution of the gaps between a connection's requests", ARRIVALS)
    ] = "fb_ia"
    records: Annotated[int, count("keys that the server holds", 1, 1_000_000_000)] = 1_000_000
    key_bytes: Annotated[
        int, size("key of each request (-K); 0: drawn from the distribution fb_key", "0 B", "250 B")
    ] = 0
    value_bytes: Annotated[
        int,
        size("value of each request (-V); 0: drawn from the distribution fb_value", "0 B", "1 MiB"),
    ] = 0
    update_permille: Annotated[int, ratio("share of the requests that are set", "0", "1")] = 0
    client_kernel_ps: Annotated[
        int,
        time("from a frame's arrival at a client's host to its processing there", "0 us", "10 ms"),
    ]
    client_wake_ps: Annotated[
        int,
        time("mean time until a client's thread sees a response that is there", "0 us", "10 ms"),
    ] = 0
    client_read_ps: Annotated[
        int, time("a client's thread, from a response's being there to its end", "0 us", "1 ms")
    ]
    client_write_ps: Annotated[
        int, time("a client's thread, from a request's begin to its being sent", "0 us", "1 ms")
    ]
