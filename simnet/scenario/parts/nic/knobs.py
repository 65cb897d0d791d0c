"""The knobs that network interfaces share: a driver has those whose target its section has.

Sources: ``drivers/net/tg3.c`` of Linux 2.6.18 (``tg3_set_coalesce``: the legal ranges);
ethtool(8).
"""

from typing import Any, Final

from simnet.scenario.core.knob import CpuList, Knob, Stage, ignored
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import Flag, count, time
from simnet.scenario.parts.nic.queues import Multiqueue
from simnet.scenario.parts.nic.schema import (
    Coalescing,
    Ethernet,
    Nic,
    Polled,
    ReceiveOffload,
    Rings,
)

_ON_OFF: Final = Flag("on or off")
# of ice and i40e; other drivers refuse what is longer than theirs
_MOST_USECS: Final = "8160 us"
_ANY_NUMBER: Final = count("", 0, 2**31 - 1)


def _coalesce(field: str) -> Knob:
    target = field.replace("-", "_") + ("_ps" if "usecs" in field else "")
    unit = "us" if "usecs" in field else ""
    doc = value_spec(Coalescing, target).doc
    most = "1023 us" if field.endswith("-irq") else _MOST_USECS
    spec = time(doc, "0 us", most) if unit else count(doc, 0, 255)
    name = f"ethtool -C {{port}} {field}"
    return Knob(name, doc, spec, "nic", target, f"{name} {{value}}", unit=unit)


_COALESCE: Final = tuple(
    _coalesce(f"{direction}-{what}{suffix}")
    for direction in ("rx", "tx")
    for what in ("usecs", "frames")
    for suffix in ("", "-irq")
)


def _instances(attribute: str, chosen: str) -> str:
    """The command that sets an attribute of NAPI instances, by a list of their numbers."""
    ifindex = '"{{\\"ifindex\\": $(cat /sys/class/net/{port}/ifindex)'
    listed = f"ynl --family netdev {chosen.format(ifindex=ifindex)}"
    attributes = f'"{{{{\\"id\\": $id, \\"{attribute}\\": {{value}}}}}}"'
    return f"for id in $({listed}); do ynl --family netdev --do napi-set --json {attributes}; done"


def _of_all(attribute: str) -> str:
    chosen = '--dump napi-get --output-json --json {ifindex}}}}}" | jq .[].id'
    return _instances(attribute, chosen)


def _of_queue(attribute: str, target: str, unit: str = "") -> Knob:
    spec = value_spec(Polled, target)
    chosen = (
        '--do queue-get --output-json --json {ifindex}, \\"type\\": \\"rx\\",'
        ' \\"id\\": {{queue}}}}}}" | jq \'."napi-id"\''
    )
    return Knob(
        f"netdev napi-set {{port}} rx-{{queue}} {attribute}",
        f"{spec.doc}, of one queue",
        spec,
        "rx-queue",
        target,
        _instances(attribute, chosen),
        unit=unit,
        feature="irq_suspend",
        needs=target,
        each=_of_all(attribute),
    )


def _napi(name: str, target: str, command: str, *, unit: str = "", **more: Any) -> Knob:
    spec = value_spec(Polled, target)
    return Knob(name, spec.doc, spec, "nic", target, command, unit=unit, **more)


def _taskset(chosen: str) -> str:
    """The command that binds threads named ``napi/eth0-8193``, in the order of these numbers."""
    listed = f"ps -eo comm=,pid= | grep ^napi/{{port}}- | sort -V | {chosen}"
    return f"{listed} | while read name pid; do taskset -cp {{value}} $pid; done"


