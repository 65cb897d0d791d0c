"""Every value that is read of the public reports, as a list to be compared with the files.

`python -m tests.diagnose.values` writes validation/cases/values.md.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from simnet.diagnose.evidence import gathered
from simnet.diagnose.fact import Fact
from simnet.diagnose.sources import pages_of

CASES: Final = Path(__file__).parents[2] / "validation" / "cases"
LIST: Final = CASES / "values.md"
_HEAD: Final = """# What is read of each report

One row a value: the line that says it, of which output, of what, its name, and the value. Each was
compared with its file by hand; `python -m tests.diagnose.values` writes the list, a test compares
it. A test also finds each value in its line, but for those that are told by a letter or by the
number of columns: flags of `netstat -i`, the count of CPUs in the heading of `/proc/interrupts`.
"""


def read(case: Path) -> Iterator[tuple[Fact, str]]:
    """Yield the values of a report, each with its line."""
    pages = pages_of([str(case)])
    by_name = {page.name: page for page in pages}
    for fact in gathered(pages).facts:
        yield fact, by_name[fact.file].lines[fact.line - 1]


def listed() -> str:
    """Return the list of all reports."""
    parts = [_HEAD]
    for case in sorted(path for path in CASES.iterdir() if path.is_dir()):
        rows = [
            f"| {fact.place} | {fact.kind} | {fact.subject} | {fact.name} | {fact.shown} |"
            for fact, _ in read(case)
        ]
        head = ["", f"## {case.name}", "", "| where | output | of | name | value |"]
        parts += [*head, "| --- | --- | --- | --- | --- |", *rows]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    LIST.write_text(listed(), encoding="utf-8")
