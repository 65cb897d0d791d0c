"""What a device's memory and registers cost the CPU that uses them, and what frames move.

Descriptors and status block lie on the device's node, and the device writes them. Buffers are
allocated by the CPU that polls or sends: they lie on its node, and the device reads and writes
them from its own.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.interconnect import Interconnect
from simnet.host.memory import Memory
from simnet.net.nic.net_device import NetDevice


@cython.final
@cython.cclass
class DeviceAccess:
    """What access to one device costs, from the CPU that was named last.

    What begins with `far_` is the part that a device on the CPU's own node does not cost.

    Args:
        device: which one it is.

    Attributes:
        mmio_ps: writing a register.
        near_mmio_ps: writing one of a device on the CPU's own node.
        far_line_ps: reading a line that the device has written.
        far_header_ps: a line of a frame that the device reads or writes.
        far_frame_ps: a received frame's header and descriptors.
    """

    memory: Memory = None
    interconnect: Interconnect = None
    node: cython.int = 0
    descriptor_bytes: cython.int = 0
    line_bytes: cython.int = 0
    bus: cython.int = 0
    version: cython.longlong = 0
    mmio_ps: cython.longlong = 0
    near_mmio_ps: cython.longlong = 0
    far_mmio_ps: cython.longlong = 0
    far_line_ps: cython.longlong = 0
    far_header_ps: cython.longlong = 0
    far_frame_ps: cython.longlong = 0
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
