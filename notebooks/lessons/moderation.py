"""What `rx-frames` does to interrupts, CPU time and throughput of one port.

Both ends count frames and time before they interrupt: the receiver's tg3 by `rx-frames`, the
sender's e1000 by `InterruptThrottleRate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from lessons.drawing import BLUE, GREEN, GREY, VERMILION, heading
from simnet.study.run.run import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

# interrupts a second at most, of the sender
THROTTLE: Final = "peer:modprobe e1000 InterruptThrottleRate"
# so many times what the count alone would ask for is the timer's doing
_CUT_SHORT: Final = 1.5


def over_rx_frames(scenario: str, counts: Sequence[int], **settings: str) -> pd.DataFrame:
    """Return a row for each `rx-frames`: frames and interrupts of eth0 a second, Mbit/s, CPU 0.

    Only the two ports of node 0 carry traffic; `settings` are further knobs.
    """
    rows = []
    for count in counts:
        knobs = {f"ethtool -C eth{port} rx-frames": str(count) for port in range(2)}
        one = run(
            scenario,
            settings={"nodes": "1"} | knobs | settings,
            duration="500 ms",
            warm_up="200 ms",
        )
        eth0 = one.to_frame("ports").loc["eth0"]
        rows.append(
            {
                "frames": eth0["rx_packets_per_s"],
                "interrupts": eth0["interrupts_per_s"],
                "carried": eth0["rx_bps"] / 1e6,
                "busy": one.cpus[0].busy,
            }
        )
    return pd.DataFrame(rows, index=pd.Index(counts, name="rx_frames"))


def interrupts(found: pd.DataFrame, axes: Axes) -> None:
    """Draw interrupts of eth0 over `rx-frames`, and how many the count alone would make."""
    ideal = found["frames"] / found.index
    cut_short = found.index[found["interrupts"] > _CUT_SHORT * ideal]
    axes.plot(found.index, ideal, ":", color=GREY, label="frames per second / rx-frames")
    axes.plot(found.index, found["interrupts"], "o-", color=VERMILION, label="simulated")
    axes.set_ylabel("interrupts of eth0 (1/s)")
    axes.set_ylim(bottom=0)
    axes.legend()
    first = min(cut_short, default="?")
    heading(axes, f"From rx-frames = {first} on, 20 us of silence end a batch, not the count.")


def carried(found: pd.DataFrame, unthrottled: pd.DataFrame, axes: Axes) -> None:
    """Draw CPU time and throughput over `rx-frames`.

    `unthrottled` is the same for a sender that interrupts at once: dashed.
    """
    axes.plot(found.index, found["busy"], "s-", color=BLUE)
    axes.set_ylabel("CPU 0 busy (%)", color=BLUE)
    axes.set_ylim(0, 105)
    axes.set_xlabel("ethtool -C rx-frames (frames)")
    axes.set_xticks(list(found.index))
    right = axes.twinx()
    right.plot(found.index, found["carried"], "^-", color=GREEN, label="as it is")
    right.plot(found.index, unthrottled["carried"], "--", color=GREEN, label="sender not throttled")
    right.set_ylabel("eth0 receives (Mbit/s)", color=GREEN)
    right.set_ylim(0, 1050)
    right.legend(loc="lower left")
    heading(
        axes, "Fewer interrupts need less CPU time (squares), but the sender waits too (triangles)."
    )
