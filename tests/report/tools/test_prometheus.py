"""What Prometheus is given, read by its own client."""

import math
import re

import pytest

from simnet.report.tools import prometheus
from simnet.study.run.measures import MEASURES
from simnet.study.whatif import whatif as study
from simnet.study.whatif.whatif import WhatIf
from simnet.study.work import task
from tests.study.synthetic import result, simulated

parser = pytest.importorskip("prometheus_client.parser")
SCENARIO = "x460-out-of-box"
# prometheus.io/docs/practices/naming: base units, at the end of a name
NAMES = re.compile(r"simnet_[a-z][a-z0-9_]*[a-z0-9]")
NO_BASE_UNITS = re.compile(r"_(percent|ms|us|ns|bps|bits|mbit|per_s)(_|$)")


def samples(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    """By family, as the client reads them."""
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in parser.text_string_to_metric_families(text):
        assert family.name not in found, "the lines of a family stand together"
        assert family.type == "gauge"
        assert family.documentation.endswith(".")
        found[family.name] = [(one.labels, one.value) for one in family.samples]
        assert len({tuple(sorted(labels.items())) for labels, _ in found[family.name]}) == len(
            found[family.name]
        )
    return found


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> WhatIf:
    monkeypatch.setattr(task, "simulate", simulated)
    monkeypatch.setattr(study, "known_changes", tuple)
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    return study.whatif(SCENARIO, ["affinity", "numactl"], seeds=3, members=0, jobs=1)


def test_every_measure_has_a_name_of_its_own_in_base_units() -> None:
    names = []
    for key, measure in MEASURES.items():
        named = prometheus._named(key, measure)
        names.append(named.family().name)
        assert NAMES.fullmatch(names[-1])
        assert not NO_BASE_UNITS.search(names[-1])
        assert "{" not in named.text
    assert len(set(names)) == len(names)


def test_numbers_of_a_run_are_in_base_units() -> None:
    found = samples(prometheus.run(result(8e9, 50.0, p99_us=80.0, tunings=("affinity", "numactl"))))
    labels = {"scenario": "made-up", "tuning": "affinity+numactl"}
    assert found["simnet_throughput_bytes_per_second"] == [(labels, 1e9)]
    assert found["simnet_cpu_busy_ratio"] == [(labels, 0.5)]
    assert found["simnet_latency_p99_seconds"][0][1] == pytest.approx(80e-6)
    assert found["simnet_cpu_per_byte_seconds"][0][1] == pytest.approx(5e-9)
    assert found["simnet_interrupts_per_second"] == [(labels, 1000)]
    assert found["simnet_info"][0][0]["fingerprint"] == f"{1:032x}"
    assert "simnet_transactions_per_second" not in found


def test_a_what_if_has_value_range_change_and_verdict(answer: WhatIf) -> None:
    found = samples(prometheus.whatif(answer))
    said = {(labels["tuning"], labels["verdict"]): on for labels, on in found["simnet_verdict"]}
    assert [pair for pair, on in said.items() if on] == [("affinity", "yes"), ("numactl", "no")]
    assert len(said) == 8
    throughput = answer.tunings[0].change("throughput")
    hull = throughput.hull
    assert hull is not None
    assert throughput.before
    by_name = {
        name: next(value for labels, value in rows if labels["tuning"] == "affinity")
        for name, rows in found.items()
        if name.startswith("simnet_throughput_")
    }
    assert by_name == pytest.approx({
        "simnet_throughput_bytes_per_second": (throughput.after or math.nan) / 8,
        "simnet_throughput_low_bytes_per_second": throughput.before * (1 + hull.low / 100) / 8,
        "simnet_throughput_high_bytes_per_second": throughput.before * (1 + hull.high / 100) / 8,
        "simnet_throughput_before_bytes_per_second": throughput.before / 8,
    })  # fmt: skip
    changed = {
        (labels["tuning"], labels["measure"]): value
        for labels, value in found["simnet_change_ratio"]
    }
    assert changed["affinity", "throughput"] == pytest.approx(0.1)
    assert changed["numactl", "cpu_per_byte"] == pytest.approx(0.3)


def test_a_run_and_a_what_if_say_the_same_of_a_measure(answer: WhatIf) -> None:
    """Files of both may lie in one folder of node_exporter, which wants one text a name."""
    texts: dict[str, set[str]] = {}
    for page in (prometheus.run(result()), prometheus.whatif(answer)):
        for line in page.splitlines():
            if line.startswith("# HELP "):
                name, text = line.removeprefix("# HELP ").split(" ", 1)
                texts.setdefault(name, set()).add(text)
    assert {name for name, several in texts.items() if len(several) > 1} == set()


def test_a_strangers_text_stays_a_label() -> None:
    hostile = 'a"} 1\nevil 2\\\x1b'
    made = result().model_copy(update={"scenario": hostile})
    found = samples(prometheus.run(made))
    assert "evil" not in found
    assert found["simnet_drops"][0][0]["scenario"] == 'a"} 1\\nevil 2\\\\u001b'
