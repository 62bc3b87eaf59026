"""Promises of several kinds together: first converted to the loosest that is needed, then added up."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from sordino.errors import ParameterError, Unsupported
from sordino.privacy.approximate_concentrated import ApproxConcentrated, composed
from sordino.privacy.concentrated import Concentrated, TruncatedConcentrated
from sordino.privacy.kinds import Approx, Geo, Pure, compose

if TYPE_CHECKING:
    from sordino.privacy.guarantee import Guarantee


def mixed(parts: list[Guarantee], kinds: set[type[Guarantee]], *, delta: Any = None) -> Guarantee:
    """The total of promises of these kinds, or of bounded ranges; see `compose`."""
    if Geo in kinds:
        raise Unsupported(
            "compose",
            "Geo composes only with Geo",
            why="It promises in proportion to a distance, the others for whole persons.",
            hint="Geo(...).at(distance) gives a Pure promise for points within that distance",
        )
    if Approx in kinds:
        concentrated = [
            part
            for part in parts
            if isinstance(part, Concentrated | TruncatedConcentrated | ApproxConcentrated)
        ]
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
    if ApproxConcentrated in kinds:
        return composed(parts)
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
