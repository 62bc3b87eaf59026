"""`python -m benchmarks.peers`: make environments, ask every library, write the report.

Steps: environments, accuracy, speed, behaviour, report; without a step all of them, in this order.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.peers import comparison, environments, running
from benchmarks.peers.cells import cells
from benchmarks.peers.libraries import ADD_REMOVE, OURS, PEERS, REPLACE_ONE

STEPS = ("environments", "accuracy", "speed", "behaviour", "report")


def accuracy(options, made):
    """Ask everybody what is missing."""
    chosen = cells(options.scale)
    libraries = [(PEERS[name], place) for name, place in made.items()]
    if not options.only or OURS.name in options.only:
        libraries.append((OURS, environments.ours(options.cache, options.snapshot)))
    for library, place in libraries:
        running.ask(
            library, place, options.cache, chosen, options.relation, share=options.share, progress=running.bar
        )


def main(words=None):
    """Read the command line and run the steps."""
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", choices=[*STEPS, []], help="all steps without one")
    parser.add_argument("--scale", choices=("smoke", "full"), default="full")
    parser.add_argument("--share", type=float, default=1.0, help="share of the repetitions, for a first look")
    parser.add_argument("--only", nargs="+", default=[], help="libraries, e.g. opendp pydp sordino")
    parser.add_argument("--relation", nargs="+", default=[REPLACE_ONE, ADD_REMOVE])
    parser.add_argument("--cache", type=Path, default=environments.cache_folder())
    parser.add_argument("--snapshot", default=None, help="an earlier copy of our code, by its key")
    parser.add_argument("--csv", type=Path, default=None, help="where all cells go as a table")
    parser.add_argument("--page", type=Path, default=None, help="where the report goes")
    options = parser.parse_args(words)
    steps = options.steps or list(STEPS)
    names = [name for name in PEERS if not options.only or name in options.only]
    made, _failed = environments.every(options.cache, names, say=lambda text: print(text, file=sys.stderr))
    if "accuracy" in steps:
        accuracy(options, made)
    places = {**made, OURS.name: environments.ours(options.cache, options.snapshot)}
    found = comparison.rows(options.cache, places, cells(options.scale), options.relation)
    if options.csv:
        comparison.write_csv(options.csv, found)
    return found


if __name__ == "__main__":
    main()
