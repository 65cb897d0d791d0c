"""The IPoIB document: TCP over InfiniBand on Sunway nodes."""

from simnet.documents.ipoib.answers import ANSWERS
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="ipoib",
    systems={"ipoib": "IP over InfiniBand between two SW26010 nodes"},
    answers=ANSWERS,
    kinds={
        "ipoib.cpu_utilisation:*": "CPU share",
        "*_percent": "share",
        "*_us": "latency",
        "*:best_over_*": "ratio",
        "*:best_ms": "optimum",
        "*:best_connections": "optimum",
        "ipoib.*": "throughput",
    },
    configurations={
        "ipoib.vs_10gbe:tengbe_*": "ipoib.tengbe",
        "ipoib.window:w80_*": "ipoib.window.w80",
    },
)
