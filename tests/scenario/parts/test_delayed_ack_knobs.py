"""What an administrator and a program can do about delayed ACKs, by kernel."""

import subprocess
from pathlib import Path

import pytest

from simnet.errors import InputError
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.scenario.commands.commands import Commands, commands
from simnet.scenario.core.load import load
from simnet.scenario.parts.tcp.build import receiver_settings
from tests.host.parts import MS, US

QUICKACK = "ip route change dev eth1 quickack"
DELACK_MAX = "setsockopt TCP_DELACK_MAX_US"
MSS = 1448
SCENARIO = """
kind = "scenario"
description = "a server with a kernel of one's choice"

[system]
server = "ibm-x460"
kernel = "{kernel}"
switch = "cisco-3750g"
peers = [{{server = "ibm-p5-550", kernel = "linux-2.6.9-rhel4", count = 2}}]

[workload]
type = "netperf-tcp-stream"
test = "netserver"
nodes = 4
message = "32 KiB"

[irqbalance]
map = "none"

[run]
warm_up = "1 ms"
duration = "1 ms"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario with Linux 6.18."""
    file = tmp_path / "mine.toml"
    file.write_text(SCENARIO.format(kernel="linux-6.18"), "utf-8")
    return file


def receiver_of(scenario: Path, port: int, **settings: str) -> TcpReceiver:
    """The receiving half of a connection through a port."""
    effective = load(scenario, settings=settings)
    receiver = TcpReceiver(receiver_settings(effective.host, effective.ports[port]))
    receiver.start(0)
    return receiver


def typed(scenario: Path, settings: dict[str, str]) -> Commands:
    """What to type for settings."""
    found = commands(load(scenario), load(scenario, settings=settings))
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("name", "value", "since"), [(QUICKACK, "1", "3.11"), (DELACK_MAX, "8000", "6.15")]
)
def test_an_older_kernel_refuses_it(name: str, value: str, since: str) -> None:
    with pytest.raises(InputError) as caught:
        load("x460-out-of-box", settings={name: value})
    message = f"not in Linux 2.6.16: it came with Linux {since}"
    assert (caught.value.key, caught.value.message) == (name, message)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("4000", "EINVAL at HZ 250: expected more than a jiffy, or 0 for not set"),
        ("200001", "200.001 ms is outside the legal range 0 us to 200 ms"),
    ],
)
def test_what_setsockopt_refuses(scenario: Path, value: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(scenario, settings={DELACK_MAX: value})
    assert (caught.value.key, caught.value.message) == (DELACK_MAX, message)


@pytest.mark.parametrize("setting", [{QUICKACK: "0"}, {DELACK_MAX: "0"}], ids=str)
def test_the_default_changes_nothing(scenario: Path, setting: dict[str, str]) -> None:
    assert load(scenario, settings=setting).digest() == load(scenario).digest()


@pytest.mark.parametrize(("port", "setting", "each"), [(1, "1", True), (0, "1", False)])
def test_quickack_of_a_route_acknowledges_each_segment(
    scenario: Path, port: int, setting: str, *, each: bool
) -> None:
    receiver = receiver_of(scenario, port, **{QUICKACK: setting})
    at_once = []
    for number in range(200):
        at_once.append(
            receiver.segment(number * MSS, (number + 1) * MSS, False, False, number)  # noqa: FBT003
        )
        receiver.copied(MSS, number)
        if at_once[-1]:
            receiver.ack_sent()
    # what is no longer slow start
    assert all(at_once[150:]) == each
    assert any(at_once[150:])


@pytest.mark.parametrize(("value", "jiffies"), [("0", 10), ("8000", 2), ("13000", 4)])
def test_the_socket_option_limits_the_delay(scenario: Path, value: str, jiffies: int) -> None:
    receiver = receiver_of(scenario, 0, **{DELACK_MAX: value})
    receiver.segment(0, 100, True, False, 1000)  # noqa: FBT003
    assert receiver.delack.schedule_timer(1000) == 1000 + jiffies


def test_peers_have_routes_and_sockets_of_their_own(scenario: Path) -> None:
    text = scenario.read_text("utf-8").replace("linux-2.6.9-rhel4", "linux-6.18")
    scenario.write_text(text, "utf-8")
    settings = {f"peer:{QUICKACK}": "on", f"peer:{DELACK_MAX}": "20000"}
    effective = load(scenario, settings=settings)
    assert [port.quickack for port in effective.peers[1].ports] == [False, True, False, False]
    assert effective.peers[1].application.delack_max_ps == 20 * MS
    assert not any(port.quickack for port in effective.ports)
    assert effective.host.application.delack_max_ps == 0


def test_the_route_is_changed_by_the_command_and_back_by_its_undo(scenario: Path) -> None:
    found = typed(scenario, {QUICKACK: "1"})
    routes = "10.1.0.0/24 proto kernel src 10.1.0.1 quickack 1\n10.2.0.0/16 src 10.1.0.1"
    answer = f"""if [ "$2" = show ]; then printf '%s\\n' "{routes}"; else echo "$*"; fi"""
    fake = f"ip() {{ {answer}; }}\n"

    def run(lines: tuple[str, ...]) -> list[str]:
        text = fake + "\n".join(lines)
        return subprocess.run(
            ["/bin/bash", "-eu", "-c", text], capture_output=True, text=True, check=True
        ).stdout.splitlines()

    for lines, value in ((found.apply, 1), (found.undo, 0)):
        assert run(lines) == [
            f"route change 10.1.0.0/24 proto kernel src 10.1.0.1 dev eth1 quickack {value}",
            f"route change 10.2.0.0/16 src 10.1.0.1 dev eth1 quickack {value}",
        ]
    assert any("quickack 1" in line for line in found.keep)


def test_the_option_is_left_to_the_program(scenario: Path) -> None:
    found = typed(scenario, {DELACK_MAX: "10000"})
    assert found.apply == ("# in the program, for each socket: setsockopt TCP_DELACK_MAX_US 10000",)
    assert found.undo == ("# in the program: no setsockopt of TCP_DELACK_MAX_US",)
    assert found.keep == ()
    applied = load(scenario, settings={DELACK_MAX: "10000"}).applied[0]
    assert (applied.value, applied.before, applied.modelled) == ("10000", "0", True)
    assert load(scenario, settings={DELACK_MAX: "10 ms"}).host.application.delack_max_ps == (
        10_000 * US
    )
