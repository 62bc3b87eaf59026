"""The laws of an exact sampler: its proved tolerance holds for every completion of the words, hostile words included.

Recipes come from the cases of the noise families and from `Recipe.cases`; nothing is listed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.exact.balls import Undecided, precision
from sordino.exact.functions import ARRAYS, SCALARS
from sordino.exact.tries import outside
from sordino.exact.uniforms import LazyUniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.exact.recipe import Recipe

WORDS = 300


def recipes() -> Iterator[Recipe]:
    """Every recipe of the catalogue: those of the noise families' cases, and all others by their own."""
    from sordino.exact import exponential, shapes
    from sordino.exact.recipe import Recipe
    from sordino.noise import families

    del exponential, shapes  # imported so that their recipes are known
    seen = set()
    for family in families().values():
        for noise in family.cases():
            recipe = noise.recipe()
            seen.add(_place(type(recipe)))
            yield recipe
    for kind in _below(Recipe):
        if _place(kind) not in seen and not getattr(kind, "__abstractmethods__", None):
            seen.add(_place(kind))
            yield from kind.cases()


def _place(kind: type[Any]) -> tuple[str, str]:
    """A dataclass with slots is built twice: the module and the name tell classes apart."""
    return kind.__module__, kind.__qualname__


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    for child in kind.__subclasses__():
        if child.__module__.startswith("sordino.") and not child.__name__.startswith("_"):
            yield child
            yield from _below(child)


def hostile_words(count: int, seed: int) -> NDArray[np.int64]:
    """Random words, words spread evenly in log|X| down to below the guard, and the edges."""
    rng = np.random.default_rng(seed)
    plain = rng.integers(-(2**63), 2**63, size=count, dtype=np.int64)
    logs = np.exp2(rng.uniform(63 - 22, 63, size=count // 2)).astype(np.int64)
    near_one = 2**63 - 1 - np.exp2(rng.uniform(0, 62, size=count // 4)).astype(np.int64)
    powers = np.array([2**i for i in range(63)] + [2**i - 1 for i in range(64)], dtype=np.int64)
    guards = [*(2**43 + d for d in range(-3, 4)), *(2**63 - 2**43 + d for d in range(-3, 4))]
    quadrants = [*(2**62 + d for d in (-1, 0, 1)), *(3 * 2**61 + d for d in (-1, 0, 1))]
    words = np.concatenate([plain, logs, near_one, powers, np.array(guards + quadrants, dtype=np.int64)])
    signs = rng.integers(0, 2, size=len(words)).astype(bool)
    words[signs] = ~words[signs]
    rng.shuffle(words)
    return words


def tolerance(recipe: Recipe, count: int = WORDS) -> Iterator[str]:
    """The float view and the ball view of a try agree within the stated tolerance, whatever words follow."""
    from flint import arb

    if not recipe.proved:
        return
    columns = [hostile_words(count, seed)[:count] for seed in range(len(recipe.guards))]
    x = [column.astype(float) * 2.0**-63 for column in columns]
    with np.errstate(all="ignore"):
        fast = recipe.fast(ARRAYS, *[v.copy() for v in x])
    values, bounds = np.broadcast_to(fast.value, (count,)), np.broadcast_to(fast.tolerance, (count,))
    for i in range(count):
        heads = [float(v[i]) for v in x]
        if not all(outside(guard, abs(v)) for guard, v in zip(recipe.guards, heads, strict=True)):
            continue
        scalar = recipe.fast(SCALARS, *heads)
        if scalar.value != values[i] or scalar.tolerance != bounds[i]:
            yield f"{recipe}: arrays and scalars do not agree"
        with precision(192):
            try:
                ball = recipe.ball(*[LazyUniform(int(column[i]), None) for column in columns])  # type: ignore[arg-type]
            except Undecided:
                continue
            # The tolerance also pays 2^-49 |w| for the product with the scale and the sum with the location.
            if not abs(ball - arb(scalar.value)) + abs(scalar.value) * 2.0**-49 < arb(scalar.tolerance):
                yield f"{recipe}: the tolerance does not hold at words {[int(c[i]) for c in columns]}"
                return


LAWS = {"the tolerance holds for every completion": tolerance}
