"""The running kernel's TCP receiver beside the model, where it is one that is modelled."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simnet.study.conform.conform import conform

ROOT = Path(__file__).parents[3]
RECORDED = 2


def missing() -> str | None:
    """Why nothing can be recorded here."""
    if not platform.release().startswith("6.18."):
        return f"records Linux 6.18, this is {platform.system()} {platform.release()}"
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists() or shutil.which("ip") is None:
        return "recording needs root, /dev/net/tun and ip"
    return None


def test_this_kernel_does_what_the_model_does(tmp_path: Path) -> None:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    file = tmp_path / "live.jsonl"
    command = [sys.executable, "-m", "validation.live.record", "--out", str(file)]
    run = subprocess.run(
        [*command, "--seed", "7", "--count", str(RECORDED)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if run.returncode != 0:
        pytest.skip(f"no undisturbed recording: {run.stderr.strip().splitlines()[-1]}")
    verdicts = conform([file]).verdicts
    assert len(verdicts) == RECORDED
    for verdict in verdicts:
        assert verdict.difference is None
        assert verdict.windows == verdict.blocks == len(verdict.expected)
