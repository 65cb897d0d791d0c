"""What is read of the public reports is what was compared with them by hand, and stands there."""

import re

import pytest

from tests.diagnose.values import CASES, LIST, listed, read


def test_the_list_is_what_is_read() -> None:
    assert LIST.read_text("utf-8") == listed()


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.iterdir() if path.is_dir()))
def test_each_value_stands_in_its_line(name: str) -> None:
    found = list(read(CASES / name))
    assert found
    for fact, line in found:
        if (fact.kind, fact.name) in {("addr", "flags"), ("cpus", "interrupts")}:
            continue
        numbers = {float(one) for one in re.findall(r"\d+(?:\.\d+)?", re.sub(r"[,']", "", line))}
        assert fact.value == 0 or fact.value in numbers, (fact, line)
        words = [word for word in fact.text.split() if word not in {"GT/s", "us", "Mbit/s"}]
        assert all(word.lower().strip(",") in line.lower() for word in words), (fact, line)
