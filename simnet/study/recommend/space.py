"""What a search may change: tunings of the scenario, what subjects propose, knobs."""

from collections.abc import Iterator, Sequence
from typing import Final

from simnet.scenario.core.subject import subjects
from simnet.study.screen.factors import OFF_ON, Factor, check, chosen_of, names, taken
from simnet.study.work.cases import Case, Member

# what the network and the other end must agree to: turned only if it is asked for
_AGREED: Final = ("ifconfig {port} mtu",)


def space(base: Case, chosen: Sequence[str] = ()) -> tuple[Factor, ...]:
    """All of it, structure first; some by name.

    Raises:
        InputError: none is so named.
    """
    proposed = tuple(_proposed(base))
    if chosen:
        check(chosen, (*names(base), *(one.name for one in proposed)))
        proposed = tuple(one for one in proposed if one.name in chosen)
    known = taken(base, chosen)
    others = {one.name for one in known}
    every = (
        *(one for one in known if one.structure),
        *(one for one in proposed if one.name not in others and one.goes(base, OFF_ON[1])),
        *(one for one in known if not one.structure),
    )
    if chosen:
        return chosen_of(every, chosen)
    return tuple(one for one in every if one.name not in _AGREED)


def _proposed(base: Case) -> Iterator[Factor]:
    effective = Member(base).effective()
    for subject in subjects():
        for one in subject.proposals(effective):
            if one.searched:
                yield Factor(one.name, one.doc, OFF_ON, proposed=one.settings)
