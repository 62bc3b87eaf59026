"""Certified concentrated prices: a proved bracket for the Renyi cost of smooth-sensitivity noise.

`certify` prices a law, `calibrate` inverts the price, `limits` says how far any noise is from the best possible.
Importing this package loads scipy, so noise families import it only when a concentrated price is asked for.
"""

from sordino.certification.calibration import Calibrated, calibrate
from sordino.certification.certificate import Certificate, certify
from sordino.certification.divergence import renyi_divergence
from sordino.certification.shape import shape_class

__all__ = ["Calibrated", "Certificate", "calibrate", "certify", "renyi_divergence", "shape_class"]
