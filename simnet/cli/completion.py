"""Completion in bash, zsh and fish: ``_SIMNET_COMPLETE=bash_source simnet`` prints the script.

Where simnet knows nothing, all of them complete names of files, and none puts a blank after ``=``.

A scenario's name, its tunings, and what can be set in it are completed from the scenario. In bash
the whole line is read, not its words: a knob may hold blanks, ``:`` and ``=``, at which bash cuts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any, ClassVar, Final

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ZshComplete,
    add_completion_class,
    shell_complete,
    split_arg_string,
)

from simnet.errors import InputError, SimnetError

VARIABLE: Final = "_SIMNET_COMPLETE"
_SHELLS: Final = ("bash", "zsh", "fish")
_SPECIAL: Final = re.compile(r"([^\w@%+=:,./~-])")
_BASH: Final = """\
%(complete_func)s() {
    local value
    COMPREPLY=()
    while IFS= read -r value; do
        [[ -n $value ]] && COMPREPLY+=("$value")
        [[ $value == *= ]] && compopt -o nospace
    done < <(COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" \\
        COMP_WORD="${COMP_WORDS[COMP_CWORD]}" %(complete_var)s=bash_complete "$1")
}

complete -o nosort -o default -F %(complete_func)s %(prog_name)s
"""
_PLAIN_ZSH: Final = "        compadd -U -V unsorted -a completions\n"
_OPEN_ZSH: Final = """\
        local -a whole=(${completions:#*=}) open=(${(M)completions:#*=})
        (( $#whole )) && compadd -U -V unsorted -a whole
        (( $#open )) && compadd -U -V unsorted -S '' -a open
"""


def complete(command: click.Command, instruction: str) -> None:
    """Print a shell's script, or what a word on its command line may become.

    Args:
        command: what is completed.
        instruction: ``bash_source``, or what the script asks for.

    Raises:
        InputError: no such instruction.
    """
    for shell in (_Bash, _Zsh, _Fish):
        add_completion_class(shell)
    if shell_complete(command, {}, "simnet", VARIABLE, instruction):
        expected = ", ".join(f"{shell}_source" for shell in _SHELLS)
        raise InputError(f"expected one of {expected}, got {instruction!r}", key=VARIABLE)


def scenarios(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[Any]:
    """Complete the name of a scenario, or of a file."""
    from simnet.scenario.scenarios import scenario_names

    return _items(scenario_names(), typed) or [CompletionItem(typed, type="file")]


def tunings(context: click.Context, _parameter: click.Parameter, typed: str) -> list[Any]:
    """Complete names of tunings, of the scenario and ready ones, with ``+`` between."""
    from simnet.scenario.commands.ready import ready_names
    from simnet.scenario.core.library import read_scenario
    from simnet.scenario.core.load import load
    from simnet.scenario.scenarios import find_scenario

    before = typed.rpartition("+")[0]
    front = f"{before}+" if before else ""
    try:
        known = list(read_scenario(find_scenario(_scenario(context)))[0].tunings)
        known += [name.removesuffix("N") for name in ready_names(load(_scenario(context)))]
    except SimnetError:
        return []
    return _items((front + name for name in known), typed)


def settings(context: click.Context, _parameter: click.Parameter, typed: str) -> list[Any]:
    """Complete the name of what can be set, and after ``=`` its value, where it is one of a few."""
    from simnet.scenario.core.load import present, setting_names
    from simnet.scenario.core.specs import Choice, Flag

    name, sign, _ = typed.partition("=")
    try:
        if not sign:
            return _items((f"{one}=" for one in setting_names(_scenario(context))), typed)
        spec, _ = present(_scenario(context), name)
    except SimnetError:
        return []
    values = spec.choices if isinstance(spec, Choice) else ("on", "off")
    legal = isinstance(spec, (Choice, Flag))
    return _items((f"{name}={value}" for value in values), typed) if legal else []


def turned(context: click.Context, _parameter: click.Parameter, typed: str) -> list[Any]:
    """Complete the name of a tuning or a knob that a search may turn, ports as ``{port}``."""
    from simnet.scenario.core.entries import EACH_PORT
    from simnet.scenario.core.knobs import KNOBS
    from simnet.scenario.core.library import read_scenario
    from simnet.scenario.core.load import setting_names
    from simnet.scenario.scenarios import find_scenario

    try:
        known = read_scenario(find_scenario(_scenario(context)))[0].tunings
        names = set(setting_names(_scenario(context)))
    except SimnetError:
        return []
    found = set(known)
    for knob in KNOBS:
        front, port, back = knob.name.partition(EACH_PORT)
        fits = (one.startswith(front) and one.endswith(back) for one in names)
        if knob.modelled and not knob.compile_time and "{" not in front + back:
            found |= {knob.name} if (any(fits) if port else front in names) else set()
    return _items(found, typed)


def shown(context: click.Context, parameter: click.Parameter, typed: str) -> list[Any]:
    """Complete the name of a scenario, a model, or a file."""
    from simnet.scenario.core.library import MODEL_FOLDERS, model_names
    from simnet.scenario.scenarios import scenario_names

    models = (name for kind in MODEL_FOLDERS for name in model_names(kind))
    return _items({*scenario_names(), *models}, typed) or scenarios(context, parameter, typed)


def format_names(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[Any]:
    """Complete names of formats, with commas between."""
    from simnet.report.formats import FORMATS

    before = typed.rpartition(",")[0]
    front = f"{before}," if before else ""
    return _items((front + name for name in ("json", *FORMATS)), typed)


def measures(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[Any]:
    """Complete the name of what the runs of a sweep are compared by."""
    from simnet.study.run.measures import MEASURES

    return _items(MEASURES, typed)


def _scenario(context: click.Context) -> str:
    # an option that still waits for its value leaves the arguments unread
    known = context.params.get("scenario") or context.params.get("name")
    return str(known or next(iter(context.args), ""))


def _items(names: Iterable[str], typed: str) -> list[CompletionItem[Any]]:
    return [CompletionItem(name) for name in sorted(names) if name.startswith(typed)]


class _Bash(BashComplete):
    """Bash, with names that hold blanks and what it cuts words at."""

    source_template: ClassVar[str] = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one under the cursor, and as much as there is of that."""
        line = os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])]
        words = split_arg_string(line)
        if len(split_arg_string(f"{line}x")) > len(words):
            words.append("")
        return words[1:-1], words[-1]

    def complete(self) -> str:
        """Return what the part of a word that bash sees may become, a line each."""
        args, typed = self.get_completion_args()
        seen = os.environ["COMP_WORD"]
        part = "".join(split_arg_string(seen)) if seen not in {":", "="} else ""
        quoted = seen[:1] in {'"', "'"}
        lines = []
        for item in self.get_completions(args, typed):
            if item.type == "plain":
                value = item.value[len(typed) - len(part) :]
                lines.append(value if quoted else _SPECIAL.sub(r"\\\1", value))
        return "\n".join(lines)


def _or_files(found: list[CompletionItem[Any]], typed: str) -> list[CompletionItem[Any]]:
    """What was found, or what asks the shell for names of files, as bash looks for by itself."""
    return found or [CompletionItem(typed, type="file")]


class _Zsh(ZshComplete):
    """Zsh, which goes on where a value has to follow."""

    source_template: ClassVar[str] = ZshComplete.source_template.replace(_PLAIN_ZSH, _OPEN_ZSH)

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        """Return what the word may become."""
        return _or_files(super().get_completions(args, incomplete), incomplete)


class _Fish(FishComplete):
    """Fish; it puts no blank after ``=`` by itself."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        """Return what the word may become."""
        return _or_files(super().get_completions(args, incomplete), incomplete)
