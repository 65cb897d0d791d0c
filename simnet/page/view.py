"""What one sees of a scenario: its tunings, a slider or selector a knob, the host, the answer.

The same in a page of its own (`serve`) and in a notebook (`sliders`).
"""

from __future__ import annotations

import threading
from typing import Any, Final

import panel as pn
from markupsafe import escape

from simnet.errors import SimnetError
from simnet.page.answers import ROUNDS, Question, first_answer, sharper_answer
from simnet.report.html.page import style
from simnet.report.html.svg import picture
from simnet.study.screen.controls import Control
from simnet.study.work.cases import Case, Member

__all__ = ["View"]

_STYLE: Final = f"""
{style().replace(":root", ":host")}
table.grid td {{ border: 1px solid var(--line); width: 1.7rem; height: 1.5rem; padding: 0; }}
table.grid td {{ text-align: center; font-size: .7rem; }}
:host {{ font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }}
"""
_BUTTON: Final = '<button type="button" class="copy"'
# a script of the page does not reach into a pane
_ON_CLICK: Final = (
    "navigator.clipboard.writeText("
    "this.getRootNode().getElementById(this.dataset.of).textContent);this.textContent='Copied'"
)


class _Stale(Exception):  # noqa: N818 (no error: another question came)
    """The question has changed while it was answered."""


class View:
    """What one person looks at: controls, the question they ask, and the answer so far."""

    def __init__(self, base: Case, found: tuple[Control, ...], tunings: tuple[str, ...]) -> None:
        self._pinned = base
        self._asked = 0
        self._lock = threading.Lock()
        self._controls = {control: _widget(control) for control in found}
        self._before = {control: control.value for control in found}
        self._tunings = pn.widgets.CheckBoxGroup(label="tunings", options=list(tunings))
        self._pin = pn.widgets.Button(label="Pin as before", color="primary")
        self._state = pn.pane.HTML("", stylesheets=[_STYLE])
        self._answer = pn.pane.HTML("", stylesheets=[_STYLE], sizing_mode="stretch_width")
        for widget in self._controls.values():
            widget.param.watch(lambda _event: self._ask(), "value")
        self._tunings.param.watch(lambda _event: self._ask(), "value")
        self._pin.on_click(lambda _event: self._pin_now())

    def layout(self, height: int | None = None) -> Any:
        """Everything, and the first answer.

        Args:
            height: of the column of controls, in pixels, with a bar to scroll; as needed when None.
        """
        pn.state.on_session_destroyed(self._left)
        self._ask()
        side = pn.Column(
            *((pn.pane.HTML("<h3>Tunings</h3>"), self._tunings) if self._tunings.options else ()),
            self._pin,
            self._state,
            *((pn.pane.HTML("<h3>Knobs</h3>"),) if self._controls else ()),
            *self._controls.values(),
            width=340,
            scroll=height is not None,
            height=height,
        )
        return pn.Row(
            side, pn.Column(_host(self._pinned), self._answer), sizing_mode="stretch_width"
        )

    def _question(self) -> Question:
        changed = tuple(
            (control.name, widget.value)
            for control, widget in self._controls.items()
            if widget.value != self._before[control]
        )
        tunings = tuple(n for n in self._tunings.value if n not in self._pinned.tunings)
        return Question(self._pinned, tunings, changed)

    def _left(self, _context: Any) -> None:
        """Nobody looks at it: no answer is wanted."""
        self._asked += 1

    def _pin_now(self) -> None:
        self._pinned = self._question().after
        self._before = {control: widget.value for control, widget in self._controls.items()}
        self._ask()

    def _ask(self) -> None:
        """Answer at once, then better and better, until another question comes."""
        self._asked += 1
        question = self._question()
        try:
            self._answer.object = first_answer(question)
        except SimnetError as error:
            self._say(str(error))
            return
        self._say("answer: first impression")
        if question.typed:
            document, number = pn.state.curdoc, self._asked
            threading.Thread(
                target=self._sharpen, args=(question, number, document), daemon=True
            ).start()

    def _sharpen(self, question: Question, number: int, document: Any) -> None:
        def goes_on(_done: int, _all: int, _phase: str = "") -> None:
            if number != self._asked:
                raise _Stale

        try:
            with self._lock:  # one at a time: each has all CPUs
                for place, wanted in enumerate(ROUNDS, start=1):
                    goes_on(0, 0)
                    html = sharper_answer(question, wanted, goes_on)
                    html = html.replace(_BUTTON, f'{_BUTTON} onclick="{_ON_CLICK}"')
                    goes_on(0, 0)
                    document.add_next_tick_callback(
                        lambda html=html, place=place: self._show(number, html, place)
                    )
        except _Stale:
            return
        except SimnetError as error:
            said = str(error)
            document.add_next_tick_callback(lambda: self._say(said))

    def _show(self, number: int, html: str, place: int) -> None:
        if number == self._asked:
            self._answer.object = html
            done = "final" if place == len(ROUNDS) else f"round {place} of {len(ROUNDS)}"
            self._say(f"answer: {done}")

    def _say(self, text: str) -> None:
        self._state.object = f'<p class="soft">{escape(text)}</p>'


def _widget(control: Control) -> Any:
    kind = pn.widgets.DiscreteSlider if control.ordered else pn.widgets.Select
    return kind(label=control.name, options=list(control.values), value=control.value)


def _host(base: Case) -> Any:
    """The machine: nodes, links, buses, sockets, memory, ports and their queues."""
    from simnet.study.figures.machine import topology

    configuration = Member(base).effective().model_dump(mode="json")
    if not configuration["host"]["ports"]:
        return pn.pane.HTML("")
    drawn = picture(
        "host",
        lambda: topology(configuration),
        "The host",
        "nodes, links, sockets, ports and their queues with the CPUs of their interrupts",
    )
    html = f"<details><summary>The host</summary><figure>{drawn.svg}</figure></details>"
    return pn.pane.HTML(html, stylesheets=[_STYLE], sizing_mode="stretch_width")
