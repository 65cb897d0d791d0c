"""lsusb -t: how fast the bus of a port is that hangs on USB.

Source: lsusb(8).
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_DEVICE: Final = re.compile(
    r".*\bDriver=(?P<driver>ax88179_178a|asix|r815[0-9]\w*|cdc_(?:ncm|ether|mbim)|smsc\d+xx|lan78xx"
    r"|aqc111|sr9\w+|qmi_wwan|rtl8\w+|mt7\w+u|ath9k_htc|rt2800usb)(?:/\w+)?, (?P<rate>\d{2,5})M\b.*"
)

OUTPUTS: Final = {"usb": "lsusb -t"}
SIGN: Final = re.compile(r"\|__ Port \d+:|Driver=\w+(?:/\w+)?, \d+M")


def read(page: Page) -> Iterator[Fact]:
    """Yield the rate of the bus of each network device, in Mbit/s."""
    for at, line in enumerate(page.lines, 1):
        if found := _DEVICE.fullmatch(line):
            text = f"{found['rate']} Mbit/s"
            yield Fact("usb", found["driver"], "rate", number(found["rate"]), page.name, at, text)
