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


@TYPES
@pytest.mark.parametrize("m, n, rank", [(1, 1, 1), (9, 5, 5), (5, 9, 5), (40, 30, 11), (30, 40, 11), (300, 120, 120),
                                        (120, 300, 120), (400, 300, 150)])
@pytest.mark.parametrize("order", ["F", "C"])
def test_lstsq(dtype, m, n, rank, order):
    a = random(m, n) if rank == min(m, n) else random(m, rank) @ random(rank, n, seed=2)
    a = np.asarray(a, dtype, order=order)
    b = random(m, 2, dtype=dtype, seed=3)
    found = tesela.lstsq(a, b, singular_values=True)
    x, _, expected_rank, s = scipy.linalg.lstsq(a, b, cond=1e2 * max(m, n) * np.finfo(dtype).eps)
    assert found.rank == expected_rank == rank
    assert found.status == ("ok" if rank == min(m, n) else "rank deficient")
    close(found.x, x, dtype, 1e3 * s[0] / s[rank - 1])
    assert found.residual_norms.dtype == b.real.dtype
    expected = np.linalg.norm(a @ x - b, axis=0)
    assert np.abs(found.residual_norms - expected).max() <= 3e3 * np.finfo(dtype).eps * np.linalg.norm(b)
    assert np.abs(found.singular_values - s).max() <= 1e2 * np.finfo(dtype).eps * s[0]
    one = tesela.lstsq(a, b[:, 0].real)
    assert one.x.dtype == dtype and one.x.shape == (n,)
    residual = a @ one.x - b[:, 0].real
    assert np.linalg.norm(a.conj().T @ residual) <= 1e3 * np.finfo(dtype).eps * s[0] * (s[0] * np.linalg.norm(one.x) + m)


def test_lstsq_finds_nan_and_has_no_errors_of_complex_numbers():
    a, b = random(6, 3), random(6)
    a[4, 1] = complex(0, np.nan)
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        tesela.lstsq(a, b)
    with pytest.raises(TypeError, match="errors=False"):
        tesela.lstsq(random(6, 3), b, errors=True)


@pytest.mark.parametrize("function", [tesela.qr, tesela.cholesky, lambda a: tesela.solve(a, np.ones(4))])
def test_messages_name_the_element_that_is_not_finite(function):
    a = hermitian(4)
    a[1, 2] = complex(0, np.nan)
    for given in (a, np.stack([hermitian(4), a])):
        if given.ndim == 2 or function in (tesela.qr, tesela.cholesky):
            with pytest.raises(np.linalg.LinAlgError, match=r"a\[1, 2\] is not finite"):
                function(given)


@TYPES
@pytest.mark.parametrize("m, n, rank", [(1, 1, 1), (9, 5, 5), (5, 9, 5), (40, 30, 11), (300, 120, 120)])
@pytest.mark.parametrize("spread", [0.1, 3])
def test_wls(dtype, m, n, rank, spread):
    if spread == 3 and (dtype == np.complex64 or rank < min(m, n)):
        spread = 1  # the reference loses the digits of light rows
    a = np.asarray(random(m, n) if rank == min(m, n) else random(m, rank) @ random(rank, n, seed=2), dtype)
    b = random(m, 2, dtype=dtype, seed=3)
    w = np.asarray(10 ** (spread * np.sin(7 * np.arange(m) + 1)), b.real.dtype)
    found = tesela.wls(a, b, w, rcond=1e-4)
    root = np.sqrt(w)[:, None]
    x, _, _, s = scipy.linalg.lstsq(root * a, root * b, cond=1e-4)
    assert found.status == ("ok" if rank == min(m, n) else "rank deficient") and found.rank == rank
    close(found.x, x, dtype, 1e3 * s[0] / s[rank - 1])
    expected = np.linalg.norm(root * (a @ x - b), axis=0)
    assert found.residual_norms.dtype == b.real.dtype
    assert np.abs(found.residual_norms - expected).max() <= 3e3 * np.finfo(dtype).eps * np.linalg.norm(root * b)


