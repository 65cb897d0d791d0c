"""Which engine runs: the compiled one exactly when it is what the sources say."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.house.trees import Tree

pytestmark = pytest.mark.packaging

USE = """
import json, sys
from simnet import _engine
from simnet.net.derived import Derived, compiled
from simnet.kernel.base import Base
thing = Derived()
print(json.dumps({
    "active": _engine.active(),
    "compiled": compiled(),
    "result": [thing.add_twice(3), thing.add(4), thing.total],
    "is_base": isinstance(thing, Base),
    "files": sorted(sys.modules[name].__file__ for name in
                    (Base.__module__, Derived.__module__)),
}))
"""


def use(tree: Tree, engine: str | None = None) -> tuple[dict[str, object], str]:
    """Run the two modules and return what they found, and stderr."""
    done = tree.python("-c", USE, engine=engine)
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer, done.stderr


def edit(file: Path) -> None:
    file.write_text(file.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")


def make_add_count_double(tree: Tree) -> None:
    file = tree.package / "kernel" / "base.py"
    text = file.read_text(encoding="utf-8")
    changed = text.replace("self.total += amount", "self.total += 2 * amount")
    assert changed != text
    file.write_text(changed, encoding="utf-8")


def test_fresh_build_runs_compiled_and_silent(miniature: Tree) -> None:
    answer, stderr = use(miniature)
    assert answer["active"] == "compiled"
    assert answer["compiled"] is True
    assert stderr == ""


def test_both_engines_agree_in_one_checkout(miniature: Tree) -> None:
    compiled, _ = use(miniature, "compiled")
    interpreted, stderr = use(miniature, "interpreted")
    assert compiled["compiled"] is True
    assert interpreted["compiled"] is False
    assert compiled["result"] == interpreted["result"] == [6, 10, 10]
    assert compiled["is_base"] is interpreted["is_base"] is True
    assert stderr == "", "who asks for the interpreted engine needs no warning"


def test_edited_source_never_runs_old_machine_code(miniature: Tree) -> None:
    make_add_count_double(miniature)
    answer, stderr = use(miniature)
    assert answer["result"] == [12, 20, 20]
    assert answer["active"] == "interpreted"
    assert stderr.count("EngineWarning") == 1
    assert "a source was edited, added or removed" in stderr
    assert miniature.build().returncode == 0
    answer, stderr = use(miniature)
    assert (answer["result"], answer["active"], stderr) == ([12, 20, 20], "compiled", "")


def test_one_stale_module_takes_all_out(miniature: Tree) -> None:
    edit(miniature.package / "net" / "derived.py")
    answer, _ = use(miniature)
    assert not any("_compiled" in str(file) for file in answer["files"])  # type: ignore[attr-defined]


def test_restored_source_runs_compiled_again(miniature: Tree) -> None:
    file = miniature.package / "kernel" / "base.py"
    before = file.read_text(encoding="utf-8")
    edit(file)
    assert use(miniature)[0]["active"] == "interpreted"
    file.write_text(before, encoding="utf-8")
    assert use(miniature)[0]["active"] == "compiled"


@pytest.mark.nightly
def test_a_field_more_makes_the_rooms_that_use_it_stale(miniature: Tree) -> None:
    file = miniature.package / "kernel" / "base.py"
    text = file.read_text("utf-8").replace("    calls: ", "    others: cython.int = 0\n    calls: ")
    file.write_text(text, "utf-8")
    done = miniature.build()
    assert done.stdout.startswith("simnet: 2 of 2 rooms of the core compiled"), done.stderr


def test_only_what_changed_is_compiled(miniature: Tree) -> None:
    before = miniature.compiled_files
    make_add_count_double(miniature)
    assert miniature.build().stdout.startswith("simnet: 1 of 2 rooms of the core compiled")
    after = miniature.compiled_files
    assert len(after) == len(before), "the file of the older source is gone"
    assert [re.sub("_[0-9a-f]{32}.*", "", name) for name in sorted(before & after)] == [
        "_core_net",
        "_cyutility",
    ]
    assert miniature.build().stdout.startswith("simnet: 0 of 2 rooms of the core compiled")
    assert use(miniature)[0]["active"] == "compiled", "a build with nothing to do breaks nothing"


def test_a_comment_compiles_nothing(miniature: Tree) -> None:
    edit(miniature.package / "_share.py")
    assert miniature.build().stdout.startswith("simnet: 0 of 2 rooms of the core compiled")
    assert use(miniature)[0]["active"] == "compiled"


def test_changed_directives_and_flags_make_everything_stale(miniature: Tree) -> None:
    engine = miniature.package / "_engine.py"
    text = engine.read_text(encoding="utf-8")
    engine.write_text(text.replace('"wraparound": False', '"wraparound": True'), encoding="utf-8")
    assert use(miniature)[0]["active"] == "interpreted"
    engine.write_text(text.replace('"-O0"', '"-O2"'), encoding="utf-8")
    assert use(miniature)[0]["active"] == "interpreted"
    engine.write_text(text, encoding="utf-8")
    assert use(miniature)[0]["active"] == "compiled"


@pytest.mark.nightly
def test_changed_compiler_flags_in_the_environment_rebuild(miniature: Tree) -> None:
    done = miniature.build(CFLAGS="-O2")
    assert done.stdout.startswith("simnet: 2 of 2"), done.stderr


def test_module_that_does_not_import_cython_is_not_compiled(miniature: Tree) -> None:
    plain = miniature.package / "net" / "plain.py"
    plain.write_text("VALUE = 1\n", encoding="utf-8")
    answer, stderr = use(miniature)
    assert (answer["active"], stderr) == ("compiled", "")
    done = miniature.python("-c", "import simnet.net.plain as p; print(p.VALUE, p.__loader__)")
    assert done.stdout.startswith("1 <_frozen_importlib_external.SourceFileLoader")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("length", "first", "cause"),
    [
        (1000, b"\x7fELF", "it is damaged"),  # cut short: loading it would crash
        (None, b"none", "it does not load"),  # another format
    ],
)
def test_damaged_file_falls_back_with_the_cause(
    miniature: Tree, length: int | None, first: bytes, cause: str
) -> None:
    # The last of the modules: the first ones load.
    file = next((miniature.package / "_compiled").glob("_core_net_*.so"))
    file.write_bytes((first + file.read_bytes()[len(first) :])[:length])
    answer, stderr = use(miniature)
    assert (answer["active"], answer["result"]) == ("interpreted", [6, 10, 10])
    assert stderr.count("EngineWarning") == 1
    assert cause in stderr
    done = miniature.python("-c", USE, engine="compiled")
    assert done.returncode == 1
    assert "EngineError: SIMNET_ENGINE=compiled, but" in done.stderr
    assert miniature.build().stdout.startswith("simnet: 1 of 2 rooms of the core compiled")
    assert use(miniature)[0]["active"] == "compiled"


def test_compiled_engine_that_is_asked_for_is_never_replaced(miniature: Tree) -> None:
    edit(miniature.package / "kernel" / "base.py")
    done = miniature.python("-c", "import simnet", engine="compiled")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("simnet.errors.EngineError: SIMNET_ENGINE=compiled, but the compiled")


@pytest.mark.nightly
def test_form_that_checks_itself_lies_beside_the_fast_one(miniature: Tree) -> None:
    made = miniature.python("simnet/_build", engine="checked")
    assert made.stdout.startswith("simnet: 2 of 2 rooms of the core compiled"), made.stderr
    beyond = "from simnet.kernel.base import Base; b = Base(); b.add(2**63 - 1); print(b.add(1))"
    assert miniature.python("-c", beyond, engine="compiled").stdout == f"{-(2**63)}\n"
    assert "OverflowError" in miniature.python("-c", beyond, engine="checked").stderr
    for engine in ("compiled", "checked"):
        again = miniature.python("simnet/_build", engine=engine)
        assert again.stdout.startswith("simnet: 0 of 2 rooms of the core compiled")


def test_form_that_checks_itself_is_never_replaced(miniature: Tree) -> None:
    done = miniature.python("-c", "import simnet", engine="checked")
    assert done.returncode == 1
    assert "EngineError: SIMNET_ENGINE=checked, but the compiled engine cannot" in done.stderr
    assert "build it with: SIMNET_ENGINE=checked " in done.stderr


def test_unknown_engine_is_an_error(miniature: Tree) -> None:
    done = miniature.python("-c", "import simnet", engine="fast")
    assert done.returncode == 1
    assert done.stderr.strip().endswith(
        "SIMNET_ENGINE: expected auto, checked, compiled or interpreted, not 'fast'"
    )


def test_command_reports_an_unusable_engine_in_one_line(miniature: Tree) -> None:
    script = miniature.root / "simnet-command" / "simnet"
    script.parent.mkdir()
    script.write_text("import simnet\n", encoding="utf-8")
    done = miniature.python(str(script), engine="fast")
    assert done.returncode == 2
    assert done.stderr == (
        "simnet: SIMNET_ENGINE: expected auto, checked, compiled or interpreted, not 'fast'\n"
    )


@pytest.mark.nightly
def test_record_of_another_version_counts_as_none(miniature: Tree) -> None:
    record = next((miniature.package / "_compiled").glob("manifest*.json"))
    record.write_text('{"format": 0, "failure": ""}', encoding="utf-8")
    assert "it has not been built for this Python" in use(miniature)[1]
    assert miniature.build().stdout.startswith("simnet: 2 of 2")


def test_checkout_that_was_never_built_says_how_to(miniature: Tree) -> None:
    shutil.rmtree(miniature.package / "_compiled")
    done = miniature.python("-c", "import simnet, simnet.kernel.base")
    assert done.stderr.count("EngineWarning") == 1
    assert "it has not been built for this Python; build it with: " in done.stderr


def test_build_without_compiler_says_so_and_so_does_the_import(miniature: Tree) -> None:
    shutil.rmtree(miniature.package / "_compiled")
    done = miniature.build(CC="/nonexistent/cc")
    assert done.returncode == 1
    cause = "no C compiler: /nonexistent/cc: No such file or directory"
    assert done.stderr == f"simnet: the core is not compiled: {cause}\n"
    assert f"it could not be built: {cause}" in use(miniature)[1]


def test_compiler_that_went_missing_costs_no_module(miniature: Tree) -> None:
    assert miniature.build(CC="/nonexistent/cc").returncode == 1
    assert miniature.build().stdout.startswith("simnet: 0 of 2 rooms of the core compiled")
    assert use(miniature)[0]["active"] == "compiled"


@pytest.mark.nightly
def test_broken_source_is_named_and_the_others_are_kept(miniature: Tree) -> None:
    shutil.rmtree(miniature.package / "_compiled")
    broken = miniature.package / "net" / "derived.py"
    broken.write_text(DERIVED_WITH_A_TYPE_ERROR, encoding="utf-8")
    done = miniature.build()
    assert done.returncode == 1
    assert re.search(r"^simnet/net/derived\.py:11:33: ", done.stderr, re.MULTILINE)
    assert done.stderr.endswith("simnet._core_net: Cython does not accept simnet._core_net\n")
    assert {re.sub("_[0-9a-f]{32}.*", "", name) for name in miniature.compiled_files} == {
        "_core_kernel",
        "_cyutility",
    }


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("class Base:\n", "class Base\n", "simnet/kernel/base.py:9: expected ':'"),
        ("= 1\n", "= len('a')\n", "simnet/kernel/base.py: len('a'): a compiled number is made of"),
        (
            "cython.int = 2",
            "cython.integer = 2",
            "simnet/kernel/base.py:11: cython.integer: expected",
        ),
    ],
)
def test_mistake_in_a_declaration_is_shown_where_it_is(
    miniature: Tree, old: str, new: str, says: str
) -> None:
    file = miniature.package / "kernel" / "base.py"
    file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
    done = miniature.build()
    assert done.returncode == 1
    assert done.stderr.startswith(f"simnet: the core is not compiled: {says}")


def test_a_field_begins_with_what_its_line_says_on_both_engines(miniature: Tree) -> None:
    script = (
        "from simnet.net.derived import Derived; from simnet.kernel.base import _STEP;"
        " d = Derived(); e = Derived.__new__(Derived); "
        "print(d.total, d.calls, d.first, e.first, _STEP)"
    )
    for engine in ("compiled", "interpreted"):
        assert miniature.python("-c", script, engine=engine).stdout == "0 0 7 7 1\n"


@pytest.mark.nightly
def test_what_the_modules_share_is_one_of_them(miniature: Tree) -> None:
    done = miniature.python(
        "-c",
        "import sys; from simnet.net.derived import Derived;"
        " print(sys.modules['simnet._cyutility'].__file__)",
        engine="compiled",
    )
    (shared,) = (name for name in miniature.compiled_files if name.startswith("_cyutility"))
    assert Path(done.stdout.strip()).name == shared, done.stderr
    (miniature.package / "_compiled" / shared).unlink()
    answer, stderr = use(miniature)
    assert answer["active"] == "interpreted"
    assert stderr.count("EngineWarning") == 1
    assert miniature.build().stdout.startswith("simnet: 0 of 2 rooms of the core compiled")
    assert use(miniature)[0]["active"] == "compiled"


DERIVED_WITH_A_TYPE_ERROR = """

