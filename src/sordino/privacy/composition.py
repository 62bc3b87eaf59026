"""Adding up promises about the same data, mixed kinds included."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from sordino.errors import ParameterError, Unsupported
from sordino.privacy.concentrated import Concentrated, TruncatedConcentrated
from sordino.privacy.kinds import Approx, BoundedRange, Geo, Pure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sordino.privacy.guarantee import Guarantee


def compose(guarantees: Iterable[Guarantee], *, delta: Any = None) -> Guarantee:
    """Add up promises about the same data; mixed kinds are first converted to the loosest that is needed.

    Args:
        guarantees: At least one promise.
        delta: The share of delta for concentrated promises that stand beside approximate ones.

    Example:
        >>> from sordino.privacy import Pure, Concentrated, BoundedRange
        >>> compose([Pure(1), Concentrated(0.5)])
        Concentrated(rho=0.962117)
        >>> compose([BoundedRange(1), Pure(1)])
        Pure(epsilon=2)
        >>> compose([BoundedRange(1), BoundedRange(1)])
        Pure(epsilon=2)
    """
    parts = list(guarantees)
    if not parts:
        raise ParameterError("compose", "needs at least one guarantee")
    if len(parts) == 1:
        return parts[0]
    kinds = {type(part) for part in parts}
    if len(kinds) == 1 and BoundedRange not in kinds:
        return reduce(lambda a, b: a._plus(b), parts)
    if Geo in kinds:
        raise Unsupported(
            "compose",
            "Geo composes only with Geo",
            why="It promises in proportion to a distance, the others for whole persons.",
            hint="Geo(...).at(distance) gives a Pure promise for points within that distance",
        )
    if Approx in kinds:
        concentrated = [part for part in parts if isinstance(part, Concentrated | TruncatedConcentrated)]
        others = [part for part in parts if part not in concentrated]
        total = reduce(
            lambda a, b: a._plus(b),
            (part.to(Approx) if not isinstance(part, Approx) else part for part in others),
        )
        if concentrated:
            if delta is None:
                raise ParameterError(
                    "compose",
                    "concentrated and approximate promises together need a delta",
                    why="The concentrated part becomes (epsilon, delta) first.",
                    hint="compose([...], delta=1e-7)",
                )
            total = total._plus(compose(concentrated).to(Approx, delta=delta))
        return total
    if TruncatedConcentrated in kinds:
        omega = min(part.omega for part in parts if isinstance(part, TruncatedConcentrated))
        return reduce(
            lambda a, b: a._plus(b), (part.to(TruncatedConcentrated, omega=omega) for part in parts)
        )
    target: type[Guarantee] = Concentrated if Concentrated in kinds else Pure
    return reduce(lambda a, b: a._plus(b), (part.to(target) for part in parts))


def replace_one_from_add_remove(guarantee: Guarantee) -> Guarantee:
    """Turn a promise under add/remove-one into one under replace-one: a replacement is two steps."""
    return guarantee.for_group(2)
