from sordino import geo, plots, smoothed
from sordino.catalogue import register
from sordino.client import connect
from sordino.coverage import Population, Sample
from sordino.errors import (
    BudgetExceeded,
    DataError,
    LedgerDamaged,
    LedgerError,
    ParameterError,
    SordinoError,
    Unsupported,
)
from sordino.ledger import Ledger
from sordino.mechanisms.additive.additive import Additive
from sordino.mechanisms.additive.additive_vector import AdditiveVector
from sordino.mechanisms.additive.cube import CubeNoise
from sordino.mechanisms.additive.error_bar import WithErrorBar
from sordino.mechanisms.additive.geometric import Geometric
from sordino.mechanisms.additive.propose_test_release import ProposeTestRelease
from sordino.mechanisms.additive.radial import RadialLaplace
from sordino.mechanisms.blocks.blocks import FunctionBlocks
from sordino.mechanisms.clip.auto_clip import AutoClip
from sordino.mechanisms.clip.box_means import BoxMeans
from sordino.mechanisms.clip.mean_interval import MeanInterval
from sordino.mechanisms.clip.plain_or_cut import PlainOrCut
from sordino.mechanisms.clip.plain_or_cut_squares import PlainOrCutSquares
from sordino.mechanisms.clip.symmetric_mean import SymmetricMean
from sordino.mechanisms.discovery.discovery import Discovery
from sordino.mechanisms.extreme.extreme import Extreme
from sordino.mechanisms.nested.inverse_sensitivity import InverseSensitivity
from sordino.mechanisms.nested.piecewise_laplace import PiecewiseLaplace
from sordino.mechanisms.quantile.anchored import Anchored
from sordino.mechanisms.quantile.counted import CountedFirst
from sordino.mechanisms.quantile.order_interval import OrderInterval
from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
from sordino.mechanisms.quantile.quantile_interval import QuantileInterval
from sordino.mechanisms.quantile.quantiles_interval import QuantilesInterval
from sordino.mechanisms.quantile.recursive_quantiles import RecursiveQuantiles
from sordino.mechanisms.selection.selection import Selection
from sordino.mechanisms.table.high_pass import HighPass
from sordino.mechanisms.table.levels import LevelNoise
from sordino.mechanisms.table.margins import Margins
from sordino.noise.arsinh_normal import ArsinhNormal
from sordino.noise.calibration import Calibration
from sordino.noise.gaussian import Gaussian
from sordino.noise.generalized_cauchy import GeneralizedCauchy
from sordino.noise.laplace import Laplace
from sordino.noise.laplace_log_normal import LaplaceLogNormal
from sordino.noise.laplace_pareto import LaplacePareto
from sordino.noise.limit import lower_bound
from sordino.noise.polyplace import PolyPlace
from sordino.noise.staircase_polyplace import StaircasePolyPlace
from sordino.noise.student_t import StudentT
from sordino.noise.uniform_log_normal import UniformLogNormal
from sordino.planner import (
    BudgetPlan,
    Plan,
    Sweep,
    add_remove_cost,
    best_trim,
    needed_price,
    needed_rows,
    plan,
    plan_budget,
    widest_bounds,
)
from sordino.privacy import (
    Approx,
    ApproxConcentrated,
    BoundedRange,
    Concentrated,
    Geo,
    Guarantee,
    Neighbors,
    Pure,
    Purse,
    TruncatedConcentrated,
    Unit,
    compose,
)
from sordino.reading.bound_check import check_bound, smooth_bound
from sordino.reading.condition import Condition
from sordino.reading.discover import Discover, discover
from sordino.reading.formula import col
from sordino.reading.profile import Profile
from sordino.session import (
    Session,
    open,  # noqa: A004
)
from sordino.session.columns import columns
from sordino.session.oneline import (
    count,
    histogram,
    max,  # noqa: A004
    mean,
    median,
    min,  # noqa: A004
    quantile,
    quantiles,
    std,
    sum,  # noqa: A004
    trimmed_mean,
    var,
)
from sordino.session.own import add_noise
from sordino.session.release import Event, Release
from sordino.statistics.categories import Categories
from sordino.statistics.count import Count
from sordino.statistics.count_above import CountAbove
from sordino.statistics.crosstab import Crosstab
from sordino.statistics.edges import Edges
from sordino.statistics.function import Function
from sordino.statistics.hierarchy import Hierarchy
from sordino.statistics.histogram import Histogram
from sordino.statistics.interquantile_range import InterquantileRange
from sordino.statistics.keys import Keys
from sordino.statistics.maximum import Maximum
from sordino.statistics.maximum_degree import MaximumDegree
from sordino.statistics.mean import Mean
from sordino.statistics.means import Means
from sordino.statistics.median import Median
from sordino.statistics.minimum import Minimum
from sordino.statistics.minimum_spanning_tree import MinimumSpanningTree
from sordino.statistics.mode import Mode
from sordino.statistics.mode_count import ModeCount
from sordino.statistics.output_trimmed_mean import OutputTrimmedMean
from sordino.statistics.quantile import Quantile
from sordino.statistics.quantiles import Quantiles
from sordino.statistics.second_moment import SecondMoment
from sordino.statistics.sparse_table import SparseTable
from sordino.statistics.standard_deviation import StandardDeviation
from sordino.statistics.sum import Sum
from sordino.statistics.tail_counts import TailCounts
from sordino.statistics.theil_sen import TheilSen
from sordino.statistics.triangles import Triangles
from sordino.statistics.trimmed_mean import TrimmedMean
from sordino.statistics.variance import Variance
from sordino.statistics.vector import Vector
from sordino.statistics.winsorized_mean import WinsorizedMean
from sordino.testing.audit import audit

