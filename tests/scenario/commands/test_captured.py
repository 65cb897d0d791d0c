"""What becomes of the attributes of a real machine in a scenario."""

import re
from pathlib import Path
from typing import Any

import pytest

from simnet._share import folder
from simnet.errors import InputError
from simnet.scenario.commands import captured as module
from simnet.scenario.commands.captured import Captured, CapturedAttribute, attributes, captured
from simnet.scenario.commands.commands import commands
from simnet.scenario.core.knob import Knob
from simnet.scenario.core.load import load
from simnet.scenario.core.specs import count
from simnet.scenario.core.tree import Tree
from tests.scenario.commands.test_attribute_listing import CLUSTER
from tests.scenario.parts.test_delayed_ack_knobs import SCENARIO

CAPTURES = folder("validation") / "captures"
NO, LSATTR = str(CAPTURES / "aix-no-a.txt"), str(CAPTURES / "aix-lsattr-ent3.txt")
CLIENT = str(CAPTURES / "mmlsconfig-aix-client.txt")
SERVER = str(CAPTURES / "mmlsconfig-ess-server.txt")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario whose system runs AIX."""
    text = SCENARIO.format(kernel="aix-7.2-ess")
    file = tmp_path / "mine.toml"
    tuning = '\n[tunings.slow-acks]\ndescription = "as by default"\n"no -o tcp_nodelayack" = 0\n'
    file.write_text(text + tuning, "utf-8")
    return file


def listing(folder_: Path, text: str) -> str:
    file = folder_ / "listing.txt"
    file.write_text(text, "utf-8")
    return str(file)


def named(found: Captured, name: str) -> CapturedAttribute:
    return next(row for row in found.attributes if row.name == name)


def test_attributes_of_no_are_set_or_told(scenario: Path, tmp_path: Path) -> None:
    file = listing(tmp_path, "fasttimo = 200\nhstcp = 1\nsack = 0\nwarp_drive = 9\n")
    effective = load(scenario, apply=[file])
    assert effective.kernel.fasttimo_ps == 200 * 10**9
    assert effective.kernel.tcp_sack is False
    rows = effective.captured.attributes
    assert [(row.name, row.state) for row in rows] == [
        ("fasttimo", "modelled"),
        ("hstcp", "not modelled"),
        ("sack", "modelled"),
        ("warp_drive", "unknown"),
    ]
    summary = "no -a, 4 attributes: 2 modelled, 1 not modelled, 1 unknown (warp_drive)"
    assert f"{file}: {summary}" in effective.remarks
    knob = next(one for one in effective.applied if one.name == "no -o fasttimo")
    assert (knob.value, knob.source) == ("200", f"{file}:1: no -a")


def test_the_captures_set_what_the_document_says(scenario: Path) -> None:
    effective = load(scenario, apply=[NO, LSATTR])
    assert effective.kernel.tcp_nodelayack is True
    assert {port.nic.mtu_bytes for port in effective.ports} == {9000}
    assert {vars(port.nic)["tso"] for port in effective.ports} == {True}
    assert any("ent3 is no port here: it is taken for eth0" in one for one in effective.remarks)
    assert not any(row.state == "unknown" for row in effective.captured.attributes)


def test_an_adapter_is_the_port_of_its_name(scenario: Path, tmp_path: Path) -> None:
    text = "# lsattr -El eth3\ntcp_recvspace 4194304 Receive buffer True\n"
    effective = load(scenario, apply=[listing(tmp_path, text)])
    assert [port.recvspace_bytes for port in effective.ports] == [0, 0, 0, 4194304, 0, 0, 0, 0]


def test_tunings_and_settings_come_on_top(scenario: Path, tmp_path: Path) -> None:
    file = listing(tmp_path, "tcp_nodelayack = 1\nfasttimo = 100\n")
    effective = load(
        scenario, apply=[file], tunings=["slow-acks"], settings={"no -o fasttimo": "50"}
    )
    assert effective.kernel.tcp_nodelayack is False
    assert effective.kernel.fasttimo_ps == 50 * 10**9
    assert named(effective.captured, "tcp_nodelayack").note == "overridden by --tuning slow-acks"
    assert named(effective.captured, "fasttimo").note == "overridden by --set"


def test_of_two_files_the_later_one_is_stronger(scenario: Path, tmp_path: Path) -> None:
    file = listing(tmp_path, "fasttimo = 150\n")
    effective = load(scenario, apply=[NO, file])
    assert effective.kernel.fasttimo_ps == 150 * 10**9
    assert named(effective.captured, "fasttimo").note == f"overridden by {file}"


def test_nothing_is_set_of_a_file_with_a_bad_value(scenario: Path, tmp_path: Path) -> None:
    file = listing(tmp_path, "sack = 0\nfasttimo = 500\n")
    with pytest.raises(InputError) as caught:
        load(scenario, apply=[file])
    expected = "no -o fasttimo: 500 ms is outside the legal range 50 ms to 200 ms"
    assert str(caught.value) == f"{file}:2: {expected}"


@pytest.mark.parametrize(
    ("scenario_name", "file", "message"),
    [
        ("x460-out-of-box", NO, "no -a: a command of AIX, but ibm-x460 runs Linux 2.6.16"),
        (
            "x460-out-of-box",
            f"peer:{NO}",
            "no -a: a command of AIX, but ibm-p5-550 runs Linux 2.6.9",
        ),
        (
            "x460-out-of-box",
            CLIENT,
            "mmlsconfig: the scenario has no file system of Spectrum Scale",
        ),
        ("x460-out-of-box", f"clients:{NO}", "no -a: it has no node classes, got 'clients'"),
    ],
)
def test_a_listing_of_another_system_is_refused(
    scenario_name: str, file: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        load(scenario_name, apply=[file])
    assert caught.value.message == message


def test_a_file_without_a_name_is_refused() -> None:
    with pytest.raises(InputError, match="expected FILE, peer:FILE or NODECLASS:FILE"):
        load("x460-out-of-box", apply=["peer:"])


# -- a file system ------------------------------------------------------------------------------


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A scenario with clients of a file system, of which two attributes are modelled."""
    of_clients = re.compile(r"mmchconfig \w+")
    known = {name: k for name, k in module._BY_NAME.items() if not of_clients.fullmatch(name)}
    for name in ("pagepool", "prefetchPct"):
        knob: dict[str, Any] = {"scope": "kernel", "target": name, "command": f"mmchconfig {name}"}
        known[f"mmchconfig {name}"] = Knob(f"mmchconfig {name}", "", count("", 0, 2**40), **knob)
    monkeypatch.setattr(module, "_BY_NAME", known)
    tree = Tree()
    for path, value in ((("peers",), []), (("scale",), {}), (("host", "name"), "x")):
        tree.put_plain(path, value)
    return tree


