"""What the two ends of a connection begin with: `tcp_init_sock`, and `tcp_select_initial_window`.

The kernel's sockets begin with zeros. Listed is what does not: settings, rules of the version, and
-1 for what is not known. Segments carry 1000 bytes, jiffies are 4 ms.
"""

from typing import Any

import pytest

from simnet.net.tcp.congestion.cubic import CongestionMaker
from simnet.net.tcp.rules.receiver_version import receiver_rules
from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.sender import TcpSender
from tests.net.parts import make_receiver
from tests.net.tcp.send.test_sender import make

UNKNOWN = -1
INFINITE = 0x7FFFFFFF
# TCP_DEFAULT_SCALING_RATIO: half of a buffer is payload
HALF = 1 << 7


def begun(part: Any) -> dict[str, int]:
    """Return an object's numbers that are not zero."""
    names = (name for name in dir(part) if not name.startswith("_"))
    found = {name: getattr(part, name) for name in names}
    return {name: value for name, value in found.items() if isinstance(value, int) and value}


STATE = {"retrans_stamp": UNKNOWN, "tsecr": UNKNOWN}
COUNTED = {
    *("counts_sacked", "forward_retransmit", "head_timeout", "head_timeout_fack", "uses_frto")
}
OUTPUT = {"deferred_jiffy": UNKNOWN, "unsent_jiffy": UNKNOWN, "tso_win_divisor": 3}
SEQUENCE = {
    **dict.fromkeys(("mss", "path_mss"), 1000),
    **dict.fromkeys(("max_window", "snd_wnd"), 1 << 20),
    "half_window": True,
    "overhead_bytes": 250,
    "sndbuf": 16_384,
    "wmem_max": 131_072,
}
BOARD = {
    "reordering": 3,
    "least_reordering": 3,
    "rtt_jiffies": UNKNOWN,
    # room for four segments
    "mask": 3,
}
SENDERS: dict[str, tuple[str, dict[str, bool], dict[str, dict[str, int]]]] = {
    "2.6.32": (
        "2.6.32",
        {"sack": True},
        {
            "recovery": STATE | dict.fromkeys(COUNTED, 1),
            "recovery.tags": {"ack_shows_reordering": 1, "counts_sacked": 1, "fack": 1},
            "recovery.search": {},
            "board": BOARD | {"max_reordering": 127, "sack": 1},
            # TCP_MIN_MSS less nothing: 68 bytes of a datagram, of which 20 are IP's
            "seq": SEQUENCE | {"least_mss": 48},
            "timer": {"rto": 750, "rto_jiffy": UNKNOWN},
            "output": OUTPUT | {"defers_two_ticks": 1, "minshall": 1, "nagle_limit": 1 << 62},
            "validation": {"initial_cwnd": 3, "near_limit": 1, "restarts": 1, "tso_win_divisor": 3},
        },
    ),
    "6.18": (
        "6.18",
        {"sack": True, "timestamps": True},
        {
            "recovery": STATE,
            "board": BOARD | {"max_reordering": 300, "sack": 1},
            # and another 12 are the timestamps'
            "seq": SEQUENCE | {"least_mss": 36, "whole_window_bytes": 512},
            "timer": {"rto": 750, "rto_jiffy": UNKNOWN, "wants_us": 1},
            "output": OUTPUT
            | {"defers_two_ticks": 1, "minshall": 1, "nagle_limit": 1 << 62}
            | {"defers_briefly": 1, "timestamps": 1},
            "validation": {
                "initial_cwnd": 3,
                "near_limit": 1,
                "restarts": 1,
                "tso_win_divisor": 3,
                "keeps_limit": 1,
                "limited_when_sent": 1,
            },
            # 4 MiB, twice the rate in slow start, 1.2 times it later; no rate is known yet
            "output.small_queue": {
                "autocorking": 1,
                "limit_output_bytes": 4 << 20,
                "min_tso_segs": 2,
                "pacing_ss_ratio": 200,
                "pacing_ca_ratio": 120,
                "tso_rtt_log": 9,
                "overhead_bytes": 250,
                "single_passes": 1,
                "pacing": 1 << 40,
            },
        },
    ),
    "6.18 without SACK": (
        "6.18",
        {"sack": False},
        {"recovery": STATE, "board": BOARD | {"max_reordering": 300}},
    ),
}


