"""Short connections as a whole: each has an end, and all work on it is booked and done."""

from typing import Any

import pytest

from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

MS = 10**9
BEGIN = 20


def served(**settings: str) -> Any:
    """A server, some visitors one by one, and time for all of them to end."""
    given = {
        "listen.rate": "10000",
        "listen.burst": "1",
        "listen.service": "100 us",
        "cpu.work_spread": "0",
    } | {name.replace("__", "."): value for name, value in settings.items()}
    system = build(load("busy-web", settings=given), seed=1)
    crowd = system.parts["listen"].crowd
    while crowd.begun < BEGIN:
        system.run(MS // 100)
    crowd.burst = 0
    system.run(60 * MS)
    return system


def test_all_work_on_a_connection_is_booked_once_and_done() -> None:
    system = served()
    scheduler = system.machine.scheduler
    booked = sum(scheduler.costs.ledger.work().values())
    busy = sum(scheduler.sim.now - cpu.times()["idle_ps"] for cpu in scheduler.cpus)
    assert booked == pytest.approx(busy, rel=1e-6)


@pytest.mark.parametrize("workers", ["1", "4"])
def test_each_visitor_is_answered_where_there_is_room(workers: str) -> None:
    crowd = served(listen__workers=workers).parts["listen"].crowd
    assert crowd.begun == crowd.answered == crowd.syns == BEGIN
    assert crowd.syns_again == crowd.requests_again == crowd.reset == crowd.given_up == 0
    assert sum(one.connections for one in crowd.served) == BEGIN