def test_a_clients_listing_becomes_knobs_of_the_file_system(tmp_path: Path) -> None:
    file = listing(tmp_path, "pagepool 17179869184\nprefetchPct 30\nscatterBuffers 0\n")
    effective = load("ess-sas", apply=[CLIENT, file])
    assert effective.scale is not None
    assert effective.scale.pagepool_bytes == 16 << 30
    assert (effective.scale.prefetch_pct, effective.scale.worker_threads) == (30, 1024)
    states = {row.name: row.state for row in effective.captured.attributes}
    assert states["maxMBpS"] == "modelled"
    assert states["scatterBuffers"] == "not modelled"
    for other in (NO, LSATTR):
        rows = load("ess-sas", apply=[other]).captured.attributes
        assert {row.state for row in rows} == {"not modelled"}


def set_by(found: Captured) -> dict[str, str]:
    return {entry.name: str(entry.raw) for entry in found.entries}


def test_attributes_of_clients_are_set(clients: Tree) -> None:
    found = captured(clients, [CLIENT], {})
    assert set_by(found) == {"mmchconfig pagepool": "34359738368", "mmchconfig prefetchPct": "40"}
    assert named(found, "maxStatCache").state == "not modelled"


def test_a_servers_configuration_is_the_model_of_the_servers() -> None:
    plain, found = load("ess-sas"), load("ess-sas", apply=[SERVER])
    assert found.digest() == plain.digest()
    summary = "mmlsconfig of the servers, 76 attributes: 20 modelled, 56 not modelled"
    assert f"{SERVER}: {summary}" in found.remarks
    assert {knob.name.endswith(" -N SERVERS") for knob in found.applied} == {True}
    assert found.provenance["filesystem.pagepool_bytes"].source == f"{SERVER}:66: mmlsconfig"
    assert named(found.captured, "maxMBpS").state == "not modelled"
    rows = [row for row in found.captured.attributes if row.name == "nsdRAIDBlockDeviceQueueDepth"]
    assert [row.note for row in rows] == ["", "said before"]


