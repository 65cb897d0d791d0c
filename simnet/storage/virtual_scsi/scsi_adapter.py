"""A SCSI adapter before a disk that takes one command at a time.

Without tagged command queueing the disk orders nothing: the adapter keeps what the driver gives
it, up to the device's queue depth, and sends the next command when the one before is complete.
Source: drivers/scsi/ipr.h of Linux 2.6 (`IPR_MAX_CMD_PER_LUN`: "outstanding ops per device for
devices not running tagged command queuing").
"""

from collections import deque

from simnet.storage.disk.command import Command, Target


class UntaggedAdapter:
    """Sends commands to a disk one after the other, as they came.

    Args:
        disk: that takes them.
        depth: commands that the adapter holds for it, the one in the disk included.
    """

    def __init__(self, disk: Target, depth: int) -> None:
        self.disk = disk
        self.depth = depth
        self._held: deque[Command] = deque()

    @property
    def sectors(self) -> int:
        """How many sectors the disk has."""
        return self.disk.sectors

    def submit(self, command: Command) -> bool:
        """Take a command; False if the adapter holds as many as it may."""
        if len(self._held) >= self.depth:
            return False
        self._held.append(command)
        command.tag, command.owner = (command.tag, command.owner), self
        if len(self._held) == 1:
            self.disk.submit(command)
        return True

    def command_done(self, command: Command) -> None:
        """The disk is through with one: send the next, then complete it to its owner."""
        self._held.popleft()
        if self._held:
            self.disk.submit(self._held[0])
        command.tag, command.owner = command.tag
        command.owner.command_done(command)
