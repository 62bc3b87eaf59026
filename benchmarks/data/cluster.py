"""A Spark standalone cluster in processes of its own: a master and some workers, from the PyPI package and a Java."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path


def free_port():
    """A port that nobody uses now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def cluster(*, workers=2, memory="1g"):
    """The address of a cluster, which ends with the block."""
    import pyspark

    home = Path(pyspark.__file__).parent
    os.environ |= {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    os.environ["SPARK_DAEMON_MEMORY"] = "256m"
    port, started = free_port(), []

    def start(what, *words):
        command = [
            str(home / "bin" / "spark-class"),
            f"org.apache.spark.deploy.{what}",
            "--host",
            "127.0.0.1",
        ]
        command += ["--webui-port", str(free_port()), *words]
        started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    with tempfile.TemporaryDirectory() as folder:
        try:
            start("master.Master", "--port", str(port))
            for _ in range(300):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.2)
            for place in range(workers):
                work = str(Path(folder) / str(place))
                start(
                    "worker.Worker",
                    "--cores",
                    "1",
                    "--memory",
                    memory,
                    "--work-dir",
                    work,
                    f"spark://127.0.0.1:{port}",
                )
            yield f"spark://127.0.0.1:{port}"
        finally:
            for one in reversed(started):
                one.terminate()
            for one in started:
                one.wait()


@contextlib.contextmanager
def session(address, *, memory="900m"):
    """A session on it, with executors of so much memory."""
    from pyspark.sql import SparkSession

    given = {
        "spark.executor.memory": memory,
        "spark.executor.cores": "1",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.port": str(free_port()),
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
    }
    built = SparkSession.builder.master(address).appName("sordino")
    for name, value in given.items():
        built = built.config(name, value)
    made = built.getOrCreate()
    try:
        yield made
    finally:
        made.stop()


class Meter:
    """What the stages of a session have used since it was last asked, by Spark's own account."""

    def __init__(self, spark):
        context = spark.sparkContext
        where = context.uiWebUrl.replace("localhost", "127.0.0.1")
        self._address = f"{where}/api/v1/applications/{context.applicationId}/stages?status=complete"
        self._seen = set()
        self.read()

    def read(self):
        """CPU seconds of executors, scans of the table, and megabytes that were shuffled and sent to the driver."""
        stages, before = self._new(), -1
        while len(stages) != before:  # the account comes a little later
            before = len(stages)
            time.sleep(3)
            stages = self._new()
        self._seen |= {one["stageId"] for one in stages}
        total = {
            name: sum(one[name] for one in stages)
            for name in ("executorCpuTime", "shuffleWriteBytes", "resultSize")
        }
        scans = sum(one["inputRecords"] > 0 for one in stages)
        return (
            total["executorCpuTime"] / 1e9,
            scans,
            total["shuffleWriteBytes"] / 1e6,
            total["resultSize"] / 1e6,
        )

    def _new(self):
        """The stages that have ended since."""
        with urllib.request.urlopen(self._address) as answer:
            return [one for one in json.load(answer) if one["stageId"] not in self._seen]
