"""Complex numbers: the functions that accept them agree with SciPy, and the others name those."""

import numpy as np
import pytest
import scipy.linalg
from complex_numbers import TYPES, close, hermitian, random

import tesela

SIZES = pytest.mark.parametrize("n", [1, 5, 70, 300])


@TYPES
@SIZES
@pytest.mark.parametrize("order", ["F", "C"])
def test_matmul(dtype, n, order):
    a, b = random(n, n + 2, dtype=dtype, order=order), random(n + 2, 3, dtype=dtype, seed=2)
    close(tesela.matmul(a, b), a @ b, dtype)
    close(tesela.matmul(a.conj().T, a), a.conj().T @ a, dtype)
    close(tesela.matmul(a, b.real), a @ b.real, np.result_type(dtype, b.real.dtype))
    product = tesela.matmul(b[:, 0], b[:, 1])
    assert isinstance(product, complex) and np.isclose(product, b[:, 0] @ b[:, 1], rtol=1e-3 if dtype == np.complex64 else 1e-9)


@TYPES
@SIZES
@pytest.mark.parametrize("lower", [False, True])
def test_cholesky(dtype, n, lower):
    a = hermitian(n, dtype)
    kept = np.tril(a) if lower else np.triu(a)
    close(tesela.cholesky(kept, lower=lower), scipy.linalg.cholesky(a, lower=lower), dtype)
    b = random(n, 3, dtype=dtype, seed=3)
    for options in ({}, {"assume_a": "pos", "lower": lower}):
        close(tesela.solve(a, b, **options), np.linalg.solve(a, b), dtype)
    close(tesela.solve(a, b.real.astype(a.real.dtype)), np.linalg.solve(a, b.real), dtype)


def test_a_diagonal_that_is_not_real_is_refused():
    a = hermitian(4)
    a[2, 2] += 1j
    with pytest.raises(ValueError, match=r"\[2, 2\]"):
        tesela.cholesky(a)
    with pytest.raises(ValueError, match=r"\[2, 2\]"):
        tesela.solve(a, np.ones(4), assume_a="pos")
    assert np.isfinite(tesela.solve(a, np.ones(4))).all()
    a[2, 2] = complex(9, np.nan)
    with pytest.raises(np.linalg.LinAlgError, match=r"a\[2, 2\] is not finite"):
        tesela.cholesky(a)
    with pytest.raises(np.linalg.LinAlgError, match=r"a\[2, 2\] is not finite"):
        tesela.solve(a, np.ones(4), assume_a="pos")


@pytest.mark.parametrize("lower", (False, True))
@pytest.mark.parametrize("dtype", (">c16", ">c8", "<c16"))
def test_solve_reads_either_triangle_in_any_byte_order(dtype, lower):
    a = hermitian(5).astype(dtype)
    half = np.tril(a) if lower else np.triu(a)
    x = tesela.solve(half.astype(dtype), np.ones(5), assume_a="pos", lower=lower)
    np.testing.assert_allclose(x, np.linalg.solve(a.astype(complex), np.ones(5)), rtol=1e-4)


@TYPES
@SIZES
def test_solve(dtype, n):
    a, b = random(n, n, dtype=dtype), random(n, dtype=dtype, seed=4)
    x = tesela.solve(a, b)
    assert x.dtype == dtype and x.shape == (n,)
    assert np.linalg.norm(a @ x - b) <= 1e3 * np.finfo(dtype).eps * np.linalg.norm(a) * np.linalg.norm(x)
    stack = np.stack([a, a.conj()])
    close(tesela.solve(stack, np.stack([b, b])[..., None])[1][:, 0], tesela.solve(a.conj(), b), dtype, 1e4)


def test_singular_matrices_and_nan_are_found():
    a = np.ones((3, 3), complex) * (1 + 2j)
    with pytest.raises(np.linalg.LinAlgError):
        tesela.solve(a, np.ones(3))
    b = np.array([1, complex(0, np.nan), 1])
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        tesela.solve(np.eye(3), b)


@TYPES
@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (3, 7), (150, 130), (300, 290)])
@pytest.mark.parametrize("mode", ["full", "economic", "r"])
def test_qr(dtype, shape, mode):
    a = random(*shape, dtype=dtype)
    result = tesela.qr(a, mode=mode)
    expected = scipy.linalg.qr(a, mode="economic")[1]
    k = min(shape)
    assert np.abs(np.diagonal(result.r).imag).max() == 0
    signs = np.sign(np.diagonal(result.r).real * np.diagonal(expected).real)
    close(result.r[:k] * signs[:, None], expected, dtype, 3e3)
    if mode != "r":
        close(result.q @ result.r, a, dtype)
        close(result.q.conj().T @ result.q, np.eye(result.q.shape[1]), dtype)


