"""What decides an answer is said first."""

from __future__ import annotations

from simnet.importing.writing.ranked import ranked


def test_what_decides_stands_first_and_what_is_always_so_last() -> None:
    notes = [
        "the processor's costs are those of a related one and not calibrated: see models/cpu.toml",
        "Linux 6.8: rules and constants of linux-6.8",
        "the peer is assumed to be a machine like this one",
        "net.ipv4.tcp_congestion_control = bbr: read, not used: expected one of cubic",
        "eth0: no file says which driver it has: queues, rings and speed as read",
        "no port says how fast its link is: eth0 is in the model, with 10 Gbit/s",
        "eth0 has 512 receive queues: a port of the model has at most 256",
        "workload: streams to the host are assumed, as nothing says what it carries",
    ]
    found = ranked(notes)
    assert found[:3] == (notes[7], notes[6], notes[5])
    assert found[-3:] == (notes[2], notes[0], notes[1])
    assert sorted(found) == sorted(notes)