import cython

from simnet.kernel.base import Base

@cython.cclass
class Derived(Base):

    def add_twice(self, amount: cython.longlong) -> cython.longlong:
        wrong: cython.longlong = "text"
        return wrong
"""


def test_tracebacks_of_compiled_code_name_the_source(miniature: Tree) -> None:
    done = miniature.python(
        "-c", "from simnet.kernel.base import Base; Base().add('x')", engine="compiled"
    )
    assert "TypeError" in done.stderr
    done = miniature.python(
        "-c",
        "import simnet.kernel.base as b; print(b.__name__, b.Base.__module__, b.Base.__name__)",
        engine="compiled",
    )
    assert done.stdout.split() == ["simnet.kernel.base", "simnet._core_kernel", "Base"]


def test_tracebacks_name_the_line_of_the_source(miniature: Tree) -> None:
    file = miniature.package / "kernel" / "base.py"
    text = file.read_text("utf-8")
    file.write_text(
        text.replace(
            "        self.total += ", "        raise ValueError(amount)\n        self.total += "
        ),
        "utf-8",
    )
    assert miniature.build().returncode == 0
    done = miniature.python(
        "-c", "from simnet.net.derived import Derived; Derived().add_twice(5)", engine="compiled"
    )
    places = re.findall(r'File "(\S+)", line (\d+), in (\S+)', done.stderr)
    assert places[-2:] == [
        ("simnet/net/derived.py", "13", "simnet._core_net.Derived.add_twice"),
        ("simnet/kernel/base.py", "22", "simnet._core_kernel.Base.add"),
    ]


def test_an_exception_is_told_from_the_number_that_stands_for_it(miniature: Tree) -> None:
    script = "from simnet.net.derived import Derived; d = Derived(); print({})"
    for engine in ("compiled", "interpreted"):
        numbers = script.format("d.add(-1), d.add_twice(-1), d.add(2, times=2)")
        assert miniature.python("-c", numbers, engine=engine).stdout == "-1 -3 1\n"
        raised = miniature.python("-c", script.format("d.add_twice(0)"), engine=engine)
        assert raised.stderr.endswith("ZeroDivisionError\n")
