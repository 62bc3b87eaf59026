"""Spark says in its own logs what it could not convert, value and all: these lines are switched off before it is read.

Its driver runs beside this process and writes to the same stderr, some of it after a query has failed, so the loggers
of tasks stay off while the driver lives. The logs of a cluster's executors are the cluster's own.
"""

from __future__ import annotations

import contextlib
import logging
from typing import Any

from sordino.reading.room import heard

TELLING = (
    "org.apache.spark.executor",
    "org.apache.spark.scheduler",
    "org.apache.spark.sql",
    "org.apache.spark.storage",
    "org.apache.spark.util",
    "org.apache.spark.api.python",
)
"""Packages of Spark whose logs hold the errors of tasks."""

CONTEXTS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers of pyspark that print every error of a query; they make their own handlers."""


def quieten(frame: Any) -> None:
    """Switch off what would print values when an expression of a Spark DataFrame fails on one."""
    for name in CONTEXTS:
        logging.getLogger(name).addFilter(heard)
    with contextlib.suppress(Exception):  # Spark Connect has no driver of ours, and no logs here
        driver = frame.sparkSession._jvm
        configurator = driver.org.apache.logging.log4j.core.config.Configurator
        for package in TELLING:
            configurator.setLevel(package, driver.org.apache.logging.log4j.Level.OFF)
