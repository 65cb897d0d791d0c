"""The timeout with which a connection begins: its handshake has told the round trip."""

import pytest

from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.send.sender import TcpSender
from simnet.scenario.core.load import load
from simnet.scenario.parts.tcp.build import receiver_settings, sender_settings

JIFFIES_PER_S = 1000
AFTER_HANDSHAKE = 200 + 1
TIMEOUT_INIT = 3 * JIFFIES_PER_S


def test_a_lost_first_segment_is_sent_again_after_the_least_timeout() -> None:
    host = load("tcp-rr-one-queue").host
    assert TcpSender(sender_settings(host, host.ports[0])).timer.rto == AFTER_HANDSHAKE


def test_a_receiver_takes_a_gap_that_long_for_a_timeout() -> None:
    host = load("tcp-rr-one-queue").host
    assert TcpReceiver(receiver_settings(host, host.ports[0])).delack.rto_jiffies == AFTER_HANDSHAKE


@pytest.mark.parametrize(
    ("version", "expected"),
    [("2.6.38", TIMEOUT_INIT), ("3.0", TIMEOUT_INIT), ("3.1", AFTER_HANDSHAKE)],
)
def test_without_timestamps_2_6_forgets_the_handshake(version: str, expected: int) -> None:
    host = load("tcp-rr-one-queue", settings={"net.ipv4.tcp_timestamps": "0"}).host
    kernel = host.kernel.model_copy(update={"version": version})
    host = host.model_copy(update={"kernel": kernel})
    assert TcpSender(sender_settings(host, host.ports[0])).timer.rto == expected
