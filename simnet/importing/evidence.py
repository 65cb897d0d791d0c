"""What parsers read: a host's files, outputs of commands, and its ports."""

from collections.abc import Iterator
from dataclasses import dataclass

from simnet.importing.files.files import Files
from simnet.importing.outputs import Output, Outputs
from simnet.importing.read_nic import ReadNic


@dataclass(frozen=True)
class Evidence:
    """All that was collected of a host."""

    files: Files  # by their names below the root
    outputs: Outputs  # of commands
    nics: tuple[ReadNic, ...] = ()  # the ports

    def of_ports(self, kind: str) -> Iterator[tuple[ReadNic, Output]]:
        """Yield each port with an output of a kind."""
        for nic in self.nics:
            told = self.outputs.one(kind, nic.name)
            if told is not None:
                yield nic, told