SERVERS = {
    "pagepool": ("64G", "pagepool_bytes", 64 << 30),
    "nsdRAIDBufferPoolSizePct": ("70", "nsd_raid_buffer_pool_size_pct", 70),
    "nsdRAIDTracks": ("65536", "nsd_raid_tracks", 65536),
    "nsdMaxWorkerThreads": ("512", "nsd_max_worker_threads", 512),
    "nsdRAIDSmallThreadRatio": ("3", "nsd_raid_small_thread_ratio", 3),
    "nsdRAIDSmallBufferSize": ("131072", "nsd_raid_small_buffer_size_bytes", 131072),
    "nsdInlineWriteMax": ("1024", "nsd_inline_write_max_bytes", 1024),
    "nsdRAIDFastWriteFSDataLimit": ("64K", "nsd_raid_fast_write_fs_data_limit_bytes", 65536),
    "nsdRAIDFlusherFWLogHighWatermarkMB": (
        "900",
        "nsd_raid_flusher_fw_log_high_watermark_bytes",
        900 << 20,
    ),
    "nsdRAIDFlusherFWLogLimitMB": ("4000", "nsd_raid_flusher_fw_log_limit_bytes", 4000 << 20),
    "nsdRAIDFlusherThreadsHighWatermark": ("256", "nsd_raid_flusher_threads_high_watermark", 256),
    "nsdRAIDBlockDeviceQueueDepth": ("8", "nsd_raid_block_device_queue_depth", 8),
    "nsdRAIDBlockDeviceNrRequests": ("64", "nsd_raid_block_device_nr_requests", 64),
    "nsdRAIDBlockDeviceMaxSectorsKB": ("4096", "nsd_raid_block_device_max_sectors_bytes", 1 << 22),
    "nsdRAIDBlockDeviceScheduler": ("noop", "nsd_raid_block_device_scheduler", "noop"),
    "nsdRAIDReconstructAggressiveness": ("2", "nsd_raid_reconstruct_aggressiveness", 2),
}


def test_each_attribute_of_the_servers_is_a_value_of_the_file_system(tmp_path: Path) -> None:
    """Each line of the listing changed, the one that repeats it, too."""
    text = Path(SERVER).read_text("utf-8")
    for attribute, (value, _, _) in SERVERS.items():
        text, lines = re.subn(rf"(?m)^(! {attribute}( \(.*\))?) \S+$", rf"\1 {value}", text)
        assert lines in {1, 2}
    found = load("ess-sas", apply=[listing(tmp_path, text)]).filesystem
    assert found is not None
    assert {name: getattr(found, name) for _, name, _ in SERVERS.values()} == {
        name: expected for _, name, expected in SERVERS.values()
    }
    assert load("ess-sas").scale == load("ess-sas", apply=[SERVER]).scale


