"""How slaves of a bond come and go: cables, the MII monitor, the change of the active slave.

Source: drivers/net/bonding/bond_main.c (`bond_mii_monitor`, `bond_find_best_slave`,
`bond_change_active_slave`), bond_alb.c (`bond_alb_monitor`, `bond_alb_handle_link_change`,
`alb_swap_mac_addr`) and bond_3ad.c (AD_TIMER_INTERVAL, AD_AGGREGATE_WAIT_TIME) of Linux 2.6.18.

The switch sees a link go at once: it takes the port out of its channel, or forgets the addresses
that it had learnt there. LACP's exchange is not simulated: a slave leaves the aggregator at
the next tick of the state machine, and is in it again, at both ends, the aggregate wait time
after its link has come back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simnet.kernel.component import Component
from simnet.kernel.priority import CPU
from simnet.net.bonding.bond import MODES

if TYPE_CHECKING:
    from simnet.kernel.simulator import Simulator
    from simnet.net.bonding.bond import Bond, Slave
    from simnet.net.bonding.rlb import Rlb
    from simnet.net.link.switch import PortChannel

ACTIVE_BACKUP = MODES.index("active-backup")
AD = MODES.index("802.3ad")
TLB = MODES.index("balance-tlb")
ALB = MODES.index("balance-alb")
# what is left to one port of the switch: the others need a channel
SINGLE_PORT = frozenset({ACTIVE_BACKUP, TLB, ALB})

_PS = 10**12
_UP, _FAIL, _DOWN, _BACK = range(4)
_MII, _TICK, _CABLE, _LEAVE, _JOIN = range(5)
_TICKS_PER_SECOND = 10
_REBALANCE_TICKS = 100
_LEARNING_TICKS = 10
_LEARNING_BURST = 3
_AGGREGATE_WAIT_PS = 2 * _PS


@dataclass(frozen=True)
class Timing:
    """The monitor's parameters."""

    miimon_jiffies: int  # between two looks at the links; 0 for never
    # looks until a change of a link counts
    updelay: int
    downdelay: int
    jiffy_ps: int  # length of a jiffy