@TYPES
@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (300, 290)])
@pytest.mark.parametrize("mode", ["economic", "raw"])
@pytest.mark.parametrize("pivoting", [False, True])
def test_qr_with_pivots_and_raw_qr(dtype, shape, mode, pivoting):
    a = random(*shape, dtype=dtype)
    found, expected = tesela.qr(a, mode=mode, pivoting=pivoting), scipy.linalg.qr(a, mode=mode, pivoting=pivoting)
    order = slice(None)
    if pivoting:
        order = found[-1]
        np.testing.assert_array_equal(order, expected[-1])
    if mode == "raw":
        close(found[0][0], expected[0][0], dtype, 3e3)
        close(found[0][1], expected[0][1], dtype, 3e3)
    else:
        close(found[0] @ found[1], a[:, order], dtype)


@pytest.mark.parametrize("function", [tesela.qr, tesela.cholesky, lambda a: tesela.solve(a, np.ones(4))])
def test_messages_name_the_element_that_is_not_finite(function):
    a = hermitian(4)
    a[1, 2] = complex(0, np.nan)
    for given in (a, np.stack([hermitian(4), a])):
        if given.ndim == 2 or function in (tesela.qr, tesela.cholesky):
            with pytest.raises(np.linalg.LinAlgError, match=r"a\[1, 2\] is not finite"):
                function(given)


def test_stacks_of_complex_matrices():
    a, b = random(3, 5, 4, order="C"), random(3, 4, 2, order="C", seed=2)
    np.testing.assert_allclose(tesela.matmul(a, b), a @ b)
    x, _, ranks, _ = tesela.lstsq(a, a @ b)
    np.testing.assert_allclose(x, b)
    assert (ranks == 4).all()
    q, r, p = tesela.qr(a, mode="economic", pivoting=True)
    for k in range(3):
        np.testing.assert_allclose(q[k] @ r[k], a[k][:, p[k]])


@TYPES
@pytest.mark.parametrize("n", [0, 1, 2, 5, 70, 300])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("order", ["F", "C"])
def test_eigh(dtype, n, lower, order):
    a = np.asarray(hermitian(n, dtype), order=order)
    kept = np.tril(a) if lower else np.triu(a)
    w, v = tesela.eigh(kept, lower=lower)
    real = np.zeros(0, dtype).real.dtype
    eps = np.finfo(real).eps
    assert w.dtype == real and v.dtype == dtype and v.shape == (n, n)
    if n == 0:
        return
    expected = scipy.linalg.eigvalsh(a.astype(np.complex128))
    norm = np.abs(expected).max()
    assert np.abs(w - expected).max() <= 20 * np.sqrt(n) * eps * norm
    assert np.linalg.norm(a @ v - v * w, axis=0).max() <= 30 * np.sqrt(n) * eps * norm
    assert np.linalg.norm(v.conj().T @ v - np.eye(n)) <= 30 * n * eps
    few = tesela.eigh(kept, lower=lower, subset_by_index=(0, min(2, n - 1)), eigvals_only=True)
    assert np.abs(few - expected[: len(few)]).max() <= 20 * np.sqrt(n) * eps * norm
    stacked, _ = tesela.eigh(np.stack([a, 2 * a]))
    assert np.abs(stacked[1] - 2 * expected).max() <= 40 * np.sqrt(n) * eps * norm


def test_eigh_refuses_what_is_not_hermitian_and_finds_nan():
    a = hermitian(4)
    a[2, 2] += 1j
    with pytest.raises(ValueError, match=r"\[2, 2\]"):
        tesela.eigh(a)
    a = hermitian(4)
    a[3, 1] = complex(0, np.nan)
    with pytest.raises(np.linalg.LinAlgError, match=r"a\[3, 1\]"):
        tesela.eigh(a)


