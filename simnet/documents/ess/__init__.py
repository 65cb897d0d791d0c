"""The Spectrum Scale document: jobs of SAS on a cluster with an Elastic Storage Server."""

from simnet.documents.ess.answers import ANSWERS
from simnet.documents.ess.ensemble import SEARCHES, workloads_for
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="ess",
    systems={"ess": "SAS analytics on an ESS GL4 and a Power E880"},
    answers=ANSWERS,
    kinds={
        "*:*gain*": "gain",
        "*_minutes": "real time",
        "*_percent": "CPU share",
        "ess.*": "storage throughput",
    },
    differing={"ess.56gbe": ("hardware",)},
    kept=workloads_for,
    searches=SEARCHES,
)
