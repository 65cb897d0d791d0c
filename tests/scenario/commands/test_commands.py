"""What to type: parsed by two shells' rules, and carried out on a machine made of files."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from simnet.scenario.commands.commands import Commands, changed_knobs, commands
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import load
from simnet.scenario.scenarios import scenario_names
from tests.scenario.commands.sandbox import Sandbox

SCENARIO = "x460-out-of-box"
BASE = load(SCENARIO)
KNOBS = {
    "net.ipv4.tcp_rmem": "4096 87380 4194304",
    "net.ipv4.tcp_low_latency": "on",
    "ethtool -C eth2 rx-usecs": "50",
    "ethtool -G eth2 rx": "400",
    "ifconfig eth2 mtu": "9000",
}
# programs that may stand in what is printed
PROGRAMS = {
    "sysctl", "ethtool", "ifconfig", "ip", "service", "chkconfig", "insserv", "systemctl",
    "update-rc.d",
    "modprobe", "killall", "netserver", "numactl", "echo", "cat", "chmod", "sed", "rm",
    "/etc/init.d/irq_balancer",
}  # fmt: skip
Name = Literal["sles", "rhel", "debian", "systemd"]
DISTRIBUTIONS: tuple[Name, ...] = ("sles", "rhel", "debian", "systemd")


ALTERNATIVES = {
    "affinity": load(SCENARIO, tunings=["affinity"]),
    "numactl": load(SCENARIO, tunings=["numactl"]),
    "both": load(SCENARIO, tunings=["affinity+numactl"]),
    "knobs": load(SCENARIO, settings=KNOBS),
    "all": load(SCENARIO, tunings=["affinity+numactl"], settings=KNOBS),
}


def _of(effective: Effective, distribution: Name) -> Effective:
    kernel = effective.kernel.model_copy(update={"distribution": distribution})
    return effective.model_copy(
        update={"host": effective.host.model_copy(update={"kernel": kernel})}
    )


def _commands(tuned: Effective, distribution: Name = "sles") -> Commands:
    found = commands(_of(BASE, distribution), _of(tuned, distribution))
    assert [one.where for one in found] == ["ibm-x460"]
    return found[0]


def _sandbox(folder: Path) -> Sandbox:
    sandbox = Sandbox(folder, BASE.host)
    sandbox.write("proc/sys/net/ipv4/tcp_rmem", "4096 87380 174760")
    sandbox.write("proc/sys/net/ipv4/tcp_low_latency", "0")
    sandbox.write("state/ethtool-C.eth2.rx-usecs", "20")
    sandbox.write("state/ethtool-G.eth2.rx", "200")
    sandbox.write("state/ifconfig.eth2.mtu", "1500")
    sandbox.write("state/ip-link-set.eth2.mtu", "1500")
    return sandbox


def _simple_commands(lines: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield the words of every command outside of here-documents, comments left out."""
    inside = False
    for line in lines:
        if inside:
            inside = line != "END"
            continue
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in lexer:
            if word == ";":
                yield words
                words = []
            else:
                words.append(word)
        if words:
            yield words
        inside = "<<" in words


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("name", ALTERNATIVES)
def test_every_line_is_a_known_program_with_its_words(name: str, distribution: Name) -> None:
    found = _commands(ALTERNATIVES[name], distribution)
    for lines in (found.apply, found.undo, found.keep, found.drop):
        for words in _simple_commands(lines):
            assert words[0] in PROGRAMS
            redirects = [n for n, word in enumerate(words) if word in {">", ">>"}]
            targets = [words[n + 1] for n in redirects]
            assert all(target.startswith(("/proc/irq/", "/etc/", "/usr/")) for target in targets)


@pytest.mark.parametrize(
    ("name", "distribution"),
    [
        ("all", "sles"),
        ("all", "rhel"),
        ("all", "debian"),
        ("all", "systemd"),
        ("affinity", "sles"),
        ("numactl", "rhel"),
    ],
)
def test_undo_restores_every_byte_that_apply_has_changed(
    tmp_path: Path, name: str, distribution: Name
) -> None:
    found = _commands(ALTERNATIVES[name], distribution)
    sandbox = _sandbox(tmp_path)
    sandbox.parse((*found.apply, *found.keep, *found.drop, *found.undo))
    before = sandbox.files()
    sandbox.run(found.apply)
    applied = sandbox.files()
    assert applied != before
    sandbox.run(found.keep)
    if name != "numactl":
        assert sandbox.files() != applied
    sandbox.run(found.drop)
    assert sandbox.files() == applied
    sandbox.run(found.undo)
    assert sandbox.files() == before


