"""Damaged files: each is refused in one line that says where and what was expected."""

import pytest

from simnet.errors import InputError
from simnet.scenario.core.load import load
from tests.scenario.conftest import Workspace

# file, text to replace, replacement, key, message
DAMAGED = [
    ("mine.toml", 'message = "8 KiB"', "message = 8192", "workload.message",
     "missing unit in 8192: expected a size such as '256 KiB'"),
    ("mine.toml", 'message = "8 KiB"', 'message = "8 us"', "workload.message",
     "wrong kind of unit in '8 us': expected a size such as '256 KiB'"),
    ("mine.toml", 'message = "8 KiB"', 'message = "-8 KiB"', "workload.message",
     "-8 KiB is outside the legal range 1 B to 16 MiB"),
    ("mine.toml", 'message = "8 KiB"', 'message = "8 TiB"', "workload.message",
     "unknown unit 'TiB'; did you mean 'GiB'?"),
    ("mine.toml", 'message = "8 KiB"', 'mesage = "8 KiB"', "workload.mesage",
     "unknown key; did you mean message?"),
    ("mine.toml", 'message = "8 KiB"\n', "", "workload.message", "missing"),
    ("mine.toml", "nodes = 4", "nodes = 5", "workload.nodes", "5 nodes: server.toml has 4"),
    ("mine.toml", 'test = "netserver"', 'test = "netsever"', "workload.test",
     ("expected one of netserver, netperf, bidirectional, tcp_rr, udp_rr, udp_send, relay,"
     " memcached, udp_stream, udp_serve, forward, xdp, tcp_accept, gateway, unsimulated, files,"
      " fio, 20-test, 30-test, create-seq, read-seq, mixrw-seq, got 'netsever'")),
    ("mine.toml", 'duration = "2 s"', 'duration = "2000000 s"', "run.duration",
     "2000000 s is outside the legal range 1 us to 100000 s"),
    ("mine.toml", 'server = "server.toml"', 'server = "ibm-x640"', "system.server",
     "unknown server model 'ibm-x640'; did you mean ibm-x460?"),
    ("mine.toml", 'server = "ibm-p5-550"', 'server = "sun-x4100"', "system.peers[0].server",
     "unknown server model 'sun-x4100': simnet list models shows all"),
    ("mine.toml", "count = 2", "count = 0", "system.peers[0].count",
     "expected 1 or more, got 0"),
    ("mine.toml", "count = 2", "count = 1", "system.cables",
     "port 0 of peer 1: no peer has that port"),
    ("mine.toml", "[1, 2], [1, 3]]", "[1, 3], [1, 3]]", "system.cables",
     "port 3 of peer 1: a second cable"),
    ("mine.toml", "[1, 2], [1, 3]]", "[1, 2]]", "system.cables",
     "8 ports need a cable, there are 7"),
    ("mine.toml", 'irqbalance = "on"', 'irqbalanse = "on"', "irqbalanse",
     "unknown knob; did you mean irqbalance?"),
    ("mine.toml", 'irqbalance = "on"', '"net.ipv4.tcp_rmem" = "4096 87380"',
     "net.ipv4.tcp_rmem", "expected 3 values, got 2"),
    ("mine.toml", 'irqbalance = "on"', 'irqbalance = {value = "on", source = 1}',
     "tuning.irqbalance.source", "expected a text, got 1"),
    ("mine.toml", 'map = "listing-1"', 'map = "listing-3"', "irqbalance.map",
     ("unknown map 'listing-3': expected one of listing-1, listing-2, first-fit, one-core, daemon,"
      " none")),
    ("mine.toml", '177 = "1"', '177 = "10000000000000000"',
     "irqbalance.maps.listing-1.smp_affinity.177",
     "CPU 64 is beyond the machine: server.toml has CPUs 0 to 63"),
    ("mine.toml", '177 = "1"', '178 = "1"', "irqbalance.maps.listing-1.smp_affinity.178",
     "no such interrupt: expected one of 177, 185, 193, 201, 209, 217, 225, 233"),
    ("mine.toml", '177 = "1"', '177 = "0"', "irqbalance.maps.listing-1.smp_affinity.177",
     "the mask is empty: at least one CPU has to take the interrupt"),
    ("mine.toml", 'state = "measured"', 'state = "sure"', "irqbalance.maps.listing-1.state",
     "expected 'measured', 'datasheet', 'calibrated' or 'assumed', got 'sure'"),
    ("server.toml", 'cpu = "intel-xeon-7040"', 'cpu = "intel-xeon-7041"', "cpu",
     "unknown cpu model 'intel-xeon-7041'; did you mean intel-xeon-7040?"),
    ("server.toml", 'nic = "broadcom-bcm5704"', 'nic = "bcm5704"', "ports[0].nic",
     "unknown nic model 'bcm5704'; did you mean broadcom-bcm5704?"),
    ("server.toml", "node = 1", "node = 4", "ports[2].node",
     "eth2 is at NUMA node 4: the machine has nodes 0 to 3"),
    ("server.toml", "irq = 185", "irq = 177", "ports[1].irq", "177 is used twice"),
    ("server.toml", "irq = 185", "next_irqs = [186, 177]\nirq = 185", "ports[1].next_irqs",
     "177 is used twice"),
    ("server.toml", "[2, 3]]", "[2, 4]]", "links",
     "a link ends at NUMA node 4: the machine has nodes 0 to 3"),
    ("server.toml", "[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]", "[[0, 1], [2, 3]]",
     "links", "some of 4 nodes cannot be reached from others"),
    ("server.toml", "[2, 3]]", "[2, 2]]", "links",
     "expected each link once and between two different nodes"),
    ("server.toml", "buses_per_node = {value = 2", "buses_per_node = {value = 3",
     "buses_per_node", "the sockets of a node must fill its buses: 4 sockets, 3 buses"),
    ("server.toml", "nodes = {value = 4", "nodes = {value = 400", "nodes",
     "400 is outside the legal range 1 to 64"),
    ("server.toml", 'name = "eth0"', 'name = "Eth 0"', "ports[0].name",
     "expected a text of the form ^[A-Za-z_][A-Za-z0-9_.-]{0,14}$, got 'Eth 0'"),
    ("kernel.toml", "hz = {value = 250,", 'hz = {value = "250 Hz",', "hz",
     "wrong kind of unit in '250 Hz': expected a plain number such as '64'"),
    ("kernel.toml", 'delack_min = {value = "40 ms",', "delack_min = {value = 40,", "delack_min",
     "missing unit in 40: expected a time such as '20 us'"),
    ("kernel.toml", 'delack_min = {value = "40 ms"', 'delack_min = {valeu = "40 ms"',
     "delack_min.valeu", "unknown key; did you mean value?"),
    ("kernel.toml", 'rto_min = {value = "200 ms", state = "datasheet", source = "',
     'rto_min = {value = "200 ms", state = "datasheet", source = "", x = "', "rto_min.source",
     "is empty"),
    ("kernel.toml", 'skb_truesize_overhead = {value = "240 B"',
     'skb_truesize_overhead = {value = "400 B"', "skb_truesize_overhead",
     "expected low <= value <= high"),
    ("kernel.toml", 'low = "200 B", high = "320 B"', 'low = "200 B"', "skb_truesize_overhead",
     "low and high go together: give both or neither"),
    ("kernel.toml", 'low = "200 B"', 'low = "200 us"', "skb_truesize_overhead.low",
     "wrong kind of unit in '200 us': expected a size such as '256 KiB'"),
    ("kernel.toml", "tcp_sack = {value = true", 'tcp_sack = {value = "maybe"', "tcp_sack",
     "expected on or off, got 'maybe'"),
    ("switch.toml", 'kind = "switch"', 'kind = "nic"', "kind", "expected 'switch', got 'nic'"),
    ("switch.toml", 'kind = "switch"\n', "", "kind", "missing"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "key", "message"), DAMAGED)
