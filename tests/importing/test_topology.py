"""CPUs, cores, packages, nodes and caches from every source that tells of them."""

import json
from pathlib import Path

import pytest

import simnet
from simnet.errors import InputError
from simnet.host.cpulist import cpulist_text, parse_cpulist, parse_cpumask
from simnet.importing.import_host import import_host
from simnet.importing.source import read_source
from simnet.importing.topology import Cache, Topology
from simnet.importing.writing.folder_out import imported
from simnet.scenario.core.load import load
from simnet.study.work.vary import ranged
from tests.importing.trees import CPUS, NODES, folder, sysfs

# two packages of two cores with two threads; siblings are four apart, as most firmware numbers them
CORES = [[0, 4], [1, 5], [2, 6], [3, 7]]
ALONE = [[cpu] for cpu in range(8)]
PACKAGES = [[0, 1, 4, 5], [2, 3, 6, 7]]
HOST = sysfs(CORES, PACKAGES, nodes=PACKAGES)


def read(root: Path, files: dict[str, str]) -> Topology:
    return read_source(str(folder(root, files))).topology


def caches_of(topology: Topology, level: int) -> list[Cache]:
    return [cache for cache in topology.caches if cache.level == level]


def counts(of: Topology) -> tuple[int, int, int, int]:
    return len(of.nodes), len(of.packages), len(of.cores), len(of.cpus)


def test_sysfs(tmp_path: Path) -> None:
    found = read(tmp_path, HOST)
    assert found.cores == tuple(frozenset(core) for core in CORES)
    assert found.packages == tuple(frozenset(package) for package in PACKAGES)
    assert [node.cpus for node in found.nodes] == list(found.packages)
    assert {node.memory_bytes for node in found.nodes} == {8 << 30}
    assert found.distances == ((10, 21), (21, 10))
    assert [len(caches_of(found, level)) for level in (1, 2, 3)] == [4, 4, 2]
    assert caches_of(found, 3)[0].size_bytes == 2 << 20


@pytest.mark.parametrize(("cores", "slowdown"), [(CORES, (1.5, 1.25, 1.8)), (ALONE, (1, 1, 1))])
def test_two_threads_of_a_core_slow_each_other_by_what_nobody_knows_exactly(
    cores: list[list[int]], slowdown: tuple[float, ...], tmp_path: Path
) -> None:
    files = {**sysfs(cores, PACKAGES), "proc/cpuinfo": "model name : AMD EPYC 7543\n"}
    imported(read_source(str(folder(tmp_path / "in", files)))).write(tmp_path / "out")
    effective = load(tmp_path / "out" / "scenario.toml")
    drawn = {one.name: (one.value, one.low, one.high) for one in ranged(effective)}
    name = "cpu.toml.smt_slowdown_permille"
    value = effective.host.cpu.smt_slowdown_permille
    assert drawn.get(name, (value,) * 3) == tuple(1000 * one for one in slowdown)


def test_a_host_without_nodes_has_one(tmp_path: Path) -> None:
    assert counts(read(tmp_path, sysfs(CORES, PACKAGES))) == (1, 2, 4, 8)


def test_nodes_that_all_have_all_cpus_are_one(tmp_path: Path) -> None:
    everyone = list(range(8))
    assert len(read(tmp_path, sysfs(CORES, PACKAGES, nodes=[everyone] * 8)).nodes) == 1


def test_a_node_of_memory_alone_counts_and_one_of_nothing_does_not(tmp_path: Path) -> None:
    files = sysfs(CORES, PACKAGES, nodes=[*PACKAGES, [], []])
    files[f"{NODES}/node3/meminfo"] = "Node 3 MemTotal:       0 kB\n"
    found = read(tmp_path, files)
    assert [(node.number, len(node.cpus)) for node in found.nodes] == [(0, 4), (1, 4), (2, 0)]


def test_cpus_off_line_do_not_count(tmp_path: Path) -> None:
    files = sysfs([[0], [1, 5], [2, 6]], [[0, 1, 5], [2, 6]], offline=[3, 4, 7])
    found = read(tmp_path, files)
    assert counts(found) == (1, 2, 3, 5)
    assert found.offline == {3, 4, 7}


