"""OpenDP: counts of people by key with `laplace_threshold`, over keys that it has not been told.

Version 0.16 states the delta of showing what exceeds the threshold and shows what reaches it: at scale 1 and threshold
3 a key of one person is shown in 10 % of draws, and 3.6 % are stated. So that all keep one promise, it is asked for the
next threshold.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import opendp.prelude as dp
from keys_protocol import bounded, serve

dp.enable_features("contrib")


def ask(people, keys, epsilon, delta, most):
    """Noise and threshold at (epsilon, delta) for people who move `most` counts by one each."""
    counts = Counter(key for _, key in bounded(people, keys, most))
    space = (
        dp.map_domain(dp.atom_domain(T="i64"), dp.atom_domain(T="i64")),
        dp.l01inf_distance(dp.absolute_distance(T="i64")),
    )

    def made(scale, threshold):
        return space >> dp.m.then_laplace_threshold(scale=scale, threshold=threshold)

    moved = (most, most, 1)
    scale = dp.binary_search(lambda s: made(s, 2**30).map(moved)[0] <= epsilon, bounds=(1e-3, 1e6))
    threshold = dp.binary_search(lambda t: made(scale, t).map(moved)[1] <= delta, bounds=(1, 2**30))
    return {int(key): float(value) for key, value in made(scale, threshold + 1)(dict(counts)).items()}


if __name__ == "__main__":
    serve({"counts": ask, "keys": ask})
