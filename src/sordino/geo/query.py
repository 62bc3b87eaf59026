"""What a query is: a curve of a coordinate of the point, with a name that both ends of the wire agree on.

Public only: a query holds parameters, never points. The queries themselves are in `line.py`, `region.py`,
`kernel_density.py` and `forms.py`; how a report is made from one is in `mechanism.py`.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.errors import DataError, ParameterError, spell

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sordino.geo.curve import Curve, Scope

    Floats = NDArray[np.float64]

_CHUNK = 1 << 14
_KINDS: dict[str, type[Query]] = {}


@dataclass(frozen=True, slots=True)
class Query(ABC):
    """A question to a point in R^d whose answer is one number.

    The promise of every subclass: `coordinate` is 1-Lipschitz in the Euclidean metric (in exact arithmetic), so
    smooth bounds of the curve are smooth bounds of the query.
    """

    name: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super(Query, cls).__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
            _KINDS[cls.name] = cls

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of coordinates of a point."""

    @property
    @abstractmethod
    def curve(self) -> Curve:
        """The function of the coordinate."""

    @property
    @abstractmethod
    def anchor(self) -> tuple[float, ...]:
        """A public point near the action; the lattice of reports is centred there."""

    @abstractmethod
    def coordinate(self, points: Floats) -> Floats:
        """The coordinate of points, an array of shape (n, dimension), or (n,) in one dimension."""

    @abstractmethod
    def coordinate_error(self, far: float, limit: float) -> float:
        """Absolute float error of coordinates up to `far`, for points within `limit` of the anchor."""

    @property
    def lipschitz(self) -> float:
        """The global Lipschitz constant, per metre."""
        return self.curve.lipschitz

    @property
    def plateau(self) -> bool:
        """Whether the query moves only where its local bound is constant."""
        return self.curve.plateau

    def value(self, points: ArrayLike) -> Floats:
        """The answers, without noise: private if the points are.

        Example:
            >>> from sordino.geo import Threshold
            >>> Threshold(at=100.0, width=20.0).value([0.0, 95.0, 200.0])
            array([0.  , 0.25, 1.  ])
        """
        return self.curve.value(self.coordinate(self.points(points)))

    def bound(
        self, points: ArrayLike, smoothing: float, *, scope: Scope = "local", growth: str = "exponential"
    ) -> Floats:
        """A smooth upper bound on the pointwise Lipschitz constant: private if the points are."""
        return self.curve.bound(self.coordinate(self.points(points)), smoothing, scope=scope, growth=growth)

    def value_and_bound(
        self, points: ArrayLike, smoothing: float, *, floor: float | None = None, scope: Scope = "local"
    ) -> tuple[Floats, Floats]:
        """Answers and smooth bounds in one pass over chunks that fit the cache."""
        at = self.points(points)
        floor = self.curve.floor if floor is None else floor
        n = at.shape[0]
        value, bound = np.empty(n), np.empty(n)
        for begin in range(0, n, _CHUNK):
            part = slice(begin, begin + _CHUNK)
            value[part], bound[part] = self.curve.both(
                self.coordinate(at[part]), smoothing, floor=floor, scope=scope
            )
        return value, bound

    def points(self, points: ArrayLike) -> Floats:
        """Take points as an array of the right shape, or raise (the shape is public)."""
        at = np.asarray(points, dtype=np.float64)
        if self.dimension == 1 and at.ndim == 2 and at.shape[1] == 1:
            at = at[:, 0]
        if at.ndim == 0 or (at.ndim == 1) != (self.dimension == 1):
            if at.ndim == 1 and at.size == self.dimension:
                return at[None, :]
            if at.ndim == 0 and self.dimension == 1:
                return at[None]
            raise _wrong_shape(self, at)
        if at.ndim > 2 or (at.ndim == 2 and at.shape[1] != self.dimension):
            raise _wrong_shape(self, at)
        return at

    def to_dict(self) -> dict[str, Any]:
        """Give a record with a `kind` key, from which `from_dict` makes the query again."""
        record: dict[str, Any] = {"kind": self.name}
        for field in fields(self):
            if field.init:
                record[field.name] = _plain(getattr(self, field.name))
        return record

    @staticmethod
    def from_dict(record: dict[str, Any]) -> Query:
        """Read what `to_dict` wrote.

        Example:
            >>> from sordino.geo import Threshold
            >>> Query.from_dict(Threshold(at=3.0, width=1.0).to_dict())
            Threshold(at=3, width=1)
        """
        import sordino.geo  # noqa: F401

        kinds = kinds_by_name()
        if not isinstance(record, dict) or record.get("kind") not in kinds:
            raise ParameterError(
                "query",
                f"kind must be one of {', '.join(sorted(kinds))}",
                got={"kind": record.get("kind") if isinstance(record, dict) else type(record).__name__},
            )
        kind = kinds[record["kind"]]
        known = {field.name for field in fields(kind) if field.init}
        arguments = {name: value for name, value in record.items() if name != "kind"}
        if set(arguments) != known:
            raise ParameterError(
                record["kind"],
                f"a record must have exactly the fields {', '.join(sorted(known))}",
                got={"fields": tuple(sorted(arguments))},
            )
        return kind(**arguments)

    @property
    def id(self) -> str:
        """Sixteen hexadecimal digits that name the query on the wire."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        inside = ", ".join(
            f"{field.name}={_short(getattr(self, field.name))}" for field in fields(self) if field.init
        )
        return f"{type(self).__name__}({inside})"


def kinds_by_name() -> dict[str, type[Query]]:
    """Import the folder's queries and list them by name."""
    from sordino.geo import forms, kernel_density, line, region  # noqa: F401

    return dict(_KINDS)


def _wrong_shape(query: Query, at: Floats) -> DataError:
    return DataError(
        query.name,
        f"points must have {query.dimension} coordinate{'s' * (query.dimension > 1)} each",
        got={"shape": at.shape},
        hint="an array of shape (n,) on a line, (n, 2) on a map",
    )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, tuple) and len(value) > 4:
        return f"<{len(value)} entries>"
    if isinstance(value, tuple):
        return "(" + ", ".join(_short(item) for item in value) + ("," if len(value) == 1 else "") + ")"
    return spell(value)
