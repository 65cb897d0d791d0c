"""Build what places a host's interrupts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simnet.host.delayed_action import DelayedAction
from simnet.host.irqbalance import version_055 as irqbalance_055
from simnet.host.irqbalance import version_10 as irqbalance_10
from simnet.host.irqbalance.hand import PlacedByHand
from simnet.host.irqbalance.irq_source import IrqSource
from simnet.host.irqbalance.sles10 import FIRST_PASS_PS, irqbalance
from simnet.host.irqbalance.version_055 import Irqbalance055
from simnet.host.irqbalance.version_10 import Irqbalance10

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simnet.host.machine import Machine as Host
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.core.effective import Host as HostModel
    from simnet.scenario.parts.irqbalance.schema import Balancer
    from simnet.scenario.system.ground import Ground

# when each daemon first moves an interrupt; by hand they are placed at once
_FIRST_PASSES: Final = {
    "first-fit": FIRST_PASS_PS,
    "0.55": irqbalance_055.FIRST_PASS_PS,
    "1.0": irqbalance_10.FIRST_PASS_PS,
}


def delayed_actions(effective: Effective) -> Iterator[DelayedAction]:
    """The first pass of the daemon, if it is simulated."""
    first_ps = _FIRST_PASSES.get(effective.balancer.daemon)
    if effective.irqbalance == "daemon" and first_ps:
        yield DelayedAction("irqbalance", "first acts", first_ps)


def equip(ground: Ground) -> None:
    """Start the daemon that places interrupts, if it is simulated."""
    effective = ground.effective
    if effective.irqbalance == "daemon":
        place_interrupts(
            ground.env,
            ground.machine,
            effective.host,
            effective.balancer,
            ground.ports,
            occupied=frozenset(effective.occupied_cpus),
        )


def place_interrupts(
    env: Any,
    machine: Host,
    model: HostModel,
    balancer: Balancer,
    ports: Sequence[Any],
    *,
    occupied: frozenset[int] = frozenset(),
) -> None:
    """Start the daemon that places the interrupts of `machine`.

    Args:
        env: the environment.
        machine: whose interrupts they are.
        model: its configuration.
        balancer: which daemon, and its options.
        ports: the network ports; each is a queue with its line, or has several in `queues`.
        occupied: CPUs that serve other devices.
    """
    queues = [list(getattr(port, "queues", [port])) for port in ports]
    banned = frozenset(balancer.banned_cpus)
    if balancer.daemon == "first-fit":
        lines = [queue.line for port in queues for queue in port]
        env.process(irqbalance(env, lines, occupied | banned))
        return
    if balancer.daemon == "hand":
        hand = [[queue.line for queue in port] for port in queues]
        env.process(PlacedByHand(machine, hand, banned_cpus=banned).run(env))
        return
    sources = [
        IrqSource(
            queue.line, at.node if model.machine.pci_nodes else -1, msix=len(port) > 1, port=queue
        )
        for at, port in zip(model.ports, queues, strict=True)
        for queue in port
    ]
    daemon: Irqbalance055 | Irqbalance10
    if balancer.daemon == "0.55":
        daemon = Irqbalance055(machine, sources, banned_cpus=banned, oneshot=balancer.oneshot)
    else:
        daemon = Irqbalance10(
            machine,
            sources,
            banned_cpus=banned,
            oneshot=balancer.oneshot,
            powerthresh=balancer.powerthresh or None,
        )
    env.process(daemon.run(env))
