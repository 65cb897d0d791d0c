"""The hash that spreads connections over receive queues, and its indirection table."""

import json
from collections import Counter
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.net.link.skb import Header, Station
from simnet.net.nic.rss import MICROSOFT_KEY, Rss, Toeplitz, equal_table

VECTORS = json.loads(
    (Path(__file__).parents[3] / "validation/external/rss-toeplitz-vectors.json").read_text()
)
HERE, THERE = Station(1), Station(2)
words = st.integers(0, 2**32 - 1)
ports = st.integers(0, 2**16 - 1)
keys = st.binary(min_size=40, max_size=40)
endpoints = st.tuples(words, words, ports, ports)


def header(source: int, destination: int, source_port: int, destination_port: int) -> Header:
    return Header(THERE, HERE, source, destination, source_port, destination_port)


def by_definition(key: bytes, data: bytes) -> int:
    """Slide the key over the input bit by bit, adding the leftmost 32 bits where it is set."""
    bits = "".join(f"{byte:08b}" for byte in data)
    key_bits = "".join(f"{byte:08b}" for byte in key)
    result = 0
    for place, bit in enumerate(bits):
        if bit == "1":
            result ^= int(key_bits[place : place + 32], 2)
    return result


class TestToeplitz:
    @pytest.mark.parametrize("vector", VECTORS["vectors"])
    def test_the_published_vectors(self, vector: list[str | int]) -> None:
        source, source_port, destination, destination_port, of_addresses, of_all = vector
        toeplitz = Toeplitz(bytes.fromhex(VECTORS["key"]))
        addresses = int(IPv4Address(source)), int(IPv4Address(destination))
        assert toeplitz.hash_ip4(*addresses) == int(str(of_addresses), 16)
        assert toeplitz.hash_tcp4(*addresses, int(source_port), int(destination_port)) == int(
            str(of_all), 16
        )

    def test_microsofts_key_is_that_of_the_vectors(self) -> None:
        assert bytes.fromhex(VECTORS["key"]) == MICROSOFT_KEY

    @given(keys, endpoints)
    def test_any_key_and_any_input(self, key: bytes, ends: tuple[int, int, int, int]) -> None:
        data = b"".join(
            number.to_bytes(width, "big") for number, width in zip(ends, (4, 4, 2, 2), strict=True)
        )
        assert Toeplitz(key).hash_tcp4(*ends) == by_definition(key, data)

    def test_a_key_of_another_length_is_refused(self) -> None:
        with pytest.raises(InputError, match="40 bytes, this one 16"):
            Toeplitz(MICROSOFT_KEY[:16])


class TestTable:
    def test_queues_take_turns(self) -> None:
        assert equal_table(16, 3, first=1) == [1, 2, 3] * 5 + [1]

    def test_a_table_whose_length_is_no_power_of_two_is_refused(self) -> None:
        with pytest.raises(InputError, match="table of 100 entries"):
            Rss(Toeplitz(MICROSOFT_KEY), equal_table(100, 8))


class TestQueue:
    @given(keys, endpoints, st.integers(0, 7), st.integers(1, 8))
    def test_the_hash_selects_the_entry(
        self, key: bytes, ends: tuple[int, int, int, int], bits: int, queues: int
    ) -> None:
        toeplitz = Toeplitz(key)
        table = equal_table(1 << bits, queues)
        rss = Rss(toeplitz, table)
        connection = header(*ends)
        wanted = 0 if ends[0] == 0 else table[toeplitz.hash_tcp4(*ends) % len(table)]
        assert rss.queue(connection) == wanted
        assert rss.queue(connection) == wanted

    def test_what_has_no_addresses_goes_to_the_first_queue(self) -> None:
        rss = Rss(Toeplitz(MICROSOFT_KEY), equal_table(128, 8, first=1))
        assert rss.queue(None) == 0
        assert rss.queue(Header(THERE, HERE)) == 0
        assert rss.queue(header(1, 2, 3, 4)) > 0

    def test_many_connections_fill_the_queues_evenly(self) -> None:
        rss = Rss(Toeplitz(MICROSOFT_KEY), equal_table(128, 8))
        net = int(IPv4Address("10.1.0.0"))
        counts = Counter(
            rss.queue(header(net + number % 250, 42, 1024 + 37 * number % 60000, 80))
            for number in range(4000)
        )
        assert len(counts) == 8
        # the standard deviation of a binomial count is 21
        assert all(abs(count - 500) < 110 for count in counts.values())
