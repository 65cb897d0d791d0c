"""devlink health: what the reporters of a device have found.

Source: devlink-health(8); Linux Documentation/networking/devlink/devlink-health.rst.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_DEVICE: Final = re.compile(r"(?P<device>(?:pci|auxiliary|netdevsim)/[\w:./]{1,40}):")
_REPORTER: Final = re.compile(r"\s+reporter (?P<name>\w{1,30})")
_STATE: Final = re.compile(
    r"\s+state (?P<state>\w{1,20}) error (?P<errors>\d{1,12}) recover \d{1,12}\b.*"
)

OUTPUTS: Final = {"devlink": "devlink health"}
SIGN: Final = re.compile(r"\breporter \w+\s|state \w+ error \d+ recover")


def read(page: Page) -> Iterator[Fact]:
    """Yield how many errors each reporter has seen; the text is its state."""
    device = reporter = ""
    for at, line in enumerate(page.lines, 1):
        if found := _DEVICE.fullmatch(line.strip()):
            device = found["device"]
        elif found := _REPORTER.fullmatch(line.rstrip()):
            reporter = found["name"]
        elif reporter and (found := _STATE.fullmatch(line)):
            subject = f"{device} {reporter}".strip()
            errors, text = number(found["errors"]), found["state"]
            yield Fact("devlink", subject, "errors", errors, page.name, at, text)
