"""A network port as its host's files tell it."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Read:
    """A value, and where it was read."""

    value: int | str  # a number, or a text
    source: str  # the file
    why: str = ""  # it is only assumed; empty if the file says it


@dataclass
class ReadNic:
    """What is known of a port."""

    name: str  # of the interface
    place: str = ""  # its folder of `/sys`; empty if there is none
    # by name: `driver`, `node`, `rx_queues`, `tx_queues`, `link_bps`, `mtu_bytes`, `rx_ring`,
    # `tx_ring`; `most_queues`, `most_rx_ring` that can be set; `slot`, its PCI address;
    # `called`, what lspci calls it; `carried_bps`, what it is seen to carry; `usual_bps`, of
    # the ports of such a host; `virtio`, the name of a virtio device, as in `virtio2`
    facts: dict[str, Read] = field(default_factory=dict)

    def put(self, key: str, value: int | str | None, source: str, why: str = "") -> None:
        """Note a value, unless it is already known or there is none."""
        if value is not None and value != "" and key not in self.facts:
            self.facts[key] = Read(value, source, why)

    def number(self, key: str, default: int) -> int:
        """Return a number; `default` if it was not read."""
        found = self.facts.get(key)
        return found.value if found is not None and isinstance(found.value, int) else default

    def text(self, key: str, default: str = "") -> str:
        """Return a text; `default` if it was not read."""
        found = self.facts.get(key)
        return found.value if found is not None and isinstance(found.value, str) else default