class BondMonitor(Component):
    """The timers of a bond.

    Args:
        bond: the bond, all slaves enslaved.
        timing: see there.
        primary: index of the preferred slave; -1 for none.
        channel: what the switch has bundled the slaves' ports to; None if it has not.
        rlb: receive load balancing; None but in balance-alb.
    """

    def __init__(
        self,
        sim: Simulator,
        path: str,
        bond: Bond,
        timing: Timing,
        *,
        primary: int = -1,
        channel: PortChannel | None = None,
        rlb: Rlb | None = None,
    ) -> None:
        super().__init__(sim, path)
        self.bond = bond
        self.timing = timing
        self.primary = primary
        self.channel = channel
        self.rlb = rlb
        # the first tick balances, as after enslaving
        self.rebalance_ticks = _REBALANCE_TICKS
        self.learning_ticks = 0
        self.failovers = 0
        self._joins: dict[int, int] = {}
        """Aggregate waits under way, by slave."""
        self._introduce()
        if timing.miimon_jiffies:
            self._after(timing.miimon_jiffies, _MII)
        if bond.mode in {TLB, ALB}:
            self._after(self._tick_jiffies, _TICK)

    def counters(self) -> dict[str, int]:
        """Changes of the active slave."""
        return {"failovers": self.failovers}

    def set_cable(self, slave: int, time_ps: int, *, plugged: bool) -> None:
        """Have the cable of a slave plugged or pulled at a time."""
        self.sim.at(time_ps, self, _CABLE, 2 * slave + plugged, CPU)

    def on_event(self, kind: int, arg: int) -> None:
        """A timer, or a change of a cable."""
        if kind == _MII:
            self._mii_monitor()
            self._after(self.timing.miimon_jiffies, _MII)
        elif kind == _TICK:
            self._tick()
            self._after(self._tick_jiffies, _TICK)
        elif kind == _CABLE:
            self._cable(self.bond.slaves[arg >> 1], plugged=bool(arg & 1))
        elif kind == _LEAVE:
            self.bond.slaves[arg].aggregated = False
        else:
            self._join(self.bond.slaves[arg])

    # -- timers ---------------------------------------------------------------------------

    @property
    def _tick_jiffies(self) -> int:
        return _PS // self.timing.jiffy_ps // _TICKS_PER_SECOND

    def _after(self, jiffies: int, kind: int) -> None:
        """Set a timer: it runs when the jiffy that is so many from now begins."""
        jiffy = self.sim.now // self.timing.jiffy_ps + jiffies
        self.sim.at(jiffy * self.timing.jiffy_ps, self, kind, 0, CPU)

    def _introduce(self) -> None:
        """Start with the addresses where the first frames would show the switch that they are."""
        bond = self.bond
        if self.primary > 0 and bond.mode in SINGLE_PORT:
            bond.current = self.primary
            if bond.mode in {TLB, ALB}:
                first, active = bond.slaves[0], bond.slaves[self.primary]
                first.station, active.station = active.station, first.station
        for slave in bond.slaves:
            slave.active = bond.mode != ACTIVE_BACKUP or slave.index == bond.current
            if self.channel is None:
                slave.station.outlet = slave.egress
            else:
                self.channel.join(slave.egress, slave.index)
        bond.station.outlet = self.channel or bond.slaves[bond.current].egress

    # -- cables ---------------------------------------------------------------------------

    def _cable(self, slave: Slave, *, plugged: bool) -> None:
        if slave.carrier == plugged:
            return
        slave.carrier = plugged
        slave.ingress.set_link(plugged)
        slave.egress.set_link(plugged)
        if self.channel is None:
            for station in (self.bond.station, *(s.station for s in self.bond.slaves)):
                if not plugged and station.outlet is slave.egress:
                    station.outlet = None
        elif not plugged:
            if slave.egress in self.channel.members:
                self.channel.leave(slave.egress)
            self._stop_waiting(slave)
        elif self.bond.mode != AD:
            self.channel.join(slave.egress, self._position(slave))
        elif slave.link in {_UP, _FAIL}:
            # the monitor has missed it, the switch has not
            self._wait(slave)

    def _position(self, slave: Slave) -> int:
        """How many ports that are bundled come before this slave's."""
        return sum(other.carrier for other in self.bond.slaves[: slave.index])

    def _join(self, slave: Slave) -> None:
        """The aggregate wait is over (802.3ad)."""
        slave.aggregated = slave.active = True
        if self.channel is not None:
            before = self.bond.slaves[: slave.index]
            position = sum(other.egress in self.channel.members for other in before)
            self.channel.join(slave.egress, position)

    def _wait(self, slave: Slave) -> None:
        """The switch bundles the port after the aggregate wait (802.3ad)."""
        index = slave.index
        self._joins[index] = self.sim.after(_AGGREGATE_WAIT_PS, self, _JOIN, index, CPU)

    def _stop_waiting(self, slave: Slave) -> None:
        self.sim.cancel(self._joins.pop(slave.index, 0))

    # -- the MII monitor ------------------------------------------------------------------

    def _mii_monitor(self) -> None:
        """`bond_mii_monitor`: a look at each link."""
        before = self.bond.current
        failover = False
        for slave in self.bond.slaves:
            if slave.link == _UP and not slave.carrier:
                slave.link, slave.delay = _FAIL, self.timing.downdelay
            elif slave.link == _DOWN and slave.carrier:
                slave.link, slave.delay = _BACK, self.timing.updelay
            if slave.link == _FAIL:
                failover |= self._failing(slave) and slave.index == before
            elif slave.link == _BACK:
                back = self._coming_back(slave)
                failover |= back and (before < 0 or slave.index == self.primary)
        if failover:
            self._select_active()

    def _failing(self, slave: Slave) -> bool:
        """Return whether the link is down permanently."""
        if slave.carrier:
            slave.link = _UP
        elif slave.delay > 0:
            slave.delay -= 1
        else:
            slave.link = _DOWN
            if self.bond.mode in {ACTIVE_BACKUP, AD}:
                slave.active = False
            self._link_changed(slave, up=False)
            return True
        return False

    def _coming_back(self, slave: Slave) -> bool:
        """Return whether the link is up permanently."""
        if not slave.carrier:
            slave.link = _DOWN
        elif slave.delay > 0:
            slave.delay -= 1
        else:
            slave.link = _UP
            slave.active = self.bond.mode not in {ACTIVE_BACKUP, AD}
            self._link_changed(slave, up=True)
            return True
        return False

    def _link_changed(self, slave: Slave, *, up: bool) -> None:
        """Notify the mode, which may keep more than the list of slaves."""
        bond = self.bond
        if bond.mode == AD:
            if up:
                self._wait(slave)
            else:
                tick_ps = _PS // _TICKS_PER_SECOND
                next_ps = (self.sim.now // tick_ps + 1) * tick_ps
                self.sim.at(next_ps, self, _LEAVE, slave.index, CPU)
        elif bond.mode in {TLB, ALB}:
            if up:
                self.rebalance_ticks = _REBALANCE_TICKS
                if self.rlb is not None:
                    self.rlb.rebalance_ordered = True
            else:
                bond.clear(slave.index, save_load=False)
                if self.rlb is not None:
                    self.rlb.clear(slave)

    # -- the active slave -----------------------------------------------------------------

    def _best(self) -> int:
        """`bond_find_best_slave`: an index, or -1."""
        slaves = self.bond.slaves
        start = max(self.bond.current, 0)
        if self.primary >= 0 and slaves[self.primary].carrier:
            start = self.primary
        best, least = -1, self.timing.updelay
        for step in range(len(slaves)):
            slave = slaves[(start + step) % len(slaves)]
            if not slave.carrier:
                continue
            if slave.link == _UP:
                return int(slave.index)
            if slave.link == _BACK and slave.delay < least:
                best, least = slave.index, slave.delay
        return best

    def _select_active(self) -> None:
        """`bond_select_active_slave` and `bond_change_active_slave`."""
        bond = self.bond
        old, new = bond.current, self._best()
        if new == old:
            return
        self.failovers += 1
        bond.current = new
        if new < 0:
            return
        slave = bond.slaves[new]
        if slave.link == _BACK:
            slave.link, slave.delay = _UP, 0
            self._link_changed(slave, up=True)
        if bond.mode in SINGLE_PORT:
            if bond.mode == ACTIVE_BACKUP and old >= 0:
                bond.slaves[old].active = False
            slave.active = True
        if bond.mode == ACTIVE_BACKUP:
            # the gratuitous ARP
            bond.announce(slave, bond.station, bond.everyone)
        elif bond.mode in {TLB, ALB}:
            self._take_address(slave)

    def _take_address(self, active: Slave) -> None:
        """`alb_swap_mac_addr`: the active slave has the bond's address."""
        bond = self.bond
        holder = next(slave for slave in bond.slaves if slave.station is bond.station)
        if holder is active:
            return
        holder.station, active.station = active.station, holder.station
        for slave in (holder, active):
            if not slave.ok():
                if self.rlb is not None:
                    # the address of a disabled slave: let its frames come here meanwhile
                    bond.announce(active, slave.station, slave.station)
                continue
            for _ in range(_LEARNING_BURST):
                bond.announce(slave, slave.station, slave.station)
            if self.rlb is not None:
                self.rlb.address_changed(slave)

    def _tick(self) -> None:
        """`bond_alb_monitor`, ten times a second."""
        self.rebalance_ticks += 1
        self.learning_ticks += 1
        if self.learning_ticks >= _LEARNING_TICKS:
            self.learning_ticks = 0
            for slave in self.bond.slaves:
                for _ in range(_LEARNING_BURST):
                    self.bond.announce(slave, slave.station, slave.station)
        if self.rebalance_ticks >= _REBALANCE_TICKS:
            self.rebalance_ticks = 0
            self.bond.rebalance()
        if self.rlb is not None:
            self.rlb.tick()
