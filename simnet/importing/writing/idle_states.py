"""The deeper idle state of a host's CPUs: of Intel's server processors by the kernel's own table.

Source: drivers/idle/intel_idle.c of Linux 6.6 (`snb_cstates`, `ivt_cstates`, `hsw_cstates`,
`bdw_cstates`, `skx_cstates`: the state C6; exit latencies are the longest). TuneD's
latency-performance and the profiles that include it ask for no state deeper than C1
(`force_latency=cstate.id_no_zero:1|3`; profiles/*/tuned.conf).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simnet.importing.host import ReadHost
    from simnet.importing.writing.models import Draft

_KEY: Final = "deep_idle_exit"
_RESIDENCY: Final = "deep_idle_residency"
_GUEST: Final = "hypervisor"
# name of the processor, table, exit latency and target residency of C6 in us
_TABLES: Final = (
    (re.compile(r"\bE[57]-\d{4}\w* v3\b"), "hsw_cstates", 133, 400),
    (re.compile(r"\bE[57]-\d{4}\w* v4\b"), "bdw_cstates", 133, 400),
    (re.compile(r"\bE[57]-\d{4}\w* v2\b"), "ivt_cstates", 82, 300),
    (re.compile(r"\bE5-\d{4}\w*(?! v\d)\b"), "snb_cstates", 104, 345),
    (re.compile(r"\b(?:Bronze|Silver|Gold|Platinum) \d[12]\d\d"), "skx_cstates", 133, 600),
)
_HALT: Final = "drivers/idle/intel_idle.c: {}, C1: at most 2 us, some of which a switch holds"
_SHALLOW: Final = frozenset(
    ("latency-performance", "network-latency", "hpc-compute", "cpu-partitioning", "realtime")
)


def set_idle_states(draft: Draft, host: ReadHost, processor: str) -> None:
    """Give a processor's draft the deeper idle state that its host uses.

    Args:
        draft: of a related processor, which may have one.
        host: as it was read.
        processor: its name.
    """
    found = next(
        ((t, out, stays) for name, t, out, stays in _TABLES if name.search(processor)), None
    )
    if found and _KEY not in draft.document and _GUEST not in host.facts:
        table, leaves, stays = found
        source = f"drivers/idle/intel_idle.c: {table}, C6, the longest"
        draft.assume(_KEY, f"{leaves} us", source, f"{leaves // 4} us", f"{leaves} us")
        draft.assume(_RESIDENCY, f"{stays} us", source)
        if "idle_exit" not in draft.document:
            draft.assume("idle_exit", "500 ns", _HALT.format(table), "100 ns", "2 us")
    profile = host.facts.get("tuned_profile")
    if profile is not None and profile.value in _SHALLOW and _KEY in draft.document:
        why = f"{profile.source}: TuneD's {profile.value} allows no state deeper than C1"
        draft.assume(_KEY, "0 us", why)
