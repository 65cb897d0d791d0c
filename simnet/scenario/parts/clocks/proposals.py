"""TuneD's profiles: what they set of what is simulated.

Source: profiles/{latency-performance,network-latency,network-throughput}/tuned.conf of TuneD 2.20
(`force_latency=cstate.id_no_zero:1|3`: no state deeper than C1; net.core.busy_read, busy_poll;
tcp_rmem, tcp_wmem). They set the governor performance, too, which is not simulated, and memory,
disks and the scheduler's granularity.
"""

from collections.abc import Iterator
from typing import Final

from simnet.host.release import release
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.subject import Proposal
from simnet.scenario.parts.idle_states.proposals import proposals as shallow

# net.core.busy_read and cpupower idle-set -D
_FIRST: Final = (3, 13)
_POLLS: Final = (("net.core.busy_read", "50"), ("net.core.busy_poll", "50"))
_BUFFERS: Final = (
    ("net.ipv4.tcp_rmem", "4096 131072 16777216"),
    ("net.ipv4.tcp_wmem", "4096 16384 16777216"),
)


def proposals(effective: Effective) -> Iterator[Proposal]:
    """What each of its profiles sets on a host; none that would set nothing."""
    if release(effective.host.kernel.version) < _FIRST or not effective.host.ports:
        return
    halts = tuple(pair for one in shallow(effective) for pair in one.settings)
    profiles = {
        "latency-performance": halts,
        "network-latency": (*halts, *_POLLS),
        "network-throughput": _BUFFERS,
    }
    for name, settings in profiles.items():
        if settings:
            doc = f"tuned-adm profile {name}: what of it is simulated"
            yield Proposal(f"tuned-{name}", doc, settings, searched=False)
