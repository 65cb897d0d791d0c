"""Every option of a search is one that the search takes."""

from collections.abc import Callable
from inspect import signature
from typing import Any

import click
import pytest

from simnet.cli.commands.recommend import recommend_command
from simnet.cli.commands.screen import screen_command
from simnet.study.recommend.recommend import recommend
from simnet.study.screen.screen import screen

# what the command itself reads
OWN = {"ansible", "as_json", "assignments", "card", "commands", "out", "tuned"}


@pytest.mark.parametrize(
    ("command", "search"), [(recommend_command, recommend), (screen_command, screen)]
)
def test_the_search_takes_every_option(command: click.Command, search: Callable[..., Any]) -> None:
    given = {str(parameter.name) for parameter in command.params} - OWN
    assert given <= set(signature(search).parameters)
