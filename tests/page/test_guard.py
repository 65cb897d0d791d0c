"""Who reaches the page, how many at once, and what it says of what is no request of its own."""

import json
import re
import socket
import urllib.error
import urllib.request
from threading import Event, Thread
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from simnet.page import answers
from simnet.page.guard import MOST_BYTES, MOST_REQUESTS
from simnet.page.offer import Offer
from simnet.page.serve import served
from simnet.study.work.cases import Case

WANTED = cast("dict[str, Any]", answers.WANTED)
OFFER = Offer(Case("x460-out-of-box", (("nodes", "1"),)), ("affinity",), ())


@pytest.fixture(scope="module")
def address() -> str:
    return served(OFFER)


def asked(address: str, body: bytes | None = None, **headers: str) -> tuple[int, str, Any]:
    request = urllib.request.Request(address, body, headers)  # noqa: S310 (seen to be http)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return int(answer.status), answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), error.headers


def question(want: str, **told: Any) -> bytes:
    return json.dumps({"want": want, **told}).encode()


def test_a_host_of_another_name_and_another_origin_reach_nothing(address: str) -> None:
    place = urlsplit(address).netloc
    for host in ("evil.com", "127.0.0.1.evil.com", "127x0.0.1", "127.0.0.1", f"{place}0"):
        assert asked(address, Host=host)[:2] == (404, "")
        assert asked(f"{address}/ask", question("knobs"), Host=host)[:2] == (404, "")
    assert asked(f"{address}/ask", question("knobs"), Origin="http://evil.com")[0] == 404
    assert asked(f"{address}/ask", question("knobs"), Origin=f"http://{place}")[0] == 200


def test_without_the_token_there_is_nothing(address: str) -> None:
    parts = urlsplit(address)
    assert len(parts.path) > 30
    places = ("x", "/ask", "/host/1", "/scenario/x", "/scenario/../web-25g", "//")
    paths = ("/", "/ask", parts.path[:-1], *(f"{parts.path}{place}" for place in places))
    for path in (*paths, f"/scenario/web-25g{parts.path}/"):
        assert asked(f"http://{parts.netloc}{path}")[0] == 404


def test_the_page_runs_its_own_script_alone_and_asks_itself_alone(address: str) -> None:
    status, text, headers = asked(address)
    assert status == 200
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src 'self'" in policy
    assert headers["Referrer-Policy"] == "no-referrer"  # the address is a secret
    assert "<title>x460-out-of-box - simnet</title>" in text
    loaded = re.findall(r"""(?:src|href)=["']([^"']*)""", text)
    assert loaded == ["data:,", f"{urlsplit(address).path}/"]  # and a link to the desk


@pytest.mark.parametrize(
    "body",
    [b"", b"x", b"[]", b"5", b'{"want": "x"}', b'{"want": []}', b"[" * MOST_BYTES, b"\xff\x1b"],
)
def test_a_malformed_question_is_refused_in_one_line(
    address: str, body: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(f"{address}/ask", body)[0] == 400
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    assert line.startswith("simnet: page: 400 for ")


def test_what_is_no_request_is_one_line(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    parts = urlsplit(address)
    assert parts.port
    with socket.create_connection(("127.0.0.1", parts.port), timeout=30) as found:
        found.sendall(b"\x1b[2J \xe2\x80\xae x y\r\n\r\n")
        while found.recv(4096):
            pass
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    assert line.startswith("simnet: page: ")


@pytest.mark.parametrize("others", [0, 300])
def test_what_is_not_offered_is_answered_with_an_error(address: str, others: int) -> None:
    body = question("first", tunings=[*["affinity"] * others, "<b>"])
    status, text, _ = asked(f"{address}/ask", body)
    assert status == 200
    assert json.loads(text) == {"error": "page: <b>: no tuning of this page"}


@pytest.mark.parametrize("want", ["diagnose", "host"])
def test_what_is_pasted_is_text_and_names_no_file(address: str, want: str) -> None:
    for text in (None, 5, "", " \n", ["/etc/passwd"]):
        status, answer, _ = asked(f"{address}//ask", question(want, text=text))
        assert (status, json.loads(answer)) == (200, {"error": "page: nothing is pasted"})
    assert "root:" not in asked(f"{address}//ask", question(want, text="/etc/passwd"))[1]


def test_so_many_are_answered_at_once_and_no_more(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun, end = Event(), Event()
    count = []

    def waits(*_: Any) -> None:
        count.append(1)
        if len(count) == MOST_REQUESTS:
            begun.set()
        end.wait(30)

    monkeypatch.setitem(WANTED, "first", waits)
    threads = [
        Thread(target=asked, args=(f"{address}/ask", question("first")))
        for _ in range(MOST_REQUESTS)
    ]
    for thread in threads:
        thread.start()
    assert begun.wait(30)
    assert asked(f"{address}/ask", question("first"))[0] == 503
    assert asked(address)[0] == 200  # the page itself is cheap
    end.set()
    for thread in threads:
        thread.join()
    assert asked(f"{address}/ask", question("first"))[0] == 200
    assert "503" in capsys.readouterr().err


def test_what_goes_wrong_is_said_on_the_page_and_in_one_line(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(*_: Any) -> None:
        raise ZeroDivisionError("a\nb\x1b")

    monkeypatch.setitem(WANTED, "first", breaks)
    told = json.loads(asked(f"{address}/ask", question("first"))[1])
    assert told["error"].startswith("ZeroDivisionError: a b")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    assert "SIMNET_DEBUG=1" in line