@TYPES
@pytest.mark.parametrize("n", [1, 2, 5, 70, 300])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("kind", [1, 2, 3])
def test_eigh_of_pairs(dtype, n, lower, kind):
    a, b = hermitian(n, dtype) - 3 * np.eye(n, dtype=dtype), hermitian(n, dtype) / 8
    keep = np.tril if lower else np.triu
    w, v = tesela.eigh(keep(a), keep(b), lower=lower, type=kind)
    expected = scipy.linalg.eigh(a.astype(np.complex128), b.astype(np.complex128), type=kind, eigvals_only=True)
    eps, condition = np.finfo(dtype).eps, np.linalg.cond(b.astype(np.complex128))
    assert w.dtype == a.real.dtype and v.dtype == dtype
    norm = np.abs(expected).max()
    assert np.abs(w - expected).max() <= 20 * np.sqrt(n) * eps * condition * norm
    left, right = {1: (a @ v, b @ v), 2: (a @ (b @ v), v), 3: (b @ (a @ v), v)}[kind]
    scale = np.linalg.norm(a, 2) * np.linalg.norm(b, 2) * np.linalg.norm(v, 2) + norm * np.linalg.norm(right, 2)
    assert np.linalg.norm(left - right * w, axis=0).max() <= 30 * np.sqrt(n) * eps * condition * scale
    dual = np.linalg.solve(b, v) if kind == 3 else b @ v
    close(v.conj().T @ dual, np.eye(n), dtype, 30 * condition)
    if n > 1:  # a real a or b
        real = np.asfortranarray(b.real)
        few = tesela.eigh(a, real, type=kind, subset_by_index=(0, 1), eigvals_only=True)
        known = scipy.linalg.eigh(a.astype(np.complex128), real, type=kind, eigvals_only=True)
        assert np.abs(few - known[:2]).max() <= 20 * np.sqrt(n) * eps * condition * np.abs(known).max()


def test_eigh_of_pairs_refuses_what_is_not_hermitian_and_finds_nan():
    a, b = hermitian(4), hermitian(4)
    b[2, 2] += 1j
    with pytest.raises(ValueError, match=r"B.*\[2, 2\]"):
        tesela.eigh(a, b)
    b = hermitian(4)
    b[3, 1] = complex(0, np.nan)
    with pytest.raises(np.linalg.LinAlgError, match=r"b\[3, 1\]"):
        tesela.eigh(a, b)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        tesela.eigh(a, -a)


@TYPES
@pytest.mark.parametrize("n, k", [(1, 1), (2, 3), (50, 1), (50, 7), (3000, 1), (700, 40), (200000, 1)])
@pytest.mark.parametrize("dominant", [True, False])
@pytest.mark.parametrize("many", [False, True])
def test_solve_tridiagonal(dtype, n, k, dominant, many):
    shape = (n, k) if many and k > 1 else (n,)
    dl, du = random(*shape, dtype=dtype, seed=1), random(*shape, dtype=dtype, seed=2)
    d = random(*shape, dtype=dtype, seed=3) + (8j if dominant else 0)
    d = np.asarray(d, dtype)
    b = random(*((n, k) if k > 1 else (n,)), dtype=dtype, seed=4)
    x = tesela.solve_tridiagonal(dl, d, du, b)
    assert x.dtype == dtype and x.shape == b.shape
    one = lambda a, j: a if a.ndim == 1 else a[:, j]
    for j in range(k):
        lower, middle, upper, right, found = one(dl, j), one(d, j), one(du, j), one(b, j), one(x, j)
        product = middle * found
        product[1:] += lower[1:] * found[:-1]
        product[:-1] += upper[:-1] * found[1:]
        assert np.abs(product - right).max() <= 40 * np.finfo(dtype).eps * (20 * np.abs(found).max() + np.abs(right).max())
        if dominant and n <= 3000:
            band = np.zeros((3, n), dtype)
            band[0, 1:], band[1], band[2, :-1] = upper[:-1], middle, lower[1:]
            close(found, scipy.linalg.solve_banded((1, 1), band, right), dtype)


def test_periodic_and_singular_tridiagonal_systems():
    n = 60
    dl, d, du, b = random(n, seed=1), random(n, seed=2) + 6, random(n, seed=3), random(n, seed=4)
    a = np.diag(d) + np.diag(dl[1:], -1) + np.diag(du[:-1], 1)
    a[0, -1], a[-1, 0] = dl[0], du[-1]
    np.testing.assert_allclose(tesela.solve_tridiagonal(dl, d, du, b, periodic=True), np.linalg.solve(a, b))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        tesela.solve_tridiagonal(np.zeros(n), np.where(np.arange(n) == 7, 0, d), np.zeros(n), b)
    d[9] = complex(1, np.nan)
    with pytest.raises(np.linalg.LinAlgError, match="row 9"):
        tesela.solve_tridiagonal(dl, d, du, b)


