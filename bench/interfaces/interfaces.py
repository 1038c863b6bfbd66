"""The module beside SciPy: in one process, in turn, medians; every result is checked.

    PYTHONPATH=build/python .deps/python/bin/python bench/interfaces/interfaces.py [--quick] [--repeat R] [--csv FILE]
"""

import argparse
import csv
import statistics
import sys
import time

import numpy as np
import scipy.linalg

import tesela


def fortran(*shape):
    return np.asfortranarray(np.random.default_rng(sum(shape)).standard_normal(shape))


def close(x, y):
    return float(np.linalg.norm(x - y) / np.linalg.norm(y))


def cases(quick):
    """Name, how many times faster it should be, ours, the peers, and the distance of their results."""
    k = 4 if quick else 1
    n = 4096 // k
    a = fortran(n, n)
    yield f"qr R n={n}", 1.2, lambda: tesela.qr(a, mode="r").r, {
        "scipy.linalg.qr": lambda: scipy.linalg.qr(a, mode="r")[0]
    }, lambda x, y: close(np.abs(x), np.abs(y))
    m, n = 16384 // k, 512 // k
    b, c = fortran(m, n), fortran(m)
    yield f"lstsq {m}x{n}", 1.2, lambda: tesela.lstsq(b, c).x, {
        driver: lambda driver=driver: scipy.linalg.lstsq(b, c, lapack_driver=driver)[0] for driver in ("gelsy", "gelsd")
    }, close
    n = 2**24 // k**2
    bands = np.array([np.ones(n), np.full(n, 4.0), np.ones(n)])
    d = fortran(n)
    yield f"solve_tridiagonal n={n}", 2, lambda: tesela.solve_tridiagonal(bands[2], bands[1], bands[0], d), {
        "scipy.linalg.solve_banded": lambda: scipy.linalg.solve_banded((1, 1), bands, d)
    }, close
    n = 16384 // k
    t = 1 / (1 + np.arange(n)) ** 2
    f = fortran(n)
    yield f"solve_toeplitz n={n}", 5, lambda: tesela.solve_toeplitz(t, f).x, {
        "scipy.linalg.solve_toeplitz": lambda: scipy.linalg.solve_toeplitz(t, f)
    }, close
    n = 4096 // k
    u = 1 / (1 + np.arange(n)) ** 0.5
    yield f"eigh_toeplitz values n={n}", 3, lambda: tesela.eigh_toeplitz(u, eigvals_only=True), {
        "scipy.linalg.eigh": lambda: scipy.linalg.eigh(scipy.linalg.toeplitz(u), eigvals_only=True)
    }, close
    n = 2048 // k
    s = fortran(n, n)
    s += s.T.copy()
    yield f"eigh n={n}", 1, lambda: tesela.eigh(s)[0], {"scipy.linalg.eigh": lambda: scipy.linalg.eigh(s)[0]}, close


def seconds(f):
    begun = time.perf_counter()
    result = f()
    return time.perf_counter() - begun, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of the sizes")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--csv", help="write the table there")
    options = parser.parse_args()
    print(f"# tesela {tesela.__version__} on {len(tesela.workers())} workers, SciPy {scipy.__version__}, NumPy {np.__version__}")
    rows = [("what", "peer", "ours_s", "peer_s", "ratio", "target", "difference")]
    print("{:28} {:28} {:>9} {:>9} {:>7} {:>7} {:>11}".format(*rows[0]))
    for name, target, ours, peers, distance in cases(options.quick):
        seconds(ours)
        times = {which: [] for which in ("ours", *peers)}
        for _ in range(options.repeat):
            elapsed, x = seconds(ours)
            times["ours"].append(elapsed)
            for peer, f in peers.items():
                elapsed, y = seconds(f)
                times[peer].append(elapsed)
                difference = distance(x, y)
                if not difference < 1e-6:
                    sys.exit(f"{name}: {peer} differs by {difference}")
        medians = {which: statistics.median(t) for which, t in times.items()}
        for peer in peers:
            ratio = medians[peer] / medians["ours"]
            rows.append((name, peer, f"{medians['ours']:.4f}", f"{medians[peer]:.4f}", f"{ratio:.2f}", target, f"{difference:.1e}"))
            print("{:28} {:28} {:>9} {:>9} {:>7} {:>7} {:>11}".format(*rows[-1]), flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            csv.writer(file).writerows(rows)


main()
