"""The module beside SciPy, or on a GPU beside CuPy and PyTorch: in one process, in turn, medians; every result is checked.

    build/bin/tesela bench interfaces [--quick] [--small] [--repeat R] [--device cupy|torch] [--csv FILE]
"""

import argparse
import csv
import re
import statistics
import sys
import time

import numpy as np

import tesela


def fortran(*shape):
    return np.asfortranarray(np.random.default_rng(sum(shape)).standard_normal(shape))


def on_host(x):
    if isinstance(x, np.ndarray):
        return x
    return x.get() if hasattr(x, "get") else x.cpu().numpy()


def close(x, y):
    x, y = on_host(x), on_host(y)
    return float(np.linalg.norm(x - y) / np.linalg.norm(y))


def diagonals(x, y):
    """Compares triangles; each row may have either sign."""
    return close(abs(x.diagonal()), abs(y.diagonal()))


def cases(quick):
    """Name, how many times faster it should be, ours, the peers, and the distance of their results."""
    import scipy.linalg

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
    n = 20000 // k
    few = {"select": "i", "select_range": (n - 7, n - 1)}
    diagonal, beside = fortran(n), fortran(n - 1)
    for only in (True, False):
        yield f"eigh_tridiagonal {'values' if only else 'pairs'} n={n}, largest 7", 1, lambda only=only: np.abs(
            tesela.eigh_tridiagonal(diagonal, beside, only, **few)[-1]
        ), {
            "scipy.linalg.eigh_tridiagonal": lambda only=only: np.abs(
                scipy.linalg.eigh_tridiagonal(diagonal, beside, only, **few)[-1]
            )
        }, close
    yield f"eigh_tridiagonal all values n={n}", 1, lambda: tesela.eigh_tridiagonal(diagonal, beside, True), {
        "scipy.linalg.eigh_tridiagonal": lambda: scipy.linalg.eigh_tridiagonal(diagonal, beside, True)
    }, close
    n = 2048 // k
    s = fortran(n, n)
    s += s.T.copy()
    yield f"eigh n={n}", 1, lambda: tesela.eigh(s)[0], {"scipy.linalg.eigh": lambda: scipy.linalg.eigh(s)[0]}, close


def small_cases():
    """Yields calls so short that starting tasks would take longer."""
    import scipy.linalg

    for n in (5, 50):
        a, b = fortran(n, n) + 3 * n**0.5 * np.eye(n), fortran(n)
        s, t, r = a @ a.T, 0.5 ** np.arange(n), np.append(1, fortran(n)[1:] / n)
        yield f"solve n={n}", 0.67, lambda: tesela.solve(a, b), {"scipy.linalg.solve": lambda: scipy.linalg.solve(a, b)}, close
        yield f"solve pos n={n}", 0.67, lambda: tesela.solve(s, b, assume_a="pos"), {
            "scipy.linalg.solve": lambda: scipy.linalg.solve(s, b, assume_a="pos")
        }, close
        yield f"cholesky n={n}", 0.67, lambda: tesela.cholesky(s), {
            "scipy.linalg.cholesky": lambda: scipy.linalg.cholesky(s)
        }, close
        yield f"solve_toeplitz n={n}", 0.67, lambda: tesela.solve_toeplitz(t, b).x, {
            "scipy.linalg.solve_toeplitz": lambda: scipy.linalg.solve_toeplitz(t, b)
        }, close
        yield f"solve_toeplitz (c, r) n={n}", 0.67, lambda: tesela.solve_toeplitz((t, r), b).x, {
            "scipy.linalg.solve_toeplitz": lambda: scipy.linalg.solve_toeplitz((t, r), b)
        }, close
        tall, right, bands = fortran(2 * n, n), fortran(2 * n), np.array([np.ones(n), np.full(n, 4.0), np.ones(n)])
        yield f"qr n={n}", 0.67, lambda: tesela.qr(a).r, {
            "scipy.linalg.qr": lambda: scipy.linalg.qr(a)[1]
        }, lambda x, y: close(np.abs(x), np.abs(y))
        yield f"lstsq {2 * n}x{n}", 0.67, lambda: tesela.lstsq(tall, right).x, {
            "scipy.linalg.lstsq": lambda: scipy.linalg.lstsq(tall, right)[0]
        }, close
        wide = fortran(n, 2 * n)
        yield f"lstsq {n}x{2 * n}", 0.67, lambda: tesela.lstsq(wide, b).x, {
            "scipy.linalg.lstsq": lambda: scipy.linalg.lstsq(wide, b)[0]
        }, close
        yield f"eigh n={n}", 0.67, lambda: tesela.eigh(s)[0], {"scipy.linalg.eigh": lambda: scipy.linalg.eigh(s)[0]}, close
        yield f"solve_tridiagonal n={n}", 0.67, lambda: tesela.solve_tridiagonal(bands[2], bands[1], bands[0], b), {
            "scipy.linalg.solve_banded": lambda: scipy.linalg.solve_banded((1, 1), bands, b)
        }, close
        yield f"matmul n={n}", 0, lambda: tesela.matmul(a, a), {"numpy.matmul": lambda: a @ a}, close


