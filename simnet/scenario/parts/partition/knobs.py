"""The knobs of a logical partition: attributes of the HMC, and of Linux in it.

Attributes have the names that ``lshwres -r proc --level lpar`` of the Hardware Management Console
prints without ``curr_``; SYSTEM, PARTITION and PROFILE stand for names that it gives. Sources: IBM,
HMC commands chhwres(1) and chsyscfg(1); powerpc-utils, ppc64_cpu(8).
"""

from typing import Any, Final

from simnet.scenario.core.knob import Knob, Stage
from simnet.scenario.core.schema import value_spec
from simnet.scenario.parts.partition.schema import Partition

_CHHWRES: Final = "chhwres -r proc -m SYSTEM -o s -p PARTITION -a"
_PROFILE: Final = "chsyscfg -r prof -m SYSTEM -i name=PROFILE,lpar_name=PARTITION"
_ACTIVATE: Final = "shut it down and activate it with the profile, or move the difference by DLPAR"


def _knob(name: str, target: str, command: str, **more: Any) -> Knob:
    spec = value_spec(Partition, target)
    # what is typed at the management console stays as it is set
    keep = "" if name.startswith("lpar ") else None
    more |= {"stage": Stage.CPUS, "keep": keep}
    return Knob(name, spec.doc, spec, "partition", target, command, **more)


PARTITION: Final = (
    _knob(
        "lpar proc_units",
        "proc_units_permille",
        f"{_PROFILE},desired_proc_units={{value}}",
        note=f"{_ACTIVATE}: chhwres -r proc -o a (or r) --procunits",
    ),
    _knob(
        "lpar procs",
        "procs",
        f"{_PROFILE},desired_procs={{value}}",
        note=f"{_ACTIVATE}: chhwres -r proc -o a (or r) --procs",
    ),
    _knob("lpar sharing_mode", "sharing_mode", f"{_CHHWRES} sharing_mode={{value}}"),
    _knob("lpar uncap_weight", "uncap_weight", f"{_CHHWRES} uncap_weight={{value}}"),
    _knob("ppc64_cpu --smt", "smt", "ppc64_cpu --smt={value}"),
)
