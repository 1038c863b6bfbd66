"""Complex singular values and the functions that use them, compared with SciPy's and NumPy's."""

import numpy as np
import pytest
import scipy.linalg
from complex_numbers import TYPES, close, hermitian, random

import tesela

SHAPES = pytest.mark.parametrize("shape", [(1, 1), (5, 3), (3, 5), (70, 70), (300, 120), (120, 300)])


@TYPES
@SHAPES
@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("full", [False, True])
def test_svd(dtype, shape, order, full):
    a = random(*shape, dtype=dtype, order=order)
    u, s, vh = tesela.svd(a, full_matrices=full)
    k, eps = min(shape), np.finfo(dtype).eps
    expected = np.linalg.svd(a.astype(np.complex128), compute_uv=False)
    assert u.dtype == vh.dtype == dtype and s.dtype == a.real.dtype
    assert u.shape == (shape[0], shape[0] if full else k) and vh.shape == (shape[1] if full else k, shape[1])
    assert np.abs(s - expected).max() <= 20 * np.sqrt(max(shape)) * eps * expected[0]
    close((u[:, :k] * s) @ vh[:k], a, dtype)
    for q in (u, vh.conj().T):
        close(q.conj().T @ q, np.eye(q.shape[1]), dtype)
    np.testing.assert_allclose(tesela.svdvals(a, largest=1), s[:1], rtol=20 * eps)
    stack = tesela.svd(np.stack([a, a.conj()]), full_matrices=False)
    close((stack[0][1] * stack[1][1][None, :]) @ stack[2][1], a.conj(), dtype)


@TYPES
def test_large_svdvals(dtype):
    a = random(850, 900, dtype=dtype)  # above the order for LAPACK
    expected = np.linalg.svd(a.astype(np.complex128), compute_uv=False)
    assert np.abs(tesela.svdvals(a) - expected).max() <= 600 * np.finfo(dtype).eps * expected[0]


def test_large_svd():  # with the other number types in tests/algorithms/svd
    a = random(1810, 1801, dtype=np.complex64)  # above the order for LAPACK with vectors
    u, s, vh = tesela.svd(a, full_matrices=False)
    close((u * s) @ vh, a, np.complex64)
    close(vh @ vh.conj().T, np.eye(1801), np.complex64)


@TYPES
@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("shape", [(5, 3), (60, 40), (40, 60)])
def test_randomized_svd_is_within_its_bound(dtype, shape, order):
    values, k = 0.3 ** np.arange(12.0), min(shape[1], 12)
    a = np.asarray(random(shape[0], k) * values[:k] @ random(k, shape[1], seed=2), dtype, order=order)
    result = tesela.randomized_svd(a, 2, n_oversamples=1, random_state=5)
    u, s, vh = result
    assert u.shape == (shape[0], 2) and vh.shape == (2, shape[1]) and u.dtype == vh.dtype == dtype
    assert s.dtype == a.real.dtype
    error, exact = np.linalg.norm(a - (u * s) @ vh, 2), np.linalg.svd(a.astype(np.complex128), compute_uv=False)
    rounding = 100 * np.finfo(dtype).eps * exact[0]
    assert exact[2] - rounding <= error <= result.error_bound <= 30 * error + 10 * rounding
    assert np.all(np.abs(s - exact[:2]) <= result.error_bound)
    for q in (u, vh.conj().T):
        close(q.conj().T @ q, np.eye(2), dtype)
    a[1, 2] = complex(0, np.nan)
    with pytest.raises(np.linalg.LinAlgError, match=r"a\[1, 2\] is not finite"):
        tesela.randomized_svd(a, 1)


@TYPES
@SHAPES
def test_functions_of_singular_values_agree_with_scipy(dtype, shape):
    a = random(*shape, dtype=dtype)
    rank = max(min(shape) // 2, 1)
    deficient = np.asarray(random(shape[0], rank) @ random(rank, shape[1], seed=2), dtype)
    scale = 1e2 * np.linalg.cond(a)
    close(tesela.pinv(a), np.linalg.pinv(a), dtype, scale)
    found, of_rank = tesela.pinv(deficient, rtol=1e-3, return_rank=True)
    close(found, np.linalg.pinv(deficient, rcond=1e-3), dtype, 1e5)
    assert of_rank == rank
    assert tesela.matrix_rank(deficient, rtol=1e-3) == rank and tesela.matrix_rank(a) == min(shape)
    np.testing.assert_allclose(tesela.cond(a), np.linalg.cond(a), rtol=1e-3 if dtype == np.complex64 else 1e-9)
    basis = tesela.orth(deficient, rcond=1e-3)
    assert basis.shape == (shape[0], rank) and basis.dtype == dtype
    close(basis @ (basis.conj().T @ deficient), deficient, dtype)
    null = tesela.null_space(deficient, rcond=1e-3)
    assert null.shape == (shape[1], shape[1] - rank)
    assert np.linalg.norm(deficient @ null) <= 300 * np.finfo(dtype).eps * np.linalg.norm(deficient)
    close(null.conj().T @ null, np.eye(null.shape[1]), dtype)
    for side in ("left", "right"):
        (u, p), (expected_u, expected_p) = tesela.polar(a, side), scipy.linalg.polar(a, side)
        close(u, expected_u, dtype, scale)
        close(p, expected_p, dtype)
        np.testing.assert_array_equal(p, p.conj().T)


@TYPES
def test_functions_of_singular_values_of_square_matrices(dtype):
    a = hermitian(40, dtype)
    b = random(40, 40, dtype=dtype)
    for p in (1, -1, np.inf, -np.inf, "fro", 2, -2):
        np.testing.assert_allclose(tesela.cond(b, p), np.linalg.cond(b, p), rtol=1e-3 if dtype == np.complex64 else 1e-9)
    huge = np.asarray(b * (1e38 / np.abs(b).max() if dtype == np.complex64 else 1e308 / np.abs(b).max()), dtype)
    np.testing.assert_allclose(tesela.cond(huge), np.linalg.cond(b), rtol=1e-3 if dtype == np.complex64 else 1e-9)
    close(tesela.inv(b), np.linalg.inv(b), dtype, 1e5)
    nearly = np.asarray(b.copy(), dtype)
    nearly[0] = nearly[1:].sum(axis=0) * (1 + 1j)
    found = tesela.cond(nearly, 1)
    assert found.dtype == b.real.dtype and found > 1e-2 / np.finfo(dtype).eps
    close(tesela.pinvh(a), np.linalg.inv(a), dtype, 1e4)
    close(tesela.pinv(a, hermitian=True), np.linalg.inv(a), dtype, 1e4)


@pytest.mark.parametrize("function", [tesela.svd, tesela.svdvals, tesela.pinv, tesela.matrix_rank, tesela.orth,
                                      tesela.null_space, tesela.polar, tesela.cond])
def test_functions_of_singular_values_find_nan_in_an_imaginary_part(function):
    a = random(5, 4)
    a[3, 1] = complex(0, np.nan)
    with pytest.raises(np.linalg.LinAlgError, match=r"\[3, 1\] is not finite"):
        function(a)
