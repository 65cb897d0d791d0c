"""Listing 1 of the x460 document: what sar printed of the system out of the box."""

from typing import Final

from simnet.documents.x460.answers import LISTING_1 as CASE
from simnet.documents.x460.gates import closeness_gates, remote_gate, sibling_gate
from simnet.study.calibrate.listing import Comparison, Gate
from simnet.study.validate.document import Listing


def gates(comparison: Comparison) -> list[Gate]:
    """What a prediction of Listing 1 must meet: nearness, and two contrasts no constant has.

    CPUs 1, 4, 5 and 9 serve remote ports beside a busy SMT sibling, CPUs 2 and 6 beside an idle
    one; the listing's means differ by 13.1 points.
    """
    return [
        *closeness_gates(comparison),
        sibling_gate(
            {cpu.id: cpu.busy for cpu in comparison.result.cpus},
            busy_sibling=(1, 4, 5, 9),
            idle_sibling=(2, 6),
            expected_points=13.0,
            tolerance_points=5.0,
        ),
        remote_gate(comparison, local_node=0),
    ]


LISTING_1: Final = Listing(
    case=CASE,
    capture="sar-x460-out-of-box-8k-4nodes.txt",
    workload={"nodes": 4, "message_bytes": 8192, "test": "netserver"},
    gates=gates,
)
