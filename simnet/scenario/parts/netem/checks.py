"""What the queue before a bottleneck refuses."""

from simnet.net.qdisc.red import eval_ewma
from simnet.scenario.core.tree import Table, Tree
from simnet.scenario.parts.netem.schema import Bottleneck


def check_bottleneck(tree: Tree, table: Table) -> None:
    """Refuse thresholds of RED that tc would."""
    given = Bottleneck(**tree.get(("bottleneck",)))
    if given.queue != "red":
        return
    least, most, burst = given.red_thresholds
    if not least < most <= given.red_limit_bytes:
        message = (
            f"min {least} B, max {most} B, limit {given.red_limit_bytes} B: expected each more"
        )
        raise table.error(("bottleneck", "red_max_bytes"), "bottleneck", message)
    try:
        eval_ewma(least, burst, given.red_avpkt_bytes)
    except ValueError as error:
        raise table.error(("bottleneck", "red_burst"), "bottleneck", str(error)) from None
