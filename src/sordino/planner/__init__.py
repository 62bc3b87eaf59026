"""What accuracy a price buys, before data are touched: expected errors on public or generated data only.

`plan` ranks every mechanism that could answer. Nothing here opens a file, a source or a session.
"""

from __future__ import annotations

from sordino.planner.assumed import PublicSample
from sordino.planner.budget_plan import BudgetPlan
from sordino.planner.inverse import expected_error, needed_price, needed_rows
from sordino.planner.mean_guarantee import MeanGuarantee, guaranteed_mean, rows_for_mean
from sordino.planner.planning import plan
from sordino.planner.report import Option, Plan
from sordino.planner.shape import SHAPES, Shape
from sordino.planner.split import plan_budget
from sordino.planner.sweep import Sweep, add_remove_cost, best_trim, widest_bounds

__all__ = [
    "SHAPES",
    "BudgetPlan",
    "MeanGuarantee",
    "Option",
    "Plan",
    "PublicSample",
    "Shape",
    "Sweep",
    "add_remove_cost",
    "best_trim",
    "expected_error",
    "guaranteed_mean",
    "needed_price",
    "needed_rows",
    "plan",
    "plan_budget",
    "rows_for_mean",
    "widest_bounds",
]