def part(sender: TcpSender, path: str) -> Any:
    found: Any = sender
    for name in path.split("."):
        found = getattr(found, name)
    return found


@pytest.mark.parametrize("case", SENDERS)
def test_a_sender(case: str) -> None:
    version, options, expected = SENDERS[case]
    sender = make(rules=sender_rules(version), **options)
    assert {path: begun(part(sender, path)) for path in expected} == {
        path: {name: int(value) for name, value in numbers.items()}
        for path, numbers in expected.items()
    }
    assert begun(sender) == {}
    assert begun(sender.board.undo) == {"marker": UNKNOWN}


# beta is 717 of 1024; its scale is 8 (1024 + 717) / 3 / (1024 - 717)
CONGESTION = {
    "reno": {},
    "bic": {"ack_ratio": 2 << 4, "counts_delayed": 1, "refresh": 7},
    "cubic": {
        "ack_ratio": 2 << 4,
        "beta": 717,
        "beta_scale": 15,
        "hystart": 1,
        "hz": 250,
        "wants_us": 1,
    },
}


@pytest.mark.parametrize("version", ["2.6.32", "6.18"])
@pytest.mark.parametrize("name", CONGESTION)
def test_a_window_to_send_in(name: str, version: str) -> None:
    rules = sender_rules(version)
    found = CongestionMaker(name, 10, mss=1460, abc=0, hz=250, rules=rules).make()
    later = {"counts_segments": 1, "counts_slow_start": 1, "slow_start_below": 1}
    usual = {"clamp": 65_535, "sndbuf_factor": 2, "cwnd": 10, "mss": 1460, "ssthresh": INFINITE}
    extra = dict(CONGESTION[name])
    if name == "bic":
        extra.pop("refresh")
    assert {key: value for key, value in begun(found).items() if key != "refresh"} == (
        usual | extra | (later if version == "6.18" else {})
    )


WINDOWS = {
    # a quarter of the buffer is overhead, and a segment more is kept free; the first window is
    # four segments, as RFC 3390 has it
    "2.6.18": {
        "adv_win_scale": 2,
        "first": 4000,
        "rcv_ssthresh": 4000,
        "rcvq_space": 4000,
        "window_clamp": 87_380 - 87_380 // 4 - 1000,
    },
    # half of it is, the first window is what is left, and receiving ten segments comes first
    "6.18": {
        "ratio": HALF,
        "right_sizing": 2,
        "first": 43_000,
        "rcvq_space": 10_000,
        **dict.fromkeys(("window_clamp", "rcv_ssthresh"), 87_380 // 2 - 1000),
        "grows_twice_length": 1,
        "opens_small": 1,
        "zero_window_early": 1,
    },
}
ACKS = {
    "ato_min": 10,
    "delack_min": 10,
    "delack_max": 50,
    "rto_jiffies": 750,
    "advmss": 1000,
    "max_quickacks": 16,
    "min_rcvmss": 536,
    "rcv_mss": 536,
    # timestamps
    "option_bytes": 12,
    "pingpong_threshold": 1,
    "timeout_jiffy": UNKNOWN,
    "bare": 1,
}


@pytest.mark.parametrize("version", WINDOWS)
def test_a_receiver(version: str) -> None:
    receiver = make_receiver(rules=receiver_rules(version))
    window = receiver.window
    found = begun(window)
    # of rtt, in eighths, only that there is one is said
    found.pop("rtt", None)
    assert found == WINDOWS[version] | {
        "advmss": 1000,
        "moderate": 1,
        "rcvbuf": 87_380,
        "rmem_max": 174_760,
        # 174760 fits into 16 bits when two are cut off
        "wscale": 2,
        "rcvq_time": UNKNOWN,
        "rtt_time": UNKNOWN,
    }
    assert begun(window.queue) == {}
    assert begun(window.held) == {"kept": 1} | ({"coalesces": 1} if version == "6.18" else {})
    assert begun(receiver.seq)["rcv_wnd"] == WINDOWS[version]["first"]
    acks = {name: value for name, value in begun(receiver.delack).items() if name in ACKS}
    assert acks == ACKS
    compressed = {"compressed_at": UNKNOWN, "max_ps": 10**9, "slack_ps": 10**8}
    # sysctl_tcp_comp_sack_nr came with 4.18
    assert begun(receiver.compression) == compressed | ({"most": 44} if version == "6.18" else {})
