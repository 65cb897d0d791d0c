"""The cpuset of the process that took a snapshot: which CPUs and nodes it could use.

Source: Documentation/admin-guide/cgroup-v1/cpusets.rst and cgroup-v2.rst of Linux: the name is in
`/proc/self/cpuset`, the place in `/proc/mounts`, the values in `cpus` and `mems` (the old file
system, or cgroup with `noprefix`), `cpuset.cpus` and `cpuset.mems`, or with `.effective` of
version 2.
"""

from collections.abc import Iterator

from simnet.host.cpulist import parse_cpulist
from simnet.importing.files.files import Files


def allowed(files: Files) -> tuple[frozenset[int] | None, frozenset[int] | None]:
    """Return the CPUs and the nodes; None where nothing is said."""
    name = (files.text("proc/self/cpuset") or "").strip()
    if not name.startswith("/"):
        return None, None
    for place, kind in _mounts(files):
        folder = f"{place}{name}".strip("/")
        for cpus, mems in kind:
            found = files.text(f"{folder}/{cpus}")
            if found is not None:
                nodes = files.text(f"{folder}/{mems}")
                return parse_cpulist(found), None if nodes is None else parse_cpulist(nodes)
    return None, None


_V1 = (("cpuset.cpus", "cpuset.mems"), ("cpus", "mems"))
_V2 = (("cpuset.cpus.effective", "cpuset.mems.effective"),)


def _mounts(files: Files) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Yield where cpusets are mounted, and how their files are called."""
    lines = [line.split() for line in (files.text("proc/mounts") or "").splitlines()]
    mounts = [line for line in lines if len(line) > 3]  # noqa: PLR2004 - device, place, type, options
    for _, place, system, options, *_ in mounts:
        if system == "cpuset" or (system == "cgroup" and "cpuset" in options.split(",")):
            yield place, _V1
    for _, place, system, *_ in mounts:
        if system == "cgroup2":
            yield place, _V2
