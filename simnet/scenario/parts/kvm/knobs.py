"""The knobs of a guest's threads, and of the host that runs it.

Sources: virsh(1), qemu(1), Documentation/virt/kvm/halt-polling.rst.
"""

from typing import Any, Final

from simnet.scenario.core.knob import Knob, Stage
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.section import Section
from simnet.scenario.parts.kvm.schema import Guest, Kvm


def _knob(
    section: type[Section], scope: str, name: str, target: str, command: str, **more: Any
) -> Knob:
    spec = value_spec(section, target)
    return Knob(name, spec.doc, spec, scope, target, command, **more)


_HALT_POLL: Final = "/sys/module/kvm/parameters/halt_poll_ns"
KNOBS: Final = (
    _knob(
        Guest,
        "guest",
        "virsh vcpupin",
        "vcpupin",
        "virsh vcpupin DOMAIN VCPU CPU  # each of {value} in order",
        stage=Stage.CPUS,
    ),
    _knob(Guest, "guest", "virsh emulatorpin", "emulatorpin", "virsh emulatorpin DOMAIN {value}"),
    _knob(
        Guest,
        "guest",
        "qemu netdev poll-us",
        "poll_us_ps",
        "start the guest with: -netdev tap,vhost=on,poll-us={value}",
        unit="us",
        keep="",
    ),
    _knob(Kvm, "kvm", _HALT_POLL, "halt_poll_ns_ps", f"echo {{value}} > {_HALT_POLL}", unit="ns"),
)
