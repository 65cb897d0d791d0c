"""How a distribution starts services and keeps settings over a reboot.

Sources: SUSE Linux Enterprise Server 10 (init script ``irq_balancer``, ``boot.sysctl``,
``/etc/modprobe.conf.local``, insserv(8)); Red Hat Enterprise Linux 4 to 6 (chkconfig(8),
``/etc/modprobe.conf``, from 6 on ``/etc/modprobe.d``); Debian before 8 (update-rc.d(8)); systemd
(sysctl.d(5), systemd.service(5)), which Red Hat Enterprise Linux has since 7, SUSE Linux Enterprise
Server since 12, Debian since 8, Ubuntu since 15.04; OpenWrt (rc.common of its base-files,
``/etc/modules.conf`` of kmodloader in ubox, ``/etc/sysctl.conf``, which an upgrade keeps).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from simnet.host.release import release

OWN_NAME: Final = "simnet-tuning"
"""What files of simnet's own are called on a machine."""
SYSCTL_FILE: Final = f"/etc/sysctl.d/90-{OWN_NAME}.conf"
"""The file of simnet's own sysctls, where a distribution reads such files."""
# kernels of RHEL 7 and SLES 12; of others the first that may be a distribution with systemd
_FIRST_WITH_SYSTEMD: Final = {
    "rhel": (3, 10),
    "sles": (3, 12),
    "debian": (3, 16),
    "ubuntu": (3, 19),
    "": (3,),
}
_RHEL_6: Final = (2, 6, 32)
# kernels of RHEL 8 and SLES 16, whose NetworkManager keeps what ethtool sets
_WITH_NETWORK_MANAGER: Final = {"rhel": (4, 18), "sles": (6, 12)}
_SCRIPT: Final = """\
#!/bin/sh
# settings that simnet recommends
case "$1" in
start)
{start}
;;
stop)
{stop}
;;
esac"""
_INIT_SCRIPT: Final = """\
#!/bin/sh
# chkconfig: 345 99 01
# description: settings that simnet recommends
### BEGIN INIT INFO
# Provides: {name}
# Required-Start: $network $remote_fs
# Required-Stop:
# Default-Start: 3 5
# Default-Stop: 0 1 2 6
# Description: settings that simnet recommends
### END INIT INFO
case "$1" in
start)
{start}
;;
stop)
{stop}
;;
esac"""
_RC_SCRIPT: Final = """\
#!/bin/sh /etc/rc.common
# settings that simnet recommends
START=99
start() {{
{start}
}}
stop() {{
{stop}
}}"""
_UNIT: Final = """\
[Unit]
Description=settings that simnet recommends
After=network-online.target
Wants=network-online.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={script} start
ExecStop={script} stop
[Install]
WantedBy=multi-user.target"""


@dataclass(frozen=True)
class Distribution:
    """Commands and files of one distribution."""

    irqbalance: str  # command with ``{verb}`` (start, stop) for the daemon that places interrupts
    at_boot: str  # command with ``{state}``: whether that daemon starts at boot
    sysctl_file: str  # settings of sysctls at boot
    modprobe_file: str  # options of modules
    enable: str  # commands that run it at boot
    disable: str  # commands that undo that
    states: tuple[str, str] = ("on", "off")  # the words for on and off there
    sysctl_boot: str = ""  # command that lets the file be read at boot; empty where it always is
    script: str = f"/etc/init.d/{OWN_NAME}"  # where a script of one's own lies
    own_files: bool = False  # whether ``sysctl_file`` and ``modprobe_file`` are ours alone
    form: str = _INIT_SCRIPT  # of that script, with ``{start}`` and ``{stop}``
    unit: str = ""  # unit file of systemd; empty without systemd
    today: bool = False  # it comes with ip(8), and not with ifconfig(8)
    # what configures ports there, see `simnet.scenario.commands.network_files`; empty where
    # that keeps nothing here
    network: str = ""
    keeps_ethtool: bool = False  # whether that keeps what ethtool sets, too

    def keep_lines(self, file: str, lines: Sequence[str]) -> list[str]:
        """Return the commands that add lines to a configuration file."""
        if not lines:
            return []
        if self.own_files:
            return [f"cat > {file} <<'END'", *lines, "END"]
        return [f"cat >> {file} <<'END'", "# simnet: begin", *lines, "# simnet: end", "END"]

    def drop_lines(self, file: str, lines: Sequence[str]) -> list[str]:
        """Return the commands that take those lines out again."""
        if not lines:
            return []
        if self.own_files:
            return [f"rm {file}"]
        return [f"sed -i '/^# simnet: begin$/,/^# simnet: end$/d' {file}"]

    def keep_script(self, start: Sequence[str], stop: Sequence[str]) -> list[str]:
        """Return the commands that install a script which runs at boot, after the network."""
        if not start:
            return []
        indented = {"start": "\n".join(start), "stop": "\n".join(stop)}
        content = self.form.format(name=OWN_NAME, **indented).splitlines()
        lines = [f"cat > {self.script} <<'END'", *content, "END", f"chmod 755 {self.script}"]
        if self.unit:
            unit = _UNIT.format(script=self.script).splitlines()
            lines += [f"cat > {self.unit} <<'END'", *unit, "END"]
        return [*lines, self.enable]

    def drop_script(self, start: Sequence[str]) -> list[str]:
        """Return the commands that remove it."""
        if not start:
            return []
        unit = [f"rm {self.unit}"] if self.unit else []
        return [self.disable, f"rm {self.script}", *unit]


