"""What tools print on a host, read into metrics: sysstat 12.6, iperf 3.12, netperf 2.7."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.importing.measured.reader import captures, readers
from tests.house.examples import examples

SAR = """\
Linux 6.18.44 (vm) \t11/23/26 \t_x86_64_\t(2 CPU)

02:08:50 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle
02:08:51 AM     all     21.78      1.00      1.98      0.24      0.00     75.00
02:08:51 AM       0      6.93      2.08      0.99      0.00      0.00     90.00

Average:        CPU     %user     %nice   %system   %iowait    %steal     %idle
Average:        all     20.25      1.75      2.00      1.00      5.00     70.00
Average:          0     13.57      0.93      0.50      0.00      0.00     85.00

02:08:52 AM     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  %ifutil
02:08:53 AM      eth0    100.00     50.00      8.00      2.00      0.00      0.00      0.00
02:08:54 AM      eth0    300.00     50.00     24.00      2.00      0.00      0.00      0.00
"""
MPSTAT_TEXT = """\
Linux 6.18.44 (vm) \t11/23/26 \t_x86_64_\t(2 CPU)

02:08:53     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
02:08:54       1   20,00    0,00   10,00    0,00    1,00    4,00    0,00    0,00    0,00   65,00
"""
LOAD = {"usr": 20.0, "nice": 1.0, "sys": 10.0, "iowait": 2.0, "irq": 1.0, "soft": 4.0, "idle": 62.0}
MPSTAT = json.dumps(
    {"sysstat": {"hosts": [{"nodename": "vm", "statistics": [
        {"timestamp": "02:08:49", "cpu-load": [{"cpu": "3", **LOAD}]},
        {"timestamp": "02:08:50", "cpu-load": [{"cpu": "3", **LOAD, "soft": 6.0, "idle": 60.0}]},
    ]}]}}, indent=1
)  # fmt: skip
SADF = json.dumps(
    {"sysstat": {"hosts": [{"statistics": [{
        "timestamp": {"date": "2026-11-23", "interval": 1},
        "cpu-load": [{"cpu": "all", "user": 20, "nice": 0, "system": 5, "idle": 75}],
        "network": {"net-dev": [{"iface": "eth0", "rxpck": 3.0, "rxkB": 1.0}]},
        "disk": [{"disk-device": "vda", "await": 0.77, "aqu-sz": 0.36}],
    }]}]}}
)  # fmt: skip
DISK = {"disk_device": "sda", "r/s": 30.0, "w/s": 10.0, "r_await": 1.0, "w_await": 5.0, "util": 9.0}
IOSTAT = json.dumps(
    {"sysstat": {"hosts": [{"statistics": [
        {"avg-cpu": {"user": 50.0, "idle": 50.0}, "disk": [{**DISK, "r/s": 999.0}]},
        {"avg-cpu": {"user": 10.0, "idle": 90.0}, "disk": [DISK]},
    ]}]}}
)  # fmt: skip
IPERF3 = json.dumps(
    {"start": {"version": "iperf 3.12"}, "intervals": [], "end": {
        "streams": [], "sum_sent": {"bits_per_second": 9.9e9},
        "sum_received": {"bits_per_second": 9.4e9},
    }}, indent="\t"
)  # fmt: skip
STREAM = """\
MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET : demo
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

131072  16384  16384    10.00    9413.21
"""
RR = """\
TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

16384  131072 1        1       10.00    28160.55
16384  131072
"""
MUTILATE = """\
#type       avg     std     min     5th    10th    50th    90th    95th    99th
read       97.7    41.1    32.2    61.1    66.3    88.0   132.0   155.0   401.5
update      0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0

Total QPS = 199932.9 (5997987 / 30.0s)
"""
INTERRUPTS = """\
            CPU0       CPU1
 34:         {0}          5  PCI-MSIX-0000:00:05.0   1-edge      eth0-TxRx-0
 35:           0         {1}  PCI-MSIX-0000:00:05.0   2-edge      eth0-TxRx-1
