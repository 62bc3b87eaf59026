"""`python -m benchmarks.peers.audits`: audit the published noise of other libraries, and ours, at its stated price.

Every library draws in its own environment about the number 0 and about the number 1; `sd.audit` sees the answers alone,
once by their size and once with their last bits.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import sordino as sd
from benchmarks.peers import environments
from benchmarks.peers.adapters.noise import MECHANISMS

ADAPTER = Path(__file__).parent / "adapters" / "noise.py"
VALUES = (0.0, 1.0)


def drawn(place, name, value, runs):
    """Answers of one mechanism about one number."""
    done = subprocess.run(
        place.command(ADAPTER, name, str(value), str(runs)), capture_output=True, text=True, check=False,
        env=place.variables(), timeout=600,
    )  # fmt: skip
    if done.returncode:
        raise environments.EnvironmentFailed((done.stderr.strip().splitlines() or ["no message"])[-1][:200])
    return [float.fromhex(one) for one in json.loads(done.stdout.splitlines()[-1])]


def audited(answers, delta, *, low_bits):
    """What an audit says of answers that have been drawn."""
    left = {value: iter(some) for value, some in answers.items()}
    here, there = ({"x": [value]} for value in VALUES)
    return sd.audit(
        lambda table: next(left[table["x"][0]]),
        here,
        there,
        epsilon=1,
        delta=delta,
        runs=len(answers[VALUES[0]]),
        low_bits=low_bits,
    )


def line(name, version, found):
    """One row of the table."""
    package = "numpy" if name == "textbook" else version.split()[0]
    cells = [f"`{MECHANISMS[name][1]}`", next(one for one in version.split(", ") if one.startswith(package))]
    for one in found:
        said = "**refuted**" if one.refuted else "not refuted"
        cells.append(f"{said}, at least {one.lower:.2f} ({one.event})")
    return f"| {' | '.join(cells)} |"


def main(words=None):
    """Draw, audit and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.peers.audits", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(MECHANISMS)}; all of them without one")
    parser.add_argument("--runs", type=int, default=8000, help="on each of the two numbers")
    parser.add_argument("--cache", type=Path, default=environments.cache_folder())
    options = parser.parse_args(words)
    names = options.names or list(MECHANISMS)
    unknown = [name for name in names if name not in MECHANISMS]
    if unknown:
        parser.error(f"there is no mechanism {unknown[0]!r}")
    wanted = dict.fromkeys(MECHANISMS[name][0] for name in names)
    places, failed = environments.every(options.cache, [name for name in wanted if name != "sordino"])
    if "sordino" in wanted:
        places["sordino"] = environments.ours(options.cache)
    print("| mechanism | version | by size | with the last bits |\n|---|---|---|---|")
    for name in names:
        library, _, delta, _ = MECHANISMS[name]
        if library in failed:  # said already
            continue
        try:
            answers = {value: drawn(places[library], name, value, options.runs) for value in VALUES}
        except environments.EnvironmentFailed as problem:
            print(f"{name}: not available: {problem}", file=sys.stderr)
            continue
        found = [audited(answers, delta, low_bits=low_bits) for low_bits in (False, True)]
        print(line(name, places[library].version, found), flush=True)


if __name__ == "__main__":
    main()