def test_siblings_with_core_ids_of_their_own_are_cores(tmp_path: Path) -> None:
    files = dict(HOST)
    for cpu in range(8):
        files[f"{CPUS}/cpu{cpu}/topology/core_id"] = f"{cpu}\n"
    assert len(read(tmp_path, files).cores) == 8


def test_a_map_without_any_cpu_is_a_cache_of_the_core(tmp_path: Path) -> None:
    files = dict(HOST)
    for cpu in range(8):
        files[f"{CPUS}/cpu{cpu}/cache/index3/shared_cpu_map"] = "00000000\n"
    topology = read(tmp_path, files)
    assert tuple(cache.cpus for cache in caches_of(topology, 3)) == topology.cores


@pytest.mark.parametrize(
    ("mounts", "cpus", "mems"),
    [
        ("none /dev/cpuset cpuset rw 0 0", "dev/cpuset/job/cpus", "dev/cpuset/job/mems"),
        (
            "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0",
            "sys/fs/cgroup/cpuset/job/cpuset.cpus",
            "sys/fs/cgroup/cpuset/job/cpuset.mems",
        ),
        (
            "none /sys/fs/cgroup cgroup2 rw 0 0",
            "sys/fs/cgroup/job/cpuset.cpus.effective",
            "sys/fs/cgroup/job/cpuset.mems.effective",
        ),
    ],
)
def test_the_cpuset_of_the_snapshots_process(
    tmp_path: Path, mounts: str, cpus: str, mems: str
) -> None:
    extra = {
        "proc/self/cpuset": "/job\n",
        "proc/mounts": f"{mounts}\n",
        cpus: "0-1,4\n",
        mems: "0\n",
    }
    found = read(tmp_path, HOST | extra)
    assert counts(found) == (1, 1, 2, 3)
    assert found.disallowed == {2, 3, 5, 6, 7}


LSCPU = """\
Architecture:        x86_64
CPU(s):              8
On-line CPU(s) list: 0-7
Thread(s) per core:  2
Core(s) per socket:  2
Socket(s):           2
NUMA node(s):        2
Vendor ID:           AuthenticAMD
Model name:          AMD EPYC 7451 24-Core Processor
NUMA node0 CPU(s):   0-3
NUMA node1 CPU(s):   4-7
"""
TABLE = """\
CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE
  0    0      0    0 0:0:0:0          yes
  1    0      0    1 1:1:1:0          yes
  2    1      1    2 2:2:2:1          yes
  3    1      1    3 3:3:3:1          yes
  4    -      -    - -                 no
"""
PARSABLE = """\
# The following is the parsable format, which can be fed to other
# programs. Each different item in every column has an unique ID
# starting from zero.
# CPU,Core,Socket,Node,,L1d,L1i,L2,L3
0,0,0,0,,0,0,0,0
1,1,0,0,,1,1,1,0
2,0,0,0,,0,0,0,0
3,1,0,0,,1,1,1,0
"""
NUMACTL = """\
available: 2 nodes (0,8)
node 0 cpus: 0 1 2 3
node 0 size: 16008 MB
node 0 free: 165 MB
node 8 cpus: 4 5 6 7
node 8 size: 16126 MB
node 8 free: 1650 MB
node distances:
node   0   8
  0:  10  40
  8:  40  10
"""
CPUINFO = "".join(
    f"processor\t: {cpu}\nmodel name\t: Intel(R) Xeon(R) CPU X7550 @ 2.00GHz\n"
    f"physical id\t: {cpu % 2}\ncore id\t\t: {cpu // 4}\ncpu MHz\t\t: 1064.000\n\n"
    for cpu in range(8)
)
XML = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x0000000f">
    <object type="Package" os_index="0" cpuset="0x0000000f">
      <object type="NUMANode" os_index="0" cpuset="0x0000000f" local_memory="1073741824"/>
      <object type="L3Cache" cpuset="0x0000000f" cache_size="8388608" cache_linesize="64"/>
      <object type="Core" os_index="0" cpuset="0x00000003">
        <object type="PU" os_index="0" cpuset="0x00000001"/>
        <object type="PU" os_index="1" cpuset="0x00000002"/>
      </object>
      <object type="Core" os_index="1" cpuset="0x0000000c">
        <object type="PU" os_index="2" cpuset="0x00000004"/>
        <object type="PU" os_index="3" cpuset="0x00000008"/>
      </object>
    </object>
  </object>
