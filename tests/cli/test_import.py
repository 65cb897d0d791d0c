"""``simnet import``: a host's files in, a folder with models and a scenario out."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import simnet as api
from simnet.cli.commands.import_ import import_command
from simnet.cli.status import Status
from simnet.errors import InputError
from simnet.importing.writing.workload import WORKLOADS
from simnet.printable import printable
from simnet.scenario.core.load import load
from tests.cli.conftest import Simnet
from tests.importing.trees import archive, folder, port, sysfs

# threads that are siblings are four apart; CPU 7 and its core's other half are off line
HOST = {
    **sysfs([[0, 4], [1, 5], [2, 6]], [[0, 1, 4, 5], [2, 6]], [[0, 1, 4, 5], [2, 6]], [3, 7]),
    **port("ens1f0np0", 1, node=1),
    "proc/cpuinfo": "processor : 0\nvendor_id : GenuineIntel\nmodel name : Intel Xeon @ 2.60GHz\n",
    "proc/version": "Linux version 5.14.0-362.8.1.el9_3.x86_64 (builder) #1 SMP\n",
    "etc/os-release": 'ID="rocky"\nVERSION_ID="9.3"\nPRETTY_NAME="Rocky Linux 9.3"\n',
    "sos_commands/kernel/sysctl_-a": (
        "net.ipv4.tcp_rmem = 4096\t131072\t16777216\nnet.core.netdev_budget = 600\n"
    ),
    "sos_commands/networking/ethtool_-i_ens1f0np0": "driver: mlx5_core\nbus-info: 0000:3b:00.0\n",
    "sos_commands/networking/ethtool_-i_br0": "driver: bridge\nbus-info: N/A\n",
    "sos_commands/networking/ethtool_-g_ens1f0np0": (
        "Ring parameters for ens1f0np0:\nPre-set maximums:\nRX: 8192\nTX: 8192\n"
        "Current hardware settings:\nRX: 2048\nTX: 512\n"
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_was_read(simnet: Simnet, tmp_path: Path) -> None:
    archive(tmp_path / "sosreport-a.tar.xz", HOST, "xz", "sosreport-a/")
    found = json.loads(simnet("import", "sosreport-a.tar.xz", "--json").out)
    counts = {key: found[key] for key in ("nodes", "packages", "cores", "cpus", "offline_cpus")}
    assert counts == {"nodes": 2, "packages": 2, "cores": 3, "cpus": 6, "offline_cpus": [3, 7]}
    assert found["nics"] == [{"name": "ens1f0np0", "node": 1, "driver": "mlx5_core", "queues": 1}]
    assert found["host"]["kernel"] == "5.14.0-362.8.1.el9_3.x86_64"
    assert found["host"]["clock_hz"] == 2_600_000_000
    assert found["folder"] == "simnet-sosreport-a"


def test_the_folder_simulates_with_what_was_read(simnet: Simnet, tmp_path: Path) -> None:
    folder(tmp_path / "host", HOST)
    assert simnet("import", "host", "--out", "mine").status == 0
    effective = load("mine/scenario.toml")
    host = effective.host
    assert host.online == (0, 1, 2, 4, 5, 6)
    assert [host.node_of(cpu) for cpu in host.online] == [0, 0, 1, 0, 0, 1]
    assert host.kernel.tcp_rmem_bytes == (4096, 131072, 16777216)
    assert (host.kernel.netdev_budget, host.kernel.version) == (600, "5.14.0")
    port: Any = host.ports[0]
    assert (port.name, port.node) == ("ens1f0np0", 1)
    assert (port.nic.link_rate_bps, port.nic.mtu_bytes) == (25 * 10**9, 9000)
    assert (port.nic.rx_ring, port.nic.rx_buffers_posted, port.nic.tx_ring) == (8192, 2048, 512)
    ran = simnet("run", "mine/scenario.toml", "--warm-up", "1 ms", "--duration", "1 ms", "--json")
    assert ran.status == 0
    assert [cpu["id"] for cpu in json.loads(ran.out)["cpus"]] == list(host.online)


def test_every_value_says_where_it_is_from(simnet: Simnet, tmp_path: Path) -> None:
    folder(tmp_path / "host", HOST)
    found = json.loads(simnet("import", "host", "--json").out)
    values = {(one["file"], one["name"]): one for one in found["values"]}
    assert values["scenario.toml", "net.ipv4.tcp_rmem"]["source"] == (
        "read from sos_commands/kernel/sysctl_-a"
    )
    assert values["models/nic-ens1f0np0.toml", "rx_ring"]["state"] == "read"
    costs = [one for (_, name), one in values.items() if name.startswith("costs.")]
    assert costs
    assert {one["state"] for one in costs} == {"assumed"}
    report = (tmp_path / "simnet-host" / "IMPORT.md").read_text("utf-8")
    assert "| models/nic-ens1f0np0.toml | rx_ring | 8192 | read |" in report


def test_a_host_without_a_port_gets_one_that_is_assumed(simnet: Simnet, tmp_path: Path) -> None:
    folder(tmp_path / "host", {n: t for n, t in HOST.items() if "ens1f0np0" not in n})
    found = json.loads(simnet("import", "host", "--json").out)
    assert found["nics"] == []
    assert (
        "no network port was found: eth0 is assumed, with one link of the NIC's model"
        in (found["notes"])
    )
    assert load("simnet-host/scenario.toml").host.ports[0].name == "eth0"


def test_this_machine(simnet: Simnet, tmp_path: Path) -> None:
    found = json.loads(simnet("import", "--live", "--workload", "rr", "--json").out)
    assert found["cpus"] >= 1
    assert load(str(tmp_path / found["folder"] / "scenario.toml")).workload.test == "tcp_rr"


def test_a_second_import_gets_a_folder_of_its_own(simnet: Simnet, tmp_path: Path) -> None:
    folder(tmp_path / "host", HOST)
    simnet("import", "host")
    assert json.loads(simnet("import", "host", "--json").out)["folder"] == "simnet-host-2"
    refused = simnet("import", "host", "--out", "simnet-host")
    assert refused.status == 2
    assert refused.err == (
        "simnet: simnet-host: expected a folder that is empty or not there yet\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected a SOURCE, or --live, or --script"),
        (("host", "--live"), "expected a SOURCE, or --live, or --script"),
        (("nowhere",), "nowhere: cannot be read: No such file or directory"),
    ],
)
def test_bad_arguments(simnet: Simnet, arguments: tuple[str, ...], message: str) -> None:
    refused = simnet("import", *arguments)
    assert refused.status == 2
    assert message in refused.err


def test_control_characters_of_strangers_are_not_printed(simnet: Simnet, tmp_path: Path) -> None:
    evil = HOST | {"etc/os-release": 'ID=x\nVERSION_ID=1\nPRETTY_NAME="\x1b[31mred\x07"\n'}
    folder(tmp_path / "host", evil)
    shown = simnet("import", "host")
    assert "\x1b" not in shown.out + shown.err
    for file in (tmp_path / "simnet-host").rglob("*.*"):
        assert "\x1b" not in file.read_text("utf-8")
    assert load("simnet-host/scenario.toml").host.ports


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("$(touch PWNED)", "simnet-touch-PWNED"),
        ("a\nrm -rf x", "simnet-a-rm--rf-x"),
        (";id;`id`'\"", "simnet-id-id"),
        ("-rf \x1b[2J\u202e\udcff", "simnet-rf-2J"),
        ("é", "simnet-host"),
        ("x" * 200, f"simnet-{'x' * 60}"),
    ],
)
def test_a_name_of_a_stranger_is_no_part_of_a_command(
    simnet: Simnet, tmp_path: Path, name: str, made: str
) -> None:
    archive(tmp_path / f"{name}.tar.gz", HOST)
    shown = simnet("import", f"./{name}.tar.gz")
    last = [f"simnet {command} {made}/scenario.toml" for command in ("run", "recommend")]
    assert shown.out.splitlines()[-2:] == last
    assert (tmp_path / made / "scenario.toml").is_file()


def test_the_command_to_run_it_is_quoted(simnet: Simnet, tmp_path: Path) -> None:
    folder(tmp_path / "host", HOST)
    for out in ("a b", "$(id)", "-x"):
        run = simnet("import", "host", "--out", out).out.splitlines()[-2]
        assert shlex.split(run)[2] in {f"{out}/scenario.toml", f"./{out}/scenario.toml"}
        assert simnet(*shlex.split(run)[1:], "--warm-up", "0 s", "--duration", "1 ms").status == 0


@pytest.mark.parametrize("name", ["eth0+lab", "a=b", "é", "$(id)", "\u202eeth"])
def test_a_port_that_no_model_can_name_is_left_out_and_said(
    simnet: Simnet, tmp_path: Path, name: str
) -> None:
    folder(tmp_path / "host", {**HOST, **port(name, 1)})
    shown = simnet("import", "host", "--out", "out")
    assert shown.status == 0
    assert f"simnet: left out: {printable(name)}: a port of the model has a name of" in shown.err
    assert [one.name for one in load("out/scenario.toml").host.ports] == ["ens1f0np0"]
    folder(tmp_path / "other", {n.replace("ens1f0np0", name): t for n, t in HOST.items()})
    assert simnet("import", "other", "--out", "alone").status == 0
    assert [one.name for one in load("alone/scenario.toml").host.ports] == ["eth0"]


def test_text_of_strangers_is_only_text_in_the_report(simnet: Simnet, tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>&lt; [a](javascript:b) `c` *d* \x1b]0;x\x07 \u202e"
    name = "<b>\u202e"
    files = {
        **HOST,
        "etc/os-release": f'ID=x\nVERSION_ID=1\nPRETTY_NAME="{evil}"\n',
        "proc/version": f"Linux version 5.14.0-{evil} (builder) #1 SMP\n",
        "proc/cpuinfo": f"processor : 0\nvendor_id : GenuineIntel\nmodel name : {evil}\n",
        "etc/tuned/active_profile": f"{evil}\n",
        "sos_commands/kernel/sysctl_-a": f"net.ipv4.tcp_congestion_control = {evil}\n",
        "sos_commands/networking/ethtool_-i_ens1f0np0": f"driver: {evil}\nbus-info: 0000:3b:00.0\n",
        **port(name, 1),
    }
    folder(tmp_path / "host", files)
    assert simnet("import", "host", "--out", "out").status == 0
    report = (tmp_path / "out" / "IMPORT.md").read_text("utf-8")
    assert all(line.isprintable() for line in report.split("\n"))
    assert "&lt;img" in report
    assert "<" not in report
    assert not re.search(r"(?<!\\)[`\[\]*]", report)


@pytest.mark.skipif(shutil.which("sh") is None, reason="no POSIX shell")
def test_the_script_collects_what_import_reads(simnet: Simnet, tmp_path: Path) -> None:
    (tmp_path / "collect.sh").write_text(simnet("import", "--script").out, "utf-8")
    environment = {**os.environ, "SECONDS_BETWEEN": "0.1"}
    subprocess.run(
        ["sh", "collect.sh", "host.tar.gz"], check=True, capture_output=True, env=environment
    )
    collected = json.loads(simnet("import", "host.tar.gz", "--json").out)
    live = json.loads(simnet("import", "--live", "--json").out)
    for key in ("nodes", "packages", "cores", "cpus", "caches"):
        assert collected[key] == live[key]
    assert [nic["name"] for nic in collected["nics"]] == [nic["name"] for nic in live["nics"]]
    for found in (collected, live):
        scenario = f"{found['folder']}/scenario.toml"
        assert simnet("run", scenario, "--warm-up", "1 ms", "--duration", "1 ms").status == 0
    # settings of /proc and /sys
    told, seen = (
        {(one["name"], one["value"]) for one in found["values"] if one["name"].startswith("/")}
        for found in (collected, live)
    )
    assert told == seen


def test_the_command_offers_every_workload() -> None:
    (choice,) = (one.type for one in import_command.params if one.name == "workload")
    assert isinstance(choice, click.Choice)
    assert set(choice.choices) == set(WORKLOADS)


def test_from_python(tmp_path: Path) -> None:
    found = api.import_host(folder(tmp_path / "host", HOST), workload="rr")
    found.write(tmp_path / "out")
    assert load(str(tmp_path / "out" / "scenario.toml")).workload.test == "tcp_rr"
    frame = found.to_frame().set_index("name")
    assert frame.loc["net.core.netdev_budget", "value"] == "600"
    with pytest.raises(InputError, match="unknown workload 'steam'; did you mean stream"):
        api.import_host(tmp_path / "host", workload="steam")


@pytest.mark.parametrize(
    "text",
    [
        "\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x1 (downgraded)\n",
        "[  12.3] mlx5_core 0000:3b:00.0: Port module event[error]: module 0, Cable error\n",
    ],
)
def test_what_only_diagnose_reads_is_said_to_be_for_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "paste.txt"
    file.write_text(text, "utf-8")
    found = CliRunner().invoke(import_command, [str(file), "--out", str(tmp_path / "out")])
    assert found.exit_code == Status.NO_ANSWER
    assert f"simnet diagnose {file} answers it" in " ".join(found.stderr.split())
    assert not (tmp_path / "out").exists()
    file.write_text("FreeBSD fw 14.1-RELEASE FreeBSD 14.1-RELEASE amd64\n", "utf-8")
    found = CliRunner().invoke(import_command, [str(file), "--out", str(tmp_path / "out")])
    assert (found.exit_code, "outputs of FreeBSD" in found.stderr) == (Status.NO_ANSWER, True)
    file.write_text("a letter about nothing\n", "utf-8")
    found = CliRunner().invoke(import_command, [str(file), "--out", str(tmp_path / "out")])
    assert "nothing here is understood" in str(found.exception)
