"""What a path of outcomes has cost, in the terms of a price."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sordino.privacy import (
    Approx,
    ApproxConcentrated,
    BoundedRange,
    Concentrated,
    Pure,
    TruncatedConcentrated,
)
from sordino.testing.loss import conditioned, orders, ratio, renyi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.privacy import Guarantee
    from sordino.testing.steps import Parts

SLACK = 1 + 1e-7  # floats: losses are differences of logarithms of size up to a few hundred


class Account:
    """Losses along one path."""

    def __init__(self, price: Guarantee) -> None:
        self.price, self.orders = price, orders(price)
        self.loss = 0.0
        self.count = 0
        self.divergences = np.zeros((2, len(self.orders)))
        self.failing = np.zeros(2)

    def add(self, parts: Parts, place: int) -> None:
        """One more outcome."""
        loss = float(parts.loss[place])
        self.loss = loss if math.isinf(loss) else self.loss + loss  # two that are infinite must not cancel
        self.count += 1
        self.parts = parts
        self._diverge(parts)

    def gather(self, parts: Parts, later: Sequence[Account]) -> None:
        """A choice before what was added up beyond each of its outcomes: of every sum the largest."""
        self.divergences = np.max([one.divergences for one in later], axis=0)
        self.failing = np.max([one.failing for one in later], axis=0)
        self._diverge(parts)

    def _diverge(self, parts: Parts) -> None:
        if isinstance(self.price, ApproxConcentrated):
            certain, failing = conditioned(parts)
            self.failing += failing
            self.divergences[0] += renyi(certain, self.orders)
            self.divergences[1] += renyi(certain.flipped(), self.orders)
        if isinstance(self.price, Concentrated | TruncatedConcentrated):
            self.divergences[0] += renyi(parts, self.orders)
            self.divergences[1] += renyi(parts.flipped(), self.orders)

    def used_between(self, least: float, most: float) -> float:
        """The part of the price that the worst of all paths uses, whose losses lie between these."""
        if isinstance(self.price, BoundedRange):
            return (most - least) / float(self.price.epsilon)
        self.loss = max(most, -least)
        return self.used()

    def used(self) -> float:
        """The part of the price that the path uses."""
        price = self.price
        if isinstance(price, Pure | Approx):
            return abs(self.loss) / float(price.epsilon)
        if isinstance(price, BoundedRange):  # of single draws; of several, from the losses of all paths
            return ratio(self.parts, price) if self.count == 1 else 0.0
        assert isinstance(price, Concentrated | TruncatedConcentrated | ApproxConcentrated)
        if isinstance(price, ApproxConcentrated) and self.failing.max() > float(price.delta) * SLACK:
            return float(self.failing.max() / float(price.delta))
        return float(np.max(self.divergences / (float(price.rho) * np.array(self.orders))))