def test_a_damaged_file_is_refused_by_file_line_and_key(
    workspace: Workspace, file: str, old: str, new: str, key: str, message: str
) -> None:
    line = workspace.edit(file, old, new)
    with pytest.raises(InputError) as caught:
        load("mine.toml")
    assert caught.value.key == key
    assert caught.value.message == message
    assert caught.value.file == file
    if "missing" not in message or "unit" in message:
        within = range(line, line + 1 + old.count("\n"))
        assert caught.value.line in within or key == "system.cables"


def test_a_bare_value_in_a_model_asks_for_its_source(workspace: Workspace) -> None:
    text = (workspace.folder / "switch.toml").read_text("utf-8")
    number = next(n for n, row in enumerate(text.splitlines()) if row.startswith("latency"))
    rows = text.splitlines()
    rows[number] = 'latency = "4 us"'
    (workspace.folder / "switch.toml").write_text("\n".join(rows), "utf-8")
    with pytest.raises(InputError) as caught:
        load("mine.toml")
    expected = 'expected a table such as {value = ..., state = "assumed", source = "..."}'
    assert str(caught.value) == f"switch.toml:{number + 1}: latency: {expected}"


def test_the_untouched_scenario_loads(workspace: Workspace) -> None:
    del workspace
    assert load("mine.toml").scenario == "mine"


def test_a_model_beside_the_scenario_is_found_from_anywhere(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert load(workspace.scenario).host.name == "server.toml"


def test_a_missing_model_file_is_named(workspace: Workspace) -> None:
    (workspace.folder / "switch.toml").unlink()
    with pytest.raises(InputError) as caught:
        load("mine.toml")
    assert str(caught.value) == "switch.toml: cannot be read: No such file or directory"


def test_an_unknown_scenario_names_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        load("x460-out-of-the-box")
    assert str(caught.value) == (
        "x460-out-of-the-box: unknown scenario; did you mean x460-out-of-box?"
    )


def test_traffic_needs_a_port(workspace: Workspace) -> None:
    for _ in range(2):
        workspace.edit("server.toml", "node = 0", "node = 3")
    with pytest.raises(InputError) as caught:
        load("mine.toml", settings={"nodes": "1"})
    message = "no port of server.toml is on the first 1 nodes: 2 or more nodes have one"
    assert caught.value.typed == f"--set: nodes: {message}"


def test_links_that_are_no_pairs(workspace: Workspace) -> None:
    workspace.edit("server.toml", "[2, 3]]", "[2, 3, 1]]")
    with pytest.raises(InputError, match=r"links: expected pairs of node numbers such as"):
        load("mine.toml")


def test_a_table_where_a_table_has_to_be(workspace: Workspace) -> None:
    line = workspace.edit("mine.toml", "[run]\n", "[[run]]\n")
    with pytest.raises(InputError) as caught:
        load("mine.toml")
    expected = "expected a table with the keys warm_up, duration, seed, precision"
    assert str(caught.value) == f"mine.toml:{line}: run: {expected}"


def test_an_unknown_key_of_a_port_names_the_nearest(workspace: Workspace) -> None:
    line = workspace.edit("server.toml", "irq = 193", "irk = 193")
    with pytest.raises(InputError) as caught:
        load("mine.toml")
    assert str(caught.value) == f"server.toml:{line}: ports[2].irk: unknown key; did you mean irq?"
