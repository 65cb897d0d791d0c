"""The knobs of IP over InfiniBand.

Sources: drivers/infiniband/ulp/ipoib of Linux 3.8 (module parameters `send_queue_size` and
`recv_queue_size`, sysfs attribute `mode`, ipoib_ethtool.c); the ipoib document's own changes to
the driver.
"""

from typing import Any

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.parameter import Spec
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import count


def ipoib_knobs(driver: type[Section]) -> tuple[Knob, ...]:
    """Return the knobs of the driver's values."""

    def _knob(name: str, target: str, command: str, spec: Spec | None = None, **more: Any) -> Knob:
        form = spec or value_spec(driver, target)
        return Knob(name, form.doc, form, "nic", target, command, **more)

    return (
        _knob(
            "/sys/class/net/{port}/mode",
            "ipoib_mode",
            "echo {value} > /sys/class/net/{port}/mode",
            note="a datagram's MTU is at most 4 bytes less than the fabric's",
        ),
        _knob(
            "modprobe ib_ipoib recv_queue_size",
            "rx_buffers_posted",
            "modprobe -r ib_ipoib; modprobe ib_ipoib recv_queue_size={value}",
            count("receive buffers kept posted", 2, 8191),
        ),
        _knob(
            "modprobe ib_ipoib send_queue_size",
            "tx_ring",
            "modprobe -r ib_ipoib; modprobe ib_ipoib send_queue_size={value}",
            count("sends that may be outstanding", 16, 8192),
        ),
        _knob(
            "ib_ipoib checksum",
            "checksum",
            "set CHECKSUM_UNNECESSARY and NETIF_F_HW_CSUM in ipoib_cm.c to {value},"
            " rebuild ib_ipoib, load it",
            compile_time=True,
            note="the adapter's CRCs protect a packet on its way, not in the hosts' memory",
        ),
        _knob(
            "ib_ipoib poll weight",
            "napi_weight",
            "set the weight of netif_napi_add in ipoib_main.c to {value},"
            " rebuild ib_ipoib, load it",
            compile_time=True,
        ),
        *(
            _knob(
                f"ib_ipoib {name}",
                target,
                f"load the driver that reorders received packets with {name}={{value}}",
                note=note,
            )
            for name, target, note in (
                ("reorder_window", "reorder_window", "near the poll's weight, says the paper"),
                ("drain_after_slide", "drain_after_slide", "the paper's algorithm has it off"),
                ("flush_timeout", "flush_timeout_ps", "not in the paper"),
            )
        ),
        _knob(
            "ib_ipoib drop",
            "send_loss_ppm",
            "have ipoib_cm_send drop {value} of a million packets, rebuild ib_ipoib, load it",
            compile_time=True,
            note="for experiments with a reorder window",
        ),
    )
