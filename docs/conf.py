"""Sphinx configuration: furo, Markdown by MyST, mathematics in dollar signs."""

project = "Sordino"
author = "The Sordino developers"
copyright = "2026, The Sordino developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Sordino"
html_static_path = ["_static"]
exclude_patterns = ["_build"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