@TYPES
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", [1, 30, 300])
def test_symmetric_inertia_counts_hermitian_matrices(dtype, lower, n):
    a = random(n, n, dtype=dtype)
    a = a + a.conj().T
    values = np.linalg.eigvalsh(a.astype(np.complex128))
    below, uncertainty = tesela.symmetric_inertia(np.tril(a) if lower else np.triu(a), 0.3, lower=lower)
    assert np.sum(values < 0.3 - uncertainty) <= below <= np.sum(values < 0.3 + uncertainty)
    if dtype == np.complex128:
        assert uncertainty < 0.01
    a[-1, 0] = complex(0, np.nan)
    with pytest.raises((np.linalg.LinAlgError, ValueError)):
        tesela.symmetric_inertia(a)


@TYPES
@pytest.mark.parametrize("m, n", [(1, 1), (5, 5), (7, 4), (4, 7), (300, 300)])
def test_lu_and_its_solutions(dtype, m, n):
    a = random(m, n, dtype=dtype)
    p, lower, upper = tesela.lu(a)
    assert p.dtype == a.real.dtype
    close(p @ lower @ upper, a, dtype)
    if m == n:
        a += 2 * np.asarray(np.sqrt(n) * np.eye(n), dtype)
        factors, b = tesela.lu_factor(a), random(n, 3, dtype=dtype, seed=2)
        for trans, op in enumerate((a, a.T, a.conj().T)):
            close(op @ tesela.lu_solve(factors, b, trans=trans), b, dtype, 3000)
        close(tesela.det(a[:5, :5].astype(complex)), np.linalg.det(a[:5, :5].astype(complex)), complex)
        sign, logarithm = tesela.slogdet(a)
        expected = np.linalg.slogdet(a)
        assert abs(sign - expected[0]) <= 1e4 * np.finfo(dtype).eps
        assert abs(logarithm - expected[1]) <= 1e4 * np.finfo(dtype).eps * (1 + abs(expected[1]))


@TYPES
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("n", [1, 6, 300])
def test_triangles_and_their_solutions(dtype, lower, n):
    a, b = hermitian(n, dtype), random(n, 2, dtype=dtype, seed=2)
    factor = tesela.cho_factor(a, lower)
    close(tesela.cho_solve(factor, b), np.linalg.solve(a, b), dtype)
    r = (np.tril if lower else np.triu)(factor[0])
    for trans, op in zip("NTC", (r, r.T, r.conj().T)):
        close(tesela.solve_triangular(factor[0], b, trans, lower), np.linalg.solve(op, b), dtype)
    structure = "lower triangular" if lower else "upper triangular"
    close(tesela.solve(factor[0], b, assume_a=structure), np.linalg.solve(r, b), dtype)


@TYPES
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("structure", ["sym", "her", "diagonal", "tridiagonal"])
def test_solve_reads_the_elements_of_a_structure(dtype, lower, structure):
    n = 40
    whole = hermitian(n, dtype)
    if structure == "sym":
        whole = (whole * np.tril(np.ones((n, n)))) + (whole * np.tril(np.ones((n, n)), -1)).T
        whole = (whole + 1j * np.eye(n)).astype(dtype)
    if structure in ("diagonal", "tridiagonal"):
        whole = whole * (abs(np.subtract.outer(np.arange(n), np.arange(n))) <= (structure == "tridiagonal"))
    given = np.array(whole)
    if structure in ("sym", "her"):
        given[np.triu_indices(n, 1) if lower else np.tril_indices(n, -1)] = np.nan
    b = random(n, 2, dtype=dtype, seed=2)
    close(tesela.solve(given, b, lower=lower, assume_a=structure), np.linalg.solve(whole, b), dtype)
    close(tesela.inv(given, lower=lower, assume_a=structure), np.linalg.inv(whole), dtype)


@TYPES
@pytest.mark.parametrize("conjugate", [False, True])
def test_qr_multiply(dtype, conjugate):
    m, n = 60, 40
    a = random(m, n, dtype=dtype)
    q = tesela.qr(a).q
    q = q.conj() if conjugate else q
    c, rows = random(n, 3, dtype=dtype, seed=2), random(3, m, dtype=dtype, seed=3)
    product, r = tesela.qr_multiply(a, rows, conjugate=conjugate)
    close(product, rows @ q[:, :n], dtype)
    close(tesela.qr_multiply(a, c, "left", conjugate=conjugate)[0], q[:, :n] @ c, dtype)
    close(r, tesela.qr(a, mode="economic").r, dtype)


