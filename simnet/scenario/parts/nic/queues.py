"""What ports with several queues have, and how frames are sorted to those."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from simnet.scenario.core.specs import Flag, HashKey, count
from simnet.scenario.parts.nic.schema import MOST_QUEUES, Nic

if TYPE_CHECKING:
    from simnet.net.nic.multiqueue import MultiqueuePort
    from simnet.scenario.parts.nic.schema import Given


class Queues(Nic):
    """Several rings for each direction."""

    rx_queues: Annotated[
        int, count("receive queues, each with an interrupt of its own", 1, MOST_QUEUES)
    ]
    tx_queues: Annotated[int, count("transmit queues", 1, MOST_QUEUES)]

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse queues that nothing sorts packets to; see `Nic.check`."""
        super().check(given)
        port = given.tree.get(given.port)
        ends = given.tree.get(("workload", "peers_simulated")) == "ends"
        for field in ("rx_queues", "tx_queues"):
            if given[field] > 1 and ends:
                what = "workload.peers_simulated = ends"
                message = f"{port['name']} has several queues, {what} knows one: expected 1"
                raise given.error(field, message)

    def complete(self, port: MultiqueuePort) -> None:
        """Give a port of several queues what its driver has for all of them."""


class Multiqueue(Queues):
    """The hash that sorts received frames to the rings.

    Attributes:
        rss_in_blocks: unless it is set, the table begins with all entries of the first queue.
    """

    rss_in_blocks: ClassVar[bool] = False

    rss_default_queue: Annotated[
        bool, Flag("the first receive queue takes only what RSS does not sort")
    ]
    rss_table_entries: Annotated[
        int, count("entries of the RSS indirection table, a power of two", 1, 4096)
    ]
    rss_key: Annotated[str, HashKey("key of the RSS hash, 40 bytes")]
    rss_equal: Annotated[
        int, count("receive queues, from the first, that RSS sorts to; 0: all", 0, MOST_QUEUES)
    ] = 0

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse a table that no chip has, and more queues in it than there are."""
        super().check(given)
        if given["rss_equal"] > given["rx_queues"]:
            message = f"expected at most the {given['rx_queues']} receive queues that there are"
            raise given.error("rss_equal", message, "rx_queues")
        entries = given["rss_table_entries"]
        if entries & (entries - 1):
            raise given.error("rss_table_entries", f"expected a power of two, got {entries}")

    @property
    def rss_spread(self) -> int:
        """Receive queues that the table sorts to."""
        first = 1 if self.rss_default_queue and self.rx_queues > 1 else 0
        return self.rss_equal or self.rx_queues - first