_SYS: Final = "/sys/class/net/{port}"
_NAPI: Final = (
    _napi(
        f"{_SYS}/napi_defer_hard_irqs",
        "napi_defer_hard_irqs",
        f"echo {{value}} > {_SYS}/napi_defer_hard_irqs",
        since="5.8",
    ),
    _napi(
        f"{_SYS}/gro_flush_timeout",
        "gro_flush_timeout_ps",
        f"echo {{value}} > {_SYS}/gro_flush_timeout",
        unit="ns",
        since="3.19",
    ),
    _napi(f"{_SYS}/threaded", "threaded", f"echo {{value}} > {_SYS}/threaded", since="5.12"),
    Knob(
        "taskset --pid napi/{port}/rx-{queue}",
        "CPUs that the thread of a queue with threaded NAPI may use",
        CpuList("list of CPUs", all_if_none=True),
        "rx-queue",
        "napi_cpus",
        _taskset("sed -n $(({queue}+1))p"),
        default=(),
        needs="threaded",
        each=_taskset("cat"),
        since="5.12",
    ),
    _napi(
        "netdev napi-set {port} irq-suspend-timeout",
        "irq_suspend_timeout_ps",
        _of_all("irq-suspend-timeout"),
        unit="ns",
        feature="irq_suspend",
    ),
    _of_queue("defer-hard-irqs", "napi_defer_hard_irqs"),
    _of_queue("gro-flush-timeout", "gro_flush_timeout_ps", "ns"),
    _of_queue("irq-suspend-timeout", "irq_suspend_timeout_ps", "ns"),
)

ETHTOOL: Final = (
    *_COALESCE,
    ignored(
        "ethtool -C {port} stats-block-usecs",
        "statistics update interval",
        _ANY_NUMBER,
        "ethtool -C {port} stats-block-usecs {value}",
    ),
    Knob(
        "ethtool -G {port} rx",
        "receive buffers kept posted",
        value_spec(Rings, "rx_buffers_posted"),
        "nic",
        "rx_buffers_posted",
        "ethtool -G {port} rx {value}",
        restarts=True,
    ),
    Knob(
        "ethtool -G {port} tx",
        "usable transmit descriptors",
        value_spec(Rings, "tx_ring"),
        "nic",
        "tx_ring",
        "ethtool -G {port} tx {value}",
        restarts=True,
    ),
    Knob(
        "ethtool -K {port} tso",
        "segmentation offload",
        value_spec(Ethernet, "tso"),
        "nic",
        "tso",
        "ethtool -K {port} tso {value}",
    ),
    Knob(
        "ethtool -K {port} gro",
        "generic receive offload",
        value_spec(ReceiveOffload, "gro"),
        "nic",
        "gro",
        "ethtool -K {port} gro {value}",
        since="2.6.29",
    ),
    ignored("ethtool -K {port} rx", "receive checksums", _ON_OFF, "ethtool -K {port} rx {value}"),
    ignored("ethtool -K {port} tx", "send checksums", _ON_OFF, "ethtool -K {port} tx {value}"),
    ignored("ethtool -K {port} sg", "scatter-gather", _ON_OFF, "ethtool -K {port} sg {value}"),
    *(
        ignored(
            f"ethtool -A {{port}} {field}",
            "pause frames",
            _ON_OFF,
            f"ethtool -A {{port}} {field} {{value}}",
        )
        for field in ("autoneg", "rx", "tx")
    ),
    *(
        Knob(
            f"ethtool -L {{port}} {way}",
            doc,
            value_spec(Multiqueue, f"{way}_queues"),
            "nic",
            f"{way}_queues",
            f"ethtool -L {{port}} {way} {{value}}",
            since="3.0",
            stage=Stage.QUEUES,
            restarts=True,
        )
        for way, doc in (("rx", "receive queues"), ("tx", "transmit queues"))
    ),
    Knob(
        "ifconfig {port} mtu",
        "largest IP packet",
        value_spec(Nic, "mtu_bytes"),
        "nic",
        "mtu_bytes",
        "ifconfig {port} mtu {value}",
        today="ip link set dev {port} mtu {value}",
        unit="B",
        restarts=True,
    ),
    Knob(
        "/sys/class/net/{port}/weight",
        "packets of one poll",
        value_spec(Nic, "napi_weight"),
        "nic",
        "napi_weight",
        "echo {value} > /sys/class/net/{port}/weight",
        note="up to Linux 2.6.23",
    ),
    *_NAPI,
    ignored(
        "ifconfig {port} txqueuelen",
        "packets queued for sending",
        _ANY_NUMBER,
        "ifconfig {port} txqueuelen {value}",
        today="ip link set dev {port} txqueuelen {value}",
    ),
)
