"""Complex Toeplitz systems agree with SciPy."""

import numpy as np
import pytest
import scipy.linalg
from complex_numbers import TYPES, close, random

import tesela

SIZES = pytest.mark.parametrize("n", [1, 2, 5, 70, 128, 129, 300])


@TYPES
@SIZES
@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("diagonal", ["real", "complex", "zero"])
def test_solve_toeplitz(dtype, n, k, diagonal):
    c, r = random(n, dtype=dtype, seed=1), random(n, dtype=dtype, seed=2)
    if diagonal != "complex":
        c[0] = 0 if diagonal == "zero" and n > 2 else 2.5
    b = random(*((n,) if k is None else (n, k)), dtype=dtype, seed=3)
    for given, rows in ((c, c.conj()), ((c, r), r)):
        t = scipy.linalg.toeplitz(c, rows).astype(np.complex128)
        condition = np.linalg.cond(t, 1)
        if condition * np.finfo(dtype).eps > 1e-3:
            continue
        result = tesela.solve_toeplitz(given, b)
        assert result.x.shape == b.shape
        close(result.x, np.linalg.solve(t, b), dtype, 2 * condition)
        assert result.residual <= result.residual_bound
        assert condition / 5 <= result.condition <= 1.01 * condition
        if diagonal != "zero":
            close(result.x.astype(np.complex128), scipy.linalg.solve_toeplitz(given, b.astype(np.complex128)),
                  np.complex128, (np.finfo(dtype).eps / np.finfo(float).eps + 1e3) * condition)


def test_real_arguments_and_strides():
    c, b = random(40, seed=1), random(80, seed=2)[::2]
    c[0] = 20
    t = scipy.linalg.toeplitz(c)
    np.testing.assert_allclose(tesela.solve_toeplitz(c, b).x, np.linalg.solve(t, b))
    np.testing.assert_allclose(tesela.solve_toeplitz(c, b.real).x, np.linalg.solve(t, b.real))
    np.testing.assert_allclose(tesela.solve_toeplitz(c.real, b).x, np.linalg.solve(scipy.linalg.toeplitz(c.real), b))
    row = np.linspace(1, 2, 40)
    np.testing.assert_allclose(tesela.solve_toeplitz((c, row), b).x, np.linalg.solve(scipy.linalg.toeplitz(c, row), b))
    assert tesela.solve_toeplitz(c.real, b.real).x.dtype == float


@TYPES
@pytest.mark.parametrize("n", [1, 3, 300])
@pytest.mark.parametrize("unused", [np.nan, complex(0, np.nan), np.inf])
def test_the_first_number_of_the_row_is_not_used(dtype, n, unused):
    c, r, b = random(n, dtype=dtype, seed=1), random(n, dtype=dtype, seed=2), random(n, dtype=dtype, seed=3)
    c[0] = n
    x = tesela.solve_toeplitz((c, r), b).x
    r[0] = unused
    np.testing.assert_array_equal(tesela.solve_toeplitz((c, r), b).x, x)
    t, row = scipy.linalg.toeplitz(c.real, r.real), r.real.copy()
    row[0] = np.nan
    close(tesela.solve_toeplitz((c.real, row), b.real).x, np.linalg.solve(t, b.real), c.real.dtype, 30)


@pytest.mark.parametrize("n", [3, 200])
def test_nan_and_singular_matrices_are_found(n):
    c, b = random(n, seed=1), random(n, seed=2)
    for part in (c, b):
        kept, part[2] = part[2], complex(1, np.nan)
        with pytest.raises(np.linalg.LinAlgError, match=r"c\[2\] is not finite|not finite: b\(2, 0\)"):
            tesela.solve_toeplitz(c, b)
        part[2] = kept
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        tesela.solve_toeplitz(np.exp(1j * np.arange(n)), b)


@TYPES
@pytest.mark.parametrize("n", [1, 2, 3, 70, 301])
def test_eigh_toeplitz(dtype, n):
    c = random(n, dtype=dtype, seed=1)
    c[0] = c[0].real
    t = scipy.linalg.toeplitz(c)
    expected = np.linalg.eigvalsh(t.astype(np.complex128))
    w, v = tesela.eigh_toeplitz(c)
    eps, norm = np.finfo(dtype).eps, np.abs(expected).max()
    assert w.dtype == c.real.dtype and v.dtype == dtype
    assert np.abs(w - expected).max() <= 20 * np.sqrt(n) * eps * norm
    assert np.linalg.norm(t @ v - v * w, axis=0).max() <= 30 * np.sqrt(n) * eps * norm
    close(v.conj().T @ v, np.eye(n), dtype)
    few = tesela.eigh_toeplitz(c, eigvals_only=True, subset_by_index=(0, min(2, n - 1)))
    assert np.abs(few - expected[: len(few)]).max() <= 20 * np.sqrt(n) * eps * norm
    below = tesela.eigh_toeplitz(c, eigvals_only=True, subset_by_value=(-np.inf, float(expected[0] + expected[-1]) / 2))
    assert abs(len(below) - (expected <= (expected[0] + expected[-1]) / 2).sum()) <= (n == 1)


def test_eigh_toeplitz_refuses_a_diagonal_that_is_not_real_and_finds_nan():
    c = random(5)
    with pytest.raises(ValueError, match=r"t\(0\)"):
        tesela.eigh_toeplitz(c)
    c[0], c[3] = 1, complex(0, np.nan)
    with pytest.raises(np.linalg.LinAlgError, match=r"c\[3\] is not finite"):
        tesela.eigh_toeplitz(c)


@TYPES
@pytest.mark.parametrize("m, n", [(0, 3), (1, 1), (5, 9), (9, 5), (200, 300)])
def test_matmul_toeplitz(dtype, m, n):
    c, r = random(m, dtype=dtype, seed=1), random(n, dtype=dtype, seed=2)
    t = scipy.linalg.toeplitz(c, r) if m else np.zeros((0, n), dtype)
    for x in (random(n, dtype=dtype, seed=3), random(n, 3, dtype=dtype, seed=4)):
        close(tesela.matmul_toeplitz((c, r), x), t @ x, dtype)
        close(tesela.matmul_toeplitz((c, r), x.real), t @ x.real, dtype)
        if m:
            real = scipy.linalg.toeplitz(c.real, r.real)
            close(tesela.matmul_toeplitz((c.real, r.real), x), (real @ x).astype(dtype), dtype)
    x = random(m, dtype=dtype, seed=5)
    close(tesela.matmul_toeplitz(c, x), scipy.linalg.toeplitz(c) @ x if m else x, dtype)
