"""Queueing disciplines of a host's ports, one for each transmit queue (mq)."""

from typing import Annotated

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count, time

#: and the first Linux of which each is modelled: fq paces what TCP has timed (EDT)
DISCIPLINES = {"pfifo_fast": "2.6.0", "fq_codel": "3.5", "fq": "5.0"}


class Queueing(Section):
    """The discipline, and whether a ring's queue is limited in bytes."""

    default_qdisc: Annotated[
        str, Choice("queueing discipline of each transmit queue", tuple(DISCIPLINES))
    ] = "pfifo_fast"
    bql: Annotated[
        bool, Flag("byte queue limits (CONFIG_BQL): a ring holds no more than keeps the link busy")
    ] = False
    target_ps: Annotated[
        int, time("waiting that fq_codel puts up with for good", "1 us", "10 s")
    ] = 5 * 10**9
    interval_ps: Annotated[
        int, time("for how long fq_codel puts up with more", "1 us", "100 s")
    ] = 100 * 10**9
    limit: Annotated[int, count("packets that may wait in one fq_codel", 1, 10**6)] = 10240
    flows: Annotated[int, count("queues of one fq_codel", 1, 65536)] = 1024
