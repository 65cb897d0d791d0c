"""Which files a received frame passes, from the peer's writer to its ACK: how many are to be read.

A file counts with two calls in a hundred data packets. Interpreted, since compiled calls cannot be
told apart: `SIMNET_ENGINE=interpreted python -m bench.files_a_packet [SCENARIO]`.
"""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType

import simnet
from simnet import _engine
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

MS = 10**9
BEFORE_MS = 20
MEASURED_MS = 10
LEAST = 0.02
PACKAGE = Path(simnet.__file__).parent


def calls(scenario: str) -> dict[Path, float]:
    """Calls a received packet, by file of the package, most first."""
    if _engine.active() != "interpreted":
        sys.exit("SIMNET_ENGINE=interpreted: compiled, calls are not told apart")
    system = build(load(scenario), seed=1)
    system.run(BEFORE_MS * MS)
    counts = Counter[str]()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            counts[frame.f_code.co_filename] += 1

    before = sum(port.rx_packets for port in system.snapshot().ports)
    sys.setprofile(count)
    system.run(MEASURED_MS * MS)
    sys.setprofile(None)
    packets = sum(port.rx_packets for port in system.snapshot().ports) - before
    return {
        Path(name).relative_to(PACKAGE): number / packets
        for name, number in counts.most_common()
        if Path(name).is_relative_to(PACKAGE)
    }


def main() -> None:
    """Print the files, with calls a packet and their length."""
    passed = calls(sys.argv[1] if len(sys.argv) > 1 else "x460-out-of-box")
    files = [file for file, often in passed.items() if often >= LEAST]
    for file in files:
        lines = len((PACKAGE / file).read_text("utf-8").splitlines())
        print(f"{passed[file]:7.2f} calls  {lines:4} lines  {file}")
    print(f"{len(files)} files")


if __name__ == "__main__":
    main()
