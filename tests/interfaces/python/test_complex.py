"""Complex numbers: the functions that accept them agree with SciPy, and the others name those."""

import numpy as np
import pytest
import scipy.linalg

import tesela

TYPES = pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
SIZES = pytest.mark.parametrize("n", [1, 5, 70, 300])


def random(*shape, dtype=np.complex128, seed=1, order="F"):
    r = np.random.default_rng(seed)
    return np.asarray(r.standard_normal(shape) + 1j * r.standard_normal(shape), dtype, order=order)


def hermitian(n, dtype=np.complex128):
    a = random(n, n, dtype=dtype)
    a = a + a.conj().T + 8 * np.sqrt(n) * np.eye(n, dtype=dtype)
    np.fill_diagonal(a, a.diagonal().real)
    return np.asfortranarray(a, dtype)


def close(found, expected, dtype, factor=300):
    assert found.dtype == dtype
    scale = np.linalg.norm(expected) if np.size(expected) else 1
    assert np.linalg.norm(found - expected) <= factor * np.finfo(dtype).eps * scale


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


REAL_ONLY = {
    "lstsq": lambda a: tesela.lstsq(a, np.ones(2)),
    "eigh": tesela.eigh,
    "svd": tesela.svd,
    "lu": tesela.lu,
    "inv": tesela.inv,
    "qr with pivots": lambda a: tesela.qr(a, pivoting=True),
    "solve of a symmetric matrix": lambda a: tesela.solve(a, np.ones(2), assume_a="sym"),
    "solve transposed": lambda a: tesela.solve(a, np.ones(2), transposed=True),
}


@pytest.mark.parametrize("name", REAL_ONLY)
def test_functions_of_real_numbers_say_so(name):
    with pytest.raises(TypeError, match="complex"):
        REAL_ONLY[name](np.eye(2, dtype=complex))


def test_a_transposed_hermitian_matrix_is_refused():
    h = np.array([[2, 1j], [-1j, 3]])
    with pytest.raises(TypeError, match="transposed=False"):
        tesela.solve(h, np.ones(2), assume_a="pos", transposed=True)
