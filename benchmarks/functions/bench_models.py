"""Functions by blocks beside diffprivlib's own models at the same epsilon: root mean squared errors over fresh samples.

diffprivlib 0.6.6 wants scikit-learn below 1.9, so this runs in an environment of its own:

    python3.11 -m venv models && models/bin/pip install diffprivlib==0.6.6 "scikit-learn<1.6" . && \
        models/bin/python -m benchmarks bench_models

Without diffprivlib its columns are empty. What is estimated is the population's value; "all rows" is the same function
on all rows without privacy. diffprivlib is given bounds, or a norm, of five standard deviations, and then ten times as
wide; ours are [-100, 100] for coefficients and [0, 1] for shares.
"""

import warnings

import numpy as np

import sordino as sd

ROWS, EPSILON = 20_000, 1
REPEATS = 16


def sample(seed):
    """Two normal columns, an outcome, a sickness, an income."""
    random = np.random.default_rng([77, seed])
    x, z = random.normal(size=ROWS), random.normal(size=ROWS)
    y = 2 * x - z + random.normal(size=ROWS)
    sick = (random.random(ROWS) < 1 / (1 + np.exp(1 - x + 0.5 * z))).astype(float)
    return {"x": x, "z": z, "y": y, "sick": sick, "income": random.lognormal(10, 0.6, ROWS)}


def design(block):
    """The two columns as a matrix."""
    return np.column_stack([block["x"], block["z"]])


def slope(block):
    """The coefficient of x in a linear regression."""
    from sklearn.linear_model import LinearRegression

    return LinearRegression().fit(design(block), block["y"]).coef_[0]


def logit(block):
    """The coefficient of x in a logistic regression."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=np.inf).fit(design(block), block["sick"]).coef_[0, 0]


def auc(block):
    """The AUC of a logistic regression on rows that it was not fitted to."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    rows, sick, half = design(block), block["sick"], len(block["sick"]) // 2
    model = LogisticRegression(C=np.inf).fit(rows[:half], sick[:half])
    return roc_auc_score(sick[half:], model.decision_function(rows[half:]))


def gini(block):
    """The Gini index of incomes."""
    x = np.sort(block["income"])
    n = len(x)
    return (2 * np.arange(1, n + 1) - n - 1) @ x / (n * x.sum())


def peer_slope(table, times):
    """diffprivlib's linear regression; bounds of five spreads, times a factor."""
    from diffprivlib.models import LinearRegression

    reach = 5.0 * times
    model = LinearRegression(
        epsilon=EPSILON, bounds_X=([-reach] * 2, [reach] * 2), bounds_y=(-2.5 * reach, 2.5 * reach)
    )
    return model.fit(design(table), table["y"]).coef_[0]


def peer_logit(table, times):
    """diffprivlib's logistic regression; a norm of five spreads, times a factor."""
    from diffprivlib.models import LogisticRegression

    return (
        LogisticRegression(epsilon=EPSILON, data_norm=5.0 * times, C=1e6)
        .fit(design(table), table["sick"])
        .coef_[0, 0]
    )


def peer_auc(table, times):
    """The AUC, not private by itself, of diffprivlib's model of half the rows on the other half."""
    from diffprivlib.models import LogisticRegression
    from sklearn.metrics import roc_auc_score

    rows, half = design(table), ROWS // 2
    model = LogisticRegression(epsilon=EPSILON, data_norm=5.0 * times, C=1e6)
    model.fit(rows[:half], table["sick"][:half])
    return roc_auc_score(table["sick"][half:], model.decision_function(rows[half:]))


# function, columns, bounds, truth in the population (None: the mean over all rows), rows of a block, the peer
QUESTIONS = {
    "slope of a linear regression": (slope, ("x", "z", "y"), (-100, 100), 2.0, 60, peer_slope),
    "coefficient of a logistic regression": (logit, ("x", "z", "sick"), (-100, 100), 1.0, 200, peer_logit),
    "AUC of a logistic regression": (auc, ("x", "z", "sick"), (0, 1), None, 200, peer_auc),
    "Gini index": (gini, ("income",), (0, 1), None, 60, None),
}


def peers(ask, table):
    """diffprivlib's two answers, NaN where there are none."""
    try:
        return [ask(table, times) if ask else float("nan") for times in (1, 10)]
    except ImportError:
        return [float("nan")] * 2


def tables():
    """For the runner."""
    lines = []
    for name, (f, columns, (low, high), truth, block_rows, peer) in QUESTIONS.items():
        found = []
        for seed in range(REPEATS):
            table = sample(seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                whole = f(table)
                function = sd.Function(
                    f,
                    columns=columns,
                    low=low,
                    high=high,
                    frame="numpy",
                    block_rows=block_rows,
                    isolation="none",
                )
                ours = float(sd.open(table, budget=sd.Pure(EPSILON)).release(function, sd.Pure(EPSILON)))
                found.append([whole, ours, *peers(peer, table)])
        errors = np.array(found) - (np.mean([one[0] for one in found]) if truth is None else truth)
        lines.append((name, *(f"{one:.3g}" for one in np.sqrt((errors**2).mean(axis=0)))))
    names = (
        "n = 20,000, epsilon = 1",
        "all rows, not private",
        "Sordino",
        "diffprivlib",
        "bounds ten times as wide",
    )
    yield f"Root mean squared errors, {REPEATS} samples", names, lines
