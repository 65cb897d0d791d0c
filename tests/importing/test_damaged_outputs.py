"""Outputs of commands with mistakes in them: read as far as they go, or refused in one line."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.importing.source import read_source
from simnet.importing.writing.folder_out import imported
from tests.house.examples import examples
from tests.importing.test_topology import (
    CPUINFO,
    HOST,
    LSCPU,
    NUMACTL,
    PARSABLE,
    S390,
    TABLE,
    XML,
    as_json,
)
from tests.importing.trees import folder, port

ETHTOOL = {
    "ethtool-i-eth0": "driver: ixgbe\nversion: 5.14\nbus-info: 0000:03:00.0\n",
    "ethtool-eth0": "Settings for eth0:\n\tSpeed: 10000Mb/s\n\tDuplex: Full\n",
    "ethtool-g-eth0": "Ring parameters for eth0:\nCurrent hardware settings:\nRX: 512\nTX: 512\n",
    "ethtool-l-eth0": "Channel parameters for eth0:\nCurrent hardware settings:\nCombined: 4\n",
    "sysctl": "net.core.rmem_max = 212992\nnet.ipv4.tcp_rmem = 4096 131072 6291456\n",
    "uname": "Linux host 5.14.0-362.el9.x86_64 #1 SMP\n",
}
OUTPUTS = [
    {"cpus": text, **ETHTOOL}
    for text in (LSCPU, as_json(LSCPU), TABLE, PARSABLE, NUMACTL, CPUINFO, S390, XML)
]
HOSTS = [*OUTPUTS, HOST | port("eth0", 4)]


@settings(
    max_examples=examples(20),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_mistakes(tmp_path_factory: object, data: st.DataObject) -> None:
    root: Path = tmp_path_factory.mktemp("host")  # type: ignore[attr-defined]
    files = dict(data.draw(st.sampled_from(HOSTS)))
    for _ in range(data.draw(st.integers(1, 4))):
        name = data.draw(st.sampled_from(sorted(files)))
        text = files[name]
        place = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 12))
        wrong = data.draw(
            st.sampled_from(["", "0", "-1", "99999999999999999999", "\0", "é", ",", ":", "\n"])
        )
        files[name] = text[:place] + wrong + text[place + cut :]
    folder(root, files)
    message = ""
    try:
        found = imported(read_source(str(root)))
    except InputError as error:
        message = str(error)
    else:
        assert found.summary()["cpus"] >= 1
        found.write(root / "out")
    assert "\n" not in message
