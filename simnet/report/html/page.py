"""The page: parts of a report written as one file of HTML that loads nothing.

The policy of the page itself forbids every request, and every script but its own.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

import simnet
from simnet.errors import InputError
from simnet.report.html.blocks import Part
from simnet.report.html.numbers import counted, written

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_BYTES: Final = 2_000_000


def page(parts: Sequence[Part]) -> str:
    """The report as HTML.

    Raises:
        InputError: it would be larger than a report may be.
    """
    script = copying()
    text = (
        environment()
        .get_template("report.html")
        .render(
            parts=parts,
            title=parts[0].question,
            version=simnet.__version__,
            script=script,
            script_digest=digest(script),
        )
    )
    if len(text.encode()) > MOST_BYTES:
        size = f"the report would have {len(text.encode()) / 1e6:.1f} MB, and may have 2"
        raise InputError(f"{size}: expected fewer files at once", key="FILE")
    return text


def fragment(part: Part, name: str) -> str:
    """One part as a piece of a page that has `style`; `name` begins its ids."""
    return environment().get_template("fragment.html").render(part=part, name=name)


def style() -> str:
    """The style sheet of reports."""
    return environment().get_template("report.css").render()


def copying() -> str:
    """The script of the buttons that copy."""
    return environment().get_template("copy.js").render()


def digest(script: str) -> str:
    """How a policy names a script that may run: its SHA-256, in base64."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def environment(package: str = "simnet.report.html") -> Environment:
    """The templates of a package, which escape what they show."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        autoescape=True,
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"counted": counted, "written": written}
    return made
