"""A map of somebody's own GeoJSON: what is drawn and where, what is refused; names are text, nothing is kept."""

import json
import re
import xml.etree.ElementTree as ET

import pytest

from sordino.errors import SordinoError
from sordino.web import maps, places
from sordino.web.places import Places, decoded
from tests.support.browser import violations
from tests.support.web import ORIGIN, walker

SQUARE = [[8.4, 47.3], [8.6, 47.3], [8.6, 47.4], [8.4, 47.4], [8.4, 47.3]]
HOLE = [[8.48, 47.34], [8.5, 47.34], [8.5, 47.36], [8.48, 47.34]]
HOSTILE = '<script>alert(1)</script> & "Zürich" \ud800\u202e'


def feature(geometry, **properties):
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def point(x, y):
    return {"type": "Point", "coordinates": [x, y]}


TOWN = {
    "type": "FeatureCollection",
    "features": [
        feature({"type": "Polygon", "coordinates": [SQUARE, HOLE]}, name="the lake"),
        feature({"type": "MultiPoint", "coordinates": [[8.45, 47.32], [8.55, 47.38, 408.0]]}, name=HOSTILE),
        feature({"type": "GeometryCollection", "geometries": [
            {"type": "LineString", "coordinates": [[8.4, 47.35], [8.6, 47.35]]}, point(8.5, 47.31)]}, title="tram"),
        feature(None, name="nowhere"),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    made = walker(tmp_path_factory.mktemp("office"))
    yield made
    made.office.close()


def read(document):
    return Places.from_geojson(json.dumps(document))


def drawn(document, radius=1000, width=640):
    return ET.fromstring(str(maps.own(read(document), radius, width=width)))


def test_every_kind_of_place_is_read():
    found = read(TOWN)
    assert [(one.kind, one.positions) for one in found.outlines] == [
        ("area", 9), ("point", 1), ("point", 1), ("line", 2), ("point", 1),
    ]  # fmt: skip
    assert [one.name for one in found.outlines][-2:] == ["tram", "tram"]
    assert (found.west, found.south, found.east, found.north) == (8.4, 47.3, 8.6, 47.4)
    assert read({"type": "MultiPolygon", "coordinates": [[SQUARE], [HOLE]]}).outlines[1].positions == 4


@pytest.mark.few(8)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "paste its text"),
        ("income,age\n1,2", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("9" * 10_000, "not JSON"),
        ('{"type": "Point", "coordinates": [NaN, 1]}', "not JSON"),
        ("[1, 2]", "has a type"),
        ('{"type": 3}', "has a type"),
        ('{"type": "Circle", "coordinates": [1, 2]}', "none of GeoJSON"),
        ('{"type": "FeatureCollection"}', "list is missing"),
        ('{"type": "FeatureCollection", "features": []}', "no place"),
        (json.dumps({"type": "FeatureCollection", "features": [point(1, 2)]}), "features only"),
        (json.dumps(point(600_000.0, 200_000.0)), "in degrees"),
        (json.dumps(point(1, 10**400)), "in degrees"),
        ('{"type": "Point", "coordinates": [1e999, 1]}', "in degrees"),
        (json.dumps(point(8, "47")), "two numbers"),
        (json.dumps(point(8, True)), "two numbers"),
        (json.dumps({"type": "Point", "coordinates": [8]}), "two numbers"),
        (json.dumps({"type": "LineString", "coordinates": [[1, 2]]}), "at least 2"),
        (json.dumps({"type": "Polygon", "coordinates": []}), "one ring"),
        (json.dumps({"type": "Polygon", "coordinates": [SQUARE[:3]]}), "at least 4"),
        (json.dumps({"type": "Polygon", "coordinates": [SQUARE[:4]]}), "end where it begins"),
        ('{"type": "GeometryCollection", "geometries": [' * 20 + "]}" * 20, "too deeply"),
    ],
)
def test_what_is_not_geojson_is_refused_in_three_lines(text, words):
    with pytest.raises(SordinoError) as caught:
        Places.from_geojson(text)
    assert words in caught.value.rule
    assert len(str(caught.value).splitlines()) == 3
    assert "600000" not in str(caught.value)  # where it is wrong, not what stands there


