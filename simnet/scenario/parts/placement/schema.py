"""Where workers run: values that several loads have."""

from typing import Annotated, TypeAlias

from simnet.scenario.core.specs import Choice, count

WorkerPlacement: TypeAlias = Annotated[
    str,
    Choice(
        "where workers run: worker k on CPU first_cpu + k, or where the scheduler puts them",
        ("pinned", "scheduler"),
    ),
]
FirstCpu: TypeAlias = Annotated[int, count("worker k begins on this CPU + k", 0, 4095)]