def test_what_is_set_of_the_servers_can_be_typed_and_undone(tmp_path: Path) -> None:
    tuned = load("ess-sas", apply=[listing(tmp_path, "nsdRAIDTracks 65536\npagepool 64G\n")])
    (found,) = commands(load("ess-sas"), tuned)
    assert found.apply == (
        "mmchconfig nsdRAIDTracks=65536 -N SERVERS",
        "mmchconfig pagepool=64G -N SERVERS",
    )
    assert found.undo == (
        "mmchconfig pagepool=72640M -N SERVERS",
        "mmchconfig nsdRAIDTracks=131072 -N SERVERS",
    )
    assert not found.keep


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nsdRAIDTracks 7", "nsdRAIDTracks -N SERVERS: 7 is outside the legal range 128 to"),
        ("nsdRAIDBlockDeviceScheduler cfq", "expected one of deadline, noop, got 'cfq'"),
        ("nsdRAIDFlusherFWLogLimitMB 900", "the log empties from 1000M on: it holds 900M"),
    ],
)
def test_an_impossible_value_of_the_servers_is_refused_at_its_line(
    tmp_path: Path, line: str, message: str
) -> None:
    file = listing(tmp_path, f"nsdRAIDSmallThreadRatio 2\n{line}\n")
    with pytest.raises(InputError) as caught:
        load("ess-sas", apply=[file])
    assert str(caught.value).startswith(f"{file}:2: mmchconfig nsdRAID")
    assert message in str(caught.value)


def test_a_value_that_is_set_is_stronger_than_a_file() -> None:
    found = load("ess-sas", apply=[SERVER], settings={"filesystem.pagepool": "100 GiB"})
    assert found.filesystem is not None
    assert found.filesystem.pagepool_bytes == 100 << 30
    assert "mmchconfig pagepool -N SERVERS: overridden by filesystem.pagepool" in found.remarks


def test_a_node_class_is_chosen_by_name(clients: Tree, tmp_path: Path) -> None:
    file = listing(tmp_path, CLUSTER)
    everywhere = captured(clients, [file], {})
    assert not everywhere.entries
    assert "[gss_ppc64], [sas1,sas2] alone is not set" in everywhere.remarks[1]
    chosen = captured(clients, [f"sas2:{file}"], {})
    assert set_by(chosen) == {"mmchconfig pagepool": "32G"}
    assert [row.state for row in chosen.attributes if row.name == "pagepool"] == [
        "elsewhere",
        "modelled",
    ]
    servers = captured(clients, [f"gss_ppc64:{file}"], {})
    assert set_by(servers) == {
        "mmchconfig pagepool -N SERVERS": "76168560640",
        "mmchconfig nsdRAIDTracks -N SERVERS": "131072",
    }
    assert "mmlsconfig of the servers, 7 attributes: 2 modelled" in servers.remarks[0]
    with pytest.raises(InputError, match="no node class 'nsd': the listing has gss_ppc64, sas1"):
        captured(clients, [f"nsd:{file}"], {})


def test_a_file_is_named_as_it_was_typed(clients: Tree, tmp_path: Path) -> None:
    folder_ = tmp_path / "elsewhere"
    folder_.mkdir()
    file = listing(folder_, "[sas]\npagepool 32G\nelsewhere 1\n[nsd]\npagepool 1G\n")
    counts = "3 attributes: 1 modelled, 1 unknown (elsewhere), 1 of other nodes"
    remarks = captured(clients, [f"sas:{file}"], {}).remarks
    assert remarks == (f"{file}: mmlsconfig of the clients, {counts}",)


def test_what_is_for_some_nodes_is_stronger_than_what_is_for_all(
    clients: Tree, tmp_path: Path
) -> None:
    text = "[sas]\npagepool 32G\n[common]\npagepool 1G\nprefetchPct 20\n"
    found = captured(clients, [f"sas:{listing(tmp_path, text)}"], {})
    assert set_by(found) == {"mmchconfig pagepool": "32G", "mmchconfig prefetchPct": "20"}


def test_known_attributes_have_a_meaning_and_one_knob_at_most() -> None:
    rows = list(attributes())
    assert len({(command, name) for command, name, *_ in rows}) == len(rows)
    assert all(meaning for _, _, _, meaning, _ in rows)
    modelled = {name for command, name, _, _, knob in rows if knob and knob.modelled}
    assert {"fasttimo", "tcp_recvspace", "jumbo_frames", "large_send"} <= modelled
