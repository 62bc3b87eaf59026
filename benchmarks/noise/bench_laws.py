"""pdf, cdf and ppf of a million points beside the closest composition of scipy.special; imports and help beside python.

The bar is three times scipy. Laplace-log-normal has no counterpart there: its rows are compared with the
uniform-log-normal's composition and are expected to be slower (an integral per point).
"""

import subprocess
import sys
import time

import numpy as np
from scipy import special

from sordino.noise.arsinh_normal import ArsinhNormal
from sordino.noise.gaussian import Gaussian
from sordino.noise.generalized_cauchy import GeneralizedCauchy
from sordino.noise.laplace import Laplace
from sordino.noise.laplace_log_normal import LaplaceLogNormal
from sordino.noise.laplace_pareto import LaplacePareto
from sordino.noise.polyplace import PolyPlace
from sordino.noise.student_t import StudentT
from sordino.noise.uniform_log_normal import UniformLogNormal

POINTS = 1_000_000


def seconds(function, *arguments):
    """Least CPU time of three runs."""
    best = np.inf
    for _ in range(3):
        start = time.process_time()
        function(*arguments)
        best = min(best, time.process_time() - start)
    return best


def compositions():
    """The shortest way to each function in scipy.special and numpy, as a user would write it."""

    def elementary(x):
        return np.where(np.abs(x) < 0.1, np.exp(9 * np.log1p(-np.abs(x))), np.exp(-11 * np.log1p(np.abs(x))))

    def inverse(q):
        return np.where(q < 0.5, np.expm1(-np.log(2 * q) / 10), np.expm1(np.log1p(-q) / 10))

    def t_density(x):
        return np.exp(-2 * np.log1p(x * x / 3) + special.gammaln(2) - special.gammaln(1.5))

    def beta_cdf(x):
        y = 1 / (1 + np.abs(x) ** 4)
        return special.betainc(0.75, 0.25, y)

    def beta_inverse(q):
        return (1 / special.betaincinv(0.75, 0.25, q) - 1) ** 0.25

    def log_normal_density(x):
        return np.exp(special.log_ndtr(-(0.75 + np.log(np.abs(x)) / 0.75)))

    def log_normal_cdf(x):
        l = np.log(np.abs(x)) / 0.75
        return special.ndtr(l) + np.abs(x) * special.ndtr(-(l + 0.75))

    def log_normal_inverse(q):
        x = special.ndtri(q)
        for _ in range(4):  # a root finder with a good start needs as many evaluations
            x = x - 1e-9 * log_normal_cdf(np.exp(x))
        return x

    def asinh_density(x):
        v = np.arcsinh(0.5 * x)
        return np.exp(-2 * v * v) / np.cosh(v)

    normal = (lambda x: np.exp(-x * x / 2), special.ndtr, special.ndtri)
    power = (elementary, elementary, inverse)
    logs = (log_normal_density, log_normal_cdf, log_normal_inverse)
    return {
        Laplace(): (
            lambda x: np.exp(-np.abs(x)),
            lambda x: np.where(x < 0, np.exp(-np.abs(x)), 1 - np.exp(-np.abs(x))),
            lambda q: np.where(q < 0.5, np.log(2 * q), -np.log1p(-q)),
        ),
        Gaussian(): normal,
        StudentT(3): (t_density, lambda x: special.stdtr(3, x), lambda q: special.stdtrit(3, q)),
        GeneralizedCauchy(4): (lambda x: 1 / (1 + np.abs(x) ** 4), beta_cdf, beta_inverse),
        PolyPlace(10): power,
        LaplacePareto(5): power,
        UniformLogNormal(0.75): logs,
        ArsinhNormal(0.5): (
            asinh_density,
            lambda x: special.ndtr(np.arcsinh(0.5 * x) * 2),
            lambda q: np.sinh(special.ndtri(q) / 2),
        ),
        LaplaceLogNormal(0.5): logs,
    }


def tables():
    rng = np.random.default_rng(1)
    q = rng.random(POINTS)
    rows = []
    for noise, (pdf, cdf, ppf) in compositions().items():
        x = noise.ppf(q)
        with np.errstate(all="ignore"):
            pairs = [
                (noise.pdf, pdf, x),
                (noise.cdf, cdf, x),
                (noise.ppf, ppf, q),
            ]
            ratios = [seconds(ours, at) / seconds(theirs, at) for ours, theirs, at in pairs]
        rows.append([repr(noise), *ratios])
    yield (
        "a million points, times the closest scipy.special composition (bar 3)",
        ["law", "pdf", "cdf", "ppf"],
        rows,
    )

    rows = []
    for words, command in (
        ("import sordino", ["-c", "import sordino"]),
        ("sordino --help", ["-m", "sordino.cli", "--help"]),
        ("python alone", ["-c", "pass"]),
    ):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run([sys.executable, *command], capture_output=True, check=True)
            times.append(time.perf_counter() - start)
        rows.append([words, min(times)])
    yield "seconds to start (bars: import 0.3 of CPU, help 0.5)", ["what", "seconds"], rows
