"""The columns on which accuracy is judged: the six generators of the comparison with other libraries, and ties."""

import numpy as np

BOUNDS = {
    "gauss": (-50, 1050),
    "income": (0, 5_000_000),
    "unif": (0, 1),
    "bimodal": (0, 100),
    "bimodal50": (0, 100),
    "pareto": (0, 1_000_000),
    "far": (0, 100_000),
    "ages": (0, 120),
    "constant": (0, 100),
    "mostly40": (0, 100),
    "heaped": (0, 500_000),
    "zeros": (0, 1_000_000),
}


def column(name, rows, seed):
    """Draw a fresh sample of a named column."""
    random = np.random.default_rng([seed, rows, sum(map(ord, name))])
    if name == "gauss":
        return random.normal(size=rows)
    if name == "income":
        return np.clip(random.lognormal(11, 0.9, rows), *BOUNDS[name])
    if name == "unif":
        return random.uniform(size=rows)
    if name in ("bimodal", "bimodal50"):
        first = random.uniform(size=rows) < (0.6 if name == "bimodal" else 0.5)
        return np.clip(np.where(first, random.normal(25, 5, rows), random.normal(75, 5, rows)), 0, 100)
    if name == "pareto":
        return np.clip(1 + random.pareto(2.5, rows), *BOUNDS[name])
    if name == "far":
        return random.normal(1000, 10, rows)
    if name == "ages":
        return np.clip(np.rint(random.normal(40, 12, rows)), 0, 120)
    if name == "constant":
        return np.full(rows, 40.0)
    if name == "mostly40":
        return np.where(
            random.uniform(size=rows) < 0.6, 40.0, np.rint(random.uniform(0, 100, rows) * 100) / 100
        )
    if name == "heaped":
        pay = np.rint(np.clip(random.lognormal(11, 0.5, rows), *BOUNDS[name]))
        return np.where(random.uniform(size=rows) < 0.8, 65_000.0, pay)
    if name == "zeros":  # like capital gains: most rows are zero and few carry the mean
        gain = np.clip(np.rint(random.lognormal(8.5, 1.2, rows)), 0, 1_000_000)
        return np.where(random.uniform(size=rows) < 0.92, 0.0, gain)
    raise KeyError(name)
