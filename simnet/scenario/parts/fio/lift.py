"""What of fio's jobs can be lifted."""

from typing import Final

from simnet.scenario.core.effective import Effective
from simnet.scenario.system.lifting import Lifting, copy, twice


def _deeper(effective: Effective) -> Effective:
    """More units in flight, of jobs whose engine can have them."""
    jobs = tuple(
        one if one.ioengine == "sync" else copy(one, twice, "iodepth") for one in effective.fio
    )
    return effective.model_copy(update={"fio": jobs})


LIFTS: Final = (
    Lifting("units of fio in flight", _deeper, "doubled", reasons=("iodepth",), order=155),
)