def test_wls_ignores_rows_of_weight_0_and_needs_real_weights():
    a, b, w = random(9, 3), random(9, seed=2), np.linspace(1, 2, 9)
    kept = tesela.wls(a[1:], b[1:], w[1:]).x
    a[0, 0], b[0] = complex(0, np.nan), np.inf
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        tesela.wls(a, b, w)
    w[0] = 0
    np.testing.assert_allclose(tesela.wls(a, b, w).x, kept, rtol=1e-12)
    with pytest.raises(TypeError, match="complex"):
        tesela.wls(a, b, w + 0j)
    with pytest.raises(TypeError, match="errors=False"):
        tesela.wls(a, b, w, errors=True)


@TYPES
@pytest.mark.parametrize("m, n, p", [(1, 1, 1), (9, 5, 2), (40, 40, 13), (7, 12, 8), (300, 120, 50), (30, 6, 6)])
@pytest.mark.parametrize("order", ["F", "C"])
def test_lse(dtype, m, n, p, order):
    a, c = random(m, n, dtype=dtype, order=order), random(p, n, dtype=dtype, seed=2, order=order)
    b, d = random(m, 2, dtype=dtype, seed=3), random(p, 2, dtype=dtype, seed=4)
    found = tesela.lse(a, b, c, d)
    (gglse,) = scipy.linalg.get_lapack_funcs(("gglse",), (a,))
    x = np.stack([gglse(a, c, b[:, k], d[:, k])[3] for k in range(2)], axis=1)
    assert (found.status, found.constraint_rank, found.rank) == ("ok", p, n - p)
    close(found.x, x, dtype, 1e3 * found.condition * found.constraint_condition)
    assert found.constraint_error <= found.constraint_bound <= 1e-2
    expected = np.linalg.norm(a @ x - b, axis=0)
    assert found.residual_norms.dtype == b.real.dtype
    assert np.abs(found.residual_norms - expected).max() <= 3e4 * np.finfo(dtype).eps * (np.linalg.norm(b) + np.linalg.norm(a) * np.linalg.norm(x))
    one = tesela.lse(a.real, b[:, 0].real, c, d[:, 0].real)
    assert one.x.dtype == dtype and one.x.shape == (n,)
    assert np.linalg.norm(c @ one.x - d[:, 0].real) <= 1e3 * np.finfo(dtype).eps * (np.linalg.norm(c) * np.linalg.norm(one.x) + np.linalg.norm(d))


def test_lse_drops_complex_multiples_of_constraints_and_finds_contradictions_and_nan():
    a, b, c, d = random(20, 6), random(20, seed=2), random(3, 6, seed=3), random(3, seed=4)
    c[2], d[2] = (2 - 1j) * c[0], (2 - 1j) * d[0]
    found = tesela.lse(a, b, c, d)
    assert found.constraint_rank == 2 and found.status == "ok"
    np.testing.assert_allclose(found.x, tesela.lse(a, b, c[:2], d[:2]).x, rtol=1e-9)
    d[2] = np.conj(2 - 1j) * d[0]
    with pytest.raises(np.linalg.LinAlgError, match="inconsistent"):
        tesela.lse(a, b, c, d)
    for k, given in enumerate((a, b, c, d)):
        bad = given.copy()
        bad.flat[-1] = complex(0, np.nan)
        with pytest.raises(np.linalg.LinAlgError, match="not finite"):
            tesela.lse(*(bad if j == k else other for j, other in enumerate((a, b, c[:, :], d))))