NMI:           0          0   Non-maskable interrupts
"""
SOFTNET = "0000f598 {:08x} 00000000" + " 00000000" * 10 + "\n"


def read(folder: Path, *texts: str, seconds: float | None = None) -> dict[str, float]:
    """The numbers of one capture."""
    files = [folder / f"{number}.txt" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, "utf-8")
    (found,) = captures(files, seconds)
    return dict(found.numbers)


def test_sar_by_its_averages_and_without_them_by_the_mean(tmp_path: Path) -> None:
    found = read(tmp_path, SAR)
    assert found["cpu.all.user"] == 20.25 + 1.75
    assert found["cpu.all.kernel"] == 2.0
    assert "cpu.all.system" not in found
    assert found["cpu.all.busy"] == 100 - 70 - 1 - 5
    assert found["cpu.0.idle"] == 85.0
    assert found["port.eth0.rx_packets_per_s"] == 200.0
    assert found["port.eth0.rx_bps"] == 16 * 1024 * 8


def test_mpstat_tells_softirq_apart(tmp_path: Path) -> None:
    expected = {"user": 20, "system": 10, "irq": 1, "softirq": 4, "kernel": 15, "busy": 35}
    text = read(tmp_path, MPSTAT_TEXT)
    assert {name: text[f"cpu.1.{name}"] for name in expected} == expected
    found = read(tmp_path, MPSTAT)
    assert (found["cpu.3.user"], found["cpu.3.softirq"], found["cpu.3.kernel"]) == (21, 5, 16)


def test_sadf_has_cpus_ports_and_disks(tmp_path: Path) -> None:
    found = read(tmp_path, SADF)
    assert (found["cpu.all.kernel"], found["port.eth0.rx_bps"]) == (5.0, 8192.0)
    assert (found["disk.vda.await_ms"], found["disk.vda.queue"]) == (0.77, 0.36)


def test_the_first_report_of_iostat_is_about_the_time_before(tmp_path: Path) -> None:
    found = read(tmp_path, IOSTAT)
    assert (found["cpu.all.user"], found["disk.sda.reads_per_s"]) == (10.0, 30.0)
    assert found["disk.sda.await_ms"] == 2.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (IPERF3, {"throughput_bps": 9.4e9}),
        (STREAM + STREAM, {"throughput_bps": 2 * 9413.21e6}),
        (RR, {"transactions_per_s": 28160.55}),
        (MUTILATE, {"requests_per_s": 199932.9, "latency_us.p50": 88.0, "latency_us.p99": 401.5}),
        ("# by hand\nthroughput_bps = 1e9\n[cpu.all]\nidle = 4\n",
         {"throughput_bps": 1e9, "cpu.all.idle": 4.0}),
        ("metric,value\nlatency_us.p99, 20\n", {"latency_us.p99": 20.0}),
    ],
)  # fmt: skip
def test_other_tools(tmp_path: Path, text: str, expected: dict[str, float]) -> None:
    assert read(tmp_path, text) == expected


def test_two_listings_of_counts_make_rates(tmp_path: Path) -> None:
    found = read(tmp_path, INTERRUPTS.format(10, 100), INTERRUPTS.format(30, 180), seconds=2)
    assert found["port.eth0.interrupts_per_s"] == 50.0
    dropped = read(tmp_path, SOFTNET.format(1), SOFTNET.format(17), seconds=4)
    assert dropped == {"backlog_drops_per_s": 4.0}


@pytest.mark.parametrize(
    ("texts", "seconds", "message"),
    [
        (["nothing\n"], None, "0.txt: expected an output of one of /proc/interrupts, iperf3 -J,"),
        ([INTERRUPTS.format(1, 2)], 1.0, "since the host started: expected a second listing"),
        ([SOFTNET.format(1)] * 2, None, "--seconds: expected the seconds between both listings"),
        ([SOFTNET.format(2), SOFTNET.format(1)], 1.0, "1.txt: expected the later listing of"),
        (['{"error": "unable to connect"}'], None, "it failed, 'unable to connect'"),
        (['{"sysstat": 3}'], None, "expected hosts with statistics"),
        ([STREAM.partition("131072")[0]], None, "expected a row of numbers below each heading"),
        (["metric,value\na,1,2\n"], None, "expected a metric and a value in each row"),
        (['a = "fast"\n'], None, "expected a number for a"),
        (["a = inf\n"], None, "expected finite numbers"),
        (["[[[["], None, "0.txt: no output of TOML or CSV of metrics: "),
    ],
)
def test_what_cannot_be_read_gets_one_line(
    tmp_path: Path, texts: list[str], seconds: float | None, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, *texts, seconds=seconds)
    assert message in caught.value.typed
    assert "\n" not in caught.value.typed


REAL = (SAR, MPSTAT_TEXT, MPSTAT, SADF, IOSTAT, IPERF3, STREAM, RR, MUTILATE, INTERRUPTS, SOFTNET)


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(REAL), st.data())
def test_what_strangers_changed_is_read_or_refused(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 40, len(text))))
    put = data.draw(
        st.sampled_from(["", "\x00", "null", "-", "[", "9" * 400, "\u0663", " 1 ", "{}"])
    )
    changed = text[:start] + put + text[end:]
    for reader in readers():
        if reader.knows(changed):
            try:
                numbers = reader.read(changed)
            except ValueError:
                continue
            assert all(isinstance(value, float) for value in numbers.values())
