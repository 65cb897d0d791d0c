"""Rules of netfilter that a forwarded packet of a known connection is compared with, by table.

A chain ends for such a packet at the rule that accepts established connections; a rule that jumps
without a condition leads into another chain. Rules of nat see only the first packet of a
connection. iptables-nft keeps its rules in tables of nft, `ip filter` with a chain `FORWARD` and so
on: where both list them they count once.

Source: iptables(8), iptables-save(8), xtables-nft(8), nft(8): `ct state vmap`, names and numbers of
priorities.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

OF_CONTAINERS: Final = re.compile(r"\bDOCKER|\bKUBE-|\bCNI-|\bcni\b|libvirt|LIBVIRT|lxcbr|podman")
"""What rules of containers and guests have, and not those of routers."""
FLOW_TABLE: Final = re.compile(
    r"^[ \t]*[^#\n]{0,200}(?:\bflow (?:add|offload) @\w|-j FLOWOFFLOAD\b)", re.MULTILINE
)
"""A rule that puts connections into a flow table."""
_MOST: Final = 100_000
_DEEPEST: Final = 16
_IN_CHAIN: Final = 2
# hooks that a forwarded packet passes, at which a table may have rules
_HOOKS: Final = {
    "raw": ("PREROUTING",),
    "mangle": ("PREROUTING", "FORWARD", "POSTROUTING"),
    "nat": ("PREROUTING", "POSTROUTING"),
    "filter": ("FORWARD",),
    "security": ("FORWARD",),
}
_SAVED_TABLE: Final = re.compile(r"\*(raw|mangle|nat|filter|security)\s*")
_SAVED_RULE: Final = re.compile(r"(?:\[\d+:\d+\] )?-A (\S{1,60})(?: (.*))?")
_LISTED_CHAIN: Final = re.compile(r"Chain (\S{1,60}) \((?:policy|\d+ references)")
_LISTED_HEAD: Final = re.compile(r"\s*(?:num +)?(?:pkts +bytes +)?target +prot")
# number, packets and bytes; target, protocol, options (and interfaces with -v), source, destination
_LISTED_RULE: Final = re.compile(
    r"\s*(?:\d+ +)?(?:\d+[KMGT]? +\d+[KMGT]? +)?(?P<target>[A-Za-z][\w-]{0,60})"
    r" +(?P<protocol>\S+) +(?:--|-f|!f) +(?P<rest>.*)"
)
_ANYWHERE: Final = re.compile(
    r"(?:(?:\*|any) +(?:\*|any) +)?(?:0\.0\.0\.0/0|anywhere|::/0) +(?:0\.0\.0\.0/0|anywhere|::/0)"
    r"(?: +/\*.*\*/)?\s*"
)
_SAVED_JUMP: Final = re.compile(r'(?:-m comment --comment (?:"[^"]*"|\S+) )?-[jg] (\S+)\s*')
_NFT_TABLE: Final = re.compile(r"\s*table ((?:ip|inet) \S{1,60}) \{")
_NFT_OTHER: Final = re.compile(r"\s*table (?:ip6|arp|bridge|netdev) \S{1,60} \{")
_IS_NFT: Final = re.compile(r"^\s*table (?:ip6?|inet|arp|bridge|netdev) \S", re.MULTILINE)
_NFT_CHAIN: Final = re.compile(r"\s*chain (\S{1,60}) \{")
_NFT_HOOK: Final = re.compile(
    r"\s*type (filter|nat|route) hook (\w+)(?: device \S+)? priority"
    r" (?P<name>[a-z]+)?(?: ?(?P<sign>[+-]?) ?(?P<number>\d{1,9}))?\s*;.*"
)
_NFT_JUMP: Final = re.compile(
    r"(?:counter(?: packets \d+ bytes \d+)? )?(?:jump|goto) (\S+)(?: .*)?"
)
_NFT_PRIORITIES: Final = {
    "raw": -300,
    "mangle": -150,
    "dstnat": -100,
    "filter": 0,
    "security": 50,
    "srcnat": 100,
}
_BETWEEN: Final = -200
TABLES: Final = tuple(_HOOKS)
"""Tables that a packet passes, by the names of `[forward]`: with `_rules` behind."""
_KNOWN: Final = re.compile(
    r"ESTABLISHED.*-j ACCEPT|established[^;]*?[,:}\s]accept\b|^ACCEPT .*ESTABLISHED"
)


class _Chains(dict[tuple[str, str], list[tuple[bool, str]]]):
    """Chains by table and name.

    Of each rule whether it ends the way of known connections, and where it leads without a
    condition.
    """

    def add(self, table: str, name: str, rule: str, jump: str) -> None:
        """Enter a rule, and where it leads without a condition; empty if it has one."""
        chain = self.setdefault((table, name), [])
        if len(chain) < _MOST:
            chain.append((bool(_KNOWN.search(rule)), jump))

    def length(self, table: str, name: str, depth: int = 0) -> tuple[int, bool]:
        """Return with how many rules a packet is compared, and whether one of them ends its way."""
        count = 0
        for ends, target in self.get((table, name), ()) if depth < _DEEPEST else ():
            count += 1
            if target:
                more, ends = self.length(table, target, depth + 1)  # noqa: PLW2901 - of the target
                count += more
            if ends or count >= _MOST:
                return min(count, _MOST), True
        return count, False


def counted_rules(texts: Iterable[str]) -> Mapping[str, int]:
    """Return how many rules of each table a packet that is forwarded is compared with.

    Args:
        texts: outputs of iptables-save, iptables -S, iptables -L, nft list ruleset.
    """
    listed: dict[str, int] = {}
    bases: dict[tuple[str, str], tuple[str, int]] = {}
    for text in texts:
        if _IS_NFT.search(text):
            bases |= _of_nft(text)
        else:
            # iptables-save, -S and -L list the same rules
            for table, count in _of_iptables(text).items():
                listed[table] = max(listed.get(table, 0), count)
    found: dict[str, list[int]] = {table: [] for table in TABLES}
    for (of, chain), (table, length) in bases.items():
        if table not in listed or of != f"ip {table}" or chain not in _HOOKS[table]:
            found[table].append(length)
    return {
        table: min(listed.get(table, 0) + count, _MOST)
        for table, count in (dict.fromkeys(listed, 0) | _means(found)).items()
    }


def _of_iptables(text: str) -> dict[str, int]:
    chains, table, chain = _Chains(), "filter", ""
    nat = re.search(r"\b(?:MASQUERADE|[SD]NAT)\b", text) is not None
    for line in text.splitlines():
        if saved := _SAVED_TABLE.fullmatch(line):
            table, chain = saved[1], ""
        elif rule := _SAVED_RULE.fullmatch(line):
            jump = _SAVED_JUMP.fullmatch(rule[2] or "")
            chains.add(table, rule[1], line, jump[1] if jump else "")
        elif listed := _LISTED_CHAIN.match(line):
            chain = listed[1]
            if chain in {"PREROUTING", "POSTROUTING"} and table == "filter" and nat:
                table = "nat"
        elif chain and not _LISTED_HEAD.match(line) and (rule := _LISTED_RULE.fullmatch(line)):
            plain = rule["protocol"] in {"all", "0"} and _ANYWHERE.fullmatch(rule["rest"])
            line_of_rule = f"{rule['target']} {rule['rest']}"
            chains.add(table, chain, line_of_rule, rule["target"] if plain else "")
    return _means(
        {table: [chains.length(table, hook)[0] for hook in _HOOKS[table]] for table in TABLES}
    )


def _means(counts: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """Return the mean of the rules at the hooks of each table that has any, rounded up."""
    return {
        table: -(-sum(found) // len(_HOOKS[table])) for table, found in counts.items() if any(found)
    }


def _of_nft(text: str) -> dict[tuple[str, str], tuple[str, int]]:
    """Return of each base chain, by table and name, whose place it has, and its length."""
    chains = _Chains()
    bases: list[tuple[str, str, str, str]] = []
    table = chain = ""
    depth = 0
    for line in text.splitlines():
        if opened := _NFT_TABLE.fullmatch(line) or _NFT_OTHER.fullmatch(line):
            # only tables of IPv4 have a name here
            table, chain, depth = opened[1] if opened.lastindex else "", "", 1
            continue
        if table and depth == 1 and (opened := _NFT_CHAIN.fullmatch(line)):
            chain, depth = opened[1], _IN_CHAIN
            continue
        if chain and depth >= _IN_CHAIN:
            if base := _NFT_HOOK.fullmatch(line):
                bases.append((table, chain, _table_of(base), base[2]))
            elif depth == _IN_CHAIN and (rule := line.strip()) not in {"", "}"}:
                jump = _NFT_JUMP.fullmatch(rule)
                chains.add(table, chain, rule, jump[1] if jump else "")
        depth += line.count("{") - line.count("}")
        if depth < _IN_CHAIN:
            chain = ""
    return {
        (of, name): (called, chains.length(of, name)[0])
        for of, name, called, hook in bases
        if hook.upper() in _HOOKS[called]
    }


def _table_of(base: re.Match[str]) -> str:
    """The table of iptables that has the place of a base chain."""
    if base[1] == "nat":
        return "nat"
    number = _NFT_PRIORITIES.get(base["name"] or "filter", 0) if base["name"] else 0
    if base["number"]:
        number += -int(base["number"]) if base["sign"] == "-" else int(base["number"])
    if base[2] == "forward" and number >= 0:
        return "filter" if number < _NFT_PRIORITIES["security"] else "security"
    return "raw" if number < _BETWEEN else "mangle"
