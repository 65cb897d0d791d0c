"""Requests of blk-mq: each belongs to a tag of a hardware queue and is used again and again.

Source: include/linux/blk-mq.h and `blk_mq_rq_ctx_init` in block/blk-mq.c of Linux 6.12.
"""

from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.kernel.compiled import Public
from simnet.storage.block.request import Bio, Request
from simnet.storage.disk.command import Command


@cython.final
@cython.cclass
class MqRequest(Request):
    """A request with the command that the driver sends for it.

    Args:
        bio: its first.
        hardware: the hardware queue that it belongs to.
    """

    hardware: Any = None
    cpu: Cpu = None  # that submitted it (`mq_ctx`)
    command: Command = None  # as the drive gets it
    io_start_ps: Public[cython.longlong] = 0  # when the driver took it
    # whether kyber's domain counts it; likewise, that mq-deadline has inserted it
    token: Public[cython.bint] = False

    def __init__(self, bio: Bio, hardware: Any) -> None:
        super().__init__(bio, 0, 0)
        self.hardware = hardware
        self.command = Command(0, 1, write=False, owner=hardware, tag=self)

    def begin(self, bio: Bio, cpu: Cpu, now_ps: cython.longlong) -> cython.int:
        """Stand for a bio from now on."""
        self.sector = self.key = bio.sector
        self.sectors = bio.sectors
        self.segments = bio.segments
        self.write = bio.write
        self.rw = 1 if bio.write else 0
        self.sync = bio.sync
        self.bios = [bio]
        self.start_ps = now_ps
        self.started = self.no_merge = self.token = False
        self.context = bio.context
        self.cpu = cpu
        self.queue = None
        return 0
