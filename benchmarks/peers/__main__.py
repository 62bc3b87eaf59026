"""`python -m benchmarks.peers`: make environments, ask every library, write the report.

Steps: environments, accuracy, speed, behaviour, report; without a step all of them, in this order.
"""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.peers import (
    behaviour,
    comparison,
    environments,
    law_checks,
    pages,
    running,
    speed,
)
from benchmarks.peers.cells import cells
from benchmarks.peers.columns import REGIMES
from benchmarks.peers.libraries import ADD_REMOVE, OURS, PEERS, REPLACE_ONE

STEPS = ("environments", "accuracy", "speed", "behaviour", "report")


def say(text):
    """Tell a person; results go elsewhere."""
    print(text, file=sys.stderr)


def accuracy(options, places):
    """Ask everybody what is missing, several libraries at a time if wanted."""
    chosen = [cell for cell in cells(options.scale) if cell.regime in options.regimes]

    def one(name):
        library = OURS if name == OURS.name else PEERS[name]
        running.ask(
            library,
            places[name],
            options.cache,
            chosen,
            options.relation,
            share=options.share,
            progress=running.bar,
        )

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, places))


def kept(options, step, measure, merge):
    """Measure, merge with what was kept and keep as JSON; or read what was kept."""
    path = options.cache / f"{step}-{options.scale}.json"
    old = json.loads(path.read_text()) if path.exists() else None
    if measure is None:
        return old
    path.parent.mkdir(parents=True, exist_ok=True)
    new = merge(old, measure())
    path.write_text(json.dumps(new, indent=1))
    return new


def spark_times(options, places, *, wanted):
    """Times of Tumult on Spark, which takes many minutes: measured once by version, then read."""
    if "tmlt" not in places:
        return None
    path = options.cache / f"spark-{options.scale}.json"
    old = json.loads(path.read_text()) if path.exists() else {}
    if wanted and old.get("version") != places["tmlt"].version:
        old = {"version": places["tmlt"].version, "times": speed.on_spark(places, options.scale, say)}
        path.write_text(json.dumps(old, indent=1))
    return old.get("times")


def parse(words=None):
    """The command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", help=f"of {', '.join(STEPS)}; all of them without one")
    parser.add_argument("--scale", choices=("smoke", "full"), default="full")
    parser.add_argument("--share", type=float, default=1.0, help="share of the repetitions, for a first look")
    parser.add_argument("--jobs", type=int, default=1, help="libraries asked at the same time")
    parser.add_argument("--only", nargs="+", default=[], help="libraries, e.g. opendp pydp sordino")
    parser.add_argument("--relation", nargs="+", default=[REPLACE_ONE, ADD_REMOVE])
    parser.add_argument("--regimes", nargs="+", default=list(REGIMES), help="how wide the bounds are")
    parser.add_argument("--cache", type=Path, default=environments.cache_folder())
    parser.add_argument("--snapshot", default=None, help="an earlier copy of our code, by its key")
    parser.add_argument("--csv", type=Path, default=None, help="where all cells go as a table")
    parser.add_argument("--pages", type=Path, default=environments.REPOSITORY / "docs" / "measurements")
    options = parser.parse_args(words)
    unknown = [step for step in options.steps if step not in STEPS]
    if unknown:
        parser.error(f"there is no step {unknown[0]!r}; steps are {', '.join(STEPS)}")
    return options


def main(words=None):
    """Read the command line and run the steps."""
    options = parse(words)
    steps = options.steps or list(STEPS)
    names = [name for name in PEERS if not options.only or name in options.only]
    places, failed = environments.every(options.cache, names, say=say)
    if not options.only or OURS.name in options.only:
        places[OURS.name] = environments.ours(options.cache, options.snapshot)
    if "accuracy" in steps:
        accuracy(options, places)
    timing = (lambda: speed.measure(places, options.scale, say)) if "speed" in steps else None
    spark = spark_times(options, places, wanted="speed" in steps)
    trying = (lambda: behaviour.measure(places, say)) if "behaviour" in steps else None
    measured = kept(options, "speed", timing, speed.merge)
    outcomes = kept(options, "behaviour", trying, lambda old, new: (old or {}) | new)
    if measured and spark:
        measured = speed.merge(measured, measured | {"times": spark})
    if "report" in steps:
        every = cells(options.scale)
        found = comparison.rows(options.cache, places, every, options.relation)
        if options.csv:
            comparison.write_csv(options.csv, found)
            return
        versions, checks = pages.versions_of(places), law_checks.check(options.cache, places, every)
        for path in pages.write(options.pages, found, measured, outcomes, versions, failed, checks=checks):
            print(path)


if __name__ == "__main__":
    main()
