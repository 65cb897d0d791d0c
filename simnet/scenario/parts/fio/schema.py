"""A job of fio, by the names of its job files."""

from typing import Annotated

from pydantic import Field

from simnet.scenario.core.knob import CpuList
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count, cycles, size

#: values of ioengine
ENGINES = ("sync", "libaio", "io_uring")
#: values of rw: whether places are random, and whether there are reads and writes
PATTERNS = {
    "read": (False, True, False),
    "write": (False, False, True),
    "randread": (True, True, False),
    "randwrite": (True, False, True),
    "rw": (False, True, True),
    "randrw": (True, True, True),
}


class FioGroup(Section):
    """The processes of one section of a job file; direct=1, group_reporting."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9-]*$", description="of the job")]
    filename: Annotated[
        str, Field(description="drives of the system, as in nvme0n1:nvme1n1, which take turns")
    ]
    rw: Annotated[str, Choice("pattern", tuple(PATTERNS))] = "randread"
    rwmixread: Annotated[int, count("percent of reads, with rw or randrw", 0, 100)] = 50
    ioengine: Annotated[str, Choice("how I/O is submitted", ENGINES)] = "libaio"
    hipri: Annotated[bool, Flag("io_uring polls for completions")] = False
    fixedbufs: Annotated[bool, Flag("io_uring's buffers are registered, pinned for good")] = False
    sqthread_poll: Annotated[
        bool, Flag("a thread of the kernel submits what io_uring's ring has, without system calls")
    ] = False
    sqthread_poll_cpu: Annotated[
        int, count("CPU that these threads run on; -1: any", -1, 4095)
    ] = -1
    bs_bytes: Annotated[int, size("of each unit", "512 B", "4 MiB")] = 4096
    iodepth: Annotated[int, count("units in flight of each process", 1, 65536)] = 1
    iodepth_batch: Annotated[int, count("units that are submitted at once", 1, 65536)] = 1
    iodepth_batch_complete_min: Annotated[
        int, count("completions that are waited for", 0, 65536)
    ] = 1
    iodepth_batch_complete_max: Annotated[
        int, count("completions that are taken at once; 0: as many as the least", 0, 65536)
    ] = 0
    iodepth_low: Annotated[
        int, count("units in flight at which it fills up again; 0: iodepth", 0, 65536)
    ] = 0
    numjobs: Annotated[int, count("processes; 0: the job does not run", 0, 4096)] = 1
    offset_bytes: Annotated[int, size("where the range begins", "0 B", "131072 GiB")] = 0
    size_bytes: Annotated[
        int,
        size(
            "length of the range, of all drives together; 0: to the end of each",
            "0 B",
            "131072 GiB",
        ),
    ] = 0
    offset_increment_bytes: Annotated[
        int, size("how much later each further process begins", "0 B", "131072 GiB")
    ] = 0
    cpus_allowed: Annotated[
        tuple[int, ...], CpuList("CPUs that the processes may run on; empty: all")
    ] = ()
    cpus_allowed_policy: Annotated[
        str, Choice("each process may use all of these, or has one", ("shared", "split"))
    ] = "shared"
    prioclass: Annotated[
        int, count("class of I/O priority: 0 none, 1 real time, 2 best effort, 3 idle", 0, 3)
    ] = 0
    prio: Annotated[int, count("level of I/O priority, in classes 1 and 2", 0, 7)] = 4
    unit_cycles: Annotated[int, cycles("fio itself, for each unit")] = 1800
    sync_cycles: Annotated[int, cycles("VFS, for each pread or pwrite")] = 700
    libaio_cycles: Annotated[int, cycles("the kernel's AIO, for each unit submitted")] = 1000
    io_uring_cycles: Annotated[int, cycles("io_uring, for each unit submitted")] = 500
    reap_cycles: Annotated[int, cycles("each event that is handed over")] = 200
    ring_cycles: Annotated[int, cycles("a look at a ring of io_uring, with sqthread_poll")] = 300

    @property
    def drives(self) -> tuple[str, ...]:
        """Names of the drives."""
        return tuple(self.filename.split(":"))
