"""What changed in TCP with which version of Linux: every rule, and its value on either side."""

from dataclasses import asdict
from itertools import pairwise
from typing import Any, TypeAlias

import pytest

from simnet.errors import InputError
from simnet.net.tcp.rules.receiver_version import ReceiverRules, receiver_rules
from simnet.net.tcp.rules.sender_version import SenderRules, congestion_controls, sender_rules

Rules: TypeAlias = ReceiverRules | SenderRules

# versions next to each other, and the rules that the later one has changed
RECEIVER: list[tuple[str, str, dict[str, Any]]] = [
    ("2.6.19", "2.6.20", {"pushed_twice": True}),
    ("2.6.23", "2.6.24", {"opens_small": True}),
    ("2.6.36", "2.6.37", {"locked_limits_scale": True}),
    ("2.6.38", "2.6.39", {"first_window_segments": 10}),
    ("3.0", "3.1", {"grows_twice_length": True}),
    ("3.3", "3.4", {"adv_win_scale": 1}),
    ("3.4", "3.5", {"coalesces": True, "collapses": False}),
    ("3.6", "3.7", {"defers_timer": True}),
    ("3.8", "3.9", {"rounds_current": True}),
    ("3.14", "3.15", {"right_sizing": 1, "zero_window_early": True}),
    ("4.1", "4.2", {"first_segment": 1}),
    ("4.7", "4.8", {"mss_clamped": True, "timer_rounds_up": True}),
    ("4.8", "4.9", {"prune_batches": 1}),
    ("4.12", "4.13", {"clock_us": True}),
    ("4.17", "4.18", {"quick_on_reorder": False, "compresses": True, "prune_batches": 2}),
    ("4.18", "4.19", {"filled_at_once": True}),
    ("4.19", "4.20", {"first_window_segments": 0}),
    ("4.20", "5.0", {"coalesces_backlog": True}),
    ("5.0", "5.1", {"pingpong_threshold": 3}),
    ("5.8", "5.9", {"grows_reordered": True}),
    ("5.9", "5.10", {"blocks_timer": False}),
    ("6.1", "6.2", {"keeps_lower": True}),
    (
        "6.5",
        "6.6",
        {
            "first_segment": 2,
            "pushed_full": True,
            "counts_scheduled": True,
            "adv_win_scale": 0,
            "initial_ratio": 65,
        },
    ),
    ("6.6", "6.7", {"pingpong_threshold": 1}),
    ("6.8", "6.9", {"initial_ratio": 128}),
    ("6.14", "6.15", {"right_sizing": 2}),
    ("6.16", "6.17", {"strict_window": True, "measures_reordered": True}),
]
SENDER: list[tuple[str, str, dict[str, Any]]] = [
    ("2.6.14", "2.6.15", {"bic_start": True, "delayed_ack": True}),
    (
        "2.6.23",
        "2.6.24",
        {
            "counts_sacked": True,
            "head_timeout_fack": True,
            "ack_shows_reordering": True,
            "dsack_goes_for_all": False,
            "moderates_open": False,
            "frto": True,
            "near_limit": True,
            "defers_two_ticks": True,
        },
    ),
    ("2.6.28", "2.6.29", {"hystart": True, "bic_start": False}),
    ("2.6.35", "2.6.36", {"whole_window_bytes": 512}),
    ("3.0", "3.1", {"keeps_handshake": True}),
    ("3.1", "3.2", {"reduction": 1}),
    ("3.9", "3.10", {"head_timeout": False}),
    ("3.12", "3.13", {"counts_slow_start": True}),
    ("3.15", "3.16", {"limited_when_sent": True}),
    ("3.17", "3.18", {"max_reordering": 300}),
    ("3.19", "4.0", {"counts_segments": True}),
    ("4.2", "4.3", {"reduction": 2, "slow_start_below": True}),
    ("4.10", "4.11", {"forward_retransmit": False}),
    ("4.12", "4.13", {"clock_us": True}),
    ("4.14", "4.15", {"fack": False}),
    ("4.16", "4.17", {"always_gso": True}),
    ("4.17", "4.18", {"newreno": True, "rack": True}),
    (
        "4.20",
        "5.0",
        {
            "limit_output_bytes": 1 << 20,
            "min_tso_segs": 2,
            "autocorking": True,
            "pacing_ss_ratio": 200,
            "pacing_ca_ratio": 120,
        },
    ),
    ("5.0", "5.1", {"defers_briefly": True, "dctcp_halves": True}),
    ("5.17", "5.18", {"tso_rtt_log": 9}),
    ("6.0", "6.1", {"keeps_limit": True}),
    ("6.5", "6.6", {"rack_margin_us": 2000}),
    ("6.6", "6.7", {"single_passes": 1}),
    ("6.15", "6.16", {"limit_output_bytes": 4 << 20}),
]


