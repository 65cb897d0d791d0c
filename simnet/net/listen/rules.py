"""What of connection set-up has changed from kernel to kernel.

Source: net/ipv4/tcp_input.c (`tcp_conn_request`), include/net/inet_connection_sock.h
(`inet_csk_reqsk_queue_is_full`), net/ipv4/tcp_timer.c (`tcp_retransmit_timer`):

| from | what changed |
| --- | --- |
| 4.10 | a SYN is dropped while the accept queue is full: the rules that are modelled |
| 6.5 | who connects sends the SYN four times a second apart before the time doubles |
| 6.13 | as many half-open connections as the backlog are not yet too many |
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from simnet.errors import InputError
from simnet.host.release import release_in, values_in

FIRST: Final = (4, 10)
"""The first version whose set-up of connections this is."""


@dataclass(frozen=True)
class ListenRules:
    """Which rules hold; the defaults are those of 4.10."""

    beyond: bool = False  # the queue of half-open connections is full beyond the backlog, not at it
    linear_timeouts: int = 0  # the default of `net.ipv4.tcp_syn_linear_timeouts`


#: Versions from which on a rule has a value, in order.
_CHANGES: Final[tuple[tuple[tuple[int, ...], dict[str, Any]], ...]] = (
    ((4, 10), {}),
    ((6, 5), {"linear_timeouts": 4}),
    ((6, 13), {"beyond": True}),
)


@cache
def listen_rules(version: str) -> ListenRules:
    """The set-up of connections of Linux `version`, as in "6.6" or "6.18.44-amd64".

    Raises:
        InputError: that is not a version, or one from before 4.10.
    """
    if release_in(version) < FIRST:
        message = f"connection set-up of Linux {version} is not modelled: expected 4.10 or later"
        raise InputError(message)
    return ListenRules(**values_in(version, _CHANGES))
