"""What `mmlsconfig` prints: attribute and value.

`[NODECLASS]` begins what holds of some nodes, `[common]` what holds of all. With its heading the
list of file systems has to follow. Lines may begin with `! `, as in a text that was annotated.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.scenario.commands.attribute_listing import Attribute, Lines, Listed, Listing
from simnet.scenario.commands.captured import Target, knob_of
from simnet.scenario.core.knob import Knob
from simnet.scenario.parts.scale.attributes import SCALE_ATTRIBUTES, of_servers
from simnet.scenario.parts.scale.knobs import SERVERS

_SECTION: Final = re.compile(r"(?:!\s*)?\[(?P<nodes>[^\]]+)\]\s*")
_HEADING: Final = re.compile(r"Configuration data for cluster \S+:\s*")
_TRAILER: Final = re.compile(r"File systems in cluster \S+:\s*")
_RULE: Final = re.compile(r"-+\s*")
_COMMON: Final = "common"


def is_of_servers(listing: Listing, nodes: str) -> bool:
    """Whether it is the configuration of nodes that have disks of their own.

    Args:
        listing: what was printed.
        nodes: a node or node class; empty for what holds of all nodes, which does not count, unless
            the listing is of one node.
    """
    if listing.nodes and not nodes:
        return False
    return any(of_servers(one.name) for one in listing.attributes if one.belongs_to(nodes))


class _Nodes(Target):
    """The clients of a file system, or its servers."""

    @property
    def _servers(self) -> bool:
        return is_of_servers(self.listing, self.nodes)

    @property
    def title(self) -> str:
        """The command, and whose configuration it is taken for."""
        return f"{self.listing.title} of the {'servers' if self._servers else 'clients'}"

    def check(self) -> None:
        """Refuse a scenario without the file system, and nodes that the listing does not have."""
        if self.peers:
            raise self.error("the peers of a scenario are no nodes of a file system")
        if "scale" not in self.tree.values:
            raise self.error("the scenario has no file system of Spectrum Scale")
        sections = self.listing.nodes
        classes = [name for section in sections for name in section.split(",")]
        if self.nodes and self.nodes not in classes:
            known = ", ".join(classes) or "none"
            raise self.error(f"no node class {self.nodes!r}: the listing has {known}")
        if sections and not self.nodes:
            names = ", ".join(f"[{section}]" for section in sections)
            self.remarks.append(
                f"{self.listing.file}: what holds of {names} alone is not set;"
                f" --apply {classes[0]}:{self.listing.file} does"
            )

    def knob(self, attribute: str) -> Knob | None:
        """The knob that an attribute is: of the servers and the clients there are two."""
        listed = self.listing.listed
        return knob_of(listed, attribute, listed.suffix if self._servers else "")

    def elsewhere(self, one: Attribute) -> str:
        """Whose attribute it is, if it is not of these nodes."""
        if one.nodes and not one.belongs_to(self.nodes):
            return f"of {one.nodes}"
        alien = not self._servers and of_servers(one.name)
        return "of a server with disks of its own" if alien else ""


class _Sections(Listed):
    """`mmlsconfig`, whose sections are of some nodes."""

    def begins(self, line: str) -> bool:
        """Whether its listing begins with such a line."""
        scale = self.line.fullmatch(line)
        known = scale and (line.startswith("! ") or scale["name"] in self.known)
        return bool(_HEADING.fullmatch(line) or _SECTION.fullmatch(line) or known)

    def attributes(self, lines: Lines) -> Iterator[Attribute]:
        """Yield the attributes of a listing, with the nodes that they are for."""
        nodes = ""
        headed = ended = False
        for number, line in lines:
            if _TRAILER.fullmatch(line):
                ended = True
                break
            if _HEADING.fullmatch(line):
                headed = True
            elif section := _SECTION.fullmatch(line):
                nodes = "" if section["nodes"] == _COMMON else section["nodes"]
            elif not (headed and _RULE.fullmatch(line)):
                found = lines.match(self, self.line, number, line)
                yield Attribute(found["name"], found["value"], number, nodes)
        if headed and not ended:
            lines.fail("the listing is cut here: expected `File systems in cluster`", lines.last)


LISTINGS: Final = (
    _Sections(
        command="mmlsconfig",
        title="mmlsconfig",
        typed=r"mmlsconfig(?:\s.*)?",
        line=re.compile(r"(?:!\s*)?(?P<name>[A-Za-z]\w*)(?:\s+\([^)]*\))?\s+(?P<value>\S.*?)\s*"),
        form="attribute and value, as mmlsconfig prints",
        known=SCALE_ATTRIBUTES,
        knob="mmchconfig {}",
        target=_Nodes,
        suffix=f" {SERVERS}",
    ),
)
