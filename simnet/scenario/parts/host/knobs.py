"""The knobs of a kernel: its sysctls, and constants for which it is built again.

Sources: Linux 2.6.18 ``include/net/tcp.h``, ``kernel/softirq.c``, ``kernel/sched.c``.
"""

from typing import Any, Final

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.subject import model_section


def sysctl(name: str, target: str, **more: Any) -> Knob:
    """Return the knob of a sysctl that is a value of the kernel's model."""
    spec = value_spec(model_section("kernel"), target)
    unit = "B" if target.endswith("_bytes") else ""
    command = f'sysctl -w {name}="{{value}}"'
    return Knob(name, spec.doc, spec, "kernel", target, command, unit=unit, **more)


def _constant(name: str, target: str, where: str, **more: Any) -> Knob:
    spec = value_spec(model_section("kernel"), target)
    command = f"set {name} to {{value}} in {where}, rebuild the kernel, boot it"
    return Knob(name, spec.doc, spec, "kernel", target, command, compile_time=True, **more)


_TCP_H: Final = "include/net/tcp.h"
_REAL_TIME: Final = "at run time in Red Hat's real-time kernels: sysctl -w net.ipv4.tcp_{}_min=MS"
CONSTANTS: Final = (
    _constant("HZ", "hz", "the configuration (CONFIG_HZ)"),
    _constant("TCP_DELACK_MIN", "delack_min_ps", _TCP_H, note=_REAL_TIME.format("delack")),
    _constant("TCP_DELACK_MAX", "delack_max_ps", _TCP_H),
    _constant("TCP_ATO_MIN", "ato_min_ps", _TCP_H, note=_REAL_TIME.format("ato")),
    _constant(
        "TCP_RTO_MIN",
        "rto_min_ps",
        _TCP_H,
        note="from Linux 2.6.23 on: ip route change ROUTE rto_min TIME",
    ),
    _constant("TCP_MAX_QUICKACKS", "max_quickacks", _TCP_H),
    _constant("MAX_SOFTIRQ_RESTART", "max_softirq_restart", "kernel/softirq.c"),
    _constant("DEF_TIMESLICE", "timeslice_ps", "kernel/sched.c"),
)
