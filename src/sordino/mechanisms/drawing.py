"""Exact draws that the mechanisms share: a choice by exact weights, a lattice point, a point of the line, noise.

Every draw is decided by lazily refined uniforms against ball arithmetic of sordino.exact, so the law is the ideal one.
Nothing here knows what the numbers mean; inputs are private unless the caller says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from sordino.errors import Unsupported
from sordino.exact.balls import Undecided, floor, is_less, precision, rational
from sordino.exact.bits import Bits
from sordino.exact.grid import Grid
from sordino.exact.uniforms import LazyUniform
from sordino.privacy import Approx, BoundedRange, Concentrated, Guarantee, Pure

if TYPE_CHECKING:
    from sordino.mechanisms.law import Cell, Piece
    from sordino.mechanisms.measure import Measure
    from sordino.noise.calibration import Calibration

T = TypeVar("T")


def _decide(question: Callable[..., T], bits: Bits, *, count: int) -> T:
    """Answer a question about fresh uniforms on (0, 1), drawing more of their bits until they decide it."""
    uniforms = [LazyUniform(bits.word(), bits) for _ in range(count)]
    working = 128
    while True:
        with precision(working):
            try:
                return question(*(uniform.magnitude() for uniform in uniforms))
            except Undecided:
                pass
        for uniform in uniforms:
            uniform.refine(64)
        working += 64


def pick(
    exponents: Sequence[Fraction],
    weights: Sequence[int | Fraction] | None = None,
    *,
    bits: Bits | None = None,
) -> int:
    """Choose index i with probability ``~ weights[i] exp(-exponents[i])``, exactly.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> pick([Fraction(900), Fraction(0), Fraction(1000)], bits=SeededBits(1))
        1
    """
    source = Bits() if bits is None else bits
    sizes = [1] * len(exponents) if weights is None else list(weights)
    least = min(exponent for exponent, size in zip(exponents, sizes, strict=True) if size)

    def find(place: Any) -> int:
        powers: dict[Fraction, Any] = {}
        sums = []
        total = rational(0)
        for exponent, size in zip(exponents, sizes, strict=True):
            if size:
                if exponent not in powers:
                    powers[exponent] = rational(least - exponent).exp()
                total = total + rational(size) * powers[exponent]
            sums.append(total)
        target = place * total
        low, high = 0, len(sums) - 1
        while low < high:  # the first partial sum above the target
            middle = (low + high) // 2
            if is_less(target, sums[middle]):
                high = middle
            else:
                low = middle + 1
        return low

    return _decide(find, source, count=1)


def draw_lattice(
    cells: Sequence[Cell], measure: Measure, slope: Fraction, *, bits: Bits | None = None
) -> int:
    """Draw a lattice point with probability ``~ measure(point) exp(-slope level(point))``, exactly.

    First the level, by ball arithmetic; then the point, by one exact uniform integer.
    """
    source = Bits() if bits is None else bits
    levels: dict[int, list[tuple[Cell, int]]] = {}
    for cell in cells:
        mass = measure.mass(cell.first, cell.last)
        if mass:
            levels.setdefault(cell.level, []).append((cell, mass))
    order = sorted(levels)
    totals = [sum(mass for _, mass in levels[level]) for level in order]
    level = order[pick([slope * level for level in order], totals, bits=source)]
    index = source.below(sum(mass for _, mass in levels[level]))
    for cell, mass in levels[level]:
        if index < mass:
            return measure.point(cell.first, cell.last, index)
        index -= mass
    raise AssertionError("masses of a level do not add up")


def draw_piece(pieces: Sequence[Piece], slope: Fraction, grid: Grid, *, bits: Bits | None = None) -> int:
    """Draw a point of the line with density ``~ base exp(-slope score)`` and round it to the grid, exactly."""
    source = Bits() if bits is None else bits
    # A flat piece weighs its length, a linear one its length times (1 - e^-slope)/slope: choose between the two kinds
    # first, on a common scale, then inside the kind by exact powers.
    flat = [piece for piece in pieces if piece.rise == 0]
    steep = [piece for piece in pieces if piece.rise]
    base = min(piece.level for piece in pieces)

    def mass(kind: Sequence[Piece]) -> Any:
        return sum(
            (rational(_size(piece)) * rational(-slope * (piece.level - base)).exp() for piece in kind),
            start=rational(0),
        )

    kind = flat or steep
    if flat and steep:

        def is_flat(place: Any) -> bool:
            decay = -rational(-slope).expm1() / rational(slope)
            first, second = mass(flat), mass(steep) * decay
            return is_less(place * (first + second), first)

        kind = flat if _decide(is_flat, source, count=1) else steep
    piece = kind[pick([slope * piece.level for piece in kind], [_size(piece) for piece in kind], bits=source)]
    length = piece.right - piece.left
    start = piece.left if piece.side >= 0 else piece.right
    signed = length if piece.side >= 0 else -length

    def place(part: Any) -> int:
        if piece.rise:  # inverse of the truncated exponential on [0, 1]
            part = -(part * rational(-slope).expm1()).log1p() / rational(slope)
        return floor(
            (rational(start) + rational(signed) * part) / rational(grid.step) + rational(Fraction(1, 2))
        )

    return _decide(place, source, count=1)


def _size(piece: Piece) -> Fraction:
    return piece.density * (piece.right - piece.left)


def permute_and_flip(exponents: Sequence[Fraction], *, bits: Bits | None = None) -> int:
    """Permute-and-flip: visit candidates in random order, stop at i with probability ``exp(-(x_i - least))``.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> permute_and_flip([Fraction(50), Fraction(0), Fraction(80)], bits=SeededBits(3))
        1
    """
    source = Bits() if bits is None else bits
    least = min(exponents)
    left = list(range(len(exponents)))
    while True:
        index = left.pop(source.below(len(left)))
        gap = exponents[index] - least

        def accept(place: Any, gap: Fraction = gap) -> bool:
            return is_less(place, rational(-gap).exp())

        if gap == 0 or _decide(accept, source, count=1):
            return index


def noise_for(price: Guarantee) -> Calibration:
    """The best additive noise for a public sensitivity: Laplace, or Gaussian for a concentrated price."""
    from sordino.noise.gaussian import Gaussian
    from sordino.noise.laplace import Laplace

    if isinstance(price, Pure):
        return Laplace.calibrate(price, smoothing=0)
    if isinstance(price, BoundedRange):  # symmetric noise of pure loss e has bounded range 2 e
        return Laplace.calibrate(Pure(price.epsilon / 2), smoothing=0)
    if isinstance(price, Approx):
        return Laplace.calibrate(Pure(price.epsilon), smoothing=0)
    if isinstance(price, Concentrated):
        return Gaussian.calibrate(price, smoothing=0)
    raise Unsupported("noise", f"has no global calibration for {type(price).__name__}")


def draw_noise(
    value: Fraction,
    *,
    sensitivity: Fraction,
    price: Guarantee,
    grid: Grid | None = None,
    bits: Bits | None = None,
) -> tuple[Fraction, Fraction]:
    """A value plus noise for a public sensitivity, exactly rounded, and the public scale of that noise."""
    from sordino.exact.sampler import draw

    calibration = noise_for(price)
    scale = sensitivity * calibration.scale
    lattice = Grid(0) if grid is None else grid
    point = draw(calibration.noise.recipe(), location=value, scale=scale, grid=lattice, bits=bits)
    return lattice.step * point, scale
