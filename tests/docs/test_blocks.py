"""What the checks of the documentation take notice of."""

from pathlib import Path

import pytest

from simnet.errors import InputError
from tests.docs import refresh
from tests.docs.blocks import BadBlockError, Block, blocks, read, steps
from tests.docs.session import Session, wanted
from tests.house.trees import ROOT

PATH = Path("page.md")


def found(text: str) -> list[Block]:
    return list(blocks(PATH, text))


def page(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return Session(tmp_path_factory.mktemp("session"))


def test_a_block_knows_its_place_and_its_words() -> None:
    (block,) = found('text\n\n```toml title="a b.toml" kind=nic compiled\nx = 1\n```\n')
    assert (block.language, block.title, block.text) == ("toml", "a b.toml", "x = 1\n")
    assert (block.words["kind"], block.words["compiled"]) == ("nic", "")
    assert block.place == "page.md:4"


def test_only_text_right_after_a_command_is_its_output() -> None:
    code = "```sh\necho 1\n```\n"
    shown = "```text\n1\n```\n"
    joined = steps(found(f"{code}\n{shown}{code}prose\n\n{shown}{shown}"))
    assert [step.output is None for step in joined] == [False, True]


@pytest.mark.parametrize(
    "text",
    ["```sh\necho\n", "- a list\n\n  ```sh\n  echo\n  ```\n", "```fortran\n```\n", "```\n```\n"],
)
def test_a_block_that_nothing_can_check_is_refused(text: str) -> None:
    with pytest.raises(BadBlockError, match=r"page\.md:\d"):
        found(text)


def test_commands_and_code_share_a_folder_and_names(session: Session) -> None:
    text = (
        "```python\nfrom pathlib import Path\nPath('a').write_text('7')\n```\n"
        "```sh\ncat a simnet/py.typed\n```\n```python\nprint(Path('a').read_text())\n```\n"
    )
    assert [session.run(block) for block in found(text)] == ["", "7", "7\n"]


@pytest.mark.parametrize("code", ["false", "simnet no-such-command", "echo $NO_SUCH_VARIABLE"])
def test_a_failing_command_is_noticed(session: Session, code: str) -> None:
    with pytest.raises(AssertionError, match=r"page\.md:2: status"):
        session.run(found(f"```sh\n{code}\n```\n")[0])


def test_a_command_has_the_folder_the_files_and_the_environment_of_its_shell(
    session: Session,
) -> None:
    code = (
        "mkdir deeper; cd deeper\n"
        "sed 's/^rpm = .*/rpm = 0/' ../models/disks/scsi-15k-73gb.toml > disk.toml\n"
        "simnet list models | grep -o scsi-15k-73gb-power5\n"
        "simnet show disk.toml 2> errors || echo $?; grep -o 'disk.toml.*rpm: expected' errors\n"
        "SIMNET_ENGINE=none simnet list 2> /dev/null || echo refused\n"
    )
    printed = session.run(found(f"```sh\n{code}```\n")[0])
    lines = ["2", "disk.toml:20: rpm: expected", "refused"]
    assert printed.splitlines() == ["scsi-15k-73gb-power5", *lines]


def test_what_a_document_writes_into_the_checkout_stays_its_own(tmp_path: Path) -> None:
    own = Session(tmp_path)
    disk = (ROOT / "models/disks/scsi-15k-73gb.toml").read_text("utf-8")
    own.run(found(f'```toml title="models/disks/mine.toml"\n{disk}```\n')[0])
    own.run(found("```sh\nsimnet show mine\ntouch simnet/mine\n```\n")[0])
    assert not (ROOT / "models/disks/mine.toml").exists()
    assert not (ROOT / "simnet/mine").exists()


def test_what_marked_commands_write_stays_the_document_s_own(tmp_path: Path) -> None:
    Session(tmp_path).run(found("```sh writes\ntouch models/mine\n```\n")[0])
    assert not (ROOT / "models/mine").exists()


def test_an_exception_names_the_line_of_the_document(session: Session) -> None:
    block = found("1\n2\n```python\nx = 1\nx / 0\n```\n")[0]
    with pytest.raises(ZeroDivisionError) as caught:
        session.run(block)
    assert caught.traceback[-1].lineno == 4  # counted from 0


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('```toml title="a.toml"\nkind = "switch"\n```\n', InputError),
        ("```toml kind=nic\nno_such_key = 1\n```\n", AssertionError),
        ("```toml\nx = 1\n```\n", AssertionError),
        ("```cython\nx = 1\n```\n", AssertionError),
    ],
)
def test_a_file_that_simnet_would_refuse_is_noticed(
    session: Session, text: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        session.run(found(text)[0])


def test_slow_blocks_run_on_request() -> None:
    (step,) = steps(found("```sh slow\nfalse\n```\n"))
    assert wanted(step, slow=True)
    assert not wanted(step, slow=False)


def test_refreshing_writes_what_is_printed(tmp_path: Path) -> None:
    text = "```sh\nseq {}\n```\n\n```text\n{}```\n\nEnd.\n"
    old, new = text.format(3, "1\n9\n"), text.format(3, "1\n2\n3\n")
    path = page(tmp_path, old + old.replace("seq 3", "echo 1; echo 9"))
    assert refresh.refresh(path) == 1
    assert path.read_text(encoding="utf-8").startswith(new)
    assert refresh.refresh(path) == 0
    assert len(read(path)) == 2
