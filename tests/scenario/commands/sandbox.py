"""A machine made of files: what commands write goes below a folder, and can be compared."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from simnet.scenario.core.effective import Host
from simnet.scenario.core.knob import cpu_mask_text

# What each program leaves behind; $ROOT is the folder.
_PROGRAMS = {
    "sysctl": 'shift; key=${1%%=*}; printf "%s\\n" "${1#*=}" > "$ROOT/proc/sys/${key//.//}"',
    "ethtool": 'printf "%s\\n" "$4" > "$ROOT/state/ethtool$1.$2.$3"',
    "ifconfig": 'printf "%s\\n" "$3" > "$ROOT/state/ifconfig.$1.$2"',
    "ip": 'printf "%s\\n" "$6" > "$ROOT/state/ip-$1-$2.$4.$5"',
    "service": 'printf "%s\\n" "$2" > "$ROOT/state/service.$1"',
    "chkconfig": """case "$1" in
        --add) : > "$ROOT/state/boot.$2" ;;
        --del) rm "$ROOT/state/boot.$2" ;;
        *) printf "%s\\n" "$2" > "$ROOT/state/boot.$1" ;;
        esac""",
    "insserv": """case "$1" in
        -r) rm "$ROOT/state/boot.$2" ;;
        *) : > "$ROOT/state/boot.$1" ;;
        esac""",
    "systemctl": """case "$1" in
        start | stop) printf "%s\\n" "$1" > "$ROOT/state/service.$2" ;;
        enable) printf "on\\n" > "$ROOT/state/boot.$2" ;;
        disable) case "$2" in
            *.service) rm "$ROOT/state/boot.$2" ;;
            *) printf "off\\n" > "$ROOT/state/boot.$2" ;;
            esac ;;
        esac""",
    "update-rc.d": """case "$2" in
        defaults) : > "$ROOT/state/boot.$1" ;;
        remove) rm "$ROOT/state/boot.$1" ;;
        enable) printf "on\\n" > "$ROOT/state/boot.$1" ;;
        disable) printf "off\\n" > "$ROOT/state/boot.$1" ;;
        esac""",
    "nmcli": """case "$1" in
        -g) printf "Wired connection 1\\n" ;;
        *) shift 2; name=$1; shift
           while [ $# -gt 0 ]; do
             printf "%s\\n" "$2" > "$ROOT/state/nmcli.$name.$1"; shift 2
           done ;;
        esac""",
    "modprobe": '[ "$1" = -r ] || printf "%s\\n" "$*" > "$ROOT/state/module.$1"',
    "killall": ': > "$ROOT/state/processes"',
    "netserver": 'printf "netserver %s\\n" "$*" >> "$ROOT/state/processes"',
    "numactl": 'printf "numactl %s\\n" "$*" >> "$ROOT/state/processes"',
}
_DAEMON = 'printf "%s\\n" "$1" > "$ROOT/state/service.irq_balancer"'
_FOLDERS = (
    "programs", "state", "proc/sys/net/ipv4", "proc/sys/net/core", "etc/init.d", "etc/sysctl.d",
    "etc/modprobe.d", "etc/systemd/system", "usr/local/sbin", "etc/sysconfig/network-scripts",
    "etc/netplan", "etc/network",
)  # fmt: skip
_FILES = {
    "etc/sysctl.conf": "# kernel\nkernel.sysrq = 0\n",
    "etc/sysconfig/network-scripts/ifcfg-eth2": "DEVICE=eth2\nONBOOT=yes\n",
    "etc/network/interfaces": "auto eth2\niface eth2 inet static\n    address 10.0.0.2/24\n",
    "etc/modprobe.conf": "alias eth0 e1000\n",
    "etc/modprobe.conf.local": "",
    "state/service.irq_balancer": "start\n",
    "state/service.irqbalance": "start\n",
    "state/boot.irq_balancer": "on\n",
    "state/boot.irqbalance": "on\n",
    "state/boot.boot.sysctl": "on\n",
    "state/processes": "netserver \n",
}


class Sandbox:
    """The folder, with the interrupts and programs of a host."""

    def __init__(self, folder: Path, host: Host) -> None:
        self.root = folder
        for name in _FOLDERS:
            (folder / name).mkdir(parents=True)
        for name, text in _FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        for port in host.ports:
            (folder / f"proc/irq/{port.irq}").mkdir(parents=True)
            self.write(f"proc/irq/{port.irq}/smp_affinity", cpu_mask_text(port.smp_affinity))
        for name, script in _PROGRAMS.items():
            self._program(f"programs/{name}", script)
        self._program("etc/init.d/irq_balancer", _DAEMON)

    def _program(self, name: str, script: str) -> None:
        path = self.root / name
        path.write_text(f"#!/bin/bash\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    def write(self, name: str, value: str) -> None:
        """Put a line into a file."""
        (self.root / name).write_text(f"{value}\n", encoding="utf-8")

    def read(self, name: str) -> str:
        """Return a file's line."""
        return (self.root / name).read_text(encoding="utf-8").removesuffix("\n")

    def parse(self, lines: Iterable[str]) -> None:
        """Let the shell read lines without running them."""
        self._bash("-n", lines)

    def run(self, lines: Iterable[str]) -> None:
        """Run shell lines; every command has to succeed."""
        self._bash("-eu", lines)

    def _bash(self, option: str, lines: Iterable[str]) -> None:
        text = "".join(f"{line}\n" for line in lines)
        inside = re.sub(r"(?<![\w/])/(proc|sys|etc|usr)/", rf"{self.root}/\1/", text)
        path = f"{self.root}/programs:/usr/bin:/bin"
        done = subprocess.run(
            ["/bin/bash", option],
            input=inside,
            env={"PATH": path, "ROOT": str(self.root)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), inside

    def files(self) -> dict[str, bytes]:
        """Return every file and its content."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
        }