@TYPES
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("n, kd", [(1, 0), (2, 1), (40, 3), (300, 20)])
def test_band_matrices(dtype, lower, n, kd):
    a, b = hermitian(n, dtype), random(n, 2, dtype=dtype, seed=2)
    a[abs(np.subtract.outer(np.arange(n), np.arange(n))) > kd] = 0
    expected = np.linalg.solve(a, b)
    ab = np.full((kd + 1, n), np.nan, dtype)
    for k in range(kd + 1):
        if lower:
            ab[k, : n - k] = np.diagonal(a, -k)
        else:
            ab[kd - k, k:] = np.diagonal(a, k)
    close(tesela.solveh_banded(ab, b, lower=lower), expected, dtype)
    factor = tesela.cholesky_banded(ab, lower=lower)
    read = ~np.isnan(ab)
    close(factor[read], scipy.linalg.cholesky_banded(np.where(read, ab, 0), lower=lower)[read], dtype)
    close(tesela.cho_solve_banded((factor, lower), b), expected, dtype)
    w, v = tesela.eig_banded(ab, lower=lower)
    close(w, np.linalg.eigvalsh(a.astype(np.complex128)).astype(w.dtype), w.dtype)
    close((v * w) @ v.conj().T, a, dtype)
    close(v.conj().T @ v, np.eye(n), dtype)
    largest = v[abs(v).argmax(axis=0), np.arange(n)]
    assert (largest.real > 0).all() and abs(largest.imag).max() <= 10 * np.finfo(dtype).eps
    few = tesela.eig_banded(ab, lower, select="i", select_range=(n // 2, n // 2))
    close(a @ few[1], few[1] * few[0], dtype)
    below = tesela.eigvals_banded(ab, lower, select="v", select_range=(-np.inf, (w[0] + w[-1]) / 2))
    assert len(below) == (w <= (w[0] + w[-1]) / 2).sum()
    a = np.tril(a) + 1j * np.triu(a, 1) + 2 * np.eye(n)
    a = a.astype(dtype)
    room = np.zeros((2 * kd + 1, n), dtype)
    for k in range(-kd, kd + 1):
        room[kd - k, max(k, 0) : n + min(k, 0)] = np.diagonal(a, k)
    close(tesela.solve_banded((kd, kd), room, b), np.linalg.solve(a, b), dtype)
    close(tesela.solve(a, b, assume_a="banded"), np.linalg.solve(a, b), dtype)


def test_a_band_matrix_that_is_empty_or_not_hermitian_is_refused():
    with pytest.raises(ValueError, match="imaginary part"):
        tesela.eig_banded(np.array([[1, 2], [1j, 1j]]))
    with pytest.raises(ValueError, match="a row"):
        tesela.eig_banded(np.zeros((0, 3)))
    with pytest.raises(np.linalg.LinAlgError, match=r"a_band\[0, 1\] is not finite"):
        tesela.eig_banded(np.array([[0, complex(0, np.nan)], [1, 1]]))


def test_functions_of_real_numbers_say_so():
    for call in (lambda a: tesela.solve(a, np.ones(2), transposed=True), lambda a: tesela.nnls(a, np.ones(2))):
        with pytest.raises(TypeError, match="complex"):
            call(np.eye(2, dtype=complex))


def test_a_transposed_hermitian_matrix_is_refused():
    h = np.array([[2, 1j], [-1j, 3]])
    with pytest.raises(TypeError, match="transposed=False"):
        tesela.solve(h, np.ones(2), assume_a="pos", transposed=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_qr_and_lstsq_near_the_ends_of_the_range(dtype):
    info = np.finfo(dtype)
    one = 1.1 + 0.02 * random(200, 150)
    one = (one if np.dtype(dtype).kind == "c" else one.real).astype(dtype)
    for scale in (info.dtype.type(2) ** (info.maxexp - 4), info.tiny):  # sums of elements exceed 16
        a = one * scale
        q, r = tesela.qr(a, mode="economic")
        close(q @ (r / scale), one, dtype)
        assert (np.abs(tesela.qr(a, mode="r").r[:150] - r) <= info.smallest_subnormal).all()
        x = tesela.lstsq(a, a[:, 2] / 8).x
        close(x, np.eye(150, dtype=dtype)[2] / 8, dtype, 1e5)
