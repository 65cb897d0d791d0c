"""The host that an import makes of the files of a diagnosis, for as long as somebody asks it."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from simnet.importing.import_host import import_host
from simnet.scenario.core.library import SCENARIO_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simnet.importing.writing.folder_out import Imported


class Described(NamedTuple):
    """What was imported, and where its scenario is."""

    host: Imported
    scenario: Path


@contextmanager
def described(sources: Sequence[str]) -> Iterator[Described]:
    """Import sources, or this machine if there are none, into a folder that goes away afterwards.

    Raises:
        InputError: nothing can be made of them.
    """
    host = import_host(list(sources) or None)
    with tempfile.TemporaryDirectory(prefix="simnet-diagnose-") as place:
        folder = Path(place) / "host"
        host.write(folder)
        yield Described(host, folder / SCENARIO_FILE)
