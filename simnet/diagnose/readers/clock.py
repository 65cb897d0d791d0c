"""Idle states, clocks and governors: cpupower, and the files of /sys that it reads."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_STATE: Final = re.compile(r"\s*(?P<name>C\d\w*|POLL|C\d\w*-\w+)(?P<off> \(DISABLED\))?\s*:\s*")
_LATENCY: Final = re.compile(r"\s*Latency:\s*(\d+)")
_FILE: Final = re.compile(r"cpuidle/(?P<state>state\d+)/latency:\s*(?P<us>\d+)")
_LISTED: Final = re.compile(r"cpuidle/\S*latency\s*$")
_ALONE: Final = re.compile(r"\s*(?P<name>(?:POLL|C\d)\w*)?\s*(?P<us>\d{1,5})\s*")
_GOVERNOR: Final = re.compile(
    r"governor \"(?P<typed>\w+)\"|(?:scaling_governor\S*\s*[:=]\s*|\bGovernor: )(?P<file>\w+)"
)
# what cat shows, counted by uniq or not
_BARE: Final = re.compile(
    r"\s*(?:\d{1,5}\s+)?(?P<name>performance|powersave|ondemand|conservative|schedutil|userspace)\s*"
)
_POLICY: Final = re.compile(
    r"current policy: frequency should be within \S+ [MG]Hz and (?P<most>[\d.]+) (?P<unit>[MG])Hz"
)
_LIMITS: Final = re.compile(r"hardware limits: \S+ [MG]Hz - (?P<most>[\d.]+) (?P<unit>[MG])Hz")
_FREQUENCY: Final = re.compile(r"(?P<name>scaling_max_freq|cpuinfo_max_freq)\s*[:=]\s*(?P<khz>\d+)")

_PI: Final = re.compile(r"(?:.*\s)?throttled=(?P<bits>0x[0-9a-f]{1,8})\b.*")

OUTPUTS: Final = {"idle": "idle states"}
SIGN: Final = re.compile(
    r"cpuidle|CPUidle|[Gg]overnor|hardware limits|_max_freq|Latency: \d|\bthrottled=0x",
    re.MULTILINE,
)


def read(page: Page) -> Iterator[Fact]:
    """Yield exit latencies in us, governors, and clocks in MHz."""
    state = ""
    off = listed = governed = False
    for at, line in enumerate(page.lines, 1):
        if _LISTED.search(line):
            listed, state = True, "the deepest state"
        elif listed and (alone := _ALONE.fullmatch(line)):
            us = alone["us"]
            yield Fact(
                "idle", alone["name"] or state, "latency", number(us), page.name, at, f"{us} us"
            )
        else:
            listed = False
        if head := _STATE.match(line):
            state, off = head["name"], bool(head["off"])
        if (leave := _LATENCY.match(line)) and state and not off:
            yield Fact("idle", state, "latency", number(leave[1]), page.name, at, f"{leave[1]} us")
        if file := _FILE.search(line):
            us = file["us"]
            yield Fact("idle", file["state"], "latency", number(us), page.name, at, f"{us} us")
        if governor := _GOVERNOR.search(line):
            text = governor["typed"] or governor["file"]
            yield Fact("clock", "", "governor", 0, page.name, at, text)
        elif governed and (bare := _BARE.fullmatch(line)):
            yield Fact("clock", "", "governor", 0, page.name, at, bare["name"])
        governed = "scaling_governor" in line or (governed and bool(_BARE.fullmatch(line)))
        for name, pattern in (("policy", _POLICY), ("hardware", _LIMITS)):
            if found := pattern.search(line):
                mhz = number(found["most"]) * (1000 if found["unit"] == "G" else 1)
                yield Fact("clock", "", name, mhz, page.name, at, f"{mhz:g} MHz")
        yield from _of_file(page, at, line)


def _of_file(page: Page, at: int, line: str) -> Iterator[Fact]:
    """Yield what a file of cpufreq, or the firmware of a Raspberry Pi, says of clocks."""
    if found := _PI.fullmatch(line):
        bits = float(int(found["bits"], 16))
        yield Fact("clock", "", "get_throttled", bits, page.name, at, found["bits"])
    if found := _FREQUENCY.search(line):
        name = "policy" if found["name"].startswith("scaling") else "hardware"
        mhz = number(found["khz"]) / 1000
        yield Fact("clock", "", name, mhz, page.name, at, f"{mhz:g} MHz")
