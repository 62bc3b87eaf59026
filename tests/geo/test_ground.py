"""The map over the whole globe: true near its centre, safe everywhere, part of every name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import DataError, ParameterError
from sordino.geo import Disc, KernelDensity, Points, QueryMechanism, Reference, Sphere, report, survey
from sordino.geo.blocks import BlockMechanism
from sordino.geo.reference import decimal, radii_of_curvature, reference_from, snap
from sordino.privacy import Geo
from tests.support.geo_vectors import vectors


@pytest.mark.parametrize("vector", vectors("project"))
def test_places_are_those_of_the_vectors(vector):
    given_, out = vector["in"], vector["out"]
    numbers = [float(given_[name]) for name in ("centre_lon", "centre_lat", "radius", "reach")]
    found = Sphere(*numbers).to_metres([[float(given_["lon"]), float(given_["lat"])]])[0]
    np.testing.assert_allclose(found, [float(out["east"]), float(out["north"])], atol=1e-6)


@pytest.mark.parametrize("vector", vectors("snap"))
def test_lattice_points_are_those_of_the_vectors(vector):
    given_ = vector["in"]
    metres = np.array([[float(v) for v in given_["metres"]]])
    found = snap(metres, step=float(given_["step"]), low=given_["low"], high=given_["high"])
    assert found[0].tolist() == vector["out"]["at"]


def ground(a, b):
    """Length of short segments on the ellipsoid, and of long ones as the sum of short ones, is at least this."""
    geod = pytest.importorskip("pyproj").Geod(ellps="WGS84")
    return np.asarray(geod.inv(a[:, 0], a[:, 1], b[:, 0], b[:, 1])[2])


def random_places(rng, count):
    return np.stack([rng.uniform(-180, 180, count), np.degrees(np.arcsin(rng.uniform(-1, 1, count)))], axis=1)


def pairs(rng, sphere, count):
    """Pairs at every distance: near the centre, at the reach, at the antipode, at the poles, over the date line."""
    around = np.concatenate(
        [
            random_places(rng, count),
            sphere.to_degrees(rng.normal(0, sphere.reach / 2, (count, 2))),
            np.array([[sphere.longitude + 180, -sphere.latitude]]) + rng.normal(0, 1e-3, (count, 2)),
            np.stack([rng.uniform(-180, 180, count), np.full(count, 89.9999)], axis=1),
            np.stack([np.full(count, 179.99999), rng.uniform(-89, 89, count)], axis=1),
            sphere.to_degrees(sphere.reach * _circle(rng, count) * rng.uniform(0.999, 1.001, (count, 1))),
        ]
    )
    step = 10.0 ** rng.uniform(-6, 0.5, (len(around), 1)) * rng.standard_normal(around.shape)
    other = around + step
    around, other = (np.stack([at[:, 0], np.clip(at[:, 1], -90, 90)], axis=1) for at in (around, other))
    return around, other


def _circle(rng, count):
    angle = rng.uniform(0, 2 * np.pi, count)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def excess(sphere, to_metres, rng, count=4000):
    """The largest map/ground ratio over random pairs of the globe, relative to the stretch."""
    a, b = pairs(rng, sphere, count)
    true, flat = ground(a, b), np.linalg.norm(to_metres(a) - to_metres(b), axis=1)
    good = true > 0.01  # below that the geodesic itself is rounded
    return float(((flat[good] - 1e-6) / true[good]).max() / float(sphere.stretch))


@given(st.floats(-180, 180), st.floats(-90, 90), st.sampled_from([2000.0, 50_000.0, 200_000.0]))
def test_no_two_points_of_the_globe_are_torn_apart(longitude, latitude, radius):
    sphere = Reference.around(longitude=longitude, latitude=latitude, radius=radius)
    assert excess(sphere, sphere.to_metres, np.random.default_rng(1), 300) <= 1.0


def test_the_bound_is_tight_and_mutants_break_it():
    """Without the far rule the antipode tears points apart; without the stretch the equator breaks the promise."""
    rng = np.random.default_rng(2)
    equator = Reference.around(longitude=20, latitude=0, radius=50_000)
    assert 0.9999 < excess(equator, equator.to_metres, rng) <= 1.0
    assert (
        excess(equator, equator.to_metres, rng) * float(equator.stretch) > 1.003
    )  # no stretch: 0.3 % too much

    def plain(degrees):
        across, up = np.radians(degrees[:, 0] - equator.longitude), np.radians(degrees[:, 1])
        e, n = np.cos(up) * np.sin(across), np.sin(up)
        angle = np.arccos(np.clip(np.cos(up) * np.cos(across), -1, 1))
        return (
            equator.radius * (angle / np.maximum(np.sin(angle), 1e-300))[:, None] * np.stack([e, n], axis=1)
        )

    assert excess(equator, plain, rng) > 100


@pytest.mark.parametrize("latitude", [0.0, 40.74, -65.0, 89.99])
def test_point_reports_keep_the_promise_on_the_ground(latitude):
    """Losses of random pairs over the globe, at the border and at the resolution of the lattice."""
    rng = np.random.default_rng(3)
    for price in (Geo(1, per=500), Geo(2, per=3), Geo(0.1, per=50)):
        made = Points(Reference.around(longitude=179.9, latitude=latitude, radius=60_000), price)
        a, b = pairs(rng, made.reference, 1500)
        codes = [made.snap(made.reference.to_metres(at)).astype(float) for at in (a, b)]
        loss = np.linalg.norm(codes[0] - codes[1], axis=1) / 65536
        true = ground(a, b)
        promised = float(price.rate) * (true + 1e-7)
        far = true >= float(price.per)
        assert (loss[far] <= promised[far]).all()
        assert (loss[~far] <= promised[~far] + np.sqrt(2) / 65536).all()


def test_places_come_back():
    rng = np.random.default_rng(4)
    for longitude, latitude in ((0, 0), (179.99, -17.5), (-73.97, 40.74), (10, 89.95)):
        sphere = Reference.around(longitude=longitude, latitude=latitude, radius=100_000)
        metres = rng.uniform(-90_000, 90_000, (200, 2))
        np.testing.assert_allclose(sphere.to_metres(sphere.to_degrees(metres)), metres, atol=1e-5)
        true = ground(np.full((200, 2), (longitude, latitude)), sphere.to_degrees(metres))
        np.testing.assert_allclose(np.linalg.norm(metres, axis=1), true, rtol=4e-3)


def test_what_is_no_place_is_nowhere():
    sphere = Reference.around(longitude=0, latitude=0, radius=1000)
    bad = [[np.nan, 0], [0, np.inf], [0, 91], [0, -90.001]]
    assert np.isnan(sphere.to_metres(bad)).all()
    made = Points(sphere, Geo(1, per=10))
    assert made.snap(sphere.to_metres(bad)).tolist() == [list(made.low)] * 4


def test_radii_of_curvature():
    meridian, normal = radii_of_curvature(np.array([0.0, 90.0]))
    np.testing.assert_allclose(meridian, [6_335_439.327, 6_399_593.626], atol=0.01)
    np.testing.assert_allclose(normal, [6_378_137.0, 6_399_593.626], atol=0.01)


def test_the_reference_is_part_of_every_name():
    price, query = Geo(1, per=500), Disc(centre=(0.0, 0.0), radius=1000.0, width=200.0)
    here = Reference.around(longitude=4.9, latitude=52.4, radius=20_000)
    there = Reference.around(longitude=4.91, latitude=52.4, radius=20_000)
    wider = Reference.around(longitude=4.9, latitude=52.4, radius=21_000)
    kinds = [
        lambda reference: Points(reference, price).id,
        lambda reference: QueryMechanism.choose(query, price, reference=reference).id,
        lambda reference: (
            BlockMechanism.choose(
                KernelDensity.grid(low=(0, 0), high=(4000, 4000), shape=(3, 3), bandwidth=1000),
                price,
                reference=reference,
            ).id
        ),
    ]
    for name in kinds:
        assert len({name(here), name(there), name(wider)}) == 3
    assert QueryMechanism.choose(query, price).id != kinds[1](here)


def test_questions_pay_for_the_stretch():
    """The noise of a question on the ground is larger by the stretch than on a plane, at the same price."""
    query, price = Disc(centre=(0.0, 0.0), radius=1000.0, width=200.0), Geo(1, per=500)
    sphere = Reference.around(longitude=20, latitude=0, radius=100_000)
    plane, ground_ = (
        QueryMechanism.choose(query, price),
        QueryMechanism.choose(query, price, reference=sphere),
    )
    assert float(ground_.calibration.scale / plane.calibration.scale) == pytest.approx(
        float(sphere.stretch), rel=1e-6
    )
    assert float(sphere.stretch) > 1.003
    grid = KernelDensity.grid(low=(0, 0), high=(4000, 4000), shape=(3, 3), bandwidth=1000)
    scales = [BlockMechanism.choose(grid, price, reference=r).scale for r in (None, sphere)]
    assert float(scales[1] / scales[0]) == pytest.approx(float(sphere.stretch), rel=1e-9)
    reports = report([[20.001, 0.001]], query, price, reference=sphere)
    assert reports.mechanism.reference == sphere
    people = sphere.to_degrees(np.random.default_rng(0).normal(0, 900, (4000, 2)))
    found = survey(people, query, price, reference=sphere)
    assert abs(found.value - query.value(sphere.to_metres(people)).mean()) < 6 * found.standard_error
    with pytest.raises(ParameterError, match="off the map"):
        QueryMechanism.choose(Disc(centre=(0.0, 2e5), radius=1000.0, width=200.0), price, reference=sphere)


def test_references_are_checked():
    for wrong in (
        {"longitude": 0, "latitude": 91, "radius": 1000},
        {"longitude": 181, "latitude": 0, "radius": 1000},
        {"longitude": 0, "latitude": 0, "radius": 0},
    ):
        with pytest.raises(ParameterError):
            Reference.around(**wrong)
    with pytest.raises(ParameterError, match="200 km"):
        Reference.around(longitude=0, latitude=0, radius=200_001)
    with pytest.raises(ParameterError, match="not distances"):
        Reference.flat(low=(0, 0), high=(1, 1), unit="degrees")
    with pytest.raises(ParameterError, match="greater"):
        Reference.flat(low=1, high=1)
    for record in (
        {},
        None,
        {"kind": "mercator"},
        {"kind": "line", "unit": 3},
        {"kind": "sphere-azimuthal-equidistant"},
    ):
        with pytest.raises(DataError, match="not known"):
            reference_from(record, low=[0], high=[1])
    with pytest.raises(ParameterError, match="centimetre"):
        Points(Reference.around(longitude=0, latitude=0, radius=1000), Geo(1, per=0.001))
    made = Points(Reference.flat(low=(0, 0), high=(10, 10)), Geo(1, per=1))
    with pytest.raises(DataError, match="degrees need"):
        made.report(degrees=[[1.0, 2.0]])
    with pytest.raises(DataError, match="one of them"):
        made.report()


def test_decimals_are_exact():
    from fractions import Fraction

    assert decimal(Fraction(3, 2**24)) == "0.000000178813934326171875"
    assert decimal(1e-7) == "0.0000001"
    with pytest.raises(ParameterError, match="finite decimals"):
        decimal(Fraction(1, 3))
