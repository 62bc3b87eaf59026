"""Run the benchmarks: `python -m benchmarks [NAME ...]` runs every `bench_*.py` below this folder, or the named ones.

Such a file has a function `tables()` that yields (title, column names, rows); this runner prints them aligned.
"""

import argparse
import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent


def show(title, columns, rows):
    """Print one table, numbers to the right."""
    cells = [[text(v) for v in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(columns), *cells]) for i in range(len(columns))]
    print(f"\n{title}")
    print(
        "  ".join(
            name.ljust(w) if i == 0 else name.rjust(w)
            for i, (name, w) in enumerate(zip(columns, widths, strict=True))
        )
    )
    for line in cells:
        print(
            "  ".join(
                v.ljust(w) if i == 0 else v.rjust(w)
                for i, (v, w) in enumerate(zip(line, widths, strict=True))
            )
        )


def text(value):
    """Three significant digits are what a shared machine can tell."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def load(path):
    """Import a benchmark from its file."""
    spec = importlib.util.spec_from_file_location(
        "_".join(path.relative_to(HERE).with_suffix("").parts), path
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of paths, e.g. exact or exact/bench_speed")
    names = parser.parse_args().names
    paths = sorted(HERE.rglob("bench_*.py"))
    chosen = [p for p in paths if not names or any(n in p.relative_to(HERE).as_posix() for n in names)]
    if not chosen:
        sys.exit(
            f"no benchmark matches; there are: {', '.join(p.relative_to(HERE).as_posix() for p in paths)}"
        )
    for path in chosen:
        for title, columns, rows in load(path).tables():
            show(title, columns, rows)


if __name__ == "__main__":
    main()
