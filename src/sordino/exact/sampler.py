"""From words to exactly rounded draws: k = floor((q + s Z)/g + 1/2) for the ideal real noise Z.

The fast path works in floats and keeps a draw only if every completion of its words rounds to the same k;
the slow path settles the rest in balls, with the same words and more bits. A hard draw is never redrawn.
Theorem and proof: docs/proofs/exact_sampler.md. The laws are in `recipes/`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import ParameterError
from sordino.exact.balls import Undecided, floor, precision, rational
from sordino.exact.bits import Bits
from sordino.exact.functions import SCALARS
from sordino.exact.location import WIDE, Locations, in_steps, ratio_of
from sordino.exact.scale import ExpScale, Scale, Scales, exact_scale, quick_ratio, scale_ball
from sordino.exact.tries import decide, outside, tries
from sordino.exact.uniforms import LazyUniform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sordino.exact.recipe import Recipe
    from sordino.lattice import Lattice

# 2^-48 pays for the rounding of the fraction of the location, of the sum and of the test itself.
_HALF = 0.5 - 2.0**-48
_CHUNK = 1 << 14
_SATURATION = 2 * WIDE
_SCALE = 2.0**-63


def settle(
    recipe: Recipe,
    uniforms: Sequence[LazyUniform],
    location: Fraction,
    scale: Fraction | ExpScale,
    grid: Lattice,
) -> int:
    """Return floor((q + s unit W)/g + 1/2), refining the uniforms until the bits decide it.

    Args:
        recipe: The law; the uniforms are an accepted try of it.
        uniforms: The words already drawn, as lazy uniforms.
        location: The exact q.
        scale: The exact s.
        grid: The lattice.

    Returns:
        The integer k.
    """
    inverse = 1 / grid.step
    centre = location * inverse + Fraction(1, 2)
    if not scale:
        return centre.numerator // centre.denominator
    factor = recipe.unit * inverse
    bits, more = 128, 64
    while True:
        with precision(bits):
            try:
                noise = recipe.ball(*uniforms) * scale_ball(scale) * rational(factor)
                return floor(noise + rational(centre))
            except Undecided:
                pass
        for u in uniforms:
            u.refine(more)
        bits += more
        more *= 2  # a value with many digits before the point needs as many bits


def draw(
    recipe: Recipe, *, location: float | Fraction, scale: Scale, grid: Lattice, bits: Bits | None = None
) -> int:
    """Draw one lattice point: the exact rounding of location + scale * noise.

    Args:
        recipe: The unit-scale law of the noise.
        location: The exact value; a float means its exact dyadic value.
        scale: The exact scale, zero allowed.
        grid: The public lattice; it must not depend on the scale.
        bits: A source of random words; by default a fresh key from the operating system.

    Returns:
        The integer k; the release is `grid.value(k)`.

    Example:
        >>> from sordino.exact import SeededBits
        >>> from sordino.lattice import Lattice
        >>> from sordino.noise.laplace.sampler import LaplaceRecipe
        >>> draw(LaplaceRecipe(), location=Fraction(1, 3), scale=2, grid=Lattice.dyadic(-3), bits=SeededBits(7))
        -13
    """
    source = Bits() if bits is None else bits
    amount = exact_scale(scale)
    whole, part = in_steps(location, grid.exponent)
    steps, loose = quick_ratio(amount, recipe.unit, grid.exponent)
    proved = recipe.proved
    while True:
        words = [source.word() for _ in recipe.guards]
        keep = None
        if proved:
            x = [word * _SCALE for word in words]
            if all(outside(guard, abs(v)) for guard, v in zip(recipe.guards, x, strict=True)):
                w, tolerance, gap, gap_tolerance = recipe.fast(SCALARS, *x)
                if recipe.rejects:
                    # Anything else, NaN included, is decided in balls.
                    keep = True if gap < -gap_tolerance else False if gap > gap_tolerance else None
                    if keep is False:
                        continue
                if not recipe.rejects or keep:
                    y = part + steps * w
                    if abs(y) < 4503599627370496.0:
                        k = round(y)
                        if abs(y - k) + steps * (tolerance + loose * abs(w)) < _HALF:
                            return int(whole + k)
        uniforms = [LazyUniform(word, source) for word in words]
        if recipe.rejects and keep is None and not decide(recipe, uniforms):
            continue
        return settle(recipe, uniforms, Fraction(*ratio_of(location)), amount, grid)


def draw_many(
    recipe: Recipe,
    *,
    locations: Any,
    scales: Any,
    grid: Lattice,
    denominator: int = 1,
    size: int | None = None,
    bits: Bits | None = None,
) -> NDArray[np.int64]:
    """Draw many lattice points, each the exact rounding of its location + scale * noise.

    Args:
        recipe: The unit-scale law of the noise.
        locations: One exact number for all draws, or one per draw: integers (with the common
            `denominator`), floats (their exact dyadic values) or fractions.
        scales: One exact scale for all draws, or one per draw: floats (exact dyadic values), fractions or
            `ExpScale` objects. Zero is allowed.
        grid: The public lattice; it must not depend on the scales.
        denominator: Common denominator of integer locations.
        size: Number of draws when neither locations nor scales are arrays.
        bits: A source of random words; by default a fresh key from the operating system.

    Returns:
        The integers k as int64. Beyond 2^62 they saturate, which is post-processing.

    Example:
        >>> from sordino.exact import SeededBits
        >>> from sordino.lattice import Lattice
        >>> from sordino.noise.laplace.sampler import LaplaceRecipe
        >>> draw_many(LaplaceRecipe(), locations=[1, 2, 3], denominator=3, scales=2, grid=Lattice.dyadic(-3),
        ...           bits=SeededBits(1)).shape
        (3,)
    """
    source = Bits() if bits is None else bits
    where = Locations(locations, grid.exponent, denominator)
    amounts = Scales(scales)
    sizes = {n for n in (where.size, amounts.size, size) if n is not None}
    if len(sizes) != 1:
        raise ParameterError(
            "draw_many",
            "locations, scales and size must agree on the number of draws",
            got={"sizes": tuple(sorted(sizes))},
            hint="pass size=1000 when location and scale are single numbers",
        )
    (count,) = sizes
    steps = amounts.ratios(recipe.unit, grid.exponent)
    result = np.empty(count, dtype=np.int64)
    with np.errstate(all="ignore"):
        for begin in range(0, count, _CHUNK):
            end = min(count, begin + _CHUNK)
            _fill(recipe, source, result, begin, end, where, amounts, steps, grid)
    return result


def _fill(
    recipe: Recipe,
    source: Bits,
    result: NDArray[np.int64],
    begin: int,
    end: int,
    where: Locations,
    amounts: Scales,
    steps: Any,
    grid: Lattice,
) -> None:
    """Draw one chunk into `result[begin:end]`."""
    batch = tries(recipe, source, end - begin)
    each = steps[begin:end] if isinstance(steps, np.ndarray) else steps
    y = batch.value
    y *= each
    y += where.part[begin:end] if isinstance(where.part, np.ndarray) else where.part
    k = np.rint(y)
    y -= k
    np.abs(y, out=y)
    slack = batch.tolerance * each
    if isinstance(slack, np.ndarray):
        y += slack
        good = y < _HALF
    else:
        good = y < _HALF - slack  # one subtraction more, inside the 2^-48
    good &= batch.sure
    if where.wide is not None:
        good &= ~(where.wide[begin:end] if where.wide.ndim else where.wide)
    out = result[begin:end]
    np.copyto(out, k, casting="unsafe")
    out += where.whole[begin:end] if isinstance(where.whole, np.ndarray) else where.whole
    for i in np.flatnonzero(~good).tolist():
        exact = settle(recipe, batch.uniforms(i), where.exact(begin + i), amounts.exact(begin + i), grid)
        out[i] = max(-_SATURATION, min(_SATURATION, exact))
