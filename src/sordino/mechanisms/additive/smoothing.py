"""The default noise for a smooth bound, by the kind of price; data-free."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from sordino.errors import Unsupported
from sordino.privacy import Approx, Concentrated, Guarantee, Pure

if TYPE_CHECKING:
    from sordino.noise import Noise
    from sordino.noise.calibration import Calibration


@lru_cache(maxsize=256)
def noise_at(price: Guarantee, smoothing: Fraction) -> Calibration:
    """The best noise known for a smooth bound: PolyPlace for a pure price, arsinh-normal for a concentrated one."""
    from sordino.noise.arsinh_normal import ArsinhNormal
    from sordino.noise.laplace import Laplace
    from sordino.noise.polyplace import PolyPlace

    families: dict[type[Guarantee], type[Noise]] = {
        Pure: PolyPlace,
        Approx: Laplace,
        Concentrated: ArsinhNormal,
    }
    found, refusal = (
        [],
        Unsupported("smoothing", f"has no noise for {type(price).__name__}", hint="Pure(epsilon)"),
    )
    for target in price.noise_targets:
        try:
            found.append(families[type(target)].calibrate(target, smoothing=smoothing))
        except Unsupported as problem:
            refusal = problem
    if not found:
        raise refusal
    return min(found, key=lambda calibration: calibration.std)
