"""The workloads of the Spectrum Scale document: SAS mixed analytics, and gpfsperf."""

from typing import Annotated

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import count, ratio, size, time


class SasMix(Section):
    """SAS mixed analytics: programs that are started over time and repeated; see `sas_plan`."""

    compute_programs: Annotated[int, count("programs that compute", 0, 1000)]
    memory_programs: Annotated[int, count("programs that want memory", 0, 1000)]
    io_programs: Annotated[int, count("programs that read and write", 0, 1000)]
    jobs_20: Annotated[int, count("jobs of the 20-test", 1, 4000)]
    jobs_30: Annotated[int, count("jobs of the 30-test", 1, 4000)]
    nominal_ps: Annotated[
        int, time("by what the starts of jobs are planned: mean time of a job", "1 s", "36000 s")
    ]
    spread: Annotated[int, count("longest program's time over the shortest one's", 1, 1000)]
    start_ps: Annotated[int, time("time over which the first jobs are started", "0 s", "3600 s")]
    step_ps: Annotated[int, time("nominal time of a step", "1 s", "3600 s")]
    unevenness: Annotated[int, count("most data of a step over the least", 1, 1000)]
    cpu_ps: Annotated[int, time("CPU time of a job on cores of its own, mean", "1 s", "36000 s")]
    compute_share_permille: Annotated[
        int, ratio("share of a compute program's nominal time in which it computes", "0", "1")
    ]
    data_bytes: Annotated[int, size("that a job reads and writes, mean", "1 GB", "100000 GB")]
    io_share_permille: Annotated[
        int, ratio("share of all data that programs for I/O read and write", "0", "1")
    ]
    read_share_permille: Annotated[int, ratio("share of the data that is read", "0.05", "0.95")]
    reread_share_permille: Annotated[
        int, ratio("share of the passes over what the step before has written", "0", "1")
    ]
    merge_share_permille: Annotated[
        int, ratio("share of the passes that merge: blocks of several runs by turns", "0", "1")
    ]
    merge_ways: Annotated[int, count("runs of a file that is merged", 2, 1000)]
    random_share_permille: Annotated[
        int, ratio("share of what programs for I/O read, by calls at random", "0", "1")
    ]
    inputs: Annotated[int, count("input files of a program", 1, 250)]
    small_file_bytes: Annotated[int, size("smallest input file", "1 MiB", "1024 GiB")]
    large_file_bytes: Annotated[int, size("largest input file", "1 MiB", "1024 GiB")]
    scan_mib_ps: Annotated[
        int, time("CPU time of a compute program for 1 MiB that it reads", "0 us", "1 s")
    ]
    pause_permille: Annotated[
        int,
        ratio(
            "share of the nominal time in which a job waits for what is not simulated", "0", "0.9"
        ),
    ]


class Gpfsperf(Section):
    """The arguments of gpfsperf; the record size is `workload.message`."""

    threads: Annotated[int, count("-th: threads of a node, each with its own file", 1, 1024)] = 32
    file_bytes: Annotated[int, size("-n: size of each file", "1 MiB", "16384 GiB")] = 3 << 30
    readratio: Annotated[
        int, count("-readratio: % of the records of mixrw that are read", 0, 100)
    ] = 70
