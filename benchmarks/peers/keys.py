"""`python -m benchmarks.peers.keys [PAIRS.npy ...]`: keys found and errors of their counts, beside other libraries.

Every library gets the same (epsilon, delta), the same people and the same number of keys per person, in its own
environment. Without files two generated tables are asked; a file holds two rows of whole numbers: person and key.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.peers import environments

ADAPTERS = Path(__file__).parent / "adapters"
LIBRARIES = ("sordino", "pipelinedp", "opendp", "tmlt")


def generated(folder):
    """One key per person with long-tailed counts, and ten keys per person."""
    random = np.random.default_rng(7)
    counts = np.sort(np.rint(1 + random.pareto(0.7, 4000) * 2).astype(int))[::-1].clip(max=2000)
    keys = np.repeat(np.arange(len(counts)), counts)
    np.save(folder / "one_each.npy", np.stack([np.arange(len(keys)), keys]))
    people = np.repeat(np.arange(8000), 10)
    zipf = np.minimum(random.zipf(1.3, len(people)), 20_000)
    pairs = np.unique(np.stack([people, zipf]), axis=1)
    np.save(folder / "ten_each.npy", pairs[:, random.permutation(pairs.shape[1])])  # in no order of the keys
    return [folder / "one_each.npy", folder / "ten_each.npy"]


def asked(place, name, task):
    """One task in a library's environment."""
    done = subprocess.run(
        place.command(ADAPTERS / f"keys_{name}.py"), input=json.dumps(task) + "\n", capture_output=True, text=True,
        check=False, env=place.variables(), timeout=1500,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"answers"')]
    return (
        json.loads(lines[-1])
        if lines
        else {"answers": [], "raised": done.stderr.strip()[-200:], "seconds": 0.0}
    )


def scored(reply, pairs):
    """Keys found, the share of rows that they cover, and the root mean square error of the counts of the largest."""
    keys, counts = np.unique(np.unique(pairs, axis=1)[1], return_counts=True)
    truth = dict(zip(keys.tolist(), counts.tolist(), strict=True))
    total, found, cover, errors = sum(truth.values()), [], [], []
    for answer in reply["answers"]:
        found.append(len(answer["keys"]))
        cover.append(sum(truth.get(key, 0) for key in answer["keys"]) / total)
        errors += [
            (count - truth[key]) ** 2
            for key, count in zip(answer["keys"], answer["counts"], strict=True)
            if count is not None and truth.get(key, 0) >= 100
        ]
    error = float(np.sqrt(np.mean(errors))) if errors else None
    return float(np.mean(found)) if found else None, float(np.mean(cover)) if cover else None, error


def main(words=None):
    """Ask everybody and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.peers.keys", description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--most", type=int, nargs="+", default=[1, 3, 10])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=list(LIBRARIES))
    parser.add_argument("--cache", type=Path, default=environments.cache_folder())
    options = parser.parse_args(words)
    places, failed = environments.every(options.cache, [name for name in options.only if name != "sordino"])
    for name, why in failed.items():
        print(f"{name}: not available: {why}")
    if "sordino" in options.only:
        places["sordino"] = environments.ours(options.cache)
    print(
        "table, keys per person, library: keys found (share of pairs); with counts: keys, rms of large counts; CPU s"
    )
    with tempfile.TemporaryDirectory() as folder:
        for path in options.files or generated(Path(folder)):
            pairs = np.load(path)
            own = int(np.bincount(np.unique(pairs, axis=1)[0]).max())
            for most in [m for m in options.most if m <= own] or [1]:
                for name in [name for name in LIBRARIES if name in places]:
                    task = {
                        "pairs": str(path.resolve()),
                        "epsilon": options.epsilon,
                        "delta": options.delta,
                        "most": most,
                    }
                    few = 1 if name == "tmlt" else options.repeats
                    alone = asked(places[name], name, {**task, "way": "keys", "repeats": few})
                    both = asked(places[name], name, {**task, "way": "counts", "repeats": few})
                    found, cover, _ = scored(alone, pairs)
                    counted, _, error = scored(both, pairs)
                    tell = [alone["raised"], both["raised"]]
                    line = (
                        f"{path.stem:12} {most:3} {name:11} {found} ({cover}); with counts {counted}, rms {error}; "
                        f"{alone['seconds'] + both['seconds']:.1f} s"
                    )
                    print(line, *(f"[{text}]" for text in tell if text))
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
