"""Virtual SCSI: the request limit, whose turn it is, splitting, and who pays."""

from typing import Any

import pytest

from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

SECOND = 10**12
# each read in another file: the client's scheduler waits for no thread
FAR = {"ffsb.random-read.read": "4 KiB"}


def system(**settings: str) -> Any:
    names = {"limit": "vscsi.request_limit", "adapters": "vscsi.adapters"}
    chosen = {names.get(name, name): value for name, value in settings.items()}
    return build(load("vscsi-parallel", settings=chosen), seed=1)


def adapters(built: Any) -> list[Any]:
    queues = built.parts["storage"].queues.values()
    return list(dict.fromkeys(queue.target.adapter for queue in queues))


def most_in_flight(built: Any, seconds: float = 0.5) -> list[int]:
    """The most requests that each adapter has had without an answer, looked at every 5 ms."""
    found = [0] * len(adapters(built))
    for _ in range(int(seconds * 200)):
        built.run(SECOND // 200)
        found = [max(n, a.busy) for n, a in zip(found, adapters(built), strict=True)]
    return found


def rates(built: Any, seconds: int) -> dict[str, int]:
    """Requests of each disk that are complete after so long."""
    built.run(seconds * SECOND)
    return {
        disk.device: sum(disk.counts.ios)
        for disk in built.snapshot().more["disks"]
        if disk.host == "client"
    }


@pytest.mark.parametrize("limit", [3, 16])
def test_a_client_keeps_two_of_the_requests_that_its_server_grants(limit: int) -> None:
    assert most_in_flight(system(limit=str(limit), adapters="1")) == [limit - 2]


def test_an_adapter_for_each_disk_has_a_limit_for_each() -> None:
    found = most_in_flight(system(limit="16", adapters="3", **FAR))
    assert len(found) == 3
    assert max(found) == 14
    assert sum(found) > 20


def test_disks_of_a_full_adapter_take_turns() -> None:
    # sdb's requests are 60 times as large as the others', and sdd's queue is the longest
    noop = {"peer:/sys/block/sdc/queue/scheduler": "noop"}
    built = system(limit="16", adapters="1", **noop, **FAR, **{"sdb.read_ahead": "768 KiB"})
    before = rates(built, 4)
    found = {name: n - before[name] for name, n in rates(built, 4).items()}
    assert found["sdd"] == pytest.approx(found["sdc"], rel=0.2)
    assert found["sdb"] == pytest.approx(found["sdc"], rel=0.4)


def test_a_server_that_anticipates_stays_with_writes_until_a_read_is_too_old() -> None:
    crossed: dict[str, float] = {}
    found: dict[str, int] = {}
    for scheduler in ("noop", "anticipatory"):
        built = system(**{"peer:/sys/block/sdc/queue/scheduler": scheduler})
        before = rates(built, 4)
        found = {name: n - before[name] for name, n in rates(built, 4).items()}
        disk = built.parts["storage"].server_queues["sdc"].target.disk
        crossed[scheduler] = disk.mechanism.seek_cylinders / disk.commands
    assert crossed["anticipatory"] < 0.5 * crossed["noop"]
    assert found["sdd"] > 4 * found["sdc"]


def test_random_reads_of_one_file_leave_the_client_one_by_one() -> None:
    # its scheduler waits for the thread that read near by; in another file it is not near
    waits = []
    for size in ("4 KiB", "128 KiB"):
        read = {"ffsb.random-read.read": size, "ffsb.random-write.num_threads": "0"}
        built = system(**read)
        built.run(3 * SECOND)
        adapter = built.parts["storage"].queues["sdc"].target.adapter
        held = []
        for _ in range(200):
            built.run(SECOND // 100)
            held.append(adapter.busy)
        waits.append(sum(held) / len(held))
    assert waits[0] > 3 * waits[1]


def test_a_server_splits_what_its_queue_does_not_take_at_once() -> None:
    built = system(**{"peer:/sys/block/sdc/queue/max_sectors_kb": "64"})
    built.run(2 * SECOND)
    disks = {(disk.host, disk.device): disk.counts for disk in built.snapshot().more["disks"]}
    server = disks["peer0", "sdc"]
    assert server.sectors[0] / server.ios[0] <= 128
    moved = sum(counts.sectors[0] for (host, _), counts in disks.items() if host == "client")
    assert moved <= server.sectors[0] <= moved + 16 * 512


def test_the_server_pays_for_copying() -> None:
    used = []
    for cycles in ("0 cycles", "1220 cycles"):
        built = system(**{"vscsi.copy_kib": cycles})
        built.run(2 * SECOND)
        (cpu,) = built.snapshot().more["peer_cpus"]
        moved = sum(
            sum(disk.counts.sectors)
            for disk in built.snapshot().more["disks"]
            if disk.host == "client"
        )
        used.append((cpu.system_ps, moved / 2))
    kib = (used[0][1] + used[1][1]) / 2
    copied_ps = used[1][0] - used[0][0]
    assert copied_ps == pytest.approx(kib * 1220 / 1.65e9 * 1e12, rel=0.25)


def test_an_interrupt_of_the_client_is_an_answer_of_the_server() -> None:
    built = system(adapters="1")
    built.run(SECOND)
    (adapter,) = adapters(built)
    assert adapter.interrupt.line.total == adapter.server.answers.messages
    assert adapter.requests.messages - adapter.server.answers.messages <= adapter.can_queue
