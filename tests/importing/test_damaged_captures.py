"""Files of real machines with mistakes in them: a model, or one clear line."""

import functools
from collections.abc import Mapping

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.importing.files.files import Files
from simnet.importing.host import read_host
from simnet.importing.source import opened
from simnet.importing.writing.folder_out import imported
from tests.importing.loads.test_workload import SOCKETS, counters, sadf
from tests.importing.test_captured_hosts import FOLDER
from tests.importing.test_settings import CHANNELS, COALESCE, FEATURES, HASH, INTERRUPTS, KEY

NETWORKING = "sos_commands/networking"
# small ones, with files of all kinds between them
CAPTURES = ("sos-ubuntu-kubernetes", "2pa-pcidomain32bits", "2ps3-2t", "16em64t-4s2c2t-offlines")
# what the sosreport has not, of the port that it has
MORE = {
    f"{NETWORKING}/ethtool_-c_ens3": COALESCE.replace("ens1", "ens3"),
    f"{NETWORKING}/ethtool_-k_ens3": FEATURES.replace("ens1", "ens3"),
    f"{NETWORKING}/ethtool_-l_ens3": CHANNELS.replace("ens1", "ens3"),
    f"{NETWORKING}/ethtool_-x_ens3": HASH.format(KEY).replace("ens1", "ens3"),
    f"{NETWORKING}/ss_-tin": SOCKETS,
    "sos_commands/sar/sadf_-j_--_-n_DEV": sadf((9e4, 8e4, 9e4, 8e3)).replace("ens1", "ens3"),
    "proc/interrupts": INTERRUPTS.format("  24:  0  0  0  0  PCI-MSI 4-edge  virtio0-input.0"),
    # there proc/net is a link to self/net
    **{
        name.replace("proc/net", "proc/self/net"): text.replace("ens1", "ens3")
        for name, text in counters(later=(9**9, 9**6, 9**8, 9**6)).items()
    },
}


class Damaged(Files):
    """A host's files, some of which have another content."""

    def __init__(self, files: Files, changed: Mapping[str, bytes]) -> None:
        self.label = files.label
        self._files = files
        self._changed = changed

    def data(self, name: str) -> bytes | None:
        """See `Files.data`."""
        return self._changed.get(name) or self._files.data(name)

    def target(self, name: str) -> str | None:
        """See `Files.target`."""
        return self._files.target(name)

    def names(self, folder: str) -> list[str]:
        """See `Files.names`."""
        more = (name.removeprefix(f"{folder}/") for name in self._changed)
        return sorted({*self._files.names(folder), *(one for one in more if "/" not in one)})

    def walk(self) -> list[str]:
        """See `Files.walk`."""
        return sorted({*self._files.walk(), *self._changed})


@functools.cache
def contents(capture: str) -> tuple[Files, dict[str, bytes]]:
    """The files of a capture, and what they hold."""
    files, _ = opened(str(FOLDER / f"{capture}.tar.xz"))
    texts = {name: data for name in files.walk() if (data := files.data(name))}
    if capture.startswith("sos"):
        texts |= {name: text.encode() for name, text in MORE.items()}
    return files, texts


BITS = st.sampled_from(
    [b"", b"0", b"-1", b"9" * 30, b"\0", b"\xff\xfe", b"\n", b",", b":", b" ", b"{", b"[" * 5000]
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_mistakes(data: st.DataObject) -> None:
    files, texts = contents(data.draw(st.sampled_from(CAPTURES)))
    changed = {name: text.encode() for name, text in MORE.items() if name in texts}
    for _ in range(data.draw(st.integers(1, 6))):
        name = data.draw(st.sampled_from(sorted(texts)))
        text = changed.get(name, texts[name])
        # where there are words, most mistakes are among the first
        place = data.draw(st.integers(0, min(len(text), 2000)))
        cut = data.draw(st.sampled_from([0, 1, 2, 7, 40, len(text)]))
        changed[name] = text[:place] + data.draw(BITS) + text[place + cut :]
    try:
        found = imported(read_host(Damaged(files, changed)))
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017 - one line, if it is refused
    else:
        assert found.summary()["cpus"] >= 1
        assert found.report().isprintable() or "\x1b" not in found.report()
