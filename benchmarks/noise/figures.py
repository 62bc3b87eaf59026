"""Draw the picture of the README: `python -m benchmarks.noise.figures FOLDER`."""

import sys
from pathlib import Path

from sordino.noise.laplace import Laplace
from sordino.noise.polyplace import PolyPlace
from sordino.noise.student_t import StudentT
from sordino.plots import densities, save
from sordino.privacy import Pure


def main(folder):
    """Noise of one price: two that adapt to the data, one that cannot."""
    price = Pure(1)
    shown = [
        PolyPlace.calibrate(price, smoothing=0.1),
        StudentT.calibrate(price, smoothing=0.1),
        Laplace.calibrate(price, smoothing=0),
    ]
    print(save(densities(shown), folder / "densities.svg"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
