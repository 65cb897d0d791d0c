"""Playbooks and profiles: read by other parsers, and carried out on a machine made of files."""

import configparser
import shlex
from pathlib import Path
from typing import Any

import pytest

from simnet.report.tools.ansible import CONSOLE, playbook
from simnet.report.tools.tuned import PROFILE, SCRIPT, profile
from simnet.scenario.commands.commands import EACH_PEER, Commands, commands
from simnet.scenario.commands.loops import looped
from simnet.scenario.commands.together import CUT_OFF
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import load
from tests.scenario.commands.sandbox import Sandbox

yaml: Any = pytest.importorskip("yaml")
SCENARIO = "x460-out-of-box"
SYSCTLS = {"net.ipv4.tcp_rmem": "4096 87380 4194304", "net.ipv4.tcp_low_latency": "1"}
OTHERS = {"ethtool -G eth2 rx": "400", "ifconfig eth2 mtu": "9000"}


class Loader(yaml.SafeLoader):  # type: ignore[misc]
    """A reader that takes what Ansible takes."""


Loader.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))


def plays(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.load(text, Loader)
    return found


def of_today(effective: Effective) -> Effective:
    kernel = effective.kernel.model_copy(update={"distribution": "systemd"})
    host = effective.host.model_copy(update={"kernel": kernel})
    return effective.model_copy(update={"host": host})


@pytest.fixture(scope="module")
def typed() -> Commands:
    tuned = load(SCENARIO, tunings=["affinity"], settings=SYSCTLS | OTHERS)
    return commands(of_today(load(SCENARIO)), of_today(tuned))[0]


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    made = Sandbox(tmp_path, load(SCENARIO).host)
    made.write("proc/sys/net/ipv4/tcp_rmem", "4096 87380 174760")
    made.write("proc/sys/net/ipv4/tcp_low_latency", "0")
    made.write("state/ethtool-G.eth2.rx", "200")
    made.write("state/ip-link-set.eth2.mtu", "1500")
    return made


def carried_out(play: dict[str, Any], sandbox: Sandbox) -> None:
    """Do what the tasks of a play say; what sets a sysctl sets it."""
    for task in play["tasks"]:
        assert "when" not in task
        if "ansible.builtin.shell" in task:
            sandbox.run(task["ansible.builtin.shell"]["cmd"].splitlines())
        elif task["ansible.posix.sysctl"].get("state") != "absent":
            given = task["ansible.posix.sysctl"]
            sandbox.run([f"sysctl -w {given['name']}={shlex.quote(given['value'])}"])


def test_a_playbook_sets_what_is_typed_and_its_undo_restores_every_byte(
    typed: Commands, sandbox: Sandbox
) -> None:
    applied, undone = plays(playbook("affinity", [typed]))
    assert (applied["hosts"], undone["hosts"]) == ("host", "host")
    assert (applied["tags"], undone["tags"]) == (["apply"], ["never", "undo"])
    named = {
        task["ansible.posix.sysctl"]["name"]: task["ansible.posix.sysctl"]["value"]
        for task in applied["tasks"]
        if "ansible.posix.sysctl" in task
    }
    assert named == SYSCTLS
    before = sandbox.files()
    carried_out(applied, sandbox)
    assert sandbox.read("proc/sys/net/ipv4/tcp_rmem") == SYSCTLS["net.ipv4.tcp_rmem"]
    assert sandbox.read("state/ethtool-G.eth2.rx") == "400"
    assert "state/boot.simnet-tuning.service" in sandbox.files()
    assert "etc/sysctl.d/90-simnet-tuning.conf" not in sandbox.files()
    assert sandbox.read("state/service.irqbalance") == "stop"
    carried_out(undone, sandbox)
    assert sandbox.files() == before


def test_a_profile_sets_what_is_typed_and_its_stop_restores_every_byte(
    typed: Commands, sandbox: Sandbox
) -> None:
    files = profile("affinity", typed)
    # as tuned reads it
    read = configparser.RawConfigParser(
        delimiters=("=",), inline_comment_prefixes=("#",), strict=False
    )
    read.read_string(files[PROFILE])
    assert dict(read["sysctl"]) == SYSCTLS
    assert read["script"]["script"] == f"${{i:PROFILE_DIR}}/{SCRIPT}"
    before = sandbox.files()
    lines = files[SCRIPT].splitlines()
    sandbox.run(["set -- verify", *lines])
    assert sandbox.files() == before
    sandbox.run(["set -- start", *lines])
    assert sandbox.read("state/service.irqbalance") == "stop"
    assert sandbox.read("state/boot.irqbalance") == "off"
    assert sandbox.read("state/ip-link-set.eth2.mtu") == "9000"
    sandbox.run(["set -- stop", *lines])
    assert sandbox.files() == before


def test_sysctls_alone_need_no_script() -> None:
    tuned = load(SCENARIO, settings=SYSCTLS)
    (typed,) = commands(of_today(load(SCENARIO)), of_today(tuned))
    assert set(profile("more memory", typed)) == {PROFILE}


def test_what_is_done_by_hand_is_told() -> None:
    by_hand = "# in the program: setsockopt SO_RCVBUF 26214400"
    typed = Commands("here", ("sysctl -w net.core.a=1", by_hand), (by_hand,), (), ())
    assert f"\n    {by_hand}\n" in playbook("larger", [typed])
    files = profile("larger", typed)
    assert set(files) == {PROFILE}
    assert files[PROFILE].endswith(f"\n{by_hand}\n")


def test_many_sysctls_stay_sysctls() -> None:
    lines = [f"sysctl -w net.core.a{number}={number}" for number in range(20)]
    assert looped(lines) == tuple(lines)
    named = Commands("here", tuple(lines), (), (), ())
    assert profile("many", named)[PROFILE].count("net.core.a") == 20


def test_what_cuts_sessions_off_waits_for_the_console() -> None:
    warning = f"# bond0 goes down: a session over it {CUT_OFF}"
    down = Commands("here", (warning, "ip link set bond0 down"), (warning, "true"), (), ())
    text = playbook("bond", [down])
    assert f"-e {CONSOLE}=true" in text
    for play in plays(text):
        assert all(task["when"] == f"{CONSOLE} | default(false) | bool" for task in play["tasks"])
        assert warning in play["tasks"][0]["ansible.builtin.shell"]["cmd"]
    with pytest.raises(ValueError, match="cut off"):
        profile("bond", down)


def test_peers_are_a_group_and_are_undone_first() -> None:
    own = Commands("here", ("sysctl -w net.core.a=1",), ("sysctl -w net.core.a=0",), (), ())
    theirs = Commands(f"{EACH_PEER} (b)", ("true",), ("false",), (), ())
    found = plays(playbook("both", [own, theirs]))
    assert [play["hosts"] for play in found] == ["host", "peers", "peers", "host"]


def test_a_strangers_text_is_no_yaml_and_no_template() -> None:
    hostile = Commands(
        "a: b\n- x {{ lookup('pipe', 'id') }}", ("echo '{{ 7 * 7 }}'  # \\", "true"), (), (), ()
    )
    text = playbook("x\nhosts: all {{ 1 }}", [hostile])
    assert "\nhosts: all" not in text
    (play,) = (one for one in plays(text) if one["tasks"])
    assert play["hosts"] == "host"
    assert play["tasks"][0]["ansible.builtin.shell"]["cmd"] == (
        "set -e\necho '{{ 7 * 7 }}'  # \\\ntrue\n"
    )
    templates = [line for line in text.splitlines() if "{{" in line and "!unsafe" not in line]
    assert [line.strip()[0] for line in templates] == ["#", "e"]
    assert "\nhosts" not in profile("x\nhosts: all", hostile)[PROFILE]
