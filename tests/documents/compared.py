"""Writes `validation/compared.json`: which settings and parts of the path were ever compared.

`python -m tests.documents.compared` at the top of a checkout, when a number was measured, or a
document's configurations are others.
"""

from simnet.study.validate.compared import derived
from tests.house.trees import ROOT

FILE = ROOT / "validation" / "compared.json"


def text() -> str:
    """What the file should hold."""
    return derived().to_json(indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
