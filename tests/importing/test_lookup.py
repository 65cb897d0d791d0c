"""Which model a host's processor is taken for: the models say so themselves."""

import pytest

from simnet.importing.lookup import nearest_cpu
from simnet.importing.writing.models import Draft
from simnet.scenario.core.library import find_model, flat, read_model


@pytest.mark.parametrize(
    ("description", "model"),
    [
        ("Intel(R) Xeon(R) CPU           E5504  @ 2.00GHz GenuineIntel", "intel-xeon-e5504"),
        ("Intel(R) Xeon(TM) CPU 3.00GHz GenuineIntel", "intel-xeon-7040"),
        ("Intel(R) Xeon(R) Gold 6128 CPU @ 3.40GHz GenuineIntel", "intel-xeon-gold-6128"),
        ("Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz GenuineIntel", "intel-xeon-gold-6128"),
        ("Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz GenuineIntel", "intel-xeon-ice-lake"),
        ("Intel(R) Xeon(R) Silver 4314 CPU @ 2.40GHz GenuineIntel", "intel-xeon-ice-lake"),
        ("Intel(R) Xeon(R) Platinum 8380H CPU @ 2.90GHz GenuineIntel", "intel-xeon-gold-6128"),
        ("AMD EPYC 9354 32-Core Processor AuthenticAMD", "amd-epyc-9004"),
        ("AMD EPYC 7742 64-Core Processor AuthenticAMD", "amd-epyc-7662"),
        ("AMD EPYC 7543 32-Core Processor AuthenticAMD", "amd-epyc-7003"),
        ("AMD EPYC 74F3 24-Core Processor AuthenticAMD", "amd-epyc-7003"),
        ("Intel(R) Xeon(R) Gold 6430 GenuineIntel", "intel-xeon-sapphire-rapids"),
        ("INTEL(R) XEON(R) PLATINUM 8592+ GenuineIntel", "intel-xeon-sapphire-rapids"),
        ("Neoverse-N1 ARM", "arm-neoverse-n1"),
        ("CPU implementer 0x41, CPU part 0xd4f", "arm-neoverse-v2"),
        ("CPU implementer 0x48, CPU part 0xd01", "arm-neoverse-n1"),
        ("ARMv7 Processor rev 4 (v7l)", "arm-cortex-a53"),
        ("Cortex-A53 ARM", "arm-cortex-a53"),
        ("CPU implementer 0x41, CPU part 0xd03", "arm-cortex-a53"),
        ("CPU implementer 0x41, CPU part 0xd08", "arm-cortex-a72"),
        ("Cortex-A73 ARM", "arm-cortex-a72"),
        ("Cortex-A76 ARM", "arm-neoverse-n1"),
        ("MediaTek MT7621 ver:1 eco:3 MIPS 1004Kc V2.15", "mips-1004kc"),
        ("MIPS 24Kc V7.4", "mips-1004kc"),
        ("Intel(R) Celeron(R) CPU  J1900  @ 1.99GHz GenuineIntel", "intel-celeron-j1900"),
        ("Intel(R) Celeron(R) CPU N2840 @ 2.16GHz GenuineIntel", "intel-celeron-j1900"),
        ("Intel(R) Celeron(R) J4125 CPU @ 2.00GHz GenuineIntel", "intel-celeron-j1900"),
        ("Intel(R) Atom(TM) CPU C2758 @ 2.40GHz GenuineIntel", "intel-celeron-j1900"),
        ("Intel(R) Atom(TM) CPU D525 @ 1.80GHz GenuineIntel", "intel-celeron-j1900"),
        ("Intel(R) N100 GenuineIntel", "intel-n100"),
        ("Intel(R) Core(TM) i3-N305 GenuineIntel", "intel-n100"),
        ("Intel(R) Celeron(R) N5105 @ 2.00GHz GenuineIntel", "intel-n100"),
        ("Intel(R) Xeon(R) CPU E3-1220 V2 @ 3.10GHz GenuineIntel", "intel-xeon-gold-6128"),
        ("QEMU Virtual CPU version 2.5+ AuthenticAMD", "amd-epyc-7662"),
        ("POWER5 (gr)", "ibm-power5-1650"),
        ("POWER9, altivec supported", "ibm-power8-4356"),
        ("a processor of another maker", "intel-xeon-gold-6128"),
        ("", "intel-xeon-gold-6128"),
    ],
)
def test_the_closest_model_is_taken(description: str, model: str) -> None:
    assert nearest_cpu(description) == model


def test_what_a_model_stands_for_is_no_value_and_not_copied() -> None:
    form, _ = read_model("cpu", find_model("cpu", "intel-xeon-e5504"))
    values, structure = flat(form)
    assert "clock" in values
    assert "stands_for" not in values | structure
    draft = Draft("cpu", "a host's own", "intel-xeon-e5504").document
    assert "clock" in draft
    assert "stands_for" not in draft
