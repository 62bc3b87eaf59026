"""A ledger of 100,000 releases, and eight writers on one file: what `benchmarks.ledger.bench_long` measures."""

from benchmarks.ledger import bench_long


def lines():
    """Name, seconds, megabytes or a ratio, bar."""
    reading, writing = bench_long.tables()
    for what, seconds, bar, megabytes, most, _ in reading[2]:
        yield f"ledger of 100,000 releases: {what}, s", seconds, bar
        yield f"ledger of 100,000 releases: {what}, MB", megabytes, most
    for storage, least, most, ratio, bar, _ in writing[2]:
        yield f"eight writers, {storage}: most / least answers ({most} / {least})", ratio, bar
