"""The transmit ring of a driver, and what its device's memory and registers cost the CPU.

Four counters follow one another: the driver posts a frame (`sent`), its last bit leaves and the
chip takes note (`seen`), the driver can see that (`announced`), and frees the buffer
(`reclaimed`). A frame's descriptor is its number's place in the ring.

Descriptors and status block lie on the device's node, and the device writes them. Buffers are
allocated by the CPU that polls or sends: they lie on its node, and the device reads and writes
them from its own.
"""

from __future__ import annotations

from array import array

import cython

from simnet.host.costs import Buffers, Costs, Memory, SharedLines
from simnet.host.cpu import Cpu
from simnet.host.dma.iommu import DmaDomain
from simnet.host.interconnect import Interconnect
from simnet.kernel.compiled import Array, Public
from simnet.net.link.skb import Endpoint, Serializer, Skb
from simnet.net.nic.net_device import NetDevice


@cython.final
@cython.cclass
class DeviceAccess:
    """What access to one device costs, from the CPU that was named last.

    What begins with `far_` is the part that a device on the CPU's own node does not cost.

    Args:
        device: which one it is.
    """

    memory: Memory = None
    interconnect: Interconnect = None
    node: cython.int = 0
    descriptor_bytes: cython.int = 0
    line_bytes: cython.int = 0
    bus: cython.int = 0
    version: cython.longlong = 0
    mmio_ps: cython.longlong = 0  # writing a register
    near_mmio_ps: cython.longlong = 0  # writing one of a device on the CPU's own node
    far_mmio_ps: cython.longlong = 0
    far_line_ps: cython.longlong = 0  # reading a line that the device has written
    far_header_ps: cython.longlong = 0  # a line of a frame that the device reads or writes
    far_frame_ps: cython.longlong = 0  # a received frame's header and descriptors
    moved_bytes: cython.longlong = 0
    moved_frames: cython.longlong = 0

    def __init__(self, device: NetDevice) -> None:
        self.memory = device.memory
        self.interconnect = device.memory.interconnect
        self.node = device.node
        self.descriptor_bytes = device.descriptor_bytes
        self.line_bytes = device.costs.line_bytes
        self.bus = -1

    def use_from(self, cpu: Cpu) -> cython.int:
        """Work out the costs from `cpu`'s place, unless they are known from there."""
        version: cython.longlong = 0
        node: cython.int
        if self.interconnect is not None:
            version = self.interconnect.version
        if cpu.bus == self.bus and version == self.version:
            return 0
        node = cpu.node
        self.bus = cpu.bus
        self.version = version
        self.mmio_ps = self.memory.mmio_write_ps(node, self.node)
        self.near_mmio_ps = self.memory.mmio_write_ps(node, node)
        self.far_mmio_ps = self.mmio_ps - self.near_mmio_ps
        self.far_line_ps = self.memory.beyond_ps(cpu, self.node, self.node)
        self.far_header_ps = self.memory.beyond_ps(cpu, node, self.node)
        self.far_frame_ps = (
            self.far_header_ps
            + (self.far_line_ps // 1000 * self.descriptor_bytes // self.line_bytes) * 1000
        )
        return 0

    def count_moved(
        self, cpu: Cpu, buffer_node: cython.int, frames: cython.longlong, size: cython.longlong
    ) -> cython.int:
        """Note what has crossed the machine since the last call.

        The device has moved frames to and from the memory that they were in; the CPU has read
        their descriptors.

        Args:
            cpu: that polls.
            buffer_node: where the frames were.
            frames: received and sent, since the start.
            size: their bytes.
        """
        if frames == self.moved_frames:
            return 0
        self.memory.transferred(self.node, buffer_node, size - self.moved_bytes)
        self.memory.fetched(cpu, self.node, (frames - self.moved_frames) * self.descriptor_bytes, 1)
        self.moved_bytes = size
        self.moved_frames = frames
        return 0


@cython.final
@cython.cclass
class TransmitRing:
    """The frames that a driver has posted and not yet freed.

    Args:
        device: whose ring it is.
    """

    size: cython.int = 0  # usable descriptors
    mask: cython.int = 0
    costs: Costs = None
    buffers: Buffers = None
    lines: SharedLines = None
    serializer: Public[Serializer] = None  # the sending end of the link; rings of one port share it
    fetch_ps: cython.longlong = 0
    report_ps: cython.longlong = 0  # from a frame's last bit until the chip takes note
    # a frame's memory becomes its socket's here; else a queueing discipline has done so
    charges: Public[cython.bint] = False
    sent: cython.longlong = 0
    sent_bytes: cython.longlong = 0  # of all frames posted, as the driver counts them
    seen: cython.longlong = 0
    announced: cython.longlong = 0
    reclaimed: cython.longlong = 0
    writers: list[Cpu | None] = None
    owners: list[Endpoint | None] = None
    lengths: Array[cython.longlong] = None
    freer: Cpu = None  # the CPU that has freed frames last; None before the first
    # when the chip takes note of each descriptor's frame; by `number & mask`
    ends: Array[cython.longlong] = None
    # `sent_bytes` of each descriptor's frame; by `number & mask`
    counted: Array[cython.longlong] = None
    domain: Public[DmaDomain] = None  # what frames are mapped in; None: nothing is mapped
    # the next frame is cut from the same as the one before, which is mapped whole
    part: Public[cython.bint] = False
    # buffers of what begins with each descriptor's frame; by `number & mask`
    mapped: Array[cython.longlong] = None
    first: cython.longlong = 0
    payload: cython.longlong = 0

    def __init__(self, device: NetDevice) -> None:
        slots = 1 << device.tx_ring.bit_length()
        self.size = device.tx_ring
        self.mask = slots - 1
        self.costs = device.costs
        self.buffers = device.buffers
        self.serializer = Serializer(device.rate_bps)
        self.fetch_ps = device.fetch_ps
        self.charges = True
        self.lines = SharedLines(device.memory, device.queue_lines)
        self.ends = array("q", [0]) * slots
        self.writers = [None] * slots
        self.owners = [None] * slots
        self.lengths = array("q", [0]) * slots
        self.counted = array("q", [0]) * slots
        self.mapped = array("q", [0]) * slots

    def use_ps(self, cpu: Cpu) -> cython.longlong:
        """What the lines of queue and buffer cost `cpu`, which sends a frame."""
        lines_ps: cython.longlong = self.lines.touch(cpu)
        if lines_ps > 0:
            self.costs.ledger.socket_lines += lines_ps
        if self.freer is not None and self.freer is not cpu:
            lines_ps += self.buffers.allocated_ps(cpu, self.freer)
        return lines_ps

    def post(
        self, skb: Skb, now: cython.longlong, counted_bytes: cython.longlong
    ) -> cython.longlong:
        """Take a frame from the CPU that has written it; return when its last bit leaves."""
        end_ps: cython.longlong = self.serializer.end_ps(now + self.fetch_ps, skb.wire_bytes)
        self.hold(skb, end_ps + self.report_ps, counted_bytes)
        return end_ps

    @cython.cfunc
    def hold(
        self, skb: Skb, noted_ps: cython.longlong, counted_bytes: cython.longlong
    ) -> cython.int:
        """Take a frame of which the device takes note at `noted_ps`."""
        slot: cython.longlong = self.sent & self.mask
        self.sent += 1
        self.sent_bytes += counted_bytes
        self.counted[slot] = counted_bytes
        self.ends[slot] = noted_ps
        self.writers[slot] = skb.toucher
        if self.domain is not None:
            self._map(slot, skb)
        if skb.owner is not None:
            self.owners[slot] = skb.owner
            self.lengths[slot] = skb.end_seq - skb.seq
            if self.charges:
                skb.owner.queued(self.lengths[slot])
        return 0

    @cython.cfunc
    def _map(self, slot: cython.longlong, skb: Skb) -> cython.int:
        """Map the buffer that a frame begins with, and those of the socket that hold the rest.

        Who sends it pays for that, see `Nic.transmit_cost_ps` and `SendCosts.staged_ps`.
        """
        buffers: cython.longlong = 0
        self.mapped[slot] = 0
        if not self.part:
            self.first = slot
            self.payload = 0
            buffers = 1
        if skb.owner is not None and skb.owner.paged:
            buffers -= self.domain.fragments(self.payload)
            self.payload += skb.end_seq - skb.seq
            buffers += self.domain.fragments(self.payload)
        self.mapped[self.first] += buffers
        self.domain.maps += buffers
        return 0

    @cython.cfunc
    def passed(self, counted_bytes: cython.longlong) -> cython.int:
        """A frame has left without a descriptor, and its buffer is the sender's again."""
        self.sent += 1
        self.sent_bytes += counted_bytes
        self.seen = self.announced = self.reclaimed = self.sent
        return 0

    def packets_left(self, now: cython.longlong) -> cython.longlong:
        """Frames whose last bit has left by `now`: what was posted last may have to wait."""
        number: cython.longlong = self.sent
        while number > self.reclaimed:
            if self.ends[(number - 1) & self.mask] - self.report_ps <= now:
                break
            number -= 1
        return number

    def bytes_left(self, now: cython.longlong) -> cython.longlong:
        """Their bytes, as the driver counts them."""
        number: cython.longlong = self.packets_left(now)
        left: cython.longlong = self.sent_bytes
        while number < self.sent:
            left -= self.counted[number & self.mask]
            number += 1
        return left

    def free(self, cpu: Cpu) -> cython.longlong:
        """Free the oldest frame on `cpu`; return its buffer's lines, and what its owner does."""
        writer: Cpu = self.writers[self.reclaimed & self.mask]
        work: cython.longlong
        self.freer = cpu
        work = self.free_part(cpu)
        if self.domain is not None:
            work += self.domain.unmap_ps(cpu, self.mapped[(self.reclaimed - 1) & self.mask])
        return work if writer is cpu else work + self.buffers.freed_ps(cpu, writer)

    def free_part(self, cpu: Cpu) -> cython.longlong:
        """Give back the oldest descriptor, whose buffer may be a part of one that is freed.

        Return the work that this causes its owner, on `cpu`.
        """
        work: cython.longlong = 0
        slot: cython.longlong = self.reclaimed & self.mask
        owner: Endpoint
        self.reclaimed += 1
        if self.lengths[slot] > 0:
            owner = self.owners[slot]
            work = owner.wfree(self.lengths[slot], cpu)
            self.lengths[slot] = 0
        return work

    def reclaim(self, cpu: Cpu, count: cython.longlong) -> cython.longlong:
        """Free the `count` oldest frames in a poll on `cpu`; return the work."""
        work: cython.longlong = count * self.costs.tx_completion_ps
        lines_ps: cython.longlong = self.lines.touch(cpu)
        self.costs.ledger.completion += work
        self.costs.ledger.socket_lines += lines_ps
        work += lines_ps
        while count > 0:
            count -= 1
            work += self.free(cpu)
        return work
