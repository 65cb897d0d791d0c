"""What is read of a configuration, while someone looks."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from simnet.scenario.core.load import load
from simnet.scenario.core.section import reads


def test_what_is_read_meanwhile_is_known_by_its_place() -> None:
    effective = load("x460-out-of-box")
    before = effective.kernel.hz
    with reads() as found:
        assert effective.kernel.tcp_sack
    assert effective.kernel.tcp_reordering
    assert found.had(effective.kernel, "tcp_sack")
    assert not found.had(effective.kernel, "tcp_reordering")
    assert not found.had(effective.peers[0].kernel, "tcp_sack")
    assert before == effective.kernel.hz


def test_each_thread_knows_what_it_reads_itself() -> None:
    effective = load("x460-out-of-box")
    with ThreadPoolExecutor(1) as others, reads() as outer:
        with reads() as inner:
            assert others.submit(lambda: effective.kernel.tcp_sack).result()
        assert effective.kernel.tcp_reordering
    assert not outer.had(effective.kernel, "tcp_sack")
    assert outer.had(effective.kernel, "tcp_reordering")
    assert not inner.had(effective.kernel, "tcp_reordering")


def test_nothing_is_noted_after_an_error() -> None:
    effective = load("x460-out-of-box")
    with pytest.raises(LookupError), reads() as found:
        raise LookupError
    assert effective.kernel.tcp_sack
    assert not found.had(effective.kernel, "tcp_sack")
