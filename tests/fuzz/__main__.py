"""``python -m tests.fuzz``: make cases, run them, and tell how they ended.

--cases N       how many (default 2000)
--seconds S     or for how long
--start SEED    seed of the first (default 1)
--kind KIND     one kind alone
--bounds        in place of random cases, the least and the largest value of each setting
--record FILE   one line of JSON a case; a file that is there is gone on with
--replay FILE   run the cases of this file (one a line, as a finding has them) and say their ends
"""

import argparse
import json
import os
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.case import Case, End
from tests.fuzz.generate import KINDS, case_of, cases_at_bounds
from tests.fuzz.worker import prepare, run_case


@dataclass
class Count:
    """What was run so far."""

    ends: Counter[tuple[str, int]] = field(default_factory=Counter)  # how often a kind had a status
    milliseconds: Counter[str] = field(default_factory=Counter)  # wall time by kind
    # seeds by signature
    findings: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    next_seed: int = 1  # the first that was not run

    def add(self, kind: str, seed: int, status: int, milliseconds: int, signature: str) -> None:
        """Count one case."""
        self.ends[kind, status] += 1
        self.milliseconds[kind] += milliseconds
        if signature:
            self.findings[signature].append(seed)
        self.next_seed = seed + 1

    def text(self) -> str:
        """Return the counts by kind and end, and the findings."""
        statuses = sorted({status for _, status in self.ends})
        rows = [
            [
                "kind",
                *(f"exit {n}" if n >= 0 else f"signal {-n}" for n in statuses),
                "all",
                "ms each",
            ]
        ]
        for kind in sorted({kind for kind, _ in self.ends}):
            counts = [self.ends[kind, status] for status in statuses]
            rows.append(
                [
                    kind,
                    *map(str, counts),
                    str(sum(counts)),
                    str(self.milliseconds[kind] // sum(counts)),
                ]
            )
        totals = [
            sum(self.ends[kind, status] for kind, _ in {(k, 0) for k, _ in self.ends})
            for status in statuses
        ]
        rows.append(["all", *map(str, totals), str(sum(totals)), ""])
        lines = ["".join(cell.rjust(10) for cell in row) for row in rows]
        lines.append(f"{len(self.findings)} findings")
        for signature, seeds in sorted(self.findings.items(), key=lambda item: -len(item[1])):
            lines.append(f"{len(seeds):6}  {signature[:200]}  seeds {seeds[:4]}")
        return "\n".join(lines)


def _record(seed: int, case: Case, end: End) -> str:
    row = {"kind": case.kind, "seed": seed, "status": end.status, "ms": end.milliseconds}
    if end.problem:
        row |= {"problem": end.problem, "case": case.dumps()}
    return json.dumps(row)


def _restored(file: Path | None, count: Count) -> None:
    if file is None or not file.exists():
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        problem = End(0, row.get("problem", ""), "", 0).signature
        count.add(row["kind"], row["seed"], row["status"], row["ms"], problem)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--start", type=int, default=1)
    parser.add_argument("--kind", choices=tuple(KINDS))
    parser.add_argument("--bounds", action="store_true")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--replay", type=Path)
    return parser.parse_args()


def main() -> int:
    """Run and return 1 if anything was found."""
    options = _arguments()
    prepare()
    if options.replay:
        ends = [
            run_case(Case.loads(line))
            for line in options.replay.read_text(encoding="utf-8").splitlines()
        ]
        for end in ends:
            how = end.problem or "allowed"
            sys.stdout.write(f"exit {end.status} after {end.milliseconds} ms: {how}\n{end.said}\n")
        return int(any(end.problem for end in ends))
    walk = cases_at_bounds() if options.bounds else []
    count = Count(next_seed=0 if walk else options.start)
    _restored(options.record, count)
    done = sum(count.ends.values())
    until = time.monotonic() + options.seconds
    with (options.record or Path(os.devnull)).open("a", encoding="utf-8") as record:
        while done < min(options.cases, len(walk) or options.cases) and time.monotonic() < until:
            seed = count.next_seed
            case = walk[seed] if walk else case_of(seed, options.kind)
            end = run_case(case)
            count.add(case.kind, seed, end.status, end.milliseconds, end.signature)
            record.write(_record(seed, case, end) + "\n")
            record.flush()
            if end.problem and len(count.findings[end.signature]) == 1:
                sys.stderr.write(f"seed {seed}: {end.problem[:300]}\n")
            done += 1
    sys.stdout.write(count.text() + "\n")
    return int(bool(count.findings))


if __name__ == "__main__":
    sys.exit(main())