@TYPES
@pytest.mark.parametrize("n, m, p", [(1, 1, 1), (9, 4, 9), (9, 4, 5), (40, 40, 7), (64, 20, 130), (300, 90, 250)])
@pytest.mark.parametrize("order", ["F", "C"])
def test_glm(dtype, n, m, p, order):
    a, b = random(n, m, dtype=dtype, order=order), random(n, p, dtype=dtype, seed=2, order=order)
    d = random(n, 2, dtype=dtype, seed=3)
    found = tesela.glm(a, b, d)
    # SciPy has no ggglm: min ||[0 I] z|| subject to [a b] z = d.
    (gglse,) = scipy.linalg.get_lapack_funcs(("gglse",), (a,))
    identity, both = np.eye(p, m + p, m, dtype=dtype), np.hstack([a, b])
    z = np.stack([gglse(identity, both, np.zeros(p, dtype), d[:, k])[3] for k in range(2)], axis=1)
    x, y = z[:m], z[m:]
    assert (found.status, found.rank, found.rank_b) == ("ok", m, n - m)
    assert found.backward_error <= found.backward_bound <= 1e-2
    size = np.linalg.norm(x) + np.linalg.norm(y)
    for one, other in ((found.x, x), (found.y, y)):
        assert one.dtype == dtype
        assert np.linalg.norm(one - other) <= 1e3 * np.finfo(dtype).eps * found.condition * found.condition_b * size
    residual = a @ found.x + b @ found.y - d
    norms = np.linalg.norm(a) * np.linalg.norm(found.x) + np.linalg.norm(b) * np.linalg.norm(found.y)
    assert np.linalg.norm(residual) <= 1e3 * np.finfo(dtype).eps * (norms + np.linalg.norm(d))


def test_glm_finds_contradictions_and_nan():
    a, b = random(9, 3), random(9, 4, seed=2)
    d = a @ random(3, seed=3) + b @ random(4, seed=4)
    assert tesela.glm(a, b, d).status == "ok"
    with pytest.raises(np.linalg.LinAlgError, match="inconsistent"):
        tesela.glm(a, b, np.conj(d))
    for k in range(3):
        arguments = [a.copy(), b.copy(), d.copy()]
        arguments[k].flat[-1] = complex(0, np.nan)
        with pytest.raises(np.linalg.LinAlgError, match="not finite"):
            tesela.glm(*arguments)


@TYPES
@pytest.mark.parametrize("m, n", [(1, 1), (9, 4), (70, 30), (200, 60)])
@pytest.mark.parametrize("diagonal", [False, True])
def test_gls(dtype, m, n, diagonal):
    a, b = random(m, n, dtype=dtype), random(m, 2, dtype=dtype, seed=2)
    s = hermitian(m, dtype)
    if diagonal:
        s = np.diag(np.diag(s))
    found = tesela.gls(a, b, s)
    wide = np.complex128
    root = np.linalg.inv(np.linalg.cholesky(s.astype(wide)))
    x, _, _, values = scipy.linalg.lstsq(root @ a, root @ b)
    assert found.status == "ok" and found.rank == n
    close(found.x, x, dtype, 1e3 * values[0] / values[-1])
    expected = np.linalg.norm(root @ (a @ x - b), axis=0)
    assert np.abs(found.residual_norms - expected).max() <= 3e3 * np.finfo(dtype).eps * np.linalg.norm(root @ b)


def test_gls_refuses_covariances_that_are_not_hermitian_and_errors_of_complex_numbers():
    a, b, s = random(6, 2), random(6, seed=2), hermitian(6)
    with pytest.raises(ValueError, match=r"not Hermitian: worst at \(1, 4\)"):
        t = s.copy()
        t[1, 4] = np.conj(t[1, 4])
        tesela.gls(a, b, t)
    with pytest.raises(ValueError, match="indefinite"):
        tesela.gls(a, b, s - 40 * np.eye(6))
    with pytest.raises(TypeError, match="errors=False"):
        tesela.gls(a, b, s, errors=True)
    assert tesela.gls(a.real, b.real, s).x.dtype == np.complex128


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


REAL_ONLY = {
    "randomized_svd": lambda a: tesela.randomized_svd(a, 1),
    "lu": tesela.lu,
    "inv of a symmetric matrix": lambda a: tesela.inv(a, assume_a="sym"),
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
def test_large_svd(dtype):
    a = random(1900, 1850, dtype=dtype)
    u, s, vh = tesela.svd(a, full_matrices=False)
    close((u * s) @ vh, a, dtype)
    close(vh @ vh.conj().T, np.eye(1850), dtype)


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
