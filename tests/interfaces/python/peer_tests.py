"""Runs the tests of scipy.linalg and numpy.linalg with their functions replaced by tesela's, and counts them.

    python tests/interfaces/python/peer_tests.py [scipy] [numpy] [more] [--list FILE] [-- PYTEST OPTIONS]

SciPy, NumPy and pytest must be installed with their tests, and tesela must be importable. `more` runs tests of
functions around the solvers (inverses, determinants, stacks of matrices), which have separate counts. SciPy's tests of
transposed complex systems fail, because tesela refuses them by another exception. NumPy's tests run with real matrices.
"""

import collections
import functools
import sys

import numpy as np
import pytest

SUITES = {
    "scipy": [
        "test_basic.py::TestSolve",
        "test_basic.py::TestLstsq",
        "test_basic.py::TestSolveBanded",
        "test_basic.py::TestSolveHBanded",
        "test_basic.py::TestSolveTriangular",
        "test_decomp.py::TestQR",
        "test_decomp.py::TestSVD_GESDD",
        "test_decomp.py::TestSVDVals",
        "test_decomp.py::TestEigh",
        "test_decomp.py::TestEigBanded",
        "test_decomp.py::TestEigTridiagonal",
        "test_decomp_cholesky.py",
        "test_decomp_lu.py",
        "test_solve_toeplitz.py",
        "test_matmul_toeplitz.py",
    ],
    "more": [
        "test_basic.py::TestDet",
        "test_basic.py::TestInv",
        "test_basic.py::TestPinv",
        "test_basic.py::TestPinvSymmetric",
        "test_basic.py::TestOverwrite",
        "test_decomp.py::TestOverwrite",
        "test_batch.py",
        "test_decomp.py::test_orth",
        "test_decomp.py::test_null_space",
        "test_decomp_polar.py",
    ],
    "numpy": ["test_linalg.py::" + name for name in (
        "TestSolve TestInv TestDet TestPinv TestPinvHermitian TestCond TestMatrixRank TestLstsq TestEigvalsh TestEigh "
        "TestEigvalshCases "
        "TestEighCases TestQR TestCholesky").split()],
}

# Functions that the tests of a suite call; tesela's names are the same.
SCIPY = """cho_factor cho_solve cho_solve_banded cholesky cholesky_banded det eig_banded eigh eigh_tridiagonal
eigvals_banded eigvalsh eigvalsh_tridiagonal inv lstsq lu lu_factor lu_solve matmul_toeplitz null_space orth
pinv pinvh polar qr qr_multiply solve solve_banded solve_toeplitz solve_triangular solveh_banded svd svdvals""".split()
NUMPY = "cholesky cond det eigh eigvalsh inv lstsq matrix_rank pinv qr slogdet solve".split()


def missing(name):
    def function(*args, **kwargs):
        raise NotImplementedError(f"tesela has no {name}")

    return function


def adapted(tesela, name):
    """Returns tesela's function, with results as the tests expect them: arrays instead of objects."""
    function = getattr(tesela, name, None)
    if function is None:
        return missing(name)

    @functools.wraps(function)
    def call(*args, **kwargs):
        for choice in ("driver", "lapack_driver", "lwork"):  # LAPACK's routine
            if (name, choice) != ("svd", "lapack_driver"):
                kwargs.pop(choice, None)
        result = function(*args, **kwargs)
        return result.x if type(result).__name__ == "ToeplitzResult" else result

    return call


def of_numpy(tesela, name):
    """Returns numpy.linalg's function by tesela: NumPy has lower triangles and other names."""
    linalg = np.linalg
    if not hasattr(tesela, name):
        return missing(name)
    own = adapted(tesela, name)
    if name == "cholesky":
        return lambda a, *, upper=False: own(a, lower=not upper)
    if name == "eigh":
        def eigh(a, UPLO="L"):
            if UPLO.upper() not in ("L", "U"):
                raise ValueError("UPLO argument must be 'L' or 'U'")
            return linalg._linalg.EighResult(*own(a, lower=UPLO.upper() == "L"))
        return eigh
    if name == "eigvalsh":
        def eigvalsh(a, UPLO="L"):
            if UPLO.upper() not in ("L", "U"):
                raise ValueError("UPLO argument must be 'L' or 'U'")
            return own(a, lower=UPLO.upper() == "L")
        return eigvalsh
    if name == "qr":
        def qr(a, mode="reduced"):
            if mode in ("reduced", "complete"):
                return linalg._linalg.QRResult(*own(a, mode={"reduced": "economic", "complete": "full"}[mode]))
            if mode == "r":
                r = own(a, mode="r")
                return r[0][..., : min(np.shape(a)[-2:]), :]
            (h, tau), _ = own(a, mode=mode)
            return np.swapaxes(h, -1, -2), tau
        return qr
    if name == "det":
        return lambda a: np.asarray(own(a)).astype(np.result_type(np.asarray(a), np.float32))[()]
    if name == "lstsq":
        def lstsq(a, b, rcond=None):
            x, residues, rank, values = own(a, b, rcond=rcond, singular_values=True)
            return x, np.atleast_1d(residues), rank, values
        return lstsq
    if name == "slogdet":
        return lambda a: linalg._linalg.SlogdetResult(*own(a))
    return own


