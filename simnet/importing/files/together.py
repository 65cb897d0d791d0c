"""Several sources as the files of one host, and files that are only in memory."""

import itertools
from collections.abc import Mapping, Sequence

from simnet.importing.files.files import MOST_NAMES, Files


class ListedFiles(Files):
    """Files in memory.

    Args:
        label: what the user called them.
        data: what they hold, by name.
    """

    def __init__(self, label: str, data: Mapping[str, bytes]) -> None:
        self.label = label
        self._data = dict(data)

    def data(self, name: str) -> bytes | None:
        """See `Files.data`."""
        return self._data.get(name)

    def target(self, name: str) -> str | None:  # noqa: ARG002 - there are no links
        """See `Files.target`."""
        return None

    def names(self, folder: str) -> list[str]:
        """See `Files.names`."""
        before = f"{folder.strip('/')}/" if folder.strip("/") else ""
        rest = (name[len(before) :] for name in self._data if name.startswith(before))
        return sorted({one.partition("/")[0] for one in rest})

    def walk(self) -> list[str]:
        """See `Files.walk`."""
        return sorted(self._data)


class TogetherFiles(Files):
    """Files of several sources.

    Of paths below /proc and /sys, those of the first source that has them count. An output that has
    the name of one of an earlier source is called after its source's place, as ``2/dmesg.txt``.

    Args:
        sources: each with its own root, and the names of its outputs.
        label: what the user called them.
    """

    def __init__(self, sources: Sequence[tuple[Files, Sequence[str]]], label: str) -> None:
        self.label = label
        self._sources = tuple(files for files, _ in sources)
        self._outputs: dict[str, tuple[Files, str]] = {}
        for place, (files, outputs) in enumerate(sources, 1):
            for name in outputs:
                shown = f"{place}/{name}" if name in self._outputs else name
                self._outputs[shown] = (files, name)

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs of all sources."""
        return list(self._outputs)

    def data(self, name: str) -> bytes | None:
        """See `Files.data`."""
        if name in self._outputs:
            files, own = self._outputs[name]
            return files.data(own)
        found = (one.data(name) for one in self._sources)
        return next((data for data in found if data is not None), None)

    def target(self, name: str) -> str | None:
        """See `Files.target`."""
        found = (one.target(name) for one in self._sources)
        return next((target for target in found if target is not None), None)

    def names(self, folder: str) -> list[str]:
        """See `Files.names`."""
        return sorted({name for one in self._sources for name in one.names(folder)})

    def walk(self) -> list[str]:
        """See `Files.walk`."""
        every = itertools.chain(self._outputs, *(one.walk() for one in self._sources))
        return sorted(set(itertools.islice(every, MOST_NAMES)))