__version__: str

__all__ = [
    "Additive",
    "AdditiveVector",
    "Anchored",
    "Approx",
    "ApproxConcentrated",
    "ArsinhNormal",
    "AutoClip",
    "BoundedRange",
    "BoxMeans",
    "BudgetExceeded",
    "BudgetPlan",
    "Calibration",
    "Categories",
    "Concentrated",
    "Condition",
    "Count",
    "CountAbove",
    "CountedFirst",
    "Crosstab",
    "CubeNoise",
    "DataError",
    "Discover",
    "Discovery",
    "Edges",
    "Event",
    "Extreme",
    "Function",
    "FunctionBlocks",
    "Gaussian",
    "GeneralizedCauchy",
    "Geo",
    "Geometric",
    "Guarantee",
    "Hierarchy",
    "HighPass",
    "Histogram",
    "InterquantileRange",
    "InverseSensitivity",
    "Keys",
    "Laplace",
    "LaplaceLogNormal",
    "LaplacePareto",
    "Ledger",
    "LedgerDamaged",
    "LedgerError",
    "LevelNoise",
    "Margins",
    "Maximum",
    "MaximumDegree",
    "Mean",
    "MeanInterval",
    "Means",
    "Median",
    "Minimum",
    "MinimumSpanningTree",
    "Mode",
    "ModeCount",
    "Neighbors",
    "OrderInterval",
    "OutputTrimmedMean",
    "ParameterError",
    "PiecewiseLaplace",
    "PlainOrCut",
    "PlainOrCutSquares",
    "Plan",
    "PolyPlace",
    "Population",
    "PrivateQuantile",
    "Profile",
    "ProposeTestRelease",
    "Pure",
    "Purse",
    "Quantile",
    "QuantileInterval",
    "Quantiles",
    "QuantilesInterval",
    "RadialLaplace",
    "RecursiveQuantiles",
    "Release",
    "Sample",
    "SecondMoment",
    "Selection",
    "Session",
    "SordinoError",
    "SparseTable",
    "StaircasePolyPlace",
    "StandardDeviation",
    "StudentT",
    "Sum",
    "Sweep",
    "SymmetricMean",
    "TailCounts",
    "TheilSen",
    "Triangles",
    "TrimmedMean",
    "TruncatedConcentrated",
    "UniformLogNormal",
    "Unit",
    "Unsupported",
    "Variance",
    "Vector",
    "WinsorizedMean",
    "WithErrorBar",
    "add_noise",
    "add_remove_cost",
    "audit",
    "best_trim",
    "check_bound",
    "col",
    "columns",
    "compose",
    "connect",
    "count",
    "discover",
    "geo",
    "histogram",
    "lower_bound",
    "max",
    "mean",
    "median",
    "min",
    "needed_price",
    "needed_rows",
    "open",
    "plan",
    "plan_budget",
    "plots",
    "quantile",
    "quantiles",
    "register",
    "smooth_bound",
    "smoothed",
    "std",
    "sum",
    "trimmed_mean",
    "var",
    "widest_bounds",
]
