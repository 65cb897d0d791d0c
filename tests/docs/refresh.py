"""Writes what the documentation's commands print now into the documentation.

`python -m tests.docs.refresh [FILE...]` at the top of a checkout; all documents by default. Slow
blocks are left as they are unless `SIMNET_DOCS=all` is set.
"""

import sys
import tempfile
from pathlib import Path

from tests.docs.blocks import read
from tests.docs.session import Session, wanted
from tests.docs.test_documents import DOCUMENTS, SLOW


def refresh(path: Path) -> int:
    """Rewrite the outputs in a document and return how many changed."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [step for step in read(path) if wanted(step, slow=SLOW)]
    changes = []
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder))
        for step in found:
            printed = session.run(step.block).splitlines()
            if step.output is not None and printed != list(step.output.lines):
                changes.append((step.output, printed))
    for output, printed in reversed(changes):
        start = output.first - 1
        lines[start : start + len(output.lines)] = printed
    if changes:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return len(changes)


def main(names: list[str]) -> None:
    """Refresh the documents that are named, or all."""
    for path in [Path(name).resolve() for name in names] or DOCUMENTS:
        sys.stdout.write(f"{path.name}: {refresh(path)} outputs changed\n")


if __name__ == "__main__":
    main(sys.argv[1:])
