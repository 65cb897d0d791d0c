"""What a command line and the log of a kernel say of the IOMMU, and what an import makes of it."""

from pathlib import Path
from typing import Final

import pytest

from simnet.importing.import_host import import_host
from simnet.scenario.core.load import load

_CPUS: Final = "Architecture: x86_64\nCPU(s): 4\nVendor ID: {}\nModel name: {}\n"
INTEL: Final = ("GenuineIntel", "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz")
AMD: Final = ("AuthenticAMD", "AMD EPYC 7302P 16-Core Processor")
TRANSLATED: Final = "iommu: Default domain type: Translated"
PASSED: Final = "iommu: Default domain type: Passthrough (set via kernel command line)"
LAZY: Final = "iommu: DMA domain TLB invalidation policy: lazy mode"
STRICT: Final = "iommu: DMA domain TLB invalidation policy: strict mode"
GROUP: Final = "pci 0000:c0:01.0: Adding to iommu group 0"


def settings(
    folder: Path,
    maker: tuple[str, str],
    *,
    options: str = "",
    log: tuple[str, ...] = (),
    release: str = "6.6.0",
) -> dict[str, str]:
    """What of the IOMMU the host's kernel has in the scenario."""
    given = folder / "in"
    given.mkdir()
    (given / "lscpu.txt").write_text(_CPUS.format(*maker), "utf-8")
    (given / "version").write_text(f"Linux version {release} (builder) #1 SMP\n", "utf-8")
    if options:
        (given / "cmdline").write_text(f"BOOT_IMAGE=/vmlinuz ro {options} quiet\n", "utf-8")
    if log:
        lines = "".join(f"[    0.{at:06}] {line}\n" for at, line in enumerate(log))
        (given / "dmesg").write_text(lines, "utf-8")
    import_host(given, workload="rr").write(folder / "out")
    kernel = load(folder / "out" / "scenario.toml").host.kernel
    names = ("intel_iommu", "amd_iommu", "iommu_passthrough", "iommu_strict")
    return {name: value for name in names if (value := getattr(kernel, name)) not in {"off", "0"}}


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("intel_iommu=on", {"intel_iommu": "on"}),
        ("intel_iommu=on,strict", {"intel_iommu": "on", "iommu_strict": "1"}),
        ("intel_iommu=on iommu.strict=1", {"intel_iommu": "on", "iommu_strict": "1"}),
        ("intel_iommu=on iommu=pt", {"intel_iommu": "on", "iommu_passthrough": "1"}),
        ("iommu=pt", {}),
        ("iommu.strict=1", {}),
        ("intel_iommu=off", {}),
        ("", {}),
    ],
)
def test_options_count(options: str, found: dict[str, str], tmp_path: Path) -> None:
    assert settings(tmp_path, INTEL, options=options) == found


@pytest.mark.parametrize(
    ("log", "found"),
    [
        ((TRANSLATED, LAZY, GROUP), {"amd_iommu": "on"}),
        ((TRANSLATED, STRICT, GROUP), {"amd_iommu": "on", "iommu_strict": "1"}),
        ((PASSED, GROUP), {"amd_iommu": "on", "iommu_passthrough": "1"}),
        # a kernel says its mode on a host without a unit, too
        ((TRANSLATED, LAZY), {}),
        ((TRANSLATED, "AMD-Vi: IO/TLB flush on unmap enabled", GROUP), None),
    ],
)
def test_the_log_counts_where_there_is_a_unit(
    log: tuple[str, ...], found: dict[str, str] | None, tmp_path: Path
) -> None:
    strict = {"amd_iommu": "on", "iommu_strict": "1"}
    assert settings(tmp_path, AMD, log=log) == (strict if found is None else found)


def test_the_log_counts_more_than_an_option(tmp_path: Path) -> None:
    log = (TRANSLATED, STRICT, "DMAR: IOMMU enabled")
    assert settings(tmp_path, INTEL, options="intel_iommu=on iommu.strict=0", log=log) == {
        "intel_iommu": "on",
        "iommu_strict": "1",
    }


def test_a_kernel_of_which_nothing_is_known_maps_nothing_and_the_report_says_why(
    tmp_path: Path,
) -> None:
    assert settings(tmp_path, INTEL, options="intel_iommu=on", release="3.10.0") == {}
    report = (tmp_path / "out" / "IMPORT.md").read_text("utf-8")
    assert "it came with Linux 4.14" in report


@pytest.mark.parametrize(
    ("option", "loop"), [("idle=poll", "poll"), ("idle=halt", "halt"), ("idle=nomwait", "0")]
)
def test_an_idle_loop_counts(option: str, loop: str, tmp_path: Path) -> None:
    settings(tmp_path, INTEL, options=option)
    assert load(tmp_path / "out" / "scenario.toml").host.kernel.idle_loop == loop


def test_a_word_that_the_kernel_does_not_take_is_said(tmp_path: Path) -> None:
    found = settings(tmp_path, INTEL, options="intel_iommu=on iommu=strict")
    assert found == {"intel_iommu": "on"}
    assert "iommu.strict=1" in (tmp_path / "out" / "IMPORT.md").read_text("utf-8")
