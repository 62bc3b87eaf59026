"""``python -m sordino``: the command line, where the command itself is not on the path."""

from sordino.cli import main

if __name__ == "__main__":
    main()
