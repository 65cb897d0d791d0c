"""The routing table: which cache lines one lookup reads.

Source: net/ipv4/fib_trie.c of Linux 4.18 (`fib_table_lookup`, `struct key_vector`, `struct
fib_alias`, `should_inflate`). The table is a trie whose nodes have an array of children each. An
inner node is kept at least half full, the root at 30 %. A lookup goes from the root's array to an
inner node, whose header and children are neighbours, to a leaf, to the alias that the leaf lists. A
table of a few routes is in the private cache and costs no line.
"""

from typing import Final

from simnet.net.forward.resident import Lines

_POINTER_BYTES: Final = 8
_FILL_ROOT: Final = 0.3
_CHILDREN: Final = 8
# header and children of an inner node: 40 + 2 * 8 * 8 bytes at half full, and the pair that a
# lookup reads, which the prefetcher of neighbours fetches as one
_NODE_LINES: Final = 1


def lookup_lines(prefixes: int, destinations: int, line_bytes: int) -> tuple[Lines, ...]:
    """What lookups read, by kind.

    Args:
        prefixes: of the table.
        destinations: of them are those that packets go to.
        line_bytes: of a cache line.
    """
    reached = min(destinations, prefixes)
    inner = prefixes / _CHILDREN
    root = inner / _FILL_ROOT * _POINTER_BYTES / line_bytes
    return (
        Lines(min(root, reached), 1),
        Lines(min(inner * _NODE_LINES, reached), _NODE_LINES),
        Lines(reached, 1),
        Lines(reached, 1),
    )
