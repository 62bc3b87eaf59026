"""Tumult Analytics through a session on Spark, for times: add/remove, pure epsilon. Answers come from `ask_tmlt`."""

import pandas as pd
from ask_tmlt import evaluate, session, spark
from protocol import Unsupported

spark()  # starting Spark is no part of an answer


def prepare(task, column):
    """From the array to a session; every call draws anew."""
    from tmlt.analytics import QueryBuilder

    low, high = float(task["low"]), float(task["high"])
    start = QueryBuilder("people")
    if task["query"] == "mean":
        query = start.average("x", low, high)
    elif "q" in task:
        query = start.quantile("x", task["q"], low, high)
    else:
        raise Unsupported(task["query"])
    people = session(pd.DataFrame({"x": column}))
    return lambda: evaluate(people, query, task["epsilon"])
