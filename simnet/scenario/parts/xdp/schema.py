"""The packets of a scenario with XDP, and what the program does with them."""

from typing import Annotated

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count, cycles, ratio, size, time


class Xdp(Section):
    """A program on the first port in native mode, and a generator behind that port.

    The peer stands for the generator: of it only the frames are simulated.
    """

    action: Annotated[
        str,
        Choice("what the program answers (enum xdp_action)", ("drop", "pass", "tx", "redirect")),
    ] = "drop"
    flows: Annotated[int, count("flows of the generator, which take turns", 1, 65_000)] = 1
    acts_on: Annotated[
        int, count("flows that the program acts on, from the first; 0: all", 0, 65_000)
    ] = 0
    spread: Annotated[
        str,
        Choice(
            "flow k comes to queue k, from the first again after the last, or where RSS hashes it",
            ("queues", "hash"),
        ),
    ] = "queues"
    rate: Annotated[
        int, count("frames a second in all; 0: as many as the link carries", 0, 1_000_000_000)
    ] = 0
    arrivals: Annotated[
        str, Choice("how frames come: evenly, or at random (Poisson)", ("periodic", "poisson"))
    ] = "periodic"
    frame_bytes: Annotated[int, size("a frame with its FCS", "64 B", "1518 B")]
    run_cycles: Annotated[
        int, cycles("driver and program, for a packet until its verdict, and for giving it back")
    ]
    tx_cycles: Annotated[int, cycles("putting a frame into a ring for XDP")]
    redirect_cycles: Annotated[int, cycles("finding the other port, and a packet's part of a bulk")]
    clean_cycles: Annotated[int, cycles("freeing a frame that has left")]
    cqe_compress: Annotated[
        bool, Flag("the device compresses completions (mlx5: --set-priv-flags rx_cqe_compress)")
    ] = False
    card_buffer_ps: Annotated[
        int, time("how long the card's buffer holds frames that wait for the slot", "1 us", "1 ms")
    ] = 30_000_000
    stall_permille: Annotated[
        int, ratio("share of the time to fetch a packet's first line that the CPU waits", "0", "1")
    ]
    receive_cycles: Annotated[
        int, cycles("of a packet that passes: search for a socket that there is not, and freeing")
    ]
