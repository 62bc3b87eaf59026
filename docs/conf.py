"""Sphinx configuration: furo, Markdown by MyST, notebooks as they were run, formulas as MathML. Nothing is fetched."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "Sordino"
author = "The Sordino developers"
copyright = "2026, The Sordino developers"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "mathml",
    "made_pages",
    "search_context",
    "checked_pages",
]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
nb_execution_mode = (
    "off"  # notebooks show what they printed when they were last run; the tests run them again
)
nb_merge_streams = True
html_theme = "furo"
html_title = "Sordino"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_use_index = (
    False  # nothing links to it; the search finds every name, the index of theorems every theorem
)
html_domain_indices = False
html_math_renderer = "mathml"
exclude_patterns = ["_build", "extensions", "**.ipynb_checkpoints"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
suppress_warnings = ["mystnb.unknown_mime_type"]
