"""Calibrate one noise family to a price: scale, error, proof and picture. No data are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sordino.cli import render
from sordino.cli.options import json_option, plot_option, price_options
from sordino.fields import guarantee, number

if TYPE_CHECKING:
    from sordino.noise.calibration import Calibration


def _shapes() -> list[str]:
    """Collect the shape parameters of all families from their fields."""
    from dataclasses import fields

    from sordino.catalogue import noise_families

    found = {field.name for family in noise_families().values() for field in fields(family)}
    return sorted(
        found - {"epsilon", "smoothing"}
    )  # a staircase has these in its shape; they are the price here


SHAPES = _shapes()


def _meanings(name: str) -> list[str]:
    """What a shape parameter does in each family that has it."""
    from sordino.catalogue import noise_families
    from sordino.docstrings import described

    found: dict[str, list[str]] = {}
    for family in noise_families().values():
        words = described(family).get(name)
        if words is not None:
            found.setdefault(words.rstrip("."), []).append(family.name)
    return [f"{words} ({', '.join(families)})" for words, families in found.items()]


def _shape_options(function: Any) -> Any:
    """Add one option per shape parameter that any family has."""
    for name in reversed(SHAPES):
        said = "; ".join(_meanings(name))
        function = click.option(f"--{name}", type=str, metavar="X", help=said)(function)
    return function


@click.command(
    name="noise", epilog="Example: sordino noise polyplace --epsilon 1 --smoothing 0.2 --plot noise.svg"
)
@click.argument("family", required=False)
@price_options
@click.option("--smoothing", type=str, metavar="G", help="S(x) <= e^G S(x'); 0 for a global bound.")
@_shape_options
@click.option("--method", metavar="NAME", help="Which theorem, where a family has several.")
@click.option(
    "--figure", is_flag=True, help="Compare all noises over the smoothing (Hladík and Tětek 2022, Figure 1)."
)
@plot_option
@json_option
def command(family: str | None, figure: bool, plot: str | None, as_json: bool, **options: Any) -> None:
    """Calibrate FAMILY to a price and say what it costs in accuracy."""
    if figure:
        _figure(plot, as_json, options)
        return
    if family is None:
        raise click.UsageError("name a family (sordino show noise lists them), or --figure")
    from sordino.catalogue import noise_family

    target = guarantee(options)
    shape = {name: number(name, options[name]) for name in SHAPES if options[name] is not None}
    smoothing = number("smoothing", options["smoothing"])
    calibration = noise_family(family).calibrate(
        target, smoothing=smoothing, method=options["method"], **shape
    )
    if as_json:
        from sordino.noise.limit import comparison

        render.as_json({**calibration.to_dict(), "limits": comparison(calibration)})
    else:
        _print(calibration)
    if plot:
        _plot(calibration, plot)


def _print(calibration: Calibration) -> None:
    """Show a calibration as two blocks: what is promised, and what it costs."""
    from sordino.noise.limit import comparison

    law, gamma = calibration.noise, float(calibration.smoothing)
    render.block(
        [
            ("noise", repr(law)),
            ("promises", calibration.guarantee.words),
            ("smoothing", f"{gamma:g}  (the bound may change by e^{gamma:g} per person)"),
            ("method", f"{calibration.method}; proof: docs/proofs/{calibration.proof}.md"),
        ],
        title=f"{law.name}, {calibration.guarantee!r}",
    )
    scale = float(calibration.scale)
    render.block(
        [
            ("scale", scale),
            ("standard deviation", calibration.std),
            ("mean absolute noise", calibration.mean_absolute),
            ("half of all noise is below", scale * float(law.isf(0.25))),
            ("95 in 100 are below", scale * float(law.isf(0.025))),
            *((words, value) for words, value in comparison(calibration).items()),
        ],
        title="per unit of the smooth bound",
    )


def _plot(calibration: Calibration, path: str) -> None:
    """Draw the density beside Laplace noise with a global bound of the same price, where there is one."""
    from sordino import plots
    from sordino.noise.gaussian import Gaussian
    from sordino.noise.laplace import Laplace

    shown = [calibration]
    for rival in (Laplace, Gaussian):
        if type(calibration.guarantee) in rival.promises() and not isinstance(calibration.noise, rival):
            try:
                shown.append(rival.calibrate(calibration.guarantee, smoothing=0))
            except Exception:  # noqa: BLE001, S112
                continue
    render.note(f"wrote {plots.save(plots.densities(shown), path)}")


def _figure(plot: str | None, as_json: bool, options: dict[str, Any]) -> None:
    """Print and draw Figure 1 of Hladík and Tětek 2022 with the papers' constants and ours."""
    from sordino.cli.paper import reproduction

    module = reproduction("polyplace")
    figure_one = module.figure_one
    epsilon = number("epsilon", options["epsilon"]) or 1
    delta = number("delta", options["delta"]) or 1e-5
    result = figure_one(epsilon=float(epsilon), delta=float(delta))
    if as_json:
        render.as_json(
            {
                "epsilon": result.epsilon,
                "delta": result.delta,
                "smoothing": result.smoothings,
                **result.curves,
            }
        )
    else:
        names = list(result.curves)
        render.table(
            ["smoothing", *(name.replace(", ", "\n") for name in names)],
            result.rows(),
            title=f"standard deviation per unit of smooth sensitivity, epsilon = {result.epsilon:g}",
            note=f"Laplace: delta = {result.delta:g}. Laplace with a global bound: {2**0.5 / result.epsilon:.4f}.",
        )
    if plot:
        from sordino import plots

        dense = tuple(x * float(epsilon) for x in module.DENSE)
        with render.progress("drawing", None):
            drawn = figure_one(epsilon=float(epsilon), delta=float(delta), smoothings=dense)
        render.note(f"wrote {plots.save(drawn.plot(), plot)}")
