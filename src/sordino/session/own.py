"""The researcher's door: your own value and your own smooth bound, one exact release, booked in a ledger.

That the bound dominates the local sensitivity and is smooth is your theorem (`sordino.reading.bound_check` tests it on
tiny worlds); that the noise keeps its promise then, is drawn exactly and is paid for, is ours.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino import __version__, checks
from sordino.errors import ParameterError, SordinoError, Unanswered, Unsupported
from sordino.lattice import Lattice
from sordino.mechanisms.additive.additive import profile_points
from sordino.privacy import Neighbors
from sordino.reading.profile import Profile
from sordino.reading.room import inside
from sordino.session.door import Session
from sordino.session.plain import real
from sordino.session.release import Event, Release

if TYPE_CHECKING:
    from sordino.exact.scale import ExpScale
    from sordino.ledger import Entry
    from sordino.noise.calibration import Calibration

PERSONS = (Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE)


@checks.explained("sd.add_noise")
def add_noise(
    value: Any,
    bound: Any,
    calibration: Calibration,
    *,
    grid: Lattice | float,
    session: Session,
    label: str = "own",
    low: float | None = None,
    high: float | None = None,
    token: str | None = None,
    purpose: str | None = None,
) -> Release:
    """Release your own value with noise scaled to your own bound; the price is debited first.

    Args:
        value: The statistic on the private data; a float means its exact value.
        bound: With a smoothing of 0 the global sensitivity, which is public. Else a smooth upper bound of the local
            sensitivity, or a `Profile` of local sensitivities, whose smooth bound is then taken exactly.
        calibration: What ``Noise.calibrate(price, smoothing=...)`` gave.
        grid: The public lattice of the answer, or its step; never taken from the value or the bound.
        session: Whose ledger pays, for whose people.
        label: What was asked, in a word that stays in the ledger.
        low: Public lower bound to which the answer is cut.
        high: Public upper bound.
        token: As for `Session.release`.
        purpose: As for `Session.release`.

    Example:
        >>> import sordino as sd
        >>> people = sd.open({"x": [1.0, 4.0, 2.0]}, budget=sd.Pure(2))
        >>> noise = sd.PolyPlace.calibrate(sd.Pure(1), smoothing=0.1)
        >>> answer = sd.add_noise(2.0, 0.5, noise, grid=2**-20, session=people, label="my statistic")
        >>> people.remaining
        Pure(epsilon=1)
    """
    lattice = _lattice(grid)
    event = _event(calibration, session, label)
    ends = [None if end is None else checks.exact("add_noise", end=end) for end in (low, high)]
    # A wrong value says so without being shown, and before anything is spent.
    location, scale = inside(
        lambda: (_real(value), _scale(bound, calibration)), otherwise=_no_number, passing=()
    )
    entry = session.ledger.spend(event, token, purpose=purpose)
    if entry.release is not None:
        return Release.from_dict(entry.release)

    def work() -> Fraction:
        from sordino.exact.sampler import draw

        point = draw(calibration.noise.recipe(), location=location, scale=scale, grid=lattice)
        answer = lattice.step * point
        if ends[0] is not None:
            answer = max(answer, ends[0])
        return answer if ends[1] is None else min(answer, ends[1])

    answer = inside(work, otherwise=lambda: _unanswered(entry), passing=())
    release = Release(
        value=real(answer),
        event=event,
        grid=Lattice(Fraction(0), lattice.step),
        assumptions=_assumptions(calibration, session),
        at=entry.at,
        version=__version__,
        ledger_id=entry.number,
        token=entry.token,
    )
    return Release.from_dict(session.ledger.record(entry, release))


def _event(calibration: Calibration, session: Session, label: str) -> Event:
    if not isinstance(session, Session):
        raise ParameterError(
            "add_noise", "session must be given", got={"session": session},
            why="What nobody records, nobody adds up.", hint="session=sd.open(data, budget=sd.Pure(3))",
        )  # fmt: skip
    if not getattr(calibration, "kept", False):
        raise Unsupported(
            "add_noise", "the calibration does not keep the promise that is written beside it",
            got={"calibration": type(calibration).__name__}, hint="sd.PolyPlace.calibrate(sd.Pure(1), smoothing=0.1)",
        )  # fmt: skip
    checks.plain_text("add_noise", hint='label="my statistic"', label=label)
    plain = {"noise": calibration.noise.to_dict(), "scale": str(calibration.scale)}
    return Event(
        statistic={"kind": "value", "label": label},
        mechanism={"kind": "own-noise", **plain, "smoothing": str(calibration.smoothing)},
        neighbors=session.neighbors,
        unit=session.unit,
        guarantee=calibration.guarantee,
        data=session._data,
    )


def _assumptions(calibration: Calibration, session: Session) -> tuple[str, ...]:
    bound = (
        "The bound was public and at least the global sensitivity: the caller vouches for it."
        if calibration.smoothing == 0
        else "The bound was at least the local sensitivity, and changed by a factor of at most "
        f"exp({float(calibration.smoothing):g}) between neighbours: the caller vouches for it."
    )
    people = f"Neighbours are as the ledger says: {session.neighbors.words}."
    return bound, people, f"The proof of the noise is in docs/proofs/{calibration.proof}.md."


def _scale(bound: Any, calibration: Calibration) -> Fraction | ExpScale:
    """The exact scale of the noise; private where the bound is smooth."""
    from sordino.exact.log_grid import LogGrid

    if calibration.smoothing == 0:
        most = bound.ceiling if isinstance(bound, Profile) else bound
        return checks.non_negative("add_noise", bound=most) * calibration.scale
    if isinstance(bound, Profile):
        bounds, distances = profile_points(bound)
    else:
        bounds, distances = [checks.positive("add_noise", bound=bound)], [0]
    exact = [Fraction(one) for one in bounds]
    return LogGrid(calibration.smoothing).bound(exact, distances).times(calibration.scale)


def _real(value: Any) -> Fraction:
    """Floats here are measured numbers, not typed ones: exactly what they are."""
    return Fraction(value.item() if hasattr(value, "item") else value)


def _lattice(grid: Lattice | float) -> Lattice:
    if isinstance(grid, Lattice):
        return grid
    step = checks.positive("add_noise", hint="grid=2**-20", grid=grid)
    power = (step.numerator.bit_length() - 1) - (step.denominator.bit_length() - 1)
    if Fraction(2) ** power != step:
        raise ParameterError(
            "add_noise", "the step of the grid must be a power of two", got={"grid": grid},
            why="The answer is a float, and exactly on the grid.", hint="grid=2**-20",
        )  # fmt: skip
    return Lattice.dyadic(power)


def _no_number() -> ParameterError:
    return ParameterError(
        "add_noise", "value must be a finite number and bound a positive one, or a Profile",
        why="They are private and not shown; nothing was spent.",
    )  # fmt: skip


def _unanswered(entry: Entry) -> SordinoError:
    return Unanswered(
        "add_noise", "the answer could not be drawn", got={"token": entry.token},
        why="It was paid for and nothing was published.", hint="ask again with the same token: it costs nothing",
    )  # fmt: skip
