"""Noise samples per CPU second: `sampling.py NAME` writes a JSON object. Runs in the library's environment."""

import json
import sys
import time
import warnings


def rate(action, count, least=0.3):
    """Samples per CPU second, over at least so many CPU seconds."""
    action()
    started, made = time.process_time(), 0
    while (spent := time.process_time() - started) < least or not made:
        action()
        made += count
    return made / max(spent, 1e-9)


def numpy():
    """No safe noise at all: the floor."""
    from numpy.random import default_rng

    random, size = default_rng(1), 100_000
    return {
        "Laplace, vector (not cryptographic)": rate(lambda: random.laplace(size=size), size),
        "normal, vector (not cryptographic)": rate(lambda: random.normal(size=size), size),
    }


def opendp():
    """Exact discrete noise, vectors."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    found, size = {}, 20_000
    kinds = (("Laplace", dp.m.make_laplace, dp.l1_distance), ("Gaussian", dp.m.make_gaussian, dp.l2_distance))
    for label, make, distance in kinds:
        for kind, zero in (("f64", 0.0), ("i32", 0)):
            atom = dp.atom_domain(T=float, nan=False) if kind == "f64" else dp.atom_domain(T="i32")
            metric = distance(T="f64" if kind == "f64" or label == "Gaussian" else "i32")
            try:
                noise = make(dp.vector_domain(atom, size=size), metric, scale=10.0)
            except Exception:  # noqa: BLE001 - another version wants another metric
                noise = make(dp.vector_domain(atom, size=size), distance(T="i32"), scale=10.0)
            found[f"{label} {kind}, vector"] = rate(lambda noise=noise, zero=zero: noise([zero] * size), size)
    return found


def diffprivlib():
    """One call a sample."""
    from diffprivlib import mechanisms

    laplace = mechanisms.Laplace(epsilon=1.0, sensitivity=1.0)
    whole = mechanisms.Geometric(epsilon=1.0, sensitivity=1)
    normal = mechanisms.GaussianAnalytic(epsilon=1.0, delta=1e-6, sensitivity=1.0)
    return {
        "Laplace, one call each": rate(lambda: laplace.randomise(0.0), 1),
        "geometric, one call each": rate(lambda: whole.randomise(0), 1),
        "Gaussian, one call each": rate(lambda: normal.randomise(0.0), 1),
    }


def pydp():
    """One call a sample."""
    from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism

    laplace, normal = LaplaceMechanism(1.0, 1.0), GaussianMechanism(1.0, 1e-6, 1.0)
    return {
        "Laplace, one call each": rate(lambda: laplace.add_noise(0.0), 1),
        "Gaussian, one call each": rate(lambda: normal.add_noise(0.0), 1),
    }


def tmlt():
    """One call a sample."""
    from tmlt.core.random.laplace import laplace

    return {"Laplace, one call each": rate(lambda: laplace(0.0, 1.0), 1)}


def sordino():
    """Exactly rounded draws on a lattice, from a cryptographic stream."""
    from fractions import Fraction

    from sordino.exact import Bits, draw, draw_many
    from sordino.lattice import Lattice
    from sordino.noise.gaussian.sampler import GaussianRecipe
    from sordino.noise.laplace.sampler import LaplaceRecipe
    from sordino.noise.polyplace.sampler import PolyPlaceRecipe

    found, size = {}, 200_000
    for label, recipe in (
        ("Laplace", LaplaceRecipe()),
        ("Gaussian", GaussianRecipe()),
        ("PolyPlace", PolyPlaceRecipe(10)),
    ):
        found[f"{label}, vector"] = rate(
            lambda recipe=recipe: draw_many(
                recipe, locations=0, scales=10, grid=Lattice.dyadic(-20), size=size
            ),
            size,
        )
        bits = Bits()
        found[f"{label}, one call each"] = rate(
            lambda recipe=recipe, bits=bits: draw(
                recipe, location=0, scale=Fraction(10), grid=Lattice.dyadic(-20), bits=bits
            ),
            1,
        )
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(globals().get(sys.argv[1], dict)()))
