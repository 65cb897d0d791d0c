"""Scripts in packetdrill's language against the model."""

from pathlib import Path

import pytest

from simnet.errors import InputError
from simnet.study.conform.conform import Verdict, conform

SCRIPTS = sorted((Path(__file__).parents[3] / "validation/packetdrill").glob("*.pkt"))
START = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 10>
+.01 < . 1:1(0) ack 1 win 512
+0 accept(3, ..., ...) = 4
"""
# beyond what Python turns into a number
LONG = "1" * 5000
DATA = "+.01 < . 1:1001(1000) ack 1 win 512\n"


def judge(folder: Path, text: str, kernel: str | None = None) -> Verdict:
    """The verdict on a script."""
    file = folder / "a.pkt"
    file.write_text(text, encoding="utf-8")
    (verdict,) = conform([file], kernel).verdicts
    return verdict


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    (verdict,) = conform([script]).verdicts
    assert verdict.difference is None
    assert len(verdict.expected) > 1


@pytest.mark.parametrize(
    "expected",
    [
        "+0 > . 1:1(0) ack 1001",
        "+0 > . 1:1(0) ack 1001 win 62",
        "+.004 > . 1:1(0) ack 1001",
        "* > . 1:1(0) ack 1001",
        "+0~+.03 > . 1:1(0) ack 1001",
    ],
)
def test_what_agrees(tmp_path: Path, expected: str) -> None:
    assert judge(tmp_path, START + DATA + expected).agrees


@pytest.mark.parametrize(
    "expected",
    [
        "+0 > . 1:1(0) ack 1000",
        "+0 > . 1:1(0) ack 1001 win 61",
        "+0 > . 1:1(0) ack 1001 <nop,nop,sack 1:2>",
        "+0 > . 1:2(1) ack 1001",
        "+.1 > . 1:1(0) ack 1001",
        "+0 > . 1:1(0) ack 1001\n+0 > . 1:1(0) ack 1001",
        "+0 > . 1:1(0) ack 1001\n+0 read(4, ..., 1001) = 1001",
        "+0 > . 1:1(0) ack 1001\n+0 %{ assert tcpi_snd_cwnd == 9, tcpi_snd_cwnd }%",
        "+.1 < . 1001:2001(1000) ack 1 win 512\n+0 > . 1:1(0) ack 2001",
    ],
)
def test_what_differs(tmp_path: Path, expected: str) -> None:
    assert not judge(tmp_path, START + DATA + expected).agrees


def test_sysctls_of_several_numbers_and_an_mss(tmp_path: Path) -> None:
    head = '`../set_sysctls.py /proc/sys/net/ipv4/tcp_rmem="4096 60000 60000"`\n--mss=1000\n'
    expected = START.replace("wscale 10", "wscale 0") + DATA + "+0 > . 1:1(0) ack 1001 win 28200"
    assert judge(tmp_path, head + expected).difference is None


def test_the_buffer_of_a_standing_connection_may_be_set(tmp_path: Path) -> None:
    shrink = "+0 setsockopt(4, SOL_SOCKET, SO_RCVBUF, [2000], 4) = 0\n"
    more = "".join(f"+.01 < P. {n}001:{n + 1}001(1000) ack 1 win 512\n" for n in range(1, 5))
    text = START + DATA + "{}" + more + "* > . 1:1(0) ack 5001"
    kept, shrunk = (judge(tmp_path, text.format(line)).sent[-1] for line in ("", shrink))
    assert (kept.ack, kept.window) == (5001, 62)
    # two segments fit; then the window closes
    assert (shrunk.ack, shrunk.window) == (3001, 0)


def test_a_burst_may_be_expected_as_one(tmp_path: Path) -> None:
    written = START + "+0 write(4, ..., 3500) = 3500\n"
    assert judge(tmp_path, written + "+0 > P. 1:3501(3500) ack 1").agrees
    apart = "+0 > . 1:1001(1000) ack 1\n+0 > P. 1001:3501(2500) ack 1"
    assert judge(tmp_path, written + apart).agrees


def test_another_kernel(tmp_path: Path) -> None:
    expected = START.replace("wscale 10", "wscale 2") + DATA + "+0 > . 1:1(0) ack 1001"
    assert judge(tmp_path, expected, "linux-2.6.16-sles10").agrees


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("--mtu=1000\n" + START, "a.pkt:1: option --mtu is not known"),
        ("`rm -rf /`\n" + START, "a.pkt:1: command is not known: rm -rf /"),
        ("`sysctl -q net.ipv4.tcp_sak=1`\n" + START, "did you mean tcp_sack?"),
        ("`sysctl -q net.ipv4.tcp_rmem=1`\n" + START, "a.pkt:1: sysctl net.ipv4.tcp_rmem: 1 is no"),
        (
            '`sysctl -q net.ipv4.tcp_rmem="1 2 9999999999"`\n' + START,
            "outside the legal range 1 B to",
        ),
        ("`sysctl -q net.ipv4.tcp_adv_win_scale=-2`\n" + START, "outside the legal range 1 to 31"),
        (
            "`sysctl -q net.ipv4.tcp_congestion_control=rano`\n" + START,
            "expected one of bbr, bic, cubic",
        ),
        (
            "`sysctl -q net.ipv4.tcp_abc=$((2*))`\n" + START,
            "a.pkt:1: sysctl net.ipv4.tcp_abc: $((2*))",
        ),
        ("`./none.sh`\n" + START, "a.pkt:1: ./none.sh: cannot be read: No such file or directory"),
        (START + "+0 poll(4) = 1", "a.pkt:9: call poll is not modelled"),
        (START + "+0 %{ x = 1 }%", "a.pkt:9: only assert is understood, not: x = 1"),
        (START + "+0 %{ assert tcpi_cwnd == 1 }%", "did you mean tcpi_snd_cwnd?"),
        (START + "+0 %{ assert len('a') }%", "a.pkt:9: len is not modelled"),
        (START + "+0 %{ assert tcpi_lost << 1 }%", "not understood in an assert: tcpi_lost << 1"),
        (
            START + f"+0 %{{ assert {'not ' * 9000}1 }}%",
            "not understood in an assert: so many operators",
        ),
        (START + f"+1{'0' * 400} < . 1:1(0) ack 1", "a.pkt:9: +10000"),
        (
            START + "+999999 write(4, ..., 9) = 9\n+9 write(4, ..., 9) = 9",
            "a.pkt:10: +9 is later than",
        ),
        (
            START + "+0 < . 1:1(0) ack 99999999999 win 5",
            "a.pkt:9: not understood: < . 1:1(0) ack 9",
        ),
        (START + "+0 < . 1:1(0) ack 1 win 5 <wscale 40>", "a.pkt:9: wscale 40 is not from 0 to 14"),
        (START.replace("mss 1000", "mss 0"), "mss 0 is not from 48 to 65535"),
        (START.replace("mss 1000", f"mss {LONG}"), "option is not known: mss 111"),
        (
            f"--tolerance_usecs={LONG}\n" + START,
            "option --tolerance_usecs: expected a number, not 1",
        ),
        ("--tolerance_usecs=²\n" + START, "option --tolerance_usecs: expected a number, not ²"),
        ("--mss\n" + START, "option --mss: expected a number, not none"),
        ("--mtu=9\n" + START, "only --tolerance_usecs=NUMBER and --mss=NUMBER are"),
        ("--mss=900\n" + START + DATA, "a.pkt:10: a segment longer than --mss=900 is not"),
        (f"`sysctl -q net.ipv4.tcp_abc={LONG}`\n" + START, "sysctl net.ipv4.tcp_abc: 111"),
        (f"`sysctl -q net.ipv4.tcp_abc=$((2*{LONG}))`\n" + START, "sysctl net.ipv4.tcp_abc: $((2*"),
        (START + f"+0 %{{ assert tcpi_lost == {LONG} }}%", "a.pkt:9: only assert is understood"),
        (START + "+0 %{ assert \0 }%", "a.pkt:9: "),
        (
            START + "+0 write(4, ..., 99999999999) = 99999999999",
            "write that returns 99999999999 is",
        ),
        (START + "+0 < . 1:1001(10) ack 1 win 5", "a.pkt:9: 1:1001 are 1000 bytes, not 10"),
        (START + "+0 < . 1:1(0) ack 1 win 5 <md5 00>", "a.pkt:9: option is not known: md5 00"),
        (START + "+0 setsockopt(4, SOL_TCP, TCP_NODELAI, [1], 4) = 0", "did you mean TCP_NODELAY?"),
        (START + "+0 write(4, ..., 10) = -1 EAGAIN", "write that returns -1 is not modelled"),
        (START + "read(4, ..., 1) = 1", "a.pkt:9: expected a time"),
        (START + "+0 read(4, ..., 1", "a.pkt:9: no end of"),
        (START + "+0 close(4) = 0\n+0 > F. 1:1(0) ack 1", "no segment is expected"),
        ("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3", "expected a handshake"),
        ("", "no event in it"),
    ],
)
def test_what_is_not_understood_is_told_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        judge(tmp_path, text)
    line = str(caught.value)
    assert said in line
    assert "\n" not in line


def test_sysctls_of_a_shell_script_beside_it(tmp_path: Path) -> None:
    (tmp_path / "set.sh").write_text(
        '#!/bin/sh\nsysctl -q net.ipv4.tcp_rmem="4096 65536 $((2*1024*1024))"\n', encoding="utf-8"
    )
    script = "`./set.sh`\n" + START.replace("wscale 10", "wscale 6") + DATA
    verdict = judge(tmp_path, script + "+0 > . 1:1(0) ack 1001")
    assert verdict.agrees
    # half of 64 KiB, in whole segments, less what has come, in units of 64 bytes
    assert verdict.sent[0].window > 62


@pytest.mark.parametrize(
    ("code", "holds"),
    [
        ("assert tcpi_snd_cwnd == 10 and tcpi_ca_state == TCP_CA_Open", True),
        ("print(tcpi_snd_cwnd); assert 9 < tcpi_snd_cwnd <= 10, 'window'", True),
        ("assert not tcpi_lost\nassert tcpi_unacked + tcpi_sacked == 1", False),
        ("assert tcpi_ca_state == TCP_CA_Loss", False),
    ],
)
def test_fields_of_tcp_info_are_asserted(tmp_path: Path, code: str, holds: bool) -> None:  # noqa: FBT001
    asserted = f"+0 %{{\n{code}\n}}%"
    verdict = judge(tmp_path, START + DATA + f"+0 > . 1:1(0) ack 1001\n{asserted}")
    assert verdict.agrees == holds
    if not holds:
        assert "tcpi_" in str(verdict.difference)


def test_echoes_of_marks_are_compared(tmp_path: Path) -> None:
    agreed = START.replace("< S 0:0", "< SEW 0:0").replace("> S. 0:0", "> SE. 0:0")
    assert agreed != START
    marked = agreed + DATA.replace("< .", "< [ce] .").replace("< P", "< [ce] P")
    assert judge(tmp_path, marked + "+0 > E. 1:1(0) ack 1001").agrees
    verdict = judge(tmp_path, marked + "+0 > . 1:1(0) ack 1001")
    assert "ECE" in str(verdict.difference)


@pytest.mark.parametrize(("tolerance_us", "agrees"), [(9000, True), (100, False)])
def test_a_script_waits_for_what_is_late_but_in_time(
    tmp_path: Path,
    tolerance_us: int,
    agrees: bool,  # noqa: FBT001
) -> None:
    lone = "+0 setsockopt(4, SOL_TCP, TCP_QUICKACK, [0], 4) = 0\n"
    lone += "+.01 < . 1001:2001(1000) ack 1 win 512\n"
    # the timer runs after 40 ms at the earliest: given at once, the next would be acknowledged too
    late = "+.0395 > . 1:1(0) ack 2001\n+0 < . 2001:3001(1000) ack 1 win 512\n"
    script = START + DATA + "+0 > . 1:1(0) ack 1001\n+0 read(4, ..., 1000) = 1000\n" + lone + late
    verdict = judge(tmp_path, f"--tolerance_usecs={tolerance_us}\n{script}")
    assert verdict.agrees is agrees
