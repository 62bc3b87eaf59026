"""Runs the first block of the page "coming from Tumult" in Tumult's own environment: `page_tmlt.py PAGE`."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from ask_tmlt import spark


def main(page):
    """Give the block the frame that it asks about, and run it as it stands."""
    random = np.random.default_rng(0)
    incomes, regions = random.lognormal(10.5, 0.8, 20_000), random.choice(["north", "south"], 20_000)
    frame = spark().createDataFrame(pd.DataFrame({"income": incomes, "region": regions}))
    block = re.search(r"```py\n(.*?)```", Path(page).read_text(), re.DOTALL)[1]
    exec(block, {"frame": frame})


if __name__ == "__main__":
    main(sys.argv[1])
