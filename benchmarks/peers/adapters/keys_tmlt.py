"""Tumult: `get_groups` for keys alone; keys and then counts of people with half of the budget each."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import pandas as pd
from ask_tmlt import spark
from keys_protocol import serve
from tmlt.analytics import (
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    QueryBuilder,
    Session,
)


def session(people, keys):
    """A session about pairs of a person and a key, with more budget than is asked for."""
    frame = spark().createDataFrame(pd.DataFrame({"who": people, "key": keys}))
    return Session.from_dataframe(
        privacy_budget=ApproxDPBudget(float("inf"), 1), source_id="pairs", dataframe=frame,
        protected_change=AddRowsWithID(id_column="who"),
    )  # fmt: skip


def bounded(most):
    """At most so many keys per person, each once."""
    return QueryBuilder("pairs").enforce(MaxGroupsPerID("key", most)).enforce(MaxRowsPerGroupPerID("key", 1))


def select(people, keys, epsilon, delta, most):
    """Keys alone."""
    found = session(people, keys).evaluate(bounded(most).get_groups(["key"]), ApproxDPBudget(epsilon, delta))
    return dict.fromkeys(int(row["key"]) for row in found.collect())


def ask(people, keys, epsilon, delta, most):
    """Keys with half, counts with half."""
    open_ = session(people, keys)
    groups = open_.evaluate(bounded(most).get_groups(["key"]), ApproxDPBudget(epsilon / 2, delta))
    asked = bounded(most).groupby(KeySet.from_dataframe(groups)).count()
    found = open_.evaluate(asked, ApproxDPBudget(epsilon / 2, 0))
    return {int(row["key"]): float(row["count"]) for row in found.collect()}


if __name__ == "__main__":
    serve({"counts": ask, "keys": select})
