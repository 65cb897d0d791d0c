"""A bond whose ports the switch has bundled, too."""

import pytest

from tests.host.parts import MS
from tests.net.bonding.bonds import BondLab


class TestChannel:
    def test_the_switch_does_not_care_how_the_bond_sends(self) -> None:
        """Frames leave by one port and come in by another: two hashes, each its own."""
        lab = BondLab("802.3ad", slaves=4, clients=4)
        for client in range(4):
            lab.send(1, client=client)
            lab.come(client, client + 1)
        lab.run()
        assert lab.sent() == [1, 1, 1, 1]
        # source addresses 10 to 13: buckets 0 to 3
        assert lab.received() == [1, 2, 3, 4]
        # by destination it is one port for all: bond's 0a, bucket 2
        lab = BondLab("802.3ad", slaves=4, clients=4, method=1)
        for client in range(4):
            lab.come(client, 1)
        lab.run()
        assert lab.received() == [0, 0, 4, 0]

    @pytest.mark.parametrize("mode", ["balance-rr", "balance-xor", "broadcast", "802.3ad"])
    def test_a_dead_port_is_out_at_once(self, mode: str) -> None:
        lab = BondLab(mode, slaves=4, clients=4)
        lab.pull(0, 10 * MS)
        lab.run(11 * MS)
        lab.come(0, 5)
        lab.run()
        assert lab.received() == [0, 5, 0, 0]

    def test_lacp_waits_before_a_port_is_back(self) -> None:
        lab = BondLab("802.3ad", slaves=4, clients=4)
        lab.pull(0, 10 * MS)
        lab.plug(0, 350 * MS)
        lab.run(2_399 * MS)
        assert not lab.bond.slaves[0].aggregated
        lab.run(2 * MS)
        assert lab.bond.slaves[0].aggregated
        lab.come(0, 5)
        lab.run()
        assert lab.received() == [5, 0, 0, 0]