def test_applying_sets_what_the_simulation_reads(tmp_path: Path) -> None:
    tuned = ALTERNATIVES["all"]
    sandbox = _sandbox(tmp_path)
    sandbox.run(_commands(tuned).apply)
    masks = {port.irq: sandbox.read(f"proc/irq/{port.irq}/smp_affinity") for port in tuned.ports}
    assert masks[193] == "10000"
    assert masks[233] == "1000000,00000000"
    assert sandbox.read("state/service.irq_balancer") == "stop"
    assert sandbox.read("proc/sys/net/ipv4/tcp_rmem") == "4096 87380 4194304"
    assert sandbox.read("proc/sys/net/ipv4/tcp_low_latency") == "1"
    assert sandbox.read("state/ethtool-C.eth2.rx-usecs") == "50"
    assert sandbox.read("state/ifconfig.eth2.mtu") == "9000"
    assert sandbox.read("state/processes").splitlines() == [
        f"numactl --cpubind={node} --preferred={node} netserver -p {12865 + node}"
        for node in range(4)
    ]


@pytest.mark.parametrize(
    ("distribution", "script", "daemon", "conf"),
    [
        ("sles", "etc/init.d/simnet-tuning", "irq_balancer", "etc/sysctl.conf"),
        ("rhel", "etc/init.d/simnet-tuning", "irqbalance", "etc/sysctl.conf"),
        ("debian", "etc/init.d/simnet-tuning", "irqbalance",
         "etc/sysctl.d/90-simnet-tuning.conf"),
        ("systemd", "usr/local/sbin/simnet-tuning", "irqbalance",
         "etc/sysctl.d/90-simnet-tuning.conf"),
    ],
)  # fmt: skip
def test_what_is_kept_comes_back_after_a_reboot(
    tmp_path: Path, distribution: Name, script: str, daemon: str, conf: str
) -> None:
    sandbox = _sandbox(tmp_path)
    sandbox.run(_commands(ALTERNATIVES["all"], distribution).keep)
    assert sandbox.read(f"state/boot.{daemon}") == "off"
    assert "net.ipv4.tcp_low_latency = 1" in sandbox.read(conf).splitlines()
    # irqbalance does not run any more, so the kernel's default is what a boot leaves
    for port in BASE.ports:
        sandbox.write(f"proc/irq/{port.irq}/smp_affinity", "ffffffff,ffffffff")
    sandbox.run([f"/{script} start"])
    masks = [sandbox.read(f"proc/irq/{port.irq}/smp_affinity") for port in BASE.ports]
    assert masks == [
        "1", "100", "10000", "1000000",
        "1,00000000", "100,00000000", "10000,00000000", "1000000,00000000",
    ]  # fmt: skip
    assert sandbox.read("state/ethtool-G.eth2.rx") == "400"
    configured = {
        "rhel": ("etc/sysconfig/network-scripts/ifcfg-eth2", "MTU=9000"),
        "debian": ("etc/network/interfaces", "    mtu 9000"),
    }
    if distribution in configured:
        file, line = configured[distribution]
        assert line in sandbox.read(file).splitlines()


def test_irqbalance_stops_before_interrupts_move_and_starts_after_they_are_back() -> None:
    settings = {"/proc/irq/193/smp_affinity": "10000", "irqbalance": "off"}
    found = _commands(load(SCENARIO, settings=settings))
    assert found.apply == (
        "/etc/init.d/irq_balancer stop",
        "echo 10000 > /proc/irq/193/smp_affinity",
    )
    assert found.undo == ("echo 4 > /proc/irq/193/smp_affinity", "/etc/init.d/irq_balancer start")


RESTART = "# acts on sockets that are opened afterwards: restart the programs (ss -tulnp)"


def test_undo_goes_back_to_the_scenario_not_to_the_models() -> None:
    tuned = load(SCENARIO, settings={"peer:net.ipv4.tcp_wmem": "4096 16384 131072"})
    found = commands(BASE, tuned)
    assert [one.where for one in found] == ["each peer (ibm-p5-550)"]
    assert found[0].undo == ('sysctl -w net.ipv4.tcp_wmem="4096 16384 32768"', RESTART)


def test_it_is_said_what_acts_on_later_connections_only() -> None:
    both = {"net.ipv4.tcp_wmem": "4096 16384 131072", "net.core.wmem_default": "131072"}
    sack = {"net.ipv4.tcp_sack": "off", "net.core.netdev_budget": "600"}
    (sockets,) = commands(BASE, load(SCENARIO, settings=both))
    (connections,) = commands(BASE, load(SCENARIO, settings=sack))
    assert [line for line in sockets.apply if line.startswith("#")] == [RESTART]
    assert connections.apply[-1] == "# acts on connections that begin afterwards"
    assert not [line for line in connections.keep if "afterwards" in line]


