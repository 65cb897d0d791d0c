"""Build an InfiniBand port with its IPoIB interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.kernel.random import stream
from simnet.net.infiniband.fabric import Fabric, fat_tree, switch_graph
from simnet.net.infiniband.ipoib import FLUSHED, Ipoib
from simnet.net.infiniband.reorder_window import MessageNumbers, ReorderWindow

if TYPE_CHECKING:
    from simnet.kernel.simulator import Simulator
    from simnet.net.nic.port import Nic
    from simnet.scenario.parts.infiniband.driver import Ipoib as Model
    from simnet.scenario.parts.infiniband.schema import Fabric as FabricModel
    from simnet.scenario.parts.nic.schema import Slot

__all__ = ["connect_by_fabric", "make_fabric", "make_ipoib"]

_SECOND_PS: Final = 10**12


def make_ipoib(model: Model, slot: Slot) -> Ipoib:
    """One IPoIB interface."""
    device, switch = slot.device, slot.switch
    path = device.path
    nic = Ipoib(
        device,
        connected=model.ipoib_mode == "connected",
        ib_mtu=model.ib_mtu_bytes,
        rx_usecs_ps=model.rx_usecs_ps,
        rx_frames=model.rx_frames,
        # the far adapter's acknowledgement crosses two cables and a switch, as the message did
        acknowledged_ps=2 * (2 * switch.cable_delay_ps + switch.latency_ps),
        page_bytes=model.rx_page_bytes,
        jiffy_ps=_SECOND_PS // slot.host.kernel.hz,
        loss_ppm=model.send_loss_ppm,
        luck=stream(slot.seed, f"{path}.loss"),
    )
    nic.numbers = MessageNumbers()
    if model.reorder_window:
        nic.window = ReorderWindow(
            nic.sim,
            f"{path}.reorder_window",
            model.reorder_window,
            drain_after_slide=model.drain_after_slide,
            flush_timeout_ps=model.flush_timeout_ps,
            owner=nic,
            kind=FLUSHED,
        )
    return nic


def make_fabric(sim: Simulator, model: FabricModel, *, seed: int, per_frame: bool) -> Fabric:
    """Switches and links between the hosts, the system under test being the first."""
    leaves, spines = model.leaf_switches, model.spine_switches
    graph = fat_tree(leaves=leaves, spines=spines, hosts_per_leaf=model.hosts_per_leaf)
    if model.links:
        hosts = [host // model.hosts_per_leaf for host in range(leaves * model.hosts_per_leaf)]
        graph = switch_graph(list(model.links), hosts)
    return Fabric(
        sim,
        "fabric",
        graph,
        rate_bps=model.link_rate_bps,
        propagation_ps=model.cable_delay_ps,
        latency_ps=model.switch_latency_ps,
        routing=model.routing,
        routes=model.routes,
        background_permille=model.background_permille,
        background_bytes=model.background_message_bytes,
        cut_through=model.cut_through,
        seed=seed,
        per_frame=per_frame,
    )


def connect_by_fabric(fabric: Fabric, model: FabricModel, nic: Nic, far: Nic) -> None:
    """Link the two ports: the peer is on another leaf switch, if there is one."""
    other = model.hosts_per_leaf if model.leaf_switches > 1 else 1
    nic.path_out = fabric.connect("host0", f"host{other}", far)
    far.path_out = fabric.connect(f"host{other}", "host0", nic)