def test_sizes_are_limited(monkeypatch):
    many = {"type": "MultiPoint", "coordinates": [[1, 2]] * 5}
    for name, words in (
        ("MOST_POSITIONS", "4 positions"),
        ("MOST_OUTLINES", "4 places"),
        ("MOST_BYTES", "MB"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(places, name, 4)
            with pytest.raises(SordinoError, match=words):
                read(many)
    assert len(read(many).outlines) == 5
    with pytest.raises(SordinoError, match="UTF-8"):
        decoded("Zürich".encode("latin-1"))
    assert decoded(b"\xef\xbb\xbf{}") == "{}"


def test_lengths_on_the_picture_are_those_on_the_ground():
    """A kilometre is the same along the bar, the radius and both axes; points lie where they belong."""
    degree = 1 / maps.DEGREE
    ends = {"type": "MultiPoint", "coordinates": [[8, 60 - 5 * degree], [8, 60 + 5 * degree]]}
    picture = drawn(ends, radius=2000)
    (circle,) = picture.findall("circle[@class='scale']")
    south, north = (float(one.get("cy")) for one in picture.findall("circle[@class='dot']"))
    kilometre = (south - north) / 10
    assert float(circle.get("r")) == pytest.approx(2 * kilometre, abs=0.1)
    assert float(circle.get("cy")) == pytest.approx((south + north) / 2, abs=0.1)
    bar = picture.find("path[@class='here']").get("d")
    length = float(re.search(r"h([\d.]+)v", bar)[1])
    words = next(one.text for one in picture.iter("text") if one.text.endswith("km"))
    assert length == pytest.approx(float(words.split()[0]) * kilometre, abs=0.1)
    # At 60 degrees north a degree of longitude is half as long.
    wide = drawn({"type": "MultiPoint", "coordinates": [[8 - 10 * degree, 60], [8 + 10 * degree, 60]]}, 2000)
    west, east = (float(one.get("cx")) for one in wide.findall("circle[@class='dot']"))
    assert float(wide.find("circle[@class='scale']").get("r")) == pytest.approx((east - west) / 5, rel=0.01)


@pytest.mark.parametrize(
    "document",
    [
        point(0, 0), point(180, -90), point(-180, 90), TOWN,
        {"type": "MultiPoint", "coordinates": [[-180, -90], [180, 90]]},
        {"type": "LineString", "coordinates": [[8, 47], [8, 47]]},
        {"type": "LineString", "coordinates": [[8.1, -60], [8.1, 60]]},
    ],
)  # fmt: skip
@pytest.mark.parametrize("radius", [1, 300, 1_000_000])
def test_everything_lies_within_the_picture(document, radius):
    for width in (640, 320):
        picture = drawn(document, radius, width)
        height = float(picture.get("height"))
        assert height < 2 * width
        for one in picture.iter("circle"):
            x, y, r = (float(one.get(name)) for name in ("cx", "cy", "r"))
            assert x - r >= 0
            assert x + r <= width
            assert y - r >= 0
            assert y + r <= height
        assert {"longitude (degrees)", "latitude (degrees)"} <= {one.text for one in picture.iter("text")}
        numbers = [one.text for one in picture.findall("text[@class='tick'][@text-anchor='middle']")]
        assert 2 <= len(numbers) == len(set(numbers)) <= 6


def test_islands_on_both_sides_of_the_date_line_lie_beside_each_other():
    found = read({"type": "MultiPoint", "coordinates": [[178.5, -18], [-179, -17]]})
    assert (found.west, found.east) == (178.5, 181)
    text = str(maps.own(found, 1000))
    assert "179.75° E" in text
    assert ">-179.5<" in text or ">-179<" in text
    assert read({"type": "MultiPoint", "coordinates": [[-120, 40], [100, 40], [0, 0]]}).west == -120


def test_a_file_or_a_text_is_drawn_its_names_are_text_and_nothing_is_kept(page):
    before = sorted(path for path in page.office.folder.rglob("*") if path.is_file())
    whole = json.dumps(TOWN)
    sent = page.post(
        "/geo", data={"radius": "500"}, files={"file": ("../../etc/passwd", whole.encode())}, headers=ORIGIN
    )
    pasted = page.submit("/geo", radius="500", text=whole)
    for answer in (sent, pasted):
        assert answer.status_code == 200
        assert answer.text.count("<svg") >= 3
        assert "<script>alert" not in answer.text
        assert "&lt;script&gt;alert" in answer.text
        assert "style=" not in answer.text
        assert "The 5 places" in answer.text
    assert "the lake" not in page.get("/geo").text
    assert sorted(path for path in page.office.folder.rglob("*") if path.is_file()) == before


def test_a_path_is_never_read_and_errors_stand_at_the_form(page):
    file = page.office.folder / "own.geojson"
    file.write_text(json.dumps(TOWN))
    for text in (str(file), f"file://{file}", json.dumps(str(file))):
        answer = page.submit("/geo", radius="500", text=text)
        assert answer.status_code == 422
        assert 'role="alert"' in answer.text
        assert "the lake" not in answer.text
    file.unlink()
    for radius in ("", "x", "0", "nan", "1e9"):
        answer = page.submit("/geo", radius=radius, text=json.dumps(TOWN))
        assert answer.status_code == 422
        assert "adius" in answer.text
        assert "the lake" in answer.text  # what was typed stands there still
    assert page.post("/geo", data={"text": "x" * 5_000_001}, headers=ORIGIN).status_code == 413
    assert page.post("/geo", data={"text": "{}"}).status_code == 403


@pytest.mark.parametrize("script", [False, True])
def test_the_map_fits_a_phone_and_a_reader_with_and_without_javascript(come, script):
    page = come(java_script_enabled=script)
    page.goto(f"{page.address}/geo")
    page.set_input_files(
        "#file",
        {"name": "town.geojson", "mimeType": "application/geo+json", "buffer": json.dumps(TOWN).encode()},
    )
    page.fill("#radius", "1500")
    page.click("text=Draw the map")
    page.wait_for_selector("#own .note")
    page.wait_for_load_state("load")
    assert page.locator("#own .chart:visible").count() == 1
    assert page.input_value("#radius") == "1500"
    found = []
    for width, scheme in ((360, "dark"), (1280, "light")) if script else ():
        page.set_viewport_size({"width": width, "height": 740})
        page.emulate_media(color_scheme=scheme)
        found += violations(page)
    assert found == []
    assert page.problems == []
    page.context.close()
