"""The knobs of queueing disciplines and of byte queue limits.

Sources: ``Documentation/admin-guide/sysctl/net.rst``, ``net/sched/sch_fq_codel.c``,
``net/core/net-sysfs.c`` (``bql_show``) of Linux 6.12; tc-fq_codel(8).
"""

from typing import Any, Final

from simnet.net.qdisc.dynamic_queue_limits import MOST_BYTES
from simnet.scenario.core.knob import Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import size
from simnet.scenario.parts.qdisc.schema import Queueing

_LIMITS: Final = "/sys/class/net/{port}/queues/tx-{queue}/byte_queue_limits"


def _knob(name: str, target: str, command: str, **more: Any) -> Knob:
    spec = value_spec(Queueing, target)
    return Knob(name, spec.doc, spec, "qdisc", target, command, **more)


def _fq_codel(option: str, target: str, **more: Any) -> Knob:
    command = f"tc qdisc replace dev DEVICE parent :QUEUE fq_codel {option} {{value}}"
    note = "of the fq_codel of each transmit queue of each port"
    return _knob(
        f"tc qdisc fq_codel {option}", target, command, since="3.5", note=note, by_hand=True, **more
    )


def _limit(end: str, doc: str) -> Knob:
    return Knob(
        f"{_LIMITS}/limit_{end}",
        doc,
        size("", "0 B" if end == "min" else "1 B", f"{MOST_BYTES} B"),
        "tx-queue",
        f"bql_limit_{end}_bytes",
        f"echo {{value}} > {_LIMITS}/limit_{end}",
        default=0,
        unit="B",
        unset="" if end == "min" else f"echo max > {_LIMITS}/limit_max",
        since="3.3",
        note="has an effect with CONFIG_BQL=on",
    )


KNOBS: Final = (
    _knob(
        "CONFIG_BQL",
        "bql",
        "set CONFIG_BQL to {value} in the configuration, rebuild the kernel, boot it",
        since="3.3",
        compile_time=True,
        note="every kernel has it; off here by default, as measurements were predicted without it",
    ),
    _knob(
        "net.core.default_qdisc",
        "default_qdisc",
        "sysctl -w net.core.default_qdisc={value}",
        since="3.12",
        note="for ports that come up later: set it at boot",
    ),
    _fq_codel("target", "target_ps", unit="us"),
    _fq_codel("interval", "interval_ps", unit="us"),
    _fq_codel("limit", "limit"),
    _fq_codel("flows", "flows"),
    _limit("min", "least that the byte queue limit of a transmit queue becomes"),
    _limit("max", "most that it becomes"),
)
