"""What a calibration is: a noise, a smoothing, a scale, the promise kept and the theorem that says so.

Made only by ``Noise.calibrate``; it never sees data. Also the parameter errors that all families share.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.errors import ParameterError, SordinoError, Unsupported, spell
from sordino.privacy import Approx, Guarantee
from sordino.privacy.conversion import round_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.noise import Noise
    from sordino.privacy import Pure


@dataclass(frozen=True, slots=True)
class Calibration:
    """Noise fitted to a promise.

    Attributes:
        noise: The law at unit scale, with its shape.
        smoothing: S(x) <= e^smoothing S(x') is required of the bound that scales the noise.
        scale: Noise per unit of the smooth bound, an exact number rounded up.
        guarantee: The promise kept.
        method: Which theorem.
        proof: The page in ``docs/proofs/`` that states it.
        certificate: For certified concentrated prices, the proved bracket of rho and the Renyi curve.
    """

    noise: Noise
    smoothing: Fraction
    scale: Fraction
    guarantee: Guarantee
    method: str
    proof: str
    certificate: Any = None

    @property
    def kept(self) -> bool:
        """Whether the theorem gives this promise for this noise, smoothing and scale."""
        return _kept(self.noise, self.smoothing, self.scale, self.guarantee, self.method)

    @property
    def std(self) -> float:
        """Standard deviation of the noise per unit of the smooth bound."""
        return float(self.scale) * self.noise.std

    @property
    def mean_absolute(self) -> float:
        """Mean absolute noise per unit of the smooth bound."""
        return float(self.scale) * self.noise.moment(1)

    @checks.explained("noise.release")
    def release(
        self,
        value: Any,
        bound: Any,
        *,
        grid: Any,
        session: Any,
        label: str = "own",
        low: float | None = None,
        high: float | None = None,
        token: str | None = None,
        purpose: str | None = None,
    ) -> Any:
        """Release your own value with this noise, scaled to your own bound; the price is debited first.

        Args:
            value: The statistic on the private data; a float means its exact value.
            bound: With a smoothing of 0 the global sensitivity, which is public. Else a smooth upper bound of the local
                sensitivity, or a `Profile` of local sensitivities, whose smooth bound is then taken exactly.
            grid: The public lattice of the answer, or its step; never taken from the value or the bound.
            session: Whose ledger pays, for whose people: what `sordino.open` gave.
            label: What was asked, in a word that stays in the ledger.
            low: Public lower bound to which the answer is cut.
            high: Public upper bound to which the answer is cut.
            token: Asked again with it, the stored answer comes back and costs nothing.
            purpose: What it is for, in a few words that stay in the ledger.

        Example:
            >>> import sordino as sd
            >>> people = sd.open({"x": [1.0, 4.0, 2.0]}, budget=sd.Pure(2))
            >>> noise = sd.Laplace.calibrate(sd.Pure(1), smoothing=0)
            >>> answer = noise.release(2.0, 0.5, grid=2**-20, session=people)
            >>> people.remaining
            Pure(epsilon=1)
        """
        # The one door is in the session, which knows noise; noise knows nobody. So it is found when it is used.
        return import_module("sordino.session.own").add_noise(
            value,
            bound,
            self,
            grid=grid,
            session=session,
            label=label,
            low=low,
            high=high,
            token=token,
            purpose=purpose,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give a record of everything but the certificate's curve."""
        record = {
            "noise": self.noise.to_dict(),
            "smoothing": str(self.smoothing),
            "scale": str(self.scale),
            "guarantee": self.guarantee.to_dict(),
            "method": self.method,
            "proof": self.proof,
            "std": self.std,
            "mean_absolute": self.mean_absolute,
        }
        if self.certificate is not None:
            record["certified"] = {"rho_lo": self.certificate.rho_lo, "rho_hi": self.certificate.rho_hi}
        return record

    def __repr__(self) -> str:
        return (
            f"Calibration({self.noise!r}, scale={spell(self.scale)}, smoothing={spell(self.smoothing)}, "
            f"{self.guarantee!r}, method={self.method!r})"
        )


@lru_cache(maxsize=256)
def _kept(noise: Noise, smoothing: Fraction, scale: Fraction, guarantee: Guarantee, method: str) -> bool:
    """Price the noise; where rounding leaves a hair above the promise, calibrate again and compare the scales."""
    extra = {name: getattr(guarantee, name) for name in ("delta", "omega") if hasattr(guarantee, name)}
    try:
        priced = noise.price(scale=scale, smoothing=smoothing, as_=type(guarantee), method=method, **extra)
        if priced.within(guarantee):
            return True
        shape: dict[str, Any] = {name: value for name, value in noise.shape.items() if name != "smoothing"}
        fresh = type(noise).calibrate(guarantee, smoothing=smoothing, method=method, **shape)
    except SordinoError:
        return False
    return fresh.noise == noise and fresh.scale <= scale


def check_price(subject: str, price: Any) -> None:
    """Refuse anything but a guarantee with something to spend."""
    if not isinstance(price, Guarantee):
        raise ParameterError(
            subject,
            "price must be a guarantee",
            got={"price": price},
            why="A bare number does not say which promise is meant.",
            hint="sd.Pure(1)",
        )
    amount = getattr(price, "epsilon", None)
    if amount is None:
        amount = getattr(price, "rho", None)
    if amount == 0:
        raise ParameterError(
            subject,
            "price must allow a positive amount",
            got={"price": price},
            why="With nothing to spend only infinite noise is private.",
            hint=repr(price).replace("=0", "=1", 1),
        )


#: Below these the arithmetic of theorems with many digits would not end in a second, and nobody asks for them.
LEAST_DELTA, LEAST_SMOOTHING = Fraction(1, 10**100), Fraction(1, 10**12)


def check_range(subject: str, price: Guarantee, smoothing: Fraction | None) -> None:
    """Refuse amounts that are positive and so small that only a slip can be meant."""
    delta = getattr(price, "delta", Fraction(0))
    if 0 < delta < LEAST_DELTA:
        raise ParameterError(
            subject,
            "delta must be 0 or at least 1e-100",
            got={"price": price},
            why="So small a delta gains nothing over none.",
            hint=f"sd.Pure({spell(price.epsilon)})",  # type: ignore[attr-defined]
        )
    amount = getattr(price, "rate", None) or getattr(price, "epsilon", None) or price.nats
    if smoothing and smoothing < LEAST_SMOOTHING * Fraction(amount):
        raise ParameterError(
            subject,
            "smoothing must be 0 or at least 1e-12 of the price",
            got={"smoothing": smoothing, "price": price},
            why="A bound that changes so little is a global bound.",
            hint="smoothing=0 with the global sensitivity",
        )


def too_smooth(subject: str, smoothing: Fraction, limit: str, price: Guarantee, hint: str) -> Unsupported:
    """Build the error of a smoothing that leaves nothing of the price for the shift."""
    return Unsupported(
        subject,
        f"smoothing must be less than {limit}",
        got={"smoothing": smoothing, "price": price},
        why="Changing the scale of the noise alone would cost the whole price.",
        hint=hint,
    )


def global_only(subject: str, smoothing: Fraction | None, price: Guarantee, hint: str) -> None:
    """Refuse a smooth bound: at this kind of price the noise is for a global one."""
    if smoothing:
        raise too_smooth(subject, smoothing, "or equal to 0", price, hint)


def smoothing_below(subject: str, price: Pure, smoothing: Fraction | None) -> Fraction:
    """The smoothing asked for, or a tenth of epsilon; a change of scale alone may not cost the whole epsilon."""
    epsilon = price.epsilon
    if smoothing is None:
        return epsilon / 10
    if smoothing >= epsilon:
        shown = f"epsilon = {float(epsilon):g}"
        raise too_smooth(subject, smoothing, shown, price, f"smoothing={float(epsilon) / 10:g}")
    return smoothing


def epsilon_at_delta(subject: str, price: Callable[[Fraction], Approx], *, delta: Any) -> Approx:
    """Find the smallest epsilon, to a part in a million, at which a price has at most this delta."""
    wanted = checks.between(subject, 0, 1, delta=delta)
    low, high = Fraction(0), Fraction(1)

    def enough(epsilon: Fraction) -> bool:
        try:
            return price(epsilon).delta <= wanted
        except Unsupported:  # too small an epsilon for the theorem
            return False

    while not enough(high):
        low, high = high, 2 * high
        if high > 2**20:
            raise Unsupported(
                subject,
                "no epsilon pays for this smoothing at this delta",
                got={"delta": delta},
                hint="a larger scale, a smaller smoothing or a larger delta",
            )
    while high - low > high / 10**6:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Approx(round_up(high, 9), wanted) if enough(round_up(high, 9)) else Approx(high, wanted)


def choose_method(subject: str, method: str | None, *options: str) -> str:
    """Take the first option by default, or the one that was named."""
    if method is None:
        return options[0]
    if method not in options:
        raise ParameterError(subject, f"method must be one of {', '.join(options)}", got={"method": method})
    return method


def short(value: float, digits: int = 6) -> Fraction:
    """Round a shape that was found by a search to a few digits: the number used is the number printed."""
    return Fraction(f"{value:.{digits}g}")


GOLDEN = (5**0.5 - 1) / 2


def lowest(function: Callable[[float], float], low: float, high: float, *, precision: float = 1e-7) -> float:
    """Where a function with one valley is lowest, by the golden section; scipy's search takes longer to import.

    Example:
        >>> round(lowest(lambda x: (x - 2) ** 2, 0, 10), 6)
        2.0
    """
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > precision:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = function(right)
    return (low + high) / 2
