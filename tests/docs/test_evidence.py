"""The page of evidence is what the records say, and README says the same."""

import re

from tests.docs.evidence import PAGE, page
from tests.house.trees import ROOT


def test_the_page_is_what_the_records_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.docs.evidence writes it"


def test_no_page_has_another_number() -> None:
    known = set(re.findall(r"\d+", page()))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    said = readme.partition("## How far off it is")[2].partition("\n## ")[0]
    numbers = re.findall(r"(?<!\w)(\d+)(?! %? ?GbE|\w)", re.sub(r"\]\([^)]*\)|`[^`]*`", "", said))
    assert numbers
    assert set(numbers) - known - {"95", "2005", "2021"} == set()
