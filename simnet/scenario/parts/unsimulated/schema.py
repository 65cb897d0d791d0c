"""What a load is that cannot be simulated, and why."""

from typing import Annotated

from pydantic import Field

from simnet.scenario.core.section import Section


class Unsimulated(Section):
    """A load that is known and not simulated; no run of the scenario begins."""

    what: Annotated[str, Field(description="the load, as a noun: a tunnel end")]
    why: Annotated[str, Field(description="what of it is not simulated")]
