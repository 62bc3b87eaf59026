"""SmartNoise SQL on a data frame: add/remove, one row a person.

`Privacy(epsilon=...)` is spent once for every column the library derives, so an average (sum, count) gets half of
epsilon for each and a variance (sum of squares, sum, count) a third; the whole query then costs epsilon.
"""

import pandas as pd
from protocol import Unsupported, serve
from snsql import Privacy, from_df

PARTS = {"mean": ("AVG(x)", 2), "variance": ("VAR(x)", 3), "count": ("COUNT(*)", 1)}


def prepare(task, column):
    """A reader over the table; each answer is one SQL query."""
    if task["query"] not in PARTS:
        raise Unsupported(task["query"])
    expression, parts = PARTS[task["query"]]
    described = {"type": "float", "lower": float(task["low"]), "upper": float(task["high"])}
    table = {"row_privacy": True, "rows": len(column), "censor_dims": False, "x": described}
    reader = from_df(
        pd.DataFrame({"x": column}),
        metadata={"": {"d": {"t": table}}},
        privacy=Privacy(epsilon=task["epsilon"] / parts, delta=1e-10),
    )
    where = f" WHERE x > {task['threshold']}" if task["query"] == "count" else ""
    return lambda: reader.execute(f"SELECT {expression} FROM d.t{where}")[1][0]


if __name__ == "__main__":
    serve(prepare)
