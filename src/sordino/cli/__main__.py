"""Run the command line with ``python -m sordino.cli``."""

from sordino.cli import main

main()
