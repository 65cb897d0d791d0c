"""Who reaches the page, how many at once, and what it says of what is no request of its own."""

from __future__ import annotations

import base64
import logging
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

pn = pytest.importorskip("panel")

from simnet.page.guard import MOST_SESSIONS  # noqa: E402 (needs Panel)
from simnet.page.serve import served  # noqa: E402

MALFORMED = {
    "unknown type": ('{"msgtype":"x","msgid":"1"}', "{}", "{}"),
    "no type": ("[]", "[]", "[]"),
    "unknown event": (
        '{"msgtype":"PATCH-DOC","msgid":"1"}',
        "{}",
        '{"events":[{"kind":"z\\u001b[2J\\u202e"}]}',
    ),
    "no events": ('{"msgtype":"PATCH-DOC","msgid":"1"}', "{}", '{"events":5}'),
}
SHOWN: list[str] = []


@pytest.fixture(scope="module")
def address() -> str:
    def shown() -> object:
        SHOWN.append("")
        return pn.pane.HTML("<p>hello</p>")

    return served(shown)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Iterator[list[str]]:
    """What the page's loggers print."""
    found: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            formatter = logging.getLogger("bokeh").handlers[0].formatter
            assert formatter is not None
            found.append(formatter.format(record))

    handler = Kept()
    logging.getLogger("bokeh").addHandler(handler)
    yield found
    logging.getLogger("bokeh").removeHandler(handler)
    capsys.readouterr()


def asked(address: str, host: str) -> int:
    request = urllib.request.Request(address, headers={"Host": host})  # noqa: S310 (seen to be http)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def socket_of(address: str, host: str, token: str = "") -> tuple[socket.socket, bytes]:
    """A websocket, and the status of its answer."""
    _, _, place, path = address.split("/")
    name, port = place.split(":")
    found = socket.create_connection((name, int(port)), timeout=30)
    lines = (
        f"GET /{path}/ws HTTP/1.1",
        f"Host: {host}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Protocol: bokeh, {token}",
        f"Origin: http://{host}",
    )
    found.sendall("\r\n".join((*lines, "", "")).encode())
    return found, found.recv(4096).split(b"\r\n")[0]


def test_a_host_of_another_name_reaches_nothing(address: str) -> None:
    place = address.split("/")[2]
    before = len(SHOWN)
    for host in ("evil.com", "127.0.0.1.evil.com", "127x0.0.1", place.replace("127", "128")):
        assert asked(address, host) == 404
        channel, answer = socket_of(address, host)
        channel.close()
        assert answer.startswith(b"HTTP/1.1 404")
    assert len(SHOWN) == before
    assert asked(address, place) == 200


def test_a_malformed_frame_is_one_line(address: str, said: list[str]) -> None:
    place = address.split("/")[2]
    with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 (seen to be http)
        (token,) = re.findall(r'"token":"([^"]+)"', answer.read().decode())
    for parts in MALFORMED.values():
        channel, status = socket_of(address, place, token)
        assert status.startswith(b"HTTP/1.1 101")
        time.sleep(0.2)
        before = len(said)
        for part in parts:
            channel.sendall(bytes((0x81, 0x80 | len(part), 0, 0, 0, 0)) + part.encode())
        until_s = time.monotonic() + 10
        while len(said) == before and time.monotonic() < until_s:
            time.sleep(0.05)
        channel.close()
        assert len(said) > before
    assert all(line.isprintable() and line.startswith("simnet: page: ") for line in said)


def test_so_many_pages_are_open_and_no_more(address: str) -> None:
    for _ in range(MOST_SESSIONS + 5):
        assert asked(address, address.split("/")[2]) == 200
    assert len(SHOWN) <= MOST_SESSIONS
