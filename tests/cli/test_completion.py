"""A shell completes commands, options, scenarios, tunings, and what can be set."""

import shutil
import subprocess
import sys

import pytest

from simnet.cli import main
from simnet.cli.completion import VARIABLE

BASH = shutil.which("bash")
RUN = "simnet run x460-out-of-box"
CALL = """
simnet() {{ "{python}" -m simnet "$@"; }}
source <(_SIMNET_COMPLETE=bash_source simnet)
COMP_LINE='{line}' COMP_POINT={point} COMP_WORDS=({line}) COMP_CWORD={word}
{{ _simnet_completion simnet; }} 2>&1
echo "${{#COMPREPLY[@]}} ${{COMPREPLY[*]}}"
"""


def words(
    line: str, word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """Return what bash is told that the word under the cursor may become."""
    told = {VARIABLE: "bash_complete", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    for name, value in (told | {"COMP_WORD": word}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["simnet"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    return capsys.readouterr().out.split("\n")[:-1]


@pytest.mark.parametrize(
    ("line", "word", "offered"),
    [
        ("simnet w", "w", ["whatif"]),
        ("simnet run vscsi", "vscsi", ["vscsi-parallel"]),
        (f"{RUN} --dur", "--dur", ["--duration"]),
        (f"{RUN} --tuning num", "num", ["numactl"]),
        ("simnet whatif x460-out-of-box affinity+n", "affinity+n", ["affinity+numactl"]),
        (f"{RUN} --set node", "node", ["nodes="]),
        (f"{RUN} --set irqbalance.daemon=f", "f", ["first-fit"]),
        (f"{RUN} --set net.ipv4.tcp_sack=", "=", ["off", "on"]),
        # bash cuts at a colon, and completes what is behind it
        (f"{RUN} --set peer:net.ipv4.tcp_rm", "net.ipv4.tcp_rm", ["net.ipv4.tcp_rmem="]),
        (
            f'{RUN} --set "ethtool -C eth0 rx-f',
            '"ethtool -C eth0 rx-f',
            ["ethtool -C eth0 rx-frames-irq=", "ethtool -C eth0 rx-frames="],
        ),
        (
            rf"{RUN} --set ethtool\ -L\ eth0\ r",
            r"ethtool\ -L\ eth0\ r",
            [r"ethtool\ -L\ eth0\ rx="],
        ),
        ("simnet sweep x460-out-of-box --over node", "node", ["nodes="]),
        ("simnet screen relay-untuned --knobs rfs", "rfs", ["rfs-4096"]),
        (
            "simnet recommend relay-untuned --knobs net.ipv4.tcp_ti",
            "net.ipv4.tcp_ti",
            ["net.ipv4.tcp_timestamps"],
        ),
        (
            'simnet screen relay-untuned --knobs "ethtool -G {port} t',
            '"ethtool -G {port} t',
            ["ethtool -G {port} tx"],
        ),
        ("simnet show intel-x7", "intel-x7", ["intel-x710"]),
        (f"{RUN} --format sar,vm", "sar,vm", ["sar,vmstat"]),
        ("simnet run no-such-scenario --set node", "node", [""]),
    ],
)
def test_bash_is_offered(
    line: str,
    word: str,
    offered: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert words(line, word, monkeypatch, capsys) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, f"{shell}_source")
    monkeypatch.setattr(sys, "argv", ["simnet"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    assert f"{VARIABLE}={shell}_complete" in capsys.readouterr().out


def test_another_shell_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "tcsh_source")
    monkeypatch.setattr(sys, "argv", ["simnet"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    expected = "expected one of bash_source, zsh_source, fish_source, got 'tcsh_source'"
    assert capsys.readouterr().err == f"simnet: {VARIABLE}: {expected}\n"


@pytest.mark.skipif(BASH is None, reason="no bash")
@pytest.mark.parametrize(
    ("line", "offered"),
    # where simnet knows none, bash looks for files
    [(f"{RUN} --set node", "1 nodes="), ("simnet run ./mine", "0 ")],
)
def test_bash_runs_the_script(line: str, offered: str) -> None:
    word = len(line.split()) - 1
    script = CALL.format(python=sys.executable, line=line, point=len(line), word=word)
    done = subprocess.run([str(BASH), "-c", script], capture_output=True, text=True, check=True)
    # outside of a real completion bash says that there is none whose options could be set
    assert done.stdout.splitlines()[-1] == offered


@pytest.mark.parametrize(
    ("shell", "told", "offered"),
    [
        ("zsh", {"COMP_WORDS": f"{RUN} --set node", "COMP_CWORD": "4"}, ["plain", "nodes=", "_"]),
        ("zsh", {"COMP_WORDS": f"{RUN} --apply /et", "COMP_CWORD": "4"}, ["file", "/et", "_"]),
        ("fish", {"COMP_WORDS": f"{RUN} --set node", "COMP_CWORD": "node"}, ["plain,nodes="]),
        ("fish", {"COMP_WORDS": f"{RUN} --apply /et", "COMP_CWORD": "/et"}, ["file,/et"]),
    ],
)
def test_zsh_and_fish_complete_names_and_files(
    shell: str,
    told: dict[str, str],
    offered: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in {VARIABLE: f"{shell}_complete", **told}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["simnet"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().out.split() == offered


def test_zsh_puts_no_blank_after_a_sign(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "zsh_source")
    monkeypatch.setattr(sys, "argv", ["simnet"])
    with pytest.raises(SystemExit):
        main()
    assert "compadd -U -V unsorted -S '' -a open" in capsys.readouterr().out
