"""The documents are found by name, and only when somebody asks for a measurement."""

import subprocess
import sys
from pathlib import Path

import pytest

from simnet import documents as folder
from simnet.study.validate.document import answers, documents, draws_for, system_of
from simnet.study.validate.measurements import measurement, measurements, wanted
from simnet.study.work.cases import Case

LOADED = (
    "print([name for name in __import__('sys').modules if name.startswith('simnet.documents')])"
)


def test_every_package_announces_its_document() -> None:
    packages = sorted(file.parent.name for file in Path(*folder.__path__).glob("*/__init__.py"))
    assert [document.name for document in documents()] == packages


def test_no_id_is_answered_twice() -> None:
    assert len(answers()) == sum(len(document.answers) for document in documents())


def test_an_answer_is_to_what_was_measured_or_is_wanted() -> None:
    assert answers().keys() <= wanted().keys() | measurements().keys()
    for name, answer in answers().items():
        for anchor in answer.anchors:
            assert anchor.id in answers(), name
            assert set(anchor.keys) <= set(measurement(anchor.id).value), name


def test_every_system_that_was_measured_has_a_name_in_words() -> None:
    assert [name for name in measurements() if not system_of(name)] == []


def test_draws_are_kept_for_the_models_that_they_were_fitted_with() -> None:
    assert len(draws_for(Case("ess-sas"))) >= 5
    assert draws_for(Case("x460-out-of-box")) == ()


@pytest.mark.parametrize(
    "asks",
    [
        "import simnet.cli.commands.list as m; m.list_command(['scenarios'], standalone_mode=0)",
        "import simnet.report.fio, simnet.report.sar, simnet.report.text",
        "import simnet.study.validate.validate, simnet.study.whatif.whatif",
    ],
)
def test_what_asks_for_no_measurement_loads_no_document(asks: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{asks}\n{LOADED}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
