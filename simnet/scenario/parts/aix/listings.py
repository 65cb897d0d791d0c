"""What `lsattr -El` and `no -a` print.

- `lsattr -El ent3`: attribute, value, description, and True or False in columns. The value may be
  missing.
- `no -a`: `attribute = value`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from simnet.scenario.commands.attribute_listing import Attribute, Lines, Listed
from simnet.scenario.commands.captured import Target
from simnet.scenario.core.knob import Knob
from simnet.scenario.core.tree import Entry
from simnet.scenario.parts.aix.lsattr import LSATTR
from simnet.scenario.parts.aix.no import NO


class _Connections(Target):
    """Hosts whose attributes are of their connections."""

    def entries(self, one: Attribute, knob: Knob) -> tuple[list[Entry], str]:
        """What an attribute sets, if there are connections."""
        if not self.ports:
            return [], "no connection of TCP is simulated here"
        return super().entries(one, knob)


class _Columns(Listed):
    """`lsattr`: an empty value is known by the column where values begin."""

    def attributes(self, lines: Lines) -> Iterator[Attribute]:
        """Yield the attributes of a listing."""
        matched = [(number, lines.match(self, self.line, number, line)) for number, line in lines]
        starts = Counter(found.start("rest") for _, found in matched)
        column = min(starts, default=0)
        for number, found in matched:
            here = found.start("rest") == column
            value = found["rest"].split(maxsplit=1)[0] if here else ""
            yield Attribute(found["name"], value, number)


LISTINGS: Final = (
    _Columns(
        command="lsattr",
        title="lsattr -El",
        typed=r"lsattr\s+-El?\s*(?P<device>\w+)",
        line=re.compile(r"(?P<name>\w+)\s+(?!=)(?P<rest>\S.*\S)\s+(?:True|False)\+?\s*"),
        form="attribute, value, description, and True or False at the end, as lsattr -El prints",
        known=LSATTR,
        knob="chdev -l {{port}} -a {}",
        target=_Connections,
        system="aix",
    ),
    Listed(
        command="no",
        title="no -a",
        typed=r"no\s+-a",
        line=re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<value>\S.*?)\s*"),
        form="attribute = value, as no -a prints",
        known=NO,
        knob="no -o {}",
        target=_Connections,
        system="aix",
    ),
)
