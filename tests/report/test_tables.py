"""Tables in the look of sar and netperf."""

import json

import pytest

from simnet._share import folder
from simnet.report import columns
from simnet.report.formats import FORMATS
from simnet.report.html.blocks import Table
from simnet.report.html.kinds.result import result_sections
from simnet.report.netperf import netperf
from simnet.report.sar import cpu_table, interrupts, interrupts_table, sar
from simnet.report.text import text
from simnet.study.calibrate.capture import Capture, InterruptColumn
from simnet.study.run.duration_text import in_unit, latency_text
from simnet.study.run.loss import Drops, Latency, Messages
from simnet.study.run.result import Result

LISTING = folder("validation") / "captures" / "sar-x460-out-of-box-8k-4nodes.txt"


def test_tables_reproduce_the_captured_listing_byte_for_byte(capture: Capture) -> None:
    text = LISTING.read_text(encoding="utf-8")
    first, _, second = text.partition("\n\n")
    assert cpu_table(capture.cpus) == first.partition("#")[0]
    body = second.partition("\n")[2].partition("#")[0]
    assert interrupts_table(capture.interrupts, range(10)) == body


def test_sar_lists_the_ticks_of_busy_nodes_only(result: Result) -> None:
    lines = sar(result).splitlines()
    assert lines[0] == "CPU   %user   %nice  %system  %iowait  %steal   %idle"
    assert lines[2] == "1       1.89    0.00    84.11     0.00    0.00   14.00"
    assert lines[-1] == "# CPUs not listed are idle or nearly idle (64 logical CPUs in all)"
    assert len(lines) == 18


def test_interrupts_lists_the_serving_nodes_up_to_the_last_serving_cpu(result: Result) -> None:
    lines = interrupts(result).splitlines()
    assert lines[0].split() == ["CPU", *(f"eth{n}/{177 + 8 * n}" for n in range(8))]
    assert [line.split()[0] for line in lines[1:-1]] == [str(cpu) for cpu in range(10)]
    assert lines[2].split()[6] == "19906.18"
    assert lines[-1] == "# other CPUs: 0"


def test_a_long_port_name_widens_its_column_alone() -> None:
    column = InterruptColumn("enp130s0f1", 4095, {0: 1.0})
    assert interrupts_table([column], [0]) == "CPU   enp130s0f1/4095\n0                1.00\n"


def test_netperf_prints_one_classic_report_a_flow(result: Result) -> None:
    anywhere = "0.0.0.0 (0.0.0.0) port 0 AF_INET"
    reports = netperf(result).split("\n\nTCP")
    assert len(reports) == 8
    assert reports[0].splitlines() == [
        f"TCP STREAM TEST from {anywhere} to netperf.eth0 (eth0) port 0 AF_INET",
        "Recv   Send    Send                          ",
        "Socket Socket  Message  Elapsed              ",
        "Size   Size    Size     Time     Throughput  ",
        "bytes  bytes   bytes    secs.    10^6bits/sec  ",
        "",
        " 87380  16384   8192    10.00     884.54   ",
    ]


def test_text_shows_totals_busy_cpus_ports_and_flows(result: Result) -> None:
    parts = text(result).split("\n\n")
    assert parts[0].startswith(
        "x460-out-of-box with message=8 KiB, nodes=4: 6,281.1 Mbit/s, CPUs 9.85 % busy"
    )
    assert "# 48 CPUs are less than 1 % busy" in parts[1]
    assert parts[2].splitlines()[1].split() == [
        "eth0", "0", "0", "941.0", "20.0", "70000", "17894", "0",
    ]  # fmt: skip
    assert parts[3].splitlines()[1].split() == ["netperf.eth0", "eth0", "884.5", "812.5", "-"]


def test_text_leaves_out_what_a_scenario_lacks(result: Result) -> None:
    bare = result.model_copy(update={"ports": (), "interrupts": (), "flows": ()})
    assert "port" not in text(bare)
    assert "flow" not in text(bare)


def test_no_line_ends_with_blanks_where_no_tool_printed_them(result: Result) -> None:
    for name in ("text", "sar", "interrupts", "compare"):
        output = FORMATS[name](result)
        assert output.endswith("\n")
        assert [line for line in output.splitlines() if line != line.rstrip()] == []


def test_json_is_the_document_itself(result: Result) -> None:
    assert json.loads(FORMATS["json"](result)) == json.loads(result.to_json())


@pytest.mark.parametrize(("left", "expected"), [(1, "a   bb\n11   2\n"), (2, "a   bb\n11  2\n")])
def test_columns_align_left_and_right(left: int, expected: str) -> None:
    assert columns.columns(("a", "bb"), [("11", "2")], left=left) == expected


