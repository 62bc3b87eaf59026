"""What a library does with bad input: `mistakes.py NAME` writes a JSON object of outcomes for a mean and a quantile.

Runs inside the library's own environment. Data are 1..7 within [0, 10] at epsilon 1 unless the case says otherwise;
`None` as a bound means that no bounds are given. An outcome is `A value` (answered) or `R ExceptionName` (refused).
"""

import json
import sys
import warnings

import numpy as np

GOOD = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
NAN, INF = float("nan"), float("inf")
CASES = {
    "NaN in data": {"data": [*GOOD, NAN]},
    "inf in data": {"data": [*GOOD, INF]},
    "empty data": {"data": []},
    "bounds reversed": {"low": 10.0, "high": 0.0},
    "bounds equal": {"low": 5.0, "high": 5.0},
    "bounds NaN": {"low": NAN, "high": NAN},
    "no bounds": {"low": None, "high": None},
    "epsilon negative": {"epsilon": -1.0},
    "epsilon zero": {"epsilon": 0.0},
    "epsilon NaN": {"epsilon": NAN},
    "epsilon inf": {"epsilon": INF},
    "epsilon 1e6": {"epsilon": 1e6},
    "strings": {"data": ["a", "b", "c"]},
    "numeric strings": {"data": ["1", "2", "3"]},
    "None in data": {"data": [*GOOD, None]},
    "data is None": {"data": None},
    "2-D data": {"data": [[1.0, 2.0], [3.0, 4.0]]},
    "quantile 1.5": {"q": 1.5},
}


def array(data):
    """What a user would pass: an array where there can be one."""
    return None if data is None else np.array(data)


def opendp(data, low, high, epsilon, q):
    """Framework API; the calls are those of `ask_opendp`, the data those of the case."""
    import ask_opendp as adapter
    import opendp.prelude as dp

    rows = len(data) if data is not None else 7
    if q is None:
        bounds = () if low is None else (low, high)
        return adapter.moment(dp.t.make_mean, *bounds, rows=rows, epsilon=epsilon)(data)
    points = () if low is None else (low, high)
    return adapter.quantile(*points, rows=rows, epsilon=epsilon, q=q, candidates=101)(data)


def diffprivlib(data, low, high, epsilon, q):
    """`tools.mean` and `tools.quantile` on an array."""
    from diffprivlib import BudgetAccountant, tools

    known = {} if low is None else {"bounds": (low, high)}
    known["accountant"] = BudgetAccountant()
    if q is None:
        return tools.mean(array(data), epsilon=epsilon, **known)
    return tools.quantile(array(data), q, epsilon=epsilon, **known)


def pydp(data, low, high, epsilon, q):
    """Lists, as PyDP wants them."""
    from pydp.algorithms import laplacian

    known = {"dtype": "float"} if low is None else {"lower_bound": low, "upper_bound": high, "dtype": "float"}
    if q is None:
        return laplacian.BoundedMean(epsilon=epsilon, **known).quick_result(data)
    return laplacian.Percentile(epsilon=epsilon, percentile=q, **known).quick_result(data)


def pipelinedp(data, low, high, epsilon, q):
    """The local backend; rows are numbered people."""
    import pipeline_dp
    from ask_pipelinedp import aggregate

    metric = pipeline_dp.Metrics.MEAN if q is None else pipeline_dp.Metrics.PERCENTILE(100 * q)
    return aggregate(list(enumerate(data)), metric, epsilon, low, high)


def smartnoise(data, low, high, epsilon, q):
    """A data frame and one SQL query."""
    import pandas as pd
    from snsql import Privacy, from_df

    if q is not None:
        raise NotImplementedError
    known = {"type": "float"} if low is None else {"type": "float", "lower": low, "upper": high}
    table = {"row_privacy": True, "rows": 7, "censor_dims": False, "x": known}
    reader = from_df(
        pd.DataFrame({"x": data}),
        metadata={"": {"d": {"t": table}}},
        privacy=Privacy(epsilon=epsilon / 2, delta=1e-10),
    )
    return reader.execute("SELECT AVG(x) FROM d.t")[1][0]


def tmlt(data, low, high, epsilon, q):
    """The quantile of tmlt.core on a series."""
    import pandas as pd
    from tmlt.core.domains.numpy_domains import NumpyFloatDomain
    from tmlt.core.domains.pandas_domains import PandasSeriesDomain
    from tmlt.core.measurements.pandas_measurements.series import NoisyQuantile
    from tmlt.core.measures import PureDP
    from tmlt.core.utils.exact_number import ExactNumber

    if q is None or data is None:
        raise NotImplementedError  # a table is always there
    bounds = {} if low is None else {"lower": low, "upper": high}
    price = ExactNumber.from_float(epsilon, round_up=False)
    domain = PandasSeriesDomain(NumpyFloatDomain())
    return NoisyQuantile(domain, PureDP(), quantile=q, epsilon=price, **bounds)(pd.Series(data, dtype=None))


def sordino(data, low, high, epsilon, q):
    """One release of a session."""
    import sordino as sd

    bounds = {} if low is None else {"low": low, "high": high}
    statistic = sd.Mean("x", **bounds) if q is None else sd.Quantile("x", q=q, **bounds)
    price = sd.Pure(epsilon)
    people = sd.open({"x": array(data)}, budget=sd.Pure(10**7))
    return people.release(statistic, price).value


def outcome(ask, case, q):
    """`A value` or `R ExceptionName`, with the classes of warnings."""
    given = {"data": GOOD, "low": 0.0, "high": 10.0, "epsilon": 1.0} | {
        k: v for k, v in case.items() if k != "q"
    }
    wanted = case.get("q", q) if q is not None else None
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            said = f"A {float(ask(q=wanted, **given)):.4g}"
        except NotImplementedError:
            return None
        except BaseException as error:  # noqa: BLE001 - panics of other languages derive from it
            said = f"R {type(error).__name__}"
    own = sorted({one.category.__name__ for one in heard if "Privacy" in one.category.__name__})
    return said + "".join(f" +{name}" for name in own)


if __name__ == "__main__":
    library = globals()[sys.argv[1]]
    table = {}
    for name, case in CASES.items():
        mean = None if "q" in case else outcome(library, case, None)
        table[name] = {"mean": mean, "quantile": outcome(library, case, 0.5)}
    print("\n" + json.dumps(table))