def replace(suite):
    import tesela

    if suite == "numpy":
        import numpy.linalg as target
        for name in NUMPY:
            setattr(target, name, of_numpy(tesela, name))
            setattr(target._linalg, name, getattr(target, name))
    else:
        import scipy.linalg as target
        for name in SCIPY:
            setattr(target, name, adapted(tesela, name))
        target.LinAlgWarning = tesela.LinAlgWarning


def leave_out_complex():
    """Leaves complex numbers out of NumPy's tests that mix them with real ones."""
    from numpy.linalg.tests import test_linalg

    def is_real(case):
        return not any(np.iscomplexobj(x) for x in (case.a, case.b) if x is not None)

    cases = [case for case in test_linalg.CASES if is_real(case)]
    strided = [case for case in cases if "strided" in case.tags]  # 12000 copies in other layouts: some are enough
    test_linalg.LinalgTestCase.TEST_CASES = [c for c in cases if "strided" not in c.tags] + strided[::50]
    check = test_linalg.TestQR.check_qr_stacked
    test_linalg.TestQR.check_qr_stacked = lambda self, a: np.iscomplexobj(a) or check(self, a)


class Counter:
    """Counts outcomes, and keeps the messages of failures."""

    def __init__(self):
        self.outcomes, self.failures, self.real = collections.Counter(), [], False

    def pytest_collection_modifyitems(self, items):
        def is_complex(value):
            try:
                return np.dtype(value).kind == "c"
            except (TypeError, ValueError, AttributeError):
                return False

        if self.real:
            parameters = {i: getattr(getattr(i, "callspec", None), "params", {}).values() for i in items}
            items[:] = [i for i in items if not any(map(is_complex, parameters[i]))]

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed" and report.when == "setup":
            self.outcomes[report.outcome] += 1
            if report.outcome == "failed":
                crash = getattr(report.longrepr, "reprcrash", None)
                reason = crash.message if crash else str(report.longrepr)
                self.failures.append((report.nodeid.split("::", 1)[1], reason))


def run(suite, options=()):
    """Runs a suite in this process; its functions remain replaced. Returns the counter."""
    package = "numpy.linalg.tests" if suite == "numpy" else "scipy.linalg.tests"
    folder = __import__(package, fromlist=["x"]).__path__[0]
    replace(suite)
    counter = Counter()
    if suite == "numpy":
        leave_out_complex()
        counter.real = True
    tests = [f"{folder}/{test}" for test in SUITES[suite]]
    quiet = ["-q", "--no-header", "--tb=native", "-p", "no:cacheprovider", "-p", "no:terminalreporter"]
    pytest.main([*quiet, *options, *tests], [counter])
    return counter


def wrong_number(reason):
    return "Mismatched elements" in reason or "not almost equal" in reason or "Not equal to tolerance" in reason


def main(words):
    options = words[words.index("--") + 1:] if "--" in words else []
    words = words[: words.index("--")] if "--" in words else words
    listing = words[words.index("--list") + 1] if "--list" in words else None
    for suite in [word for word in words if word in SUITES] or ["scipy", "numpy"]:
        counter = run(suite, options)
        total = sum(counter.outcomes.values())
        wrong = [(test, reason) for test, reason in counter.failures if wrong_number(reason)]
        print(f"{suite}: {counter.outcomes['passed']} of {total} pass, {counter.outcomes['failed']} fail, "
              f"{counter.outcomes['skipped']} skipped; {len(wrong)} compare numbers")
        if listing:
            with open(listing, "a") as file:
                for test, reason in counter.failures:
                    print(suite, "NUMBER" if (test, reason) in wrong else "-", test, "|",
                          " ".join(reason.split())[:300], file=file)


if __name__ == "__main__":
    main(sys.argv[1:])
