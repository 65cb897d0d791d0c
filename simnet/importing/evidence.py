"""What parsers read: a host's files, outputs of commands, and its ports."""

from collections.abc import Iterator
from dataclasses import dataclass

from simnet.importing.files.files import Files
from simnet.importing.outputs import Output, Outputs
from simnet.importing.read_nic import ReadNic


@dataclass(frozen=True)
class Evidence:
    """All that was collected of a host.

    Attributes:
        files: by their names below the root.
        outputs: of commands.
        nics: the ports.
    """

    files: Files
    outputs: Outputs
    nics: tuple[ReadNic, ...] = ()

    def of_ports(self, kind: str) -> Iterator[tuple[ReadNic, Output]]:
        """Yield each port with an output of a kind."""
        for nic in self.nics:
            told = self.outputs.one(kind, nic.name)
            if told is not None:
                yield nic, told
