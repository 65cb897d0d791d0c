"""nvme smart-log and smartctl: the heat and the wear of drives."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_DRIVE: Final = re.compile(
    r"\b(?:NVME device: ?|/dev/)(?P<drive>nvme\d{1,3}(?:n\d{1,3})?|sd[a-z]{1,2})\b"
)
_VALUE: Final = re.compile(
    r"(?i)\s*(?P<name>critical_warning|critical warning|media_errors|percentage[_ ]used|temperature"
    r"|warning (?:temperature|comp\. temperature) time|critical (?:composite "
    r"|comp\. )?temperature time"
    r"|thermal (?:management|temp\.) (?:t?[12] )?(?:trans(?:ition)?) count|available_spare"
    r"|media and data integrity errors|reallocated_sector_ct|current_pending_sector)"
    r"\s*:\s*(?P<value>0x[0-9a-f]{1,4}|[\d,']{1,20})\b"
)

OUTPUTS: Final = {"drive": "nvme smart-log"}
SIGN: Final = re.compile(r"(?i)smart log|critical[_ ]warning|percentage[_ ]used")


def read(page: Page) -> Iterator[Fact]:
    """Yield the values of each drive, by their names in small letters."""
    drive = ""
    for at, line in enumerate(page.lines, 1):
        if found := _DRIVE.search(line):
            drive = found["drive"]
        if value := _VALUE.match(line):
            text = value["value"]
            amount = (
                float(int(text, 16)) if text.startswith("0x") else number(text.replace(",", ""))
            )
            name = value["name"].lower().replace(" ", "_")
            yield Fact("drive", drive, name, amount, page.name, at, text)