_SLES: Final = Distribution(
    irqbalance="/etc/init.d/irq_balancer {verb}",
    at_boot="chkconfig irq_balancer {state}",
    sysctl_file="/etc/sysctl.conf",
    sysctl_boot="chkconfig boot.sysctl on",
    modprobe_file="/etc/modprobe.conf.local",
    enable=f"insserv {OWN_NAME}",
    disable=f"insserv -r {OWN_NAME}",
)
_RHEL: Final = Distribution(
    irqbalance="service irqbalance {verb}",
    at_boot="chkconfig irqbalance {state}",
    sysctl_file="/etc/sysctl.conf",
    modprobe_file="/etc/modprobe.conf",
    enable=f"chkconfig --add {OWN_NAME}",
    disable=f"chkconfig --del {OWN_NAME}",
    network="ifcfg",
)
_DEBIAN: Final = Distribution(
    irqbalance="service irqbalance {verb}",
    at_boot="update-rc.d irqbalance {state}",
    states=("enable", "disable"),
    sysctl_file=SYSCTL_FILE,
    modprobe_file=f"/etc/modprobe.d/{OWN_NAME}.conf",
    enable=f"update-rc.d {OWN_NAME} defaults",
    disable=f"update-rc.d {OWN_NAME} remove",
    own_files=True,
    network="interfaces",
)
_SYSTEMD: Final = Distribution(
    irqbalance="systemctl {verb} irqbalance",
    at_boot="systemctl {state} irqbalance",
    states=("enable", "disable"),
    sysctl_file=SYSCTL_FILE,
    modprobe_file=f"/etc/modprobe.d/{OWN_NAME}.conf",
    script=f"/usr/local/sbin/{OWN_NAME}",
    enable=f"systemctl enable {OWN_NAME}.service",
    disable=f"systemctl disable {OWN_NAME}.service",
    own_files=True,
    form=_SCRIPT,
    unit=f"/etc/systemd/system/{OWN_NAME}.service",
    today=True,
)
_OPENWRT: Final = Distribution(
    irqbalance="/etc/init.d/irqbalance {verb}",
    at_boot="/etc/init.d/irqbalance {state}",
    states=("enable", "disable"),
    sysctl_file="/etc/sysctl.conf",
    modprobe_file="/etc/modules.conf",
    enable=f"/etc/init.d/{OWN_NAME} enable",
    disable=f"/etc/init.d/{OWN_NAME} disable",
    form=_RC_SCRIPT,
    today=True,
)
_BY_NAME: Final = {
    "sles": _SLES,
    "rhel": _RHEL,
    "debian": _DEBIAN,
    "ubuntu": _DEBIAN,
    "systemd": _SYSTEMD,
    "openwrt": _OPENWRT,
}
_NETWORKS: Final = {"rhel": "nmcli", "debian": "interfaces", "ubuntu": "netplan", "sles": "wicked"}
STYLES: Final = (_SLES, _RHEL, _SYSTEMD, _OPENWRT)
"""Those whose commands differ."""


def distribution_of(name: str, version: str) -> Distribution:
    """Return how the distribution of a kernel does things.

    Args:
        name: the kernel model's ``distribution``; empty when it names none.
        version: the kernel's version: distributions changed to systemd with one.
    """
    first = _FIRST_WITH_SYSTEMD.get(name)
    known = release(version)
    if first is not None and known >= first:
        nm = known >= _WITH_NETWORK_MANAGER.get(name, (*known, 1))
        network = "nmcli" if nm else _NETWORKS.get(name, "")
        return replace(_SYSTEMD, network=network, keeps_ethtool=nm)
    found = _BY_NAME[name or "rhel"]
    if found is _RHEL and known >= _RHEL_6:
        return replace(found, modprobe_file=_SYSTEMD.modprobe_file)
    return found
