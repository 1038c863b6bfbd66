"""Complex least squares, weighted, generalized and constrained, compared with LAPACK's and SciPy's."""

import numpy as np
import pytest
import scipy.linalg
from complex_numbers import TYPES, close, hermitian, random

import tesela


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


def test_lstsq_finds_nan():
    a, b = random(6, 3), random(6)
    a[4, 1] = complex(0, np.nan)
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        tesela.lstsq(a, b)


@TYPES
def test_errors_of_complex_unknowns_agree_with_the_formulas(dtype):
    m, n = 40, 3
    a, b = random(m, n, dtype=dtype), random(m, 2, dtype=dtype, seed=2)
    w, s = np.asarray(1 + np.arange(m) % 5, b.real.dtype), hermitian(m).astype(dtype) + 50 * np.eye(m, dtype=dtype)
    for weights, solved in (
        (np.eye(m), tesela.lstsq(a, b, errors=True)),
        (np.diag(w), tesela.wls(a, b, w, errors=True)),
        (np.linalg.inv(s.astype(complex)), tesela.gls(a, b, s, errors=True)),
    ):
        v = np.linalg.inv(a.conj().T @ weights @ a)
        u = b - a @ solved.x
        expected = [(u[:, k].conj() @ weights @ u[:, k]).real / (m - n) * v for k in range(2)]
        rtol = 1e4 * np.finfo(dtype).eps
        assert solved.covariance.dtype == dtype and solved.standard_errors.dtype == b.real.dtype
        for k in range(2):
            found = solved.covariance[:, n * k : n * (k + 1)]
            assert (found == found.conj().T).all()
            assert np.abs(found - expected[k]).max() <= rtol * np.abs(expected[k]).max()
            np.testing.assert_allclose(solved.standard_errors[:, k], np.sqrt(np.diag(expected[k]).real), rtol=rtol)
    one = tesela.lstsq(a, b[:, 0], errors=True)
    assert one.standard_errors.shape == (n,) and one.covariance.shape == (n, n)


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


def test_gls_refuses_covariances_that_are_not_hermitian():
    a, b, s = random(6, 2), random(6, seed=2), hermitian(6)
    with pytest.raises(ValueError, match=r"not Hermitian: worst at \(1, 4\)"):
        t = s.copy()
        t[1, 4] = np.conj(t[1, 4])
        tesela.gls(a, b, t)
    with pytest.raises(ValueError, match="indefinite"):
        tesela.gls(a, b, s - 40 * np.eye(6))
    assert tesela.gls(a.real, b.real, s).x.dtype == np.complex128
