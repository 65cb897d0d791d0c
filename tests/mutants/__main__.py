"""How many of the mistakes that could be made in the mechanisms the tests of their floor notice.

A sample is drawn over all mistakes in all modules of the floors, each as likely as any other; the
same seed draws the same but where lines have changed. Survivors, and what was found out so far,
are in the output folder.
"""

import argparse
import hashlib
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.reach import reach_of
from tests.mutants.results import Results, Table, equivalents
from tests.mutants.sites import FLOORS, ROOT, Mutant, modules_of, mutants_of
from tests.mutants.trial import try_all

# The tests of a floor are loaded once for each batch.
_BATCH = 150


def main() -> int:
    """Draw, try and tell; return 1 if too few are noticed."""
    options = _options()
    os.environ.update(SIMNET_ENGINE="interpreted", SIMNET_CACHE_DIR="", HYPOTHESIS_PROFILE="night")
    options.out.mkdir(parents=True, exist_ok=True)
    reasons = equivalents(options.equivalent)
    sample = draw(options.modules, options.sample, options.seed)
    results = Results(options.out / "results.jsonl", fresh=options.fresh)
    for begin in range(0, len(sample), _BATCH):
        batch = sample[begin : begin + _BATCH]
        _try([mutant for mutant in batch if not results.has(mutant)], results, options)
        survivors = "\n".join(Table(sample, results, reasons).told_survivors())
        (options.out / "survivors.txt").write_text(survivors, encoding="utf-8")
    table = Table(sample, results, reasons)
    sys.stdout.writelines(f"{line}\n" for line in table.lines())
    for mutant in table.contradicted:
        sys.stdout.write(f"noticed, but listed as equivalent: {mutant.module}\n{mutant.diff}\n")
    noticed = table.rate(sorted(table.by_module)) >= options.require
    return 0 if noticed and not table.contradicted else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=600, help="how many mistakes")
    parser.add_argument("--seed", default="1", help="which ones")
    parser.add_argument("--workers", type=int, default=1, help="how many at a time")
    parser.add_argument("--require", type=float, default=0.0, help="per cent to be noticed")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "mutants", help="for results")
    parser.add_argument(
        "--equivalent", type=Path, default=Path(__file__).with_name("equivalent.toml")
    )
    parser.add_argument(
        "modules", nargs="*", metavar="PREFIX", help="of modules, as net.tcp; all without"
    )
    return parser.parse_args()


def draw(prefixes: Sequence[str], count: int, seed: str) -> list[Mutant]:
    """Return a sample: the mutants whose digests are smallest."""
    wanted = tuple(f"simnet.{prefix}" for prefix in prefixes) or ("simnet.",)
    modules = [module for module in modules_of(FLOORS) if module.startswith(wanted)]
    mutants = [mutant for module in modules for mutant in mutants_of(module)]

    def place(mutant: Mutant) -> bytes:
        return hashlib.blake2b(f"{seed}\n{mutant.key}".encode(), digest_size=8).digest()

    return sorted(mutants, key=place)[:count]


def _try(mutants: Sequence[Mutant], results: Results, options: argparse.Namespace) -> None:
    floors = defaultdict(list)
    for mutant in mutants:
        floors[mutant.floor].append(mutant)
    for floor, its in sorted(floors.items()):
        sys.stderr.write(f"mutants: trying {len(its)} in {floor}\n")
        log = options.out / f"{floor}.log"
        try_all(its, reach_of(floor, options.out, log), options.workers, log, results.add)
    results.read()


if __name__ == "__main__":
    sys.exit(main())
