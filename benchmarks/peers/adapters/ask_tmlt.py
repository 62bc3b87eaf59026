"""Tumult's quantile (`tmlt.core`'s NoisyQuantile, what Tumult Analytics calls on Spark): add/remove, pure epsilon.

Its means, variances and counts exist on Spark only, at tens of seconds an answer; they are not asked here.
"""

import pandas as pd
import sympy
from protocol import Unsupported, serve
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.domains.pandas_domains import PandasSeriesDomain
from tmlt.core.measurements.pandas_measurements.series import NoisyQuantile
from tmlt.core.measures import PureDP


def prepare(task, column):
    """One measurement; every call draws anew."""
    if "q" not in task:
        raise Unsupported(task["query"])
    measurement = NoisyQuantile(
        PandasSeriesDomain(NumpyFloatDomain()),
        PureDP(),
        quantile=task["q"],
        lower=float(task["low"]),
        upper=float(task["high"]),
        epsilon=sympy.Rational(str(task["epsilon"])),
    )
    series = pd.Series(column)
    return lambda: measurement(series)


if __name__ == "__main__":
    serve(prepare)
