"""Rules that a forwarded packet passes, as iptables and nft list them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.importing.parsers.roles.rules import TABLES, counted_rules

SAVED = """\
*raw
:PREROUTING ACCEPT [0:0]
-A PREROUTING -i eth2 -j DROP
-A PREROUTING -p udp --dport 53 -j CT --notrack
COMMIT
*nat
:POSTROUTING ACCEPT [0:0]
-A PREROUTING -p tcp --dport 443 -j DNAT --to-destination 10.0.0.2
-A POSTROUTING -o eth0 -j MASQUERADE
-A POSTROUTING -o ppp0 -j MASQUERADE
COMMIT
*filter
:INPUT DROP [0:0]
:FORWARD DROP [0:0]
:before - [0:0]
:blocked - [0:0]
-A INPUT -i lo -j ACCEPT
-A FORWARD -j before
-A FORWARD -s 10.9.0.0/16 -j blocked
{known}-A FORWARD -i eth1 -o eth0 -j ACCEPT
-A before -m conntrack --ctstate INVALID -j DROP
-A before -p icmp -j ACCEPT
-A blocked -j DROP
COMMIT
"""
KNOWN = "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n"
LISTED = """\
Chain FORWARD (policy DROP 12 packets, 840 bytes)
num   pkts bytes target     prot opt in     out     source               destination
1      10M  14G before     all  --  *      *       0.0.0.0/0            0.0.0.0/0
2     9000 300K DROP       tcp  --  *      *       10.9.0.0/16          0.0.0.0/0
3      10M  14G ACCEPT     all  --  *      *       0.0.0.0/0            0.0.0.0/0            ctstate RELATED,ESTABLISHED
4        1   60 ACCEPT     all  --  eth1   eth0    0.0.0.0/0            0.0.0.0/0

Chain before (1 references)
num   pkts bytes target     prot opt in     out     source               destination
1        0     0 DROP       all  --  *      *       0.0.0.0/0            0.0.0.0/0            ctstate INVALID
"""  # noqa: E501 - as iptables prints
NFT = """\
table inet fw4 {
	set blocked {
		type ipv4_addr
		elements = { 10.0.0.1,
			10.0.0.2 }
	}
	chain raw_prerouting {
		type filter hook prerouting priority raw; policy accept;
		udp dport 53 notrack
	}
	chain forward {
		type filter hook forward priority filter; policy drop;
		counter packets 5 bytes 300 jump before comment "first"
		ip saddr @blocked drop
		tcp dport { 80,
			443 } accept
		ct state vmap { established : accept, related : accept }
		iifname "eth1" accept
	}
	chain before {
		ct state invalid drop
	}
	chain late {
		type filter hook forward priority filter + 10; policy accept;
		meta l4proto tcp accept
	}
	chain mangle_forward {
		type filter hook forward priority mangle; policy accept;
		oifname "eth0" tcp flags syn tcp option maxseg size set rt mtu
	}
	chain srcnat {
		type nat hook postrouting priority srcnat; policy accept;
		oifname "eth0" masquerade
	}
}
table ip6 other {
	chain forward {
		type filter hook forward priority filter; policy accept;
		meta nfproto ipv6 accept
	}
}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # jump and both rules of `before`, the source, the state; three of nat at two hooks
        (SAVED.format(known=KNOWN), {"raw": 2, "nat": 2, "filter": 5}),
        # nothing accepts what is known, so that the last rule is looked at, too
        (SAVED.format(known=""), {"raw": 2, "nat": 2, "filter": 5}),
        (LISTED, {"filter": 4}),
        # jump, its rule, set, ports, state; one at a later priority
        (NFT, {"raw": 1, "mangle": 1, "nat": 1, "filter": 6}),
        ("table ip6 a {\n\tchain f {\n\t\ttype filter hook forward priority 0;\n\t\taccept\n", {}),
        ("Chain INPUT (policy ACCEPT)\ntarget prot opt source destination\n", {}),
    ],
)
def test_a_packet_of_a_known_connection_passes_rules_until_one_accepts_it(
    text: str, expected: dict[str, int]
) -> None:
    assert counted_rules([text]) == expected


def test_tables_of_several_outputs_add_up() -> None:
    assert counted_rules([LISTED, NFT])["filter"] == 10


MANAGED = """\
# Warning: table ip filter is managed by iptables-nft, do not touch!
table ip filter {
	chain FORWARD {
		type filter hook forward priority filter; policy drop;
		counter packets 9 bytes 900 jump before
		ip saddr 10.9.0.0/16 counter packets 1 bytes 60 drop
		ct state related,established counter packets 8 bytes 800 accept
	}
	chain before {
		ct state invalid counter packets 0 bytes 0 drop
	}
}
"""


@pytest.mark.parametrize(
    ("texts", "count"),
    [
        ([MANAGED], 4),
        ([LISTED, MANAGED], 4),
        ([MANAGED, MANAGED, LISTED, LISTED], 4),
        # rules of a table of its own are beside those of iptables
        ([LISTED, MANAGED, NFT], 10),
    ],
)
def test_rules_that_two_tools_list_count_once(texts: list[str], count: int) -> None:
    assert counted_rules(texts)["filter"] == count


def test_a_chain_that_leads_into_itself_ends() -> None:
    assert counted_rules(["*filter\n-A FORWARD -j a\n-A a -j b\n-A b -j a\n"])["filter"] > 0


@given(
    st.lists(
        st.sampled_from([*SAVED.splitlines(), *NFT.splitlines(), *LISTED.splitlines(), "{", "}"])
    ).map("\n".join)
)
def test_no_text_is_too_strange(text: str) -> None:
    found = counted_rules([text])
    assert set(found) <= set(TABLES)
    assert all(0 < count <= 100_000 for count in found.values())
