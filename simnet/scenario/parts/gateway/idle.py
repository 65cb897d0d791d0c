"""Which settings of a home router nothing reads in a configuration."""

from collections.abc import Iterator

from simnet.scenario.core.effective import Effective


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    given = effective.gateway
    if given is None:
        return
    if given.flow_offload:
        yield "gateway.forward_cycles", "connections pass by the flow table"
    else:
        yield "gateway.offload_cycles", "there is no flow table"
