"""Draw a library's published noise about one number, many times: `noise.py MECHANISM VALUE RUNS`, a JSON list.

Every mechanism promises epsilon 1 for numbers in 0..1 of which one person may change one by 1 (Gaussian noise with
delta 1e-5). It runs in the library's own environment and imports that library alone.
"""

import json
import sys

DELTA = 1e-5


def textbook(value):
    """What textbooks write."""
    import numpy as np

    random = np.random.default_rng()
    return lambda: value + random.laplace(scale=1.0)


def diffprivlib(kind, **options):
    """A mechanism of `diffprivlib.mechanisms`."""

    def make(value):
        from diffprivlib import mechanisms

        made = getattr(mechanisms, kind)(epsilon=1.0, sensitivity=1.0, **options)
        return lambda: made.randomise(value)

    return make


def diffprivlib_mean(value):
    """`diffprivlib.tools.mean` of a column with one number."""
    import numpy as np
    from diffprivlib import tools

    column = np.array([value])
    return lambda: tools.mean(column, epsilon=1.0, bounds=(0.0, 1.0))


def pydp(kind, *options):
    """A mechanism of `pydp.algorithms.numerical_mechanisms`."""

    def make(value):
        from pydp.algorithms import numerical_mechanisms

        made = getattr(numerical_mechanisms, kind)(1.0, *options)
        return lambda: made.add_noise(value)

    return make


def opendp(value):
    """`make_laplace` on floats."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    made = dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1.0)
    if made.map(1.0) > 1.0:
        raise ValueError("scale 1 costs more than epsilon 1")
    return lambda: made(value)


def sordino(statistic):
    """Releases of a session."""

    def make(value):
        import sordino as sd

        people = sd.open({"x": [value]}, budget=sd.Pure(10**7))
        asked = getattr(sd, statistic)("x", low=0, high=1)
        return lambda: people.release(asked, sd.Pure(1)).value

    return make


MECHANISMS = {
    "textbook": ("opendp", "value + random.laplace()", 0.0, textbook),
    "diffprivlib-laplace": ("diffprivlib", "Laplace", 0.0, diffprivlib("Laplace")),
    "diffprivlib-truncated": (
        "diffprivlib", "LaplaceTruncated", 0.0, diffprivlib("LaplaceTruncated", lower=-8.0, upper=8.0)
    ),
    "diffprivlib-bounded": (
        "diffprivlib", "LaplaceBoundedDomain", 0.0, diffprivlib("LaplaceBoundedDomain", lower=0.0, upper=1.0)
    ),
    "diffprivlib-staircase": ("diffprivlib", "Staircase", 0.0, diffprivlib("Staircase")),
    "diffprivlib-gaussian": (
        "diffprivlib", "GaussianAnalytic", DELTA, diffprivlib("GaussianAnalytic", delta=DELTA)
    ),
    "diffprivlib-snapping": ("diffprivlib", "Snapping", 0.0, diffprivlib("Snapping", lower=-8.0, upper=8.0)),
    "diffprivlib-mean": ("diffprivlib", "tools.mean", 0.0, diffprivlib_mean),
    "pydp-laplace": ("pydp", "LaplaceMechanism", 0.0, pydp("LaplaceMechanism", 1.0)),
    "pydp-gaussian": ("pydp", "GaussianMechanism", DELTA, pydp("GaussianMechanism", DELTA, 1.0)),
    "opendp-laplace": ("opendp", "make_laplace", 0.0, opendp),
    "sordino-mean": ("sordino", "Mean", 0.0, sordino("Mean")),
    "sordino-sum": ("sordino", "Sum", 0.0, sordino("Sum")),
}  # fmt: skip
"""By name: whose environment, what it is called there, the stated delta, and how it is made."""

if __name__ == "__main__":
    draw = MECHANISMS[sys.argv[1]][3](float(sys.argv[2]))
    print(json.dumps([float(draw()).hex() for _ in range(int(sys.argv[3]))]))