</topology>
"""
S390 = """\
vendor_id       : IBM/S390
# processors    : 2
bogomips per cpu: 14367.00
processor 0: version = FF,  identification = 0133E8,  machine = 2964
processor 1: version = FF,  identification = 0133E8,  machine = 2964
"""


def as_json(text: str) -> str:
    fields = [line.partition(":") for line in text.splitlines()]
    rows = [{"field": f"{name}:", "data": value.strip()} for name, _, value in fields]
    return json.dumps({"lscpu": [*rows[:3], {"field": "x:", "data": "", "children": rows[3:]}]})


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ({"anything.txt": LSCPU}, (2, 2, 4, 8)),
        ({"lscpu.json": as_json(LSCPU)}, (2, 2, 4, 8)),
        ({"topology": TABLE}, (2, 2, 4, 4)),
        ({"lscpu-p": PARSABLE}, (1, 1, 2, 4)),
        ({"numa": NUMACTL}, (2, 2, 8, 8)),
        ({"cpus": LSCPU, "numa": NUMACTL}, (2, 2, 4, 8)),
        ({"cpuinfo": CPUINFO}, (1, 2, 4, 8)),
        ({"cpuinfo": S390}, (1, 1, 2, 2)),
        ({"host.xml": XML}, (1, 1, 2, 4)),
        ({"proc/cpuinfo": CPUINFO}, (1, 2, 4, 8)),
    ],
)
def test_outputs_of_commands(
    tmp_path: Path, outputs: dict[str, str], expected: tuple[int, int, int, int]
) -> None:
    assert counts(read(tmp_path, outputs)) == expected


def test_nodes_of_numactl_keep_their_numbers(tmp_path: Path) -> None:
    found = read(tmp_path, {"numa": NUMACTL})
    assert [node.number for node in found.nodes] == [0, 8]
    assert found.distances == ((10, 40), (40, 10))


@pytest.mark.parametrize("text", ["", "hello", "\n\n"])
def test_nothing_that_is_understood_is_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="nothing here is understood"):
        read(tmp_path, {"file": text})


@pytest.mark.parametrize("text", ["Architecture:\n", '{"lscpu": 3}', "<topology>"])
def test_without_a_word_about_cpus_eight_are_assumed(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, {"file": text})
    assert found.cpus == frozenset(range(8))
    assert {"cpus", "nodes", "packages", "cores", "threads"} <= found.guessed.keys()


def test_an_entity_in_xml_is_not_expanded(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE topology [<!ENTITY a "b">]><topology version="2.0">&a;</topology>'
    with pytest.raises(InputError, match="nothing here is understood"):
        read(tmp_path, {"host.xml": bomb})


@pytest.mark.parametrize(
    ("text", "cpus"), [("0-3,8", [0, 1, 2, 3, 8]), ("7\n", [7]), ("", []), ("0-1\n ", [0, 1])]
)
def test_lists(text: str, cpus: list[int]) -> None:
    found = parse_cpulist(text)
    assert found == frozenset(cpus)
    assert parse_cpulist(cpulist_text(found)) == found


@pytest.mark.parametrize("text", ["3-1", "a", "0-99999", "1-2-3", "-1"])
def test_what_is_no_list(text: str) -> None:
    assert parse_cpulist(text) is None


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("ff", range(8)), ("1,00000000", [32]), ("1,0", [32]), ("0x3", [0, 1]), ("0", [])],
)
def test_masks(text: str, cpus: list[int]) -> None:
    assert parse_cpumask(text) == frozenset(cpus)


@pytest.mark.parametrize("text", ["", "g", "1,,2", "fffffffff", "f" * 9000])
def test_what_is_no_mask(text: str) -> None:
    assert parse_cpumask(text) is None


TURBOSTAT = (
    "Core\tCPU\tAvg_MHz\tBusy%\tBzy_MHz\tTSC_MHz\n-\t-\t2100\t{}\t2893\t2400\n"
    "0\t0\t2100\t99\t2893\t2400\n"
)
FEW = (
    "Architecture: x86_64\nCPU(s): 2\nModel name: AMD EPYC 7763 64-Core Processor\n"
    "Vendor ID: AuthenticAMD\n"
)


@pytest.mark.parametrize(
    ("files", "clock", "state"),
    [
        ({"lscpu": f"{FEW}CPU max MHz: 3529.0520\nCPU min MHz: 1500.0000\n"}, 3529, "assumed"),
        ({"lscpu": f"{FEW}CPU MHz: 1500.000\nCPU max MHz: 3529.0520\n"}, 3529, "assumed"),
        ({"lscpu": f"{FEW}CPU MHz: 3240.000\nCPU max MHz: 3529.0520\n"}, 3240, "measured"),
        ({"lscpu": FEW, "turbostat": TURBOSTAT.format("60.1")}, 2893, "measured"),
        (
            {"lscpu": f"{FEW}CPU max MHz: 3529.0\n", "turbostat": TURBOSTAT.format("0.4")},
            3529,
            "assumed",
        ),
    ],
)
def test_a_clock_is_read_where_a_file_says_it_of_cpus_at_work(
    tmp_path: Path, files: dict[str, str], clock: int, state: str
) -> None:
    found = import_host(folder(tmp_path / "host", {f"{k}.txt": v for k, v in files.items()}))
    told = found.drafts["cpu.toml"].document["clock"]
    assert (told["value"], told["state"]) == (f"{clock} MHz", state)
    assert any("clock" in note for note in found.notes) == (state == "assumed")
    if state == "assumed":
        assert (told["low"], told["high"]) == (f"{int(0.6 * clock)} MHz", f"{clock} MHz")


# -- two sockets of EPYC -----------------------------------------------------------------------

_EPYC = """\
$ uname -r
5.15.0-91-generic
$ lscpu
CPU(s):                  32
Thread(s) per core:      1
Core(s) per socket:      16
Socket(s):               2
NUMA node(s):            2
Model name:              AMD EPYC 7313 16-Core Processor
NUMA node0 CPU(s):       0-15
NUMA node1 CPU(s):       16-31
"""
_PORT = """\
$ ethtool -i ens1f{0}np{0}
driver: mlx5_core
$ ethtool ens1f{0}np{0}
\tSpeed: 100000Mb/s
$ ethtool -l ens1f{0}np{0}
Pre-set maximums:
Combined:\t63
Current hardware settings:
Combined:\t{1}
"""


def _rates(root: Path, queues: int, **settings: str) -> dict[str, float]:
    """Mbit/s of a stream by each of two ports of the first socket."""
    text = _EPYC + _PORT.format(0, queues) + _PORT.format(1, queues)
    import_host(folder(root / "host", {"pasted.txt": text})).write(root / "out")
    result = simnet.run(
        root / "out" / "scenario.toml", settings=settings, warm_up="10 ms", duration="10 ms"
    )
    return {flow.port: flow.goodput_bps / 1e6 for flow in result.flows}


@pytest.mark.parametrize("test", ["netserver", "netperf"])
def test_equal_ports_carry_about_the_same(test: str, tmp_path: Path) -> None:
    first, second = _rates(tmp_path, 31, test=test).values()
    assert first == pytest.approx(second, rel=0.3)


@pytest.mark.parametrize(("test", "left"), [("netserver", 0.5), ("netperf", 0.7)])
def test_a_stream_that_is_handled_by_the_other_socket_keeps_most_of_its_rate(
    test: str, left: float, tmp_path: Path
) -> None:
    rates = [
        _rates(
            tmp_path / cpu, 1, test=test, **{"/proc/irq/64/smp_affinity_list": cpu}
        )["ens1f0np0"]
        for cpu in ("8", "24")
    ]  # fmt: skip
    assert rates[1] > left * rates[0]
    assert rates[1] < 1.02 * rates[0]
