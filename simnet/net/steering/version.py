"""What Linux changed in receive packet steering, and with which version.

RPS and RFS came with 2.6.35; Red Hat put them into its 2.6.32. `steering_rules` looks up the rules
of a kernel. Source: net/core/dev.c `get_rps_cpu`, `enqueue_to_backlog` and `process_backlog` of
2.6.32-131 to -573 (RHEL 6.1 to 6.7) and of 3.x, include/linux/jhash.h.
"""

from dataclasses import dataclass
from typing import Final

from simnet.errors import InputError
from simnet.host.release import release

_MOST_ENTRIES: Final = 1 << 30
_WORD_BITS: Final = 32


@dataclass(frozen=True)
class SteeringRules:
    """Which rules hold; the defaults are those of 2.6.38.

    Raises:
        InputError: `hash_bits` is more than `index_shift`: a packet's place would be beyond the
            map. With at most as many, hash x length >> shift is less than the length.
    """

    # of `skb->rxhash`: a shorter one keeps the upper bits of the hash, which is never 0; 0:
    # the kernel cannot steer packets
    hash_bits: int = 32
    # a packet without a flow entry goes to entry hash x length >> this of the map. 32 with a
    # hash of 16 bits is always the first, as in RHEL 6.1 and 6.2.
    index_shift: int = 32
    symmetric: bool = True  # both directions of a connection have the same hash
    lookup3: bool = True  # `jhash` is Jenkins' third hash, else his second
    # packets are taken from the backlog all at once and count as taken when they have been
    # processed; else one by one, counting when they are taken, and a poll ends with the jiffy
    batches: bool = True
    detects_collisions: bool = False  # the table of sockets' flows knows whose entry it is

    def __post_init__(self) -> None:
        if not 0 <= self.hash_bits <= self.index_shift <= _WORD_BITS:
            message = f"expected a shift of {max(self.hash_bits, 0)} to {_WORD_BITS}"
            got = f"a hash of {self.hash_bits} bits shifted by {self.index_shift}"
            raise InputError(f"{got} is no place in a map: {message}")


def steering_rules(version: str, hash_bits: int, index_shift: int) -> SteeringRules:
    """Rules of a kernel.

    Args:
        version: upstream version, as in 2.6.38.
        hash_bits: see `SteeringRules`, where a distribution differs from the version; 0: as the
            version has it, none up to 2.6.34.
        index_shift: see `SteeringRules`.

    Raises:
        InputError: `version` is no version, or hash and shift do not fit together.
    """
    number = release(version)
    if hash_bits == 0 and number >= (2, 6, 35):
        hash_bits = 32
    return SteeringRules(
        hash_bits=hash_bits,
        index_shift=index_shift,
        symmetric=number >= (2, 6, 35),
        lookup3=number >= (2, 6, 38),
        batches=number >= (2, 6, 35),
        detects_collisions=number >= (4, 0),
    )


def rounded_entries(entries: int) -> int:
    """Size of the flow table that the kernel makes of what is written to it: a power of two.

    Args:
        entries: what is written to `rps_flow_cnt` or `rps_sock_flow_entries`; 0 for no table.

    Raises:
        InputError: fewer than none, or more than 2^30, which the kernel refuses (EINVAL).
    """
    if not 0 <= entries <= _MOST_ENTRIES:
        message = f"a flow table of {entries} entries; the kernel takes 0 to {_MOST_ENTRIES}"
        raise InputError(message)
    return 1 << (entries - 1).bit_length() if entries else 0
