"""Times certificates and calibrations, and compares the table with a search: run with python -m or as a file."""

import math
import time

from sordino.certification import calibrate, certify
from sordino.certification.calibration import search, settle
from sordino.certification.certificate import _certify, estimate, make_shape
from sordino.certification.shape import certified_families
from sordino.certification.table import lookup


def cpu(action):
    start = time.process_time()
    result = action()
    return result, 1e3 * (time.process_time() - start)


def main():
    print(
        "family  rho  ratio | calibrate ms, std | search ms, std ratio | node std ratio | certify ms, hi/lo"
    )
    for family in certified_families():
        for rho, ratio in ((0.5, 0.2), (0.02, 0.1), (0.3, 0.17), (0.0333, 0.37), (3.0, 0.25)):
            smoothing = float(f"{ratio * math.sqrt(2 * rho):.3g}")
            estimate.cache_clear()
            _certify.cache_clear()
            found, quick = cpu(lambda: calibrate(family, rho, smoothing))
            std = make_shape(family, float(found.shape)).std() / float(found.shift)
            node = lookup(family, rho, smoothing)
            node_std = make_shape(family, node.shape).std() / node.shift
            estimate.cache_clear()
            _certify.cache_clear()
            fresh, slow = cpu(lambda: settle(family, rho, smoothing, *search(family, rho, smoothing)))
            fresh_std = make_shape(family, float(fresh.shape)).std() / float(fresh.shift)
            estimate.cache_clear()
            _certify.cache_clear()
            price, once = cpu(
                lambda: certify(family, float(found.shape), smoothing=smoothing, shift=float(found.shift))
            )
            print(
                f"{family:18s} {rho:6g} {ratio:5g} | {quick:8.0f} {std:9.4f} | {slow:7.0f} {std / fresh_std:8.4f} |"
                f" {node_std / std:8.4f} | {once:6.0f} {price.rho_hi / price.rho_lo:9.5f}"
            )


if __name__ == "__main__":
    main()
