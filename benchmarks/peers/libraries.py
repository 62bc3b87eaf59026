"""The libraries that are compared, their versions, and in which relation each answers. None is imported here."""

from dataclasses import dataclass, field
from pathlib import Path

ADAPTERS = Path(__file__).parent / "adapters"
REPLACE_ONE, ADD_REMOVE = "replace-one", "add/remove"
QUANTILES = {"median": 0.5, "q10": 0.1, "q90": 0.9, "q99": 0.99, "min": 0.0, "max": 1.0}
MOMENTS = ("mean", "mean_auto", "variance", "count")
QUERIES = (*QUANTILES, *MOMENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """One library in one environment.

    Attributes:
        name: What tables call it.
        requirements: What pip installs; empty for our own, which runs where the benchmark runs.
        variants: Ways of asking it, each with the relations whose promise it keeps.
        queries: What it can be asked.
        repeats: Repetitions by number of rows; what is slow gets fewer.
        regimes: The regimes of bounds in which it is asked; None for all of them.
        boundless: Queries that it answers without the declared bounds, so that one regime stands for all.
        fewer: Repetitions at most, for queries that are slower than the rest.
        needs: A program outside Python that it cannot do without.
        module: What is imported to measure import time.
    """

    name: str
    requirements: tuple[str, ...]
    variants: dict[str, tuple[str, ...]]
    module: str
    queries: tuple[str, ...] = QUERIES
    repeats: dict[int, int] = field(default_factory=lambda: {201: 200, 1001: 200, 5001: 60})
    regimes: tuple[str, ...] | None = None
    boundless: tuple[str, ...] = ()
    fewer: dict[str, int] = field(default_factory=dict)
    needs: str = ""

    @property
    def adapter(self):
        """The script that runs in its environment."""
        return ADAPTERS / f"ask_{self.name}.py"


OURS = Library(
    name="sordino",
    requirements=(),
    variants={"none": (REPLACE_ONE, ADD_REMOVE)} | dict.fromkeys(("tight", "loose", "rough"), (REPLACE_ONE,)),
    module="sordino",
    queries=tuple(
        query for query in QUERIES if query != "mean_auto"
    ),  # the default mean needs no tight bounds
)
PEERS = {
    one.name: one
    for one in (
        Library(
            name="opendp",
            requirements=("opendp[polars]==0.16.0", "numpy"),
            variants={"grid": (REPLACE_ONE,)},
            repeats={201: 150, 1001: 100, 5001: 60},
            fewer={"mean_auto": 60},
            module="opendp.prelude",
        ),
        Library(
            name="diffprivlib",
            requirements=("diffprivlib==0.6.6", "scikit-learn<1.9"),
            variants={"tools": (REPLACE_ONE,)},
            module="diffprivlib",
        ),
        Library(
            name="pydp",
            requirements=("python-dp==1.1.5", "numpy"),
            variants={"plain": (ADD_REMOVE,), "tree": (ADD_REMOVE,), "half": (REPLACE_ONE,)},
            repeats={201: 100, 1001: 60, 5001: 30},
            fewer={"mean_auto": 20},
            boundless=("mean_auto",),
            module="pydp",
        ),
        Library(
            name="pipelinedp",
            requirements=("pipeline-dp==0.3.1",),
            variants={"local": (ADD_REMOVE,)},
            queries=(*QUANTILES, "mean", "variance", "count"),
            repeats={201: 60, 1001: 30, 5001: 10},
            module="pipeline_dp",
        ),
        Library(
            name="tmlt",
            requirements=("tmlt.analytics==0.21.0",),
            variants={"core": (ADD_REMOVE,)},
            repeats={201: 60, 1001: 12, 5001: 3},  # its laws give the errors
            fewer={"mean_auto": 12},
            needs="java",
            module="tmlt.analytics",
        ),
        Library(
            name="smartnoise",
            requirements=("smartnoise-sql==1.0.10",),
            variants={"sql": (ADD_REMOVE,)},
            queries=("mean", "variance", "count"),
            repeats={201: 40, 1001: 30, 5001: 20},
            regimes=("fit",),  # half of epsilon for a mean: the wider the bounds, the farther behind
            module="snsql",
        ),
    )
}
LABELS = {
    "opendp grid": "OpenDP",
    "diffprivlib tools": "diffprivlib",
    "pydp plain": "PyDP",
    "pydp tree": "PyDP tree",
    "pydp half": "PyDP at ε/2",
    "pipelinedp local": "PipelineDP",
    "tmlt core": "Tumult",
    "smartnoise sql": "SmartNoise",
    "sordino none": "Sordino",
    "sordino rough": "Sordino, rough hint",
    "sordino tight": "Sordino, tight",
    "sordino loose": "Sordino, loose",
}


def label(who):
    """The name of a library and its variant for readers."""
    name, _, searched = who.partition(", ")
    return LABELS.get(name, name) + (f", {searched}" if searched else "")