def device_cases(quick, library):
    """Measures the same on a GPU with arrays of CuPy or PyTorch on it."""
    import cupy
    import torch

    k = 4 if quick else 1

    def random(*shape):  # by columns
        return cupy.random.default_rng(sum(shape)).standard_normal(shape[::-1]).T

    def ours(x):
        return torch.from_dlpack(x) if library == "torch" else x

    n = 16384 // k
    a = random(n, n)
    x, t, rows = ours(a), torch.from_dlpack(a), ours(cupy.ascontiguousarray(a))
    peers = {
        "cupy.linalg.qr": lambda: cupy.linalg.qr(a, mode="r"),
        "torch.linalg.qr": lambda: torch.linalg.qr(t, mode="r")[1],
    }
    yield f"qr R n={n}", 1.8, lambda: tesela.qr(x, mode="r").r, peers, diagonals
    yield f"qr R n={n}, C order", 0.97, lambda: tesela.qr(rows, mode="r").r, {
        "Fortran order": lambda: tesela.qr(x, mode="r").r
    }, diagonals
    b = random(n, 16)
    y, u = ours(b), torch.from_dlpack(b)
    yield f"solve n={n}", 1, lambda: tesela.solve(x, y), {
        "cupy.linalg.solve": lambda: cupy.linalg.solve(a, b),
        "torch.linalg.solve": lambda: torch.linalg.solve(t, u),
    }, close
    s = a @ a.T
    s += n * cupy.eye(n)
    del rows
    v, w = ours(s), torch.from_dlpack(s)
    yield f"cholesky n={n}", 1, lambda: tesela.cholesky(v), {
        "cupy.linalg.cholesky": lambda: cupy.linalg.cholesky(s).T,
        "torch.linalg.cholesky": lambda: torch.linalg.cholesky(w).T,
    }, close
    yield f"matmul n={n}", 1, lambda: tesela.matmul(x, x), {"cupy.matmul": lambda: a @ a}, close
    del s, v, w
    m, n = 131072 // k, 2048 // k
    p, q = random(m, n), random(m, 1)
    pp, qq = ours(p), ours(q[:, 0])
    tp, tq = torch.from_dlpack(p), torch.from_dlpack(q)
    yield f"lstsq {m}x{n}", 1.8, lambda: tesela.lstsq(pp, qq).x, {
        "torch.linalg.lstsq": lambda: torch.linalg.lstsq(tp, tq)[0][:, 0]
    }, close
    del p, q, pp, qq, tp, tq
    n = 16384 // k
    s = a + a.T
    v, w = ours(s), torch.from_dlpack(s)
    yield f"eigh n={n}", 2, lambda: tesela.eigh(v)[0], {
        "cupy.linalg.eigh": lambda: cupy.linalg.eigh(s)[0],
    }, close


def least_seconds(f):
    """Returns the least time of 300 calls, which other programs on the machine disturb least, and the result."""
    runs = [seconds(f) for _ in range(300)]
    return min(elapsed for elapsed, _ in runs), runs[0][1]


def seconds(f):
    begun = time.perf_counter()
    result = f()
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.synchronize()
    if "cupy" in sys.modules:
        sys.modules["cupy"].cuda.Device().synchronize()
    return time.perf_counter() - begun, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of the sizes")
    parser.add_argument("--small", action="store_true", help="orders 5 and 50, the least of 300 calls each time")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--device", choices=["cupy", "torch"], help="arrays of this library on a GPU")
    parser.add_argument("--only", default="", help="the cases whose names this regular expression is found in")
    parser.add_argument("--csv", help="write the table there")
    options = parser.parse_args()
    print(f"# tesela {tesela.__version__} on {len(tesela.workers())} workers, NumPy {np.__version__}")
    rows = [("what", "peer", "ours_s", "peer_s", "ratio", "target", "difference")]
    print("{:28} {:28} {:>9} {:>9} {:>7} {:>7} {:>11}".format(*rows[0]))
    table = device_cases(options.quick, options.device) if options.device else cases(options.quick)
    table, timed = (small_cases(), least_seconds) if options.small else (table, seconds)
    for name, target, ours, peers, distance in table:
        if not re.search(options.only, name):
            continue
        seconds(ours)
        times = {which: [] for which in ("ours", *peers)}
        differences = {}
        for run in range(options.repeat):
            elapsed, x = timed(ours)
            times["ours"].append(elapsed)
            for peer, f in peers.items():
                elapsed, y = timed(f)
                times[peer].append(elapsed)
                if run == 0:
                    differences[peer] = difference = distance(x, y)
                    if not difference < 1e-6:
                        sys.exit(f"{name}: {peer} differs by {difference}")
                del y
            del x
        digits = 7 if options.small else 4
        medians = {which: statistics.median(t) for which, t in times.items()}
        for peer in peers:
            ratio = medians[peer] / medians["ours"]
            rows.append((name, peer, f"{medians['ours']:.{digits}f}", f"{medians[peer]:.{digits}f}", f"{ratio:.2f}", target, f"{differences[peer]:.1e}"))
            print("{:28} {:28} {:>9} {:>9} {:>7} {:>7} {:>11}".format(*rows[-1]), flush=True)
    if options.csv:
        try:
            with open(options.csv, "w", newline="") as file:
                csv.writer(file).writerows(rows)
        except OSError as problem:
            print(f"tesela: bench interfaces: cannot write {options.csv}: {problem.strerror}", file=sys.stderr)
            sys.exit(3)


if __name__ == "__main__":
    main()
