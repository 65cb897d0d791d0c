from simnet.study.run.result import Result
from simnet.study.run.rows import CpuUse
from simnet.study.whatif.full import filled
from tests.study.synthetic import result


def _run(*busy: float) -> Result:
    cpus = tuple(
        CpuUse(
            id=number, node=0, user=0, system=each, softirq=0, irq=0, iowait=0, steal=0,
            idle=100 - each,
        )
        for number, each in enumerate(busy)
    )  # fmt: skip
    return result().model_copy(update={"cpus": cpus})


def test_a_cpu_that_is_full_with_a_tuning_alone_is_named_and_what_it_was_before() -> None:
    found = filled([_run(40, 60, 50), _run(44, 64, 50)], [_run(100, 30, 99), _run(99, 20, 98)])
    assert found == ("CPUs 0,2 are full with it, 46 % busy without it",)


def test_a_cpu_that_is_relieved_is_named() -> None:
    assert filled([_run(100, 1)], [_run(70, 31)]) == (
        "CPU 0 is full without it, 70 % busy with it",
    )


def test_what_is_full_in_both_or_nearly_is_no_reason() -> None:
    assert filled([_run(99, 96)], [_run(100, 99)]) == ()
    assert filled([_run(90, 10)], [_run(97, 10)]) == ()
