"""The host that an import makes of the files of a diagnosis, for as long as somebody asks it."""

import tempfile
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from simnet.importing.import_host import import_host
from simnet.importing.source import Named, Sources
from simnet.importing.writing.folder_out import Imported
from simnet.scenario.scenarios import SCENARIO_FILE


class Host(NamedTuple):
    """What was imported, and where its scenario is."""

    imported: Imported
    scenario: Path


class Described(AbstractContextManager["Described"]):
    """What some sources describe, imported when it is first asked for; it goes away at the end.

    Args:
        sources: files, folders or archives; empty for this machine.
    """

    def __init__(self, sources: Named) -> None:
        self.sources = Sources.of(sources)
        self._folders = ExitStack()

    @cached_property
    def host(self) -> Host:
        """Return the host.

        Raises:
            InputError: nothing can be made of the sources.
        """
        imported = import_host(self.sources if self.sources.names else None)
        place = self._folders.enter_context(tempfile.TemporaryDirectory(prefix="simnet-diagnose-"))
        folder = Path(place) / "host"
        imported.write(folder)
        return Host(imported, folder / SCENARIO_FILE)

    def __exit__(self, *exception: object) -> None:
        self._folders.close()