def test_a_report_shows_ports_and_cpus_under_the_headings_of_the_text(result: Result) -> None:
    heads = [line.split("  ") for line in text(result).splitlines()]
    plain = result.model_copy(update={"configuration": {}})
    cpus, ports = (
        next({*head} for head in heads if head[0].strip() == first) for first in ("CPU", "port")
    )
    tables = {
        block.caption: block.heading
        for section in result_sections("run", {"one": plain})
        for block in section.blocks
        if isinstance(block, Table)
    }
    assert {"%user", "%softirq"} <= cpus.intersection(tables["CPUs that are at least 1 % busy"])
    assert {"rx Mbit/s", "rx pkt/s", "drops"} <= ports.intersection(tables["Ports"])
    assert result.ports[0].model_copy(update={"rx_bps": 9.87654e9}).cells(["rx_bps"]) == ["9876.5"]


def test_text_says_where_packets_were_dropped_and_what_became_of_messages(result: Result) -> None:
    assert "dropped in" not in text(result)
    assert "offered" not in text(result)
    late = Latency(p50=80.0, p99=400.0, p999=2500.0)
    lossy = result.model_copy(
        update={
            "drops": (
                Drops(place="ring", at="eth0", packets=7),
                Drops(place="backlog", at="cpu3", packets=120),
            ),
            "loss": 0.00127,
            "messages": Messages(
                offered=1_000_500,
                delivered=999_500,
                retransmitted=120,
                offered_per_s=100_050.0,
                delivered_per_s=99_950.0,
                latency_us=late,
            ),
        }
    )
    lines = text(lossy).splitlines()
    place = lines.index("dropped in  of    packets")
    assert [line.split() for line in lines[place + 1 : place + 3]] == [
        ["ring", "eth0", "7"],
        ["backlog", "cpu3", "120"],
    ]
    assert lines[place + 3] == "# 0.1270 % of the packets that came"
    assert lines[-2].split("  ")[-1] == "p99.9 us"
    assert lines[-1].split() == ["all", "100050", "99950", "0.1270", "80.0", "400.0", "2500.0"]


@pytest.mark.parametrize(
    ("values", "unit"),
    [([], "us"), ([None, 99_999.0], "us"), ([5.0, 100_000.0], "ms"), ([1e8], "s")],
)
def test_long_times_are_in_larger_units(values: list[float | None], unit: str) -> None:
    found, scale = in_unit(values)
    assert found == unit
    assert all(value * scale < 1e5 for value in values if value is not None)


def test_a_latency_in_a_sentence_has_its_unit() -> None:
    assert latency_text(73.66) == "73.7 us"
    assert latency_text(485_331.3) == "485.3 ms"
    assert latency_text(4932.51) == "4,932.5 us"
    assert latency_text(1000.0, ",g") == "1,000 us"


def test_a_long_latency_is_in_milliseconds(result: Result) -> None:
    flow = result.flows[0].model_copy(update={"latency_us": Latency(p50=1.0, p99=1_234_567.0)})
    lines = text(result.model_copy(update={"flows": (flow,)})).splitlines()
    assert lines[-2].split()[-4:] == ["p50", "ms", "p99", "ms"]
    assert lines[-1].split()[-2:] == ["0.0", "1234.6"]


def test_requests_are_counted_by_transactions(result: Result) -> None:
    flow = result.flows[0].model_copy(update={"transactions_per_s": 12_345.4})
    heading = text(result.model_copy(update={"flows": (flow, flow)})).splitlines()[0]
    assert ": 24,691 transactions/s, " in heading


def test_of_many_flows_text_and_report_list_the_same_three(result: Result) -> None:
    rates = (7.0, 2.0, 9.0, 4.0, 5.0)
    flows = tuple(
        result.flows[0].model_copy(update={"name": f"flow.{rate:g}.{n}", "goodput_bps": 1e6 * rate})
        for n in range(8)
        for rate in rates
    )
    many = result.model_copy(update={"flows": flows, "configuration": {}})
    told = text(many).split("\n\n")[-1].splitlines()
    assert [line.split()[0] for line in told[1:4]] == ["flow.2.0", "flow.5.4", "flow.9.7"]
    assert told[4:] == ["# the slowest of 40 flows, the middle one and the fastest; all: --json"]
    (table,) = (one for one in result_sections("run", {"x": many})[0].blocks if type(one) is Table)
    assert [row[0] for row in table.rows] == ["flow.2.0", "flow.5.4", "flow.9.7"]
    assert "the slowest of 40 flows" in table.caption