def test_the_peers_do_it_their_way(tmp_path: Path) -> None:
    option = {"peer:modprobe e1000 InterruptThrottleRate": "4000"}
    found = commands(BASE, load(SCENARIO, settings=option))[0]
    sandbox = Sandbox(tmp_path, BASE.host)
    sandbox.write("state/module.e1000", "e1000 InterruptThrottleRate=8000,8000,8000,8000")
    before = sandbox.files()
    sandbox.run((*found.apply, *found.keep))
    kept = sandbox.read("etc/modprobe.conf").splitlines()
    assert "options e1000 InterruptThrottleRate=4000,4000,4000,4000" in kept
    loaded = sandbox.read("state/module.e1000")
    assert loaded == "e1000 InterruptThrottleRate=4000,4000,4000,4000"
    sandbox.run((*found.drop, *found.undo))
    assert sandbox.files() == before


def test_a_constant_is_a_comment_that_says_to_rebuild() -> None:
    found = _commands(load(SCENARIO, settings={"TCP_DELACK_MIN": "4 ms"}))
    where = "in include/net/tcp.h, rebuild the kernel, boot it"
    assert found.apply == (f"# set TCP_DELACK_MIN to 4 ms {where}",)
    assert found.undo == (f"# set TCP_DELACK_MIN to 40 ms {where}",)
    assert found.keep == ()
    assert found.drop == ()


def test_what_was_before_is_not_made_up() -> None:
    found = _commands(load(SCENARIO, settings={"net.ipv4.tcp_fack": "off"}))
    assert found.apply == ('sysctl -w net.ipv4.tcp_fack="0"',)
    assert found.undo == (
        "# net.ipv4.tcp_fack: the value before is not known; write it down first",
    )


def test_without_a_change_there_is_nothing_to_type() -> None:
    assert commands(BASE, load(SCENARIO, settings={"nodes": "2"})) == []


def test_a_knob_that_both_set_alike_is_not_turned() -> None:
    base = load(SCENARIO, settings={"net.ipv4.tcp_sack": "off"})
    assert changed_knobs(base, base) == []
    more = load(SCENARIO, settings={"net.ipv4.tcp_sack": "off", "net.core.dev_weight": "32"})
    assert [(one.name, one.before, one.value) for one in changed_knobs(base, more)] == [
        ("net.core.dev_weight", "64", "32")
    ]


@pytest.mark.parametrize(
    ("version", "command"),
    [("2.6.32", "service irqbalance stop"), ("5.14", "systemctl stop irqbalance")],
)
def test_a_kernel_without_a_distribution_is_taken_by_its_version(
    version: str, command: str
) -> None:
    def dated(effective: Effective) -> Effective:
        kernel = effective.kernel.model_copy(update={"distribution": "", "version": version})
        host = effective.host.model_copy(update={"kernel": kernel})
        return effective.model_copy(update={"host": host})

    tuned = load(SCENARIO, settings={"irqbalance": "off"})
    assert commands(dated(BASE), dated(tuned))[0].apply == (command,)


def test_a_bond_is_made_with_all_its_options_at_once() -> None:
    base = load("x460-bonding")
    found = commands(base, load("x460-bonding", settings={"modprobe bonding mode": "802.3ad"}))[0]
    slaves = " ".join(f"eth{number}" for number in range(8))

    def made(mode: str) -> tuple[str, ...]:
        return (
            "# bond0 goes down: a session over it is cut off, so type this at the console",
            "ifconfig bond0 down",
            "modprobe -r bonding",
            f"modprobe bonding {mode}",
            "ifconfig bond0 up  # with its address and netmask",
            f"ifenslave bond0 {slaves}",
        )

    assert found.apply == made("miimon=100 mode=802.3ad")
    assert found.undo == made("mode=balance-rr miimon=100")
    assert "options bonding miimon=100 mode=802.3ad" in found.keep


def test_every_knob_of_every_scenario_is_text_for_a_shell(tmp_path: Path) -> None:
    """Also those that no command can set: they are comments."""
    lines: list[str] = []
    for scenario in scenario_names():
        base = load(scenario)
        for knob in base.applied:
            nothing = base.model_copy(
                update={"applied": tuple(one for one in base.applied if one != knob)}
            )
            for found in commands(nothing, base):
                lines += [*found.apply, *found.undo, *found.keep, *found.drop]
    typed = {"port-channel load-balance": "src-ip", "unplug eth0": "1 s", "TCP_ATO_MIN": "4 ms"}
    tuned = load("x460-bonding", settings=typed)
    for found in commands(load("x460-bonding"), tuned):
        assert all(line.startswith("# ") for line in (*found.apply, *found.undo))
    Sandbox(tmp_path, BASE.host).parse(lines)
