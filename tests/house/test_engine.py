"""Which engine runs: the compiled one exactly when it is what the sources say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from simnet import _engine
from simnet._build import translation
from tests.house.trees import ROOT

if TYPE_CHECKING:
    from tests.house.trees import Tree

pytestmark = pytest.mark.packaging

USE = """
import json, sys
from simnet import _engine
from simnet.kernel.derived import Derived, compiled
from simnet.kernel.base import Base
thing = Derived()
print(json.dumps({
    "active": _engine.active(),
    "compiled": compiled(),
    "result": [thing.add_twice(3), thing.add(4), thing.total],
    "is_base": isinstance(thing, Base),
    "files": sorted(sys.modules[name].__file__ for name in
                    ("simnet.kernel.base", "simnet.kernel.derived")),
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
    assert all("/_compiled/" in str(file) for file in answer["files"])  # type: ignore[attr-defined]
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
    assert "simnet.kernel.base or what it includes was edited" in stderr
    assert miniature.build().returncode == 0
    answer, stderr = use(miniature)
    assert (answer["result"], answer["active"], stderr) == ([12, 20, 20], "compiled", "")


def test_one_stale_module_takes_all_out(miniature: Tree) -> None:
    edit(miniature.package / "kernel" / "derived.py")
    answer, _ = use(miniature)
    assert not any("_compiled" in str(file) for file in answer["files"])  # type: ignore[attr-defined]


def test_restored_source_runs_compiled_again(miniature: Tree) -> None:
    file = miniature.package / "kernel" / "base.py"
    before = file.read_text(encoding="utf-8")
    edit(file)
    assert use(miniature)[0]["active"] == "interpreted"
    file.write_text(before, encoding="utf-8")
    assert use(miniature)[0]["active"] == "compiled"


def test_edited_declaration_makes_its_users_stale(miniature: Tree) -> None:
    edit(miniature.package / "kernel" / "base.pxd")
    done = miniature.build()
    assert done.stdout == "simnet: 2 of 2 core modules compiled, the rest up to date\n", done.stderr


def test_only_what_changed_is_compiled(miniature: Tree) -> None:
    before = miniature.compiled_files
    edit(miniature.package / "kernel" / "base.py")
    assert miniature.build().stdout.startswith("simnet: 1 of 2 core modules compiled")
    after = miniature.compiled_files
    assert len(after) == len(before), "the file of the older source is gone"
    assert [re.sub("_[0-9a-f]{32}.*", "", name) for name in sorted(before & after)] == [
        "simnet__cyutility",
        "simnet_kernel_derived",
    ]
    assert miniature.build().stdout.startswith("simnet: 0 of 2 core modules compiled")
    assert use(miniature)[0]["active"] == "compiled", "a build with nothing to do breaks nothing"


def test_changed_directives_and_flags_make_everything_stale(miniature: Tree) -> None:
    engine = miniature.package / "_engine.py"
    text = engine.read_text(encoding="utf-8")
    engine.write_text(text.replace('"wraparound": False', '"wraparound": True'), encoding="utf-8")
    assert use(miniature)[0]["active"] == "interpreted"
    engine.write_text(text.replace('"-O0"', '"-O1"'), encoding="utf-8")
    assert use(miniature)[0]["active"] == "interpreted"
    engine.write_text(text, encoding="utf-8")
    assert use(miniature)[0]["active"] == "compiled"


def test_changed_compiler_flags_in_the_environment_rebuild(miniature: Tree) -> None:
    done = miniature.build(CFLAGS="-O1")
    assert done.stdout.startswith("simnet: 2 of 2"), done.stderr


def test_module_without_declarations_is_not_compiled(miniature: Tree) -> None:
    (miniature.package / "kernel" / "derived.pxd").unlink()
    answer, stderr = use(miniature)
    assert answer["active"] == "interpreted"
    assert "simnet.kernel.derived was added or removed" in stderr
    assert miniature.build().returncode == 0
    done = miniature.python("-c", "import simnet.kernel.derived as d; print(d.__file__)")
    assert done.stdout.strip().endswith("derived.py")


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
    file = next((miniature.package / "_compiled").glob("simnet_kernel_derived_*.so"))
    file.write_bytes((first + file.read_bytes()[len(first) :])[:length])
    answer, stderr = use(miniature)
    assert (answer["active"], answer["result"]) == ("interpreted", [6, 10, 10])
    assert stderr.count("EngineWarning") == 1
    assert cause in stderr
    done = miniature.python("-c", USE, engine="compiled")
    assert done.returncode == 1
    assert "EngineError: SIMNET_ENGINE=compiled, but" in done.stderr
    assert miniature.build().stdout.startswith("simnet: 1 of 2 core modules compiled")
    assert use(miniature)[0]["active"] == "compiled"


def test_compiled_engine_that_is_asked_for_is_never_replaced(miniature: Tree) -> None:
    edit(miniature.package / "kernel" / "base.py")
    done = miniature.python("-c", "import simnet", engine="compiled")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("simnet.errors.EngineError: SIMNET_ENGINE=compiled, but the compiled")


def test_form_that_checks_itself_lies_beside_the_fast_one(miniature: Tree) -> None:
    made = miniature.python("simnet/_build", engine="checked")
    assert made.stdout.startswith("simnet: 2 of 2 core modules compiled"), made.stderr
    beyond = "from simnet.kernel.base import Base; b = Base(); b.add(2**63 - 1); print(b.add(1))"
    assert miniature.python("-c", beyond, engine="compiled").stdout == f"{-(2**63)}\n"
    assert "OverflowError" in miniature.python("-c", beyond, engine="checked").stderr
    for engine in ("compiled", "checked"):
        again = miniature.python("simnet/_build", engine=engine)
        assert again.stdout.startswith("simnet: 0 of 2 core modules compiled")


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
    assert miniature.build().stdout.startswith("simnet: 0 of 2 core modules compiled")
    assert use(miniature)[0]["active"] == "compiled"


def test_broken_source_is_named_and_the_others_are_kept(miniature: Tree) -> None:
    shutil.rmtree(miniature.package / "_compiled")
    broken = miniature.package / "kernel" / "derived.py"
    broken.write_text(DERIVED_WITH_A_TYPE_ERROR, encoding="utf-8")
    done = miniature.build()
    assert done.returncode == 1
    assert done.stderr.endswith(
        "simnet: the core is not compiled: simnet.kernel.derived:"
        " Cython does not accept simnet/kernel/derived.py\n"
    )
    assert {name[:17] for name in miniature.compiled_files} == {
        "simnet__cyutility",
        "simnet_kernel_bas",
    }


def test_every_broken_source_is_named_with_the_cause_of_the_first(miniature: Tree) -> None:
    (miniature.package / "kernel" / "base.py").write_text("class Base:\n", encoding="utf-8")
    broken = miniature.package / "kernel" / "derived.py"
    broken.write_text(DERIVED_WITH_A_TYPE_ERROR, encoding="utf-8")
    done = miniature.build()
    assert done.returncode == 1
    assert done.stderr.endswith(
        "simnet: the core is not compiled: simnet.kernel.base, simnet.kernel.derived:"
        " Cython does not accept simnet/kernel/base.py\n"
    )


def test_mistake_in_a_declaration_is_shown_where_it_is(miniature: Tree) -> None:
    declarations = miniature.package / "kernel" / "base.pxd"
    declarations.write_text(f"{declarations.read_text('utf-8')}cdef Unheard of\n", "utf-8")
    done = miniature.build()
    assert done.returncode == 1
    assert re.search(r"^simnet/kernel/base\.pxd:\d+:\d+: ", done.stderr, re.MULTILINE)
    assert done.stderr.endswith(
        "simnet: the core is not compiled: simnet.kernel.base, simnet.kernel.derived:"
        " Cython does not accept simnet/kernel/base.py\n"
    )


def test_what_the_modules_share_is_one_of_them(miniature: Tree) -> None:
    done = miniature.python(
        "-c",
        "import simnet.kernel.derived, sys; print(sys.modules['simnet._cyutility'].__file__)",
        engine="compiled",
    )
    (shared,) = (name for name in miniature.compiled_files if name.startswith("simnet__cyutility"))
    assert Path(done.stdout.strip()).name == shared, done.stderr
    (miniature.package / "_compiled" / shared).unlink()
    answer, stderr = use(miniature)
    assert answer["active"] == "interpreted"
    assert stderr.count("EngineWarning") == 1
    assert miniature.build().stdout.startswith("simnet: 0 of 2 core modules compiled")
    assert use(miniature)[0]["active"] == "compiled"


DERIVED_WITH_A_TYPE_ERROR = """
import cython
from simnet.kernel.base import Base

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
    assert done.stdout.split() == ["simnet.kernel.base", "simnet.kernel.base", "Base"]


FUNCTION = re.compile(
    r"^static (?P<mark>CYTHON_SMALL_CODE )?(?!CYTHON_)\w[\w ]*\*? ?"
    r"(?P<kind>__pyx_[a-z]+_|__Pyx_)\w+\(",
    re.MULTILINE,
)


def kinds(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """Return which kinds of functions a module's C has with the mark, and which without it."""
    monkeypatch.chdir(ROOT)
    source = f"{module.replace('.', '/')}.py"
    extension = translation.translate(module, source, str(tmp_path), _engine, None)
    text = Path(extension.sources[0]).read_text("utf-8")
    assert text.startswith(_engine.SMALL_CODE)
    found: dict[str, set[str]] = {"marked": set(), "plain": set()}
    for function in FUNCTION.finditer(text):
        found["marked" if function["mark"] else "plain"].add(function["kind"])
    return found


def test_what_only_python_calls_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = kinds("simnet.net.tcp.ecn", tmp_path, monkeypatch)
    for_python = {"__pyx_pw_", "__pyx_pf_", "__pyx_getprop_"}
    assert found["marked"] >= for_python
    for_simulations = {"__pyx_f_", "__pyx_tp_"}
    assert not found["marked"] & for_simulations
    assert found["plain"] >= for_simulations
    assert not found["plain"] & for_python


def test_a_module_gets_nothing_of_declarations_that_others_include(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    ecn = "simnet.net.tcp.ecn"
    included = {
        ecn: ["net/tcp/ecn.py", "net/tcp/ecn.pxd"],
        "simnet.kernel.prefetch": ["kernel/prefetch.pxd"],  # has functions in C
        "simnet.host.idle": ["host/idle.pxd"],  # has memory views
    }
    extension = translation.translate(
        ecn,
        "simnet/net/tcp/ecn.py",
        str(tmp_path),
        _engine,
        translation.Declarations(included, _engine),
    )
    made = Path(extension.sources[0]).read_text("utf-8")
    assert "simnet/net/tcp/ecn.pxd" in made
    assert "simnet_fetch" not in made
    assert "memoryview_check" not in made


@pytest.mark.parametrize("module", ["simnet.kernel.queue", "simnet.net.link.skb"])
def test_what_is_called_for_each_event_is_not_marked(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = kinds(module, tmp_path, monkeypatch)
    assert found["plain"] >= {"__pyx_f_", "__pyx_pw_", "__pyx_tp_"}
    assert not found["marked"] & {"__pyx_f_", "__pyx_pw_", "__pyx_pf_", "__pyx_tp_"}


@pytest.mark.parametrize(
    ("compiler", "meaning"),
    [
        ((), '__attribute__((cold, optimize("O0")))'),
        (("-D__clang__",), "CYTHON_SMALL_CODE"),
        (("-U__GNUC__",), "CYTHON_SMALL_CODE"),
    ],
    ids=["gcc", "clang", "other"],
)
def test_the_mark_means_something_to_gcc_alone(compiler: tuple[str, ...], meaning: str) -> None:
    command = str(sysconfig.get_config_var("CC")).split()
    done = subprocess.run(
        [*command, "-E", "-P", *compiler, "-"],
        input=f"{_engine.SMALL_CODE}CYTHON_SMALL_CODE\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == meaning