def changes(before: Rules, after: Rules) -> dict[str, Any]:
    """Return the fields that differ, as they are after, each with its type."""
    old, later = asdict(before), asdict(after)
    return {name: value for name, value in later.items() if value != old[name]}


class TestReceiver:
    def test_2_6_9_to_2_6_19_are_as_2_6_18(self) -> None:
        versions = ("2.6.9", "2.6.18", "2.6.19")
        assert {receiver_rules(version) for version in versions} == {ReceiverRules()}
        rules = asdict(ReceiverRules())
        holding = {"quick_on_reorder", "blocks_timer", "collapses"}
        assert {name for name, value in rules.items() if value is True} == holding
        numbers = {name: value for name, value in rules.items() if type(value) is int and value}
        assert numbers == {
            "compress_max_ps": 10**9,
            "compress_slack_ps": 10**8,
            "compress_most": 44,
            "pingpong_threshold": 1,
            "adv_win_scale": 2,
            "first_window_segments": 4,
        }

    @pytest.mark.parametrize(("before", "since", "changed"), RECEIVER)
    def test_each_rule_came_with_its_version(
        self, before: str, since: str, changed: dict[str, Any]
    ) -> None:
        assert changes(receiver_rules(before), receiver_rules(since)) == changed

    def test_nothing_changed_between(self) -> None:
        for (_, since, _), (before, _, _) in pairwise(RECEIVER):
            assert receiver_rules(since) == receiver_rules(before)
        assert receiver_rules("6.17") == receiver_rules("7.0")

    def test_names_of_distributions_are_understood(self) -> None:
        assert receiver_rules("6.18.44-amd64") == receiver_rules("6.18")

    def test_what_is_no_version(self) -> None:
        with pytest.raises(InputError, match='"new" is no version'):
            receiver_rules("new")


class TestSender:
    def test_2_6_18_has_the_defaults(self) -> None:
        for version in ("2.6.15", "2.6.18", "2.6.23"):
            assert sender_rules(version) == SenderRules()
        rules = asdict(SenderRules())
        assert {name for name, value in rules.items() if value is True} == {
            "fack",
            "head_timeout",
            "dsack_goes_for_all",
            "forward_retransmit",
            "moderates_open",
            "bic_start",
            "delayed_ack",
            "minshall",
            "half_window",
        }
        numbers = {name: value for name, value in rules.items() if type(value) is int and value}
        assert numbers == {"max_reordering": 127}

    def test_before_2_6_15_bic_began_otherwise(self) -> None:
        early = {"bic_start": False, "delayed_ack": False}
        for version in ("2.6.0", "2.6.9", "2.6.14"):
            assert changes(sender_rules("2.6.18"), sender_rules(version)) == early

    @pytest.mark.parametrize(("before", "since", "changed"), SENDER)
    def test_each_rule_came_with_its_version(
        self, before: str, since: str, changed: dict[str, Any]
    ) -> None:
        assert changes(sender_rules(before), sender_rules(since)) == changed

    def test_nothing_changed_between(self) -> None:
        for (_, since, _), (before, _, _) in pairwise(SENDER):
            assert sender_rules(since) == sender_rules(before)
        assert sender_rules("6.16") == sender_rules("7.0")

    @pytest.mark.parametrize(
        ("version", "names"),
        [
            ("2.6.0", ("reno",)),
            ("2.6.5", ("reno",)),
            ("2.6.6", ("reno", "bic")),
            ("2.6.14", ("reno", "bic")),
            ("2.6.15", ("reno", "bic", "cubic")),
            ("4.17", ("reno", "bic", "cubic")),
            ("6.18.44-amd64", ("reno", "bic", "cubic", "dctcp", "bbr")),
        ],
    )
    def test_what_controls_congestion(self, version: str, names: tuple[str, ...]) -> None:
        assert congestion_controls(version) == names
