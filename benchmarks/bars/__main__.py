"""Print how fast Sordino is beside its limits: `python -m benchmarks.bars [PART ...]`.

Every line is a ratio, or a processor time, of runs that took turns in this process; the least of at least five counts
(three at ten million rows). A part is a file of this folder; without a name all of them run.
"""

import importlib
import sys
from pathlib import Path

PARTS = sorted(one.stem for one in Path(__file__).parent.glob("[a-z]*.py") if one.stem != "clock")


def main(names):
    """Print one line after the other, so that a long run shows what it has found."""
    print(f"{'what':66}{'now':>9}{'bar':>7}  within")
    missed = 0
    for part in names or PARTS:
        for what, now, bar in importlib.import_module(f"benchmarks.bars.{part}").lines():
            missed += now > bar
            print(f"{what:66}{now:9.3g}{bar:7g}  {'yes' if now <= bar else 'no'}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
