"""The store of results: what it gives back was put there, whole, under this key."""

import gzip
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from simnet.study.run.result import Result
from simnet.study.work import store as module
from simnet.study.work.store import Store, simulating_sources, sources_digest
from tests.house.layers import imports_of_python
from tests.house.trees import ROOT

SUFFIX = ".json.gz"


def test_a_store_gives_back_what_it_was_given(tmp_path: Path, result: Result) -> None:
    store = Store(tmp_path / "new" / "place")
    assert store.get("key") is None
    store.put("key", result)
    assert store.get("key") == result
    assert [path.name for path in (tmp_path / "new" / "place").iterdir()] == ["key.json.gz"]


def test_a_damaged_entry_counts_as_absent(tmp_path: Path, result: Result) -> None:
    store = Store(tmp_path)
    store.put("key", result)
    path = tmp_path / "key.json.gz"
    whole = path.read_bytes()
    for damaged in (b"", b"{", whole[:-20], whole[:40] + whole[60:]):
        path.write_bytes(damaged)
        assert store.get("key") is None


def test_a_store_that_cannot_be_written_to_keeps_nothing(tmp_path: Path, result: Result) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    store = Store(tmp_path / "file")
    store.put("key", result)
    assert store.get("key") is None
    Store(None).put("key", result)
    assert Store(None).get("key") is None


def test_pruning_removes_what_was_not_used_for_the_longest_time(
    tmp_path: Path, result: Result
) -> None:
    store = Store(tmp_path)
    for age, key in enumerate(("newest", "older", "oldest")):
        store.put(key, result)
        os.utime(tmp_path / f"{key}.json.gz", (1e9 - age, 1e9 - age))
    store.prune(most_files=2)
    assert sorted(path.name.split(".")[0] for path in tmp_path.iterdir()) == ["newest", "older"]


def test_the_environment_places_the_store_or_switches_it_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMNET_CACHE_DIR", str(tmp_path))
    assert Store.of_user().directory == tmp_path
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    assert Store.of_user().directory is None
    monkeypatch.delenv("SIMNET_CACHE_DIR")
    assert Store.of_user().directory is not None


def test_the_digest_of_the_sources_is_stable() -> None:
    assert sources_digest() == sources_digest()
    assert len(sources_digest()) == 32


def test_no_result_depends_on_a_source_that_is_not_in_the_digest() -> None:
    inside = {Path("simnet", name) for name in simulating_sources(ROOT / "simnet")}
    imported = {
        module
        for path in inside
        if path.suffix == ".py" and path.parent.name != "simnet"  # the public API imports them all
        for module in imports_of_python(
            (ROOT / path).read_text(encoding="utf-8"), ".".join(path.with_suffix("").parts)
        )
    }
    files = {Path(*module.split(".")).with_suffix(".py") for module in imported}
    files = {path for path in files if (ROOT / path).is_file()}
    assert len(files) > 100
    assert files - inside == set()


def test_what_lies_under_another_key_counts_as_absent(
    tmp_path: Path, measure: Callable[..., Result]
) -> None:
    store = Store(tmp_path)
    first, second = tmp_path / f"a{SUFFIX}", tmp_path / f"b{SUFFIX}"
    store.put("a", measure(seed=1))
    store.put("b", measure(seed=2))
    for path, data in ((first, second.read_bytes()), (second, first.read_bytes())):
        path.write_bytes(data)
    assert (store.get("a"), store.get("b")) == (None, None)
    store.put("a", measure(seed=1))
    assert store.get("a") == measure(seed=1)


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace(b'"seed":7', b'"seed":8'),
        lambda text: text.replace(b"simnet.kept/1 key", b"simnet.kept/1 other"),
        lambda text: text.partition(b"\n")[2],
        lambda text: text + b" ",
        lambda text: text[:-1],
    ],
    ids=["number", "key", "headless", "longer", "shorter"],
)
def test_what_was_edited_counts_as_absent(
    tmp_path: Path, result: Result, edit: Callable[[bytes], bytes]
) -> None:
    store = Store(tmp_path)
    store.put("key", result)
    path = tmp_path / f"key{SUFFIX}"
    text = gzip.decompress(path.read_bytes())
    assert edit(text) != text
    path.write_bytes(gzip.compress(edit(text)))
    assert store.get("key") is None


def test_a_small_archive_of_much_takes_little_memory(tmp_path: Path) -> None:
    with gzip.open(tmp_path / f"key{SUFFIX}", "wb") as packed:
        for _ in range(8):
            packed.write(bytes(module.MOST_BYTES))
    tracemalloc.start()
    try:
        assert Store(tmp_path).get("key") is None
        assert tracemalloc.get_traced_memory()[1] < 3 * module.MOST_BYTES
    finally:
        tracemalloc.stop()


def test_what_could_not_be_read_again_is_not_kept(
    tmp_path: Path, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    Store(tmp_path).put("key", result)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_file_counts_as_absent(tmp_path: Path, result: Result) -> None:
    store = Store(tmp_path)
    os.mkfifo(tmp_path / f"pipe{SUFFIX}")
    (tmp_path / f"folder{SUFFIX}").mkdir()
    store.put("key", result)
    (tmp_path / f"link{SUFFIX}").symlink_to(tmp_path / f"key{SUFFIX}")
    for key in ("pipe", "folder", "link"):
        assert store.get(key) is None
        store.put(key, result)
    assert store.get("pipe") is None
    assert store.get("folder") is None


def test_only_the_user_may_look_into_a_new_directory(tmp_path: Path, result: Result) -> None:
    Store(tmp_path / "kept").put("key", result)
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700


def test_where_anybody_may_write_only_the_own_files_count(
    tmp_path: Path, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    store.put("key", result)
    tmp_path.chmod(0o1777)
    assert store.get("key") == result
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert store.get("key") is None
    tmp_path.chmod(0o775)
    assert store.get("key") == result


def test_pruning_keeps_what_is_needed_whatever_the_clock_has_said(
    tmp_path: Path, result: Result
) -> None:
    store = Store(tmp_path)
    for key, time_s in (("future", 4e9), ("before", 1e9), ("needed", 1e8)):
        store.put(key, result)
        os.utime(tmp_path / f"{key}{SUFFIX}", (time_s, time_s))
    assert store.get("future") == result
    os.utime(tmp_path / f"future{SUFFIX}", (4e9, 4e9))
    store.prune(most_files=1, kept={"needed"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"future{SUFFIX}",
        f"needed{SUFFIX}",
    ]
