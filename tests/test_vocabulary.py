"""The public vocabulary: every variant is public by being there, and the stub tells type checkers no lie."""

import ast
import subprocess
import sys
from pathlib import Path

import sordino
from sordino import catalogue


def test_every_variant_of_the_catalogue_is_public():
    for known in (catalogue.statistics(), catalogue.noise_families(), catalogue.mechanisms()):
        for variant in known.values():
            if variant.__module__.startswith("sordino."):
                assert getattr(sordino, variant.__name__) is variant


def test_what_is_found_without_importing_is_what_registers():
    registered = {
        variant.__name__
        for known in (catalogue.statistics(), catalogue.noise_families(), catalogue.mechanisms())
        for variant in known.values()
        if variant.__module__.startswith("sordino.")
    }
    assert set(catalogue.own_names()) == registered


def test_the_stub_names_what_exists():
    stub = ast.parse(Path(sordino.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    listed = next(ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign))
    assert listed == sorted(set(listed))
    for name in listed:
        assert getattr(sordino, name) is not None
    assert set(listed) == set(sordino.__all__) - {"__version__"}


def test_an_unknown_name_is_an_attribute_error():
    done = subprocess.run(
        [sys.executable, "-c", "import sordino; sordino.Nothing"], capture_output=True, text=True, check=False
    )
    assert "has no attribute 'Nothing'" in done.stderr
