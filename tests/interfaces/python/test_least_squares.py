from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from conftest import dtypes, eps, laid_out, layouts, norm, random, seeds
from hypothesis import given, strategies as st

import tesela

sizes = st.integers(0, 40)


@given(sizes, sizes, st.sampled_from([None, 1, 3]), dtypes, layouts, layouts, seeds)
def test_lstsq_agrees_with_scipy(m, n, nrhs, dtype, layout_a, layout_b, seed):
    a0 = random(seed, m, n, dtype=dtype)
    b0 = random(seed + 1, *((m,) if nrhs is None else (m, nrhs)), dtype=dtype)
    a, b = laid_out(a0, layout_a), laid_out(b0, layout_b)
    r = tesela.lstsq(a, b)
    assert r.status == "ok" and r.rank == min(m, n) and r.x.dtype == dtype and r.x.shape == (n,) + b.shape[1:]
    assert np.array_equal(a, a0) and np.array_equal(b, b0)  # unchanged
    if m > 0 and n > 0:
        expected, _, _, s = scipy.linalg.lstsq(a0, b0)
        condition = s[0] / s[-1]
        bound = 50 * eps(dtype) * condition**2 * (norm(expected) + norm(b0) / s[0])
        assert norm(r.x - expected) <= bound
    residual = norm(a0.astype(float) @ r.x - b0)
    assert abs(norm(r.residual_norms) - residual) <= 100 * eps(dtype) * (1 + residual) * max(1, norm(r.x))


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 5), dtypes, seeds)
def test_lstsq_of_a_deficient_rank_has_the_least_norm(m, n, rank, dtype, seed):
    rank = min(rank, m, n)
    a = (random(seed, m, rank) @ random(seed + 1, rank, n)).astype(dtype)
    b = random(seed + 2, m, dtype=dtype)
    r = tesela.lstsq(a, b, rcond=1e-3)
    expected, _, s_rank, s = np.linalg.lstsq(a.astype(float), b.astype(float), rcond=1e-3)
    if s_rank != rank or (rank > 0 and s[rank - 1] < 1e-2 * s[0]) or r.rank != rank:
        return  # too close to the threshold
    assert r.status == ("ok" if rank == min(m, n) else "rank deficient")
    assert norm(r.x - expected) <= 1e5 * eps(dtype) * (1 + norm(expected))


def test_lstsq_accepts_scipys_cond():
    a = np.diag([1.0, 1e-4, 1.0]) @ random(1, 3, 3)
    b = random(2, 3)
    for cut, rank in ((1e-2, 2), (1e-9, 3)):
        found = tesela.lstsq(a, b, cond=cut)
        assert found.rank == rank and np.array_equal(found.x, tesela.lstsq(a, b, rcond=cut).x)
        assert tesela.lstsq(np.stack([a, a]), np.stack([b, b])[..., None], cond=cut)[2].tolist() == [rank, rank]
    with pytest.raises(ValueError, match="give only one"):
        tesela.lstsq(a, b, cond=0.1, rcond=0.1)


@given(sizes, sizes, st.sampled_from([None, 1, 3]), dtypes, layouts, st.booleans(), seeds)
def test_nnls_agrees_with_scipy(m, n, nrhs, dtype, layout, correlated, seed):
    a0 = random(seed, m, n, dtype=dtype) + (2 if correlated else 0)
    b0 = random(seed + 1, *((m,) if nrhs is None else (m, nrhs)), dtype=dtype)
    a = laid_out(a0, layout)
    r = tesela.nnls(a, b0)
    assert r.x.dtype == dtype and r.x.shape == (n,) + b0.shape[1:] and np.all(r.x >= 0)
    assert r.backward_error <= r.backward_bound and np.array_equal(a, a0)
    k = nrhs or 1
    for x, b, residual in zip(r.x.reshape(n, k).T, b0.reshape(m, k).T, np.reshape(r.residual_norms, k)):
        product = a0.astype(float) @ x
        size = norm(b) + np.sum(np.linalg.norm(a0, axis=0) * x)
        assert abs(residual - norm(product - b)) <= 100 * eps(dtype) * size
        if m > 0 and n > 0:
            _, expected = scipy.optimize.nnls(a0.astype(float), b.astype(float), maxiter=100 * n)
            assert residual <= expected + 100 * eps(dtype) * size


def test_nnls_of_a_deficient_rank_and_of_nan():
    a, b = np.ones((5, 3)), np.arange(5.0)
    r = tesela.nnls(a, b)
    assert r.rank == 1 and r.status == "rank deficient" and np.count_nonzero(r.x) == 1
    assert np.isclose(r.x.sum(), 2) and np.isclose(r.residual_norms, np.sqrt(10))
    assert np.array_equal(tesela.nnls(a, -b).x, np.zeros(3))
    b[2] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        tesela.nnls(a, b)


def test_lstsq_of_two_equal_columns():
    r = tesela.lstsq(np.ones((5, 2)), np.arange(5.0))
    assert r.rank == 1 and r.status == "rank deficient" and r.degrees_of_freedom == 4
    assert np.allclose(r.x, [1, 1], atol=1e-14) and np.isclose(r.residual_norms, np.sqrt(10))
    assert "rank=1" in repr(r)


@pytest.mark.parametrize("m, n", [(700, 300), (5000, 20), (300, 700)])
def test_lstsq_of_many_tiles(m, n):
    a, b = random(1, m, n), random(2, m, 2)
    r = tesela.lstsq(a, b)
    assert norm(r.x - scipy.linalg.lstsq(a, b)[0]) <= 1e-11 * norm(r.x)


def test_overwritable_arrays_are_used_in_place():
    a, b = np.asfortranarray(random(1, 300, 100)), random(2, 300)
    kept = a.copy()
    x = tesela.lstsq(a, b).x
    assert np.array_equal(a, kept)
    assert np.array_equal(tesela.lstsq(a, b, overwrite_a=True, overwrite_b=True).x, x)
    assert not np.array_equal(a, kept)
    kept.flags.writeable = False
    assert np.array_equal(tesela.lstsq(kept, random(2, 300), overwrite_a=True).x, x)


@given(st.integers(1, 30), st.integers(1, 8), dtypes, layouts, seeds)
def test_wls_is_lstsq_of_scaled_rows(m, n, dtype, layout, seed):
    a, b = random(seed, m, n, dtype=dtype), random(seed + 1, m, dtype=dtype)
    w = np.abs(random(seed + 2, m, dtype=dtype)) + dtype(0.25)
    root = np.sqrt(w.astype(float))
    expected, _, rank, s = scipy.linalg.lstsq(root[:, None] * a, root * b)
    r = tesela.wls(laid_out(a, layout), b, w)
    assert r.rank == rank and norm(r.x - expected) <= 200 * eps(dtype) * (s[0] / s[-1]) ** 2 * (norm(expected) + norm(b))


@given(st.integers(1, 20), st.integers(1, 6), dtypes, layouts, seeds)
def test_gls_is_lstsq_of_whitened_rows(m, n, dtype, layout, seed):
    a, b = random(seed, m, n, dtype=dtype), random(seed + 1, m, dtype=dtype)
    f = random(seed + 2, m, m)
    covariance = (f @ f.T + m * np.eye(m)).astype(dtype)
    factor = np.linalg.cholesky(covariance.astype(float))
    expected, _, rank, s = scipy.linalg.lstsq(*(np.linalg.solve(factor, x.astype(float)) for x in (a, b)))
    r = tesela.gls(a, b, laid_out(covariance, layout))
    assert norm(r.x - expected) <= 1000 * m * eps(dtype) * (s[0] / s[-1]) ** 2 * (norm(expected) + norm(b))


def test_nan_is_an_error_with_its_status():
    for bad in (np.nan, np.inf):
        with pytest.raises(np.linalg.LinAlgError) as caught:
            tesela.lstsq(np.array([[1.0], [bad]]), np.ones(2))
        assert caught.value.status == "not finite" and caught.value.result.x is None


@pytest.mark.parametrize("wrong", [np.ones(3), np.ones((4, 1)), [[1.0]]])
def test_sizes_that_do_not_match_are_errors(wrong):
    with pytest.raises(ValueError, match="rows, not 2"):
        tesela.lstsq(np.eye(2), wrong)
    with pytest.raises(ValueError):
        tesela.wls(np.eye(2), np.ones(2), wrong)
    with pytest.raises(ValueError):
        tesela.gls(np.eye(2), np.ones(2), wrong)


@given(st.integers(0, 12), st.integers(1, 8), st.integers(0, 4), dtypes, layouts, seeds)
def test_lse_agrees_with_gglse(more, n, p, dtype, layout, seed):
    p = min(p, n)
    a, c = random(seed, n + more, n, dtype=dtype), random(seed + 1, p, n, dtype=dtype)
    b, d = random(seed + 2, n + more, dtype=dtype), random(seed + 3, p, dtype=dtype)
    r = tesela.lse(laid_out(a, layout), b, laid_out(c, layout), d)
    # min ||a x - b|| subject to c x = d, by the null space of c
    ca, aa = c.astype(float), a.astype(float)
    x0, null = np.linalg.pinv(ca) @ d, scipy.linalg.null_space(ca) if p else np.eye(n)
    expected = x0 + null @ (np.linalg.pinv(aa @ null) @ (b - aa @ x0))
    condition = np.linalg.cond(aa) * (np.linalg.cond(ca) if p else 1)
    assert r.status == "ok" and r.constraint_rank == p and r.x.dtype == dtype
    assert norm(r.x - expected) <= 500 * eps(dtype) * condition**2 * (1 + norm(expected))
    assert norm(ca @ r.x - d) <= 200 * eps(dtype) * (norm(ca) * norm(r.x) + norm(d))


def test_results_report_the_units_in_which_x_has_least_norm():
    for a, original in ((np.array([[1.0, 0.5]]), True), (np.array([[1.0, 2.0**-30]]), False)):
        of_lse = tesela.lse(np.zeros((0, 2)), np.zeros(0), a, np.ones(1))
        of_glm = tesela.glm(a, np.ones((1, 1)), np.ones(1))  # one row has a condition of 1
        assert of_lse.original_units is original and of_glm.original_units
        for found in (of_lse, of_glm):
            assert norm(a @ found.x - 1) <= 1e-14
        least = np.linalg.pinv(a) @ np.ones(1)
        assert norm(of_glm.x - least) <= 1e-14
        assert bool(norm(of_lse.x - least) <= 1e-14) is original


def test_lse_of_contradicting_constraints():
    with pytest.raises(np.linalg.LinAlgError, match="inconsistent") as caught:
        tesela.lse(np.eye(2), np.ones(2), np.ones((2, 2)), np.array([1.0, 2.0]))
    assert caught.value.status == "inconsistent" and caught.value.result.x is None


@given(st.integers(1, 8), st.integers(0, 4), dtypes, layouts, seeds)
def test_glm_is_gls(m, more, dtype, layout, seed):
    n = m + more
    a, b, d = random(seed, n, m, dtype=dtype), random(seed + 1, n, n + 2, dtype=dtype), random(seed + 2, n, dtype=dtype)
    r = tesela.glm(laid_out(a, layout), laid_out(b, layout), d)
    aa, bb = a.astype(float), b.astype(float)
    root = np.linalg.inv(np.linalg.cholesky(bb @ bb.T))
    expected = np.linalg.lstsq(root @ aa, root @ d, rcond=None)[0]
    condition = np.linalg.cond(aa) ** 2 * np.linalg.cond(bb) ** 2
    assert norm(r.x - expected) <= 200 * eps(dtype) * condition * (1 + norm(expected))
    assert norm(aa @ r.x + bb @ r.y - d) <= 200 * eps(dtype) * (norm(aa) * norm(r.x) + norm(bb) * norm(r.y) + norm(d))


def solved(matrix, right):
    """Returns matrix^-1 right in Fractions, by elimination."""
    rows = [[*row, *more] for row, more in zip(matrix, right)]
    for k in range(len(rows)):
        rows[k:] = sorted(rows[k:], key=lambda row: row[k] == 0)
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [value - rows[i][k] * pivot for value, pivot in zip(rows[i], rows[k])]
    return [row[len(rows):] for row in rows]


def exact_gls(a, factor, b):
    """Returns argmin ||factor^-1 (a x - b)|| in exact arithmetic."""
    a, factor, b = ([[Fraction(float(x)) for x in row] for row in np.reshape(part, (len(b), -1))] for part in (a, factor, b))
    product = lambda x, y: [[sum(p * q for p, q in zip(row, column)) for column in zip(*y)] for row in x]
    turned = [list(row) for row in zip(*a)]
    weighted = solved(product(factor, [list(row) for row in zip(*factor)]), [p + q for p, q in zip(a, b)])
    n = len(turned)
    normal = product(turned, weighted)
    return np.array([float(row[0]) for row in solved([row[:n] for row in normal], [row[n:] for row in normal])])


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0], [3, 7, 0, 5, 2, 6, 1, 4]])
def test_glm_and_gls_of_equations_of_any_precision(order):
    m, n = 8, 3
    a, b = random(1, m, n), random(2, m)
    sizes = 10.0 ** np.linspace(-10, 10, m)[order]
    root = np.eye(m) + 0.3 * random(3, m, m)
    expected = exact_gls(a, sizes[:, None] * root, b)
    r = tesela.glm(a, sizes[:, None] * root, b)
    assert r.status == "ok" and np.max(np.abs(r.x / expected - 1)) <= 1e-12
    covariance = sizes[:, None] * (root @ root.T) * sizes
    assert np.max(np.abs(tesela.gls(a, b, covariance).x / expected - 1)) <= 1e-11


def test_wls_of_weights_that_are_all_zero():
    r = tesela.wls(random(1, 6, 2), random(2, 6), np.zeros(6))
    assert r.status == "rank deficient" and r.rank == 0 and r.degrees_of_freedom == 0


def test_errors_of_wls_and_gls_agree_with_the_formulas():
    g = np.random.default_rng(5)
    m, n = 40, 3
    a, b, w = g.standard_normal((m, n)), g.standard_normal((m, 2)), g.uniform(0.5, 2, m)
    factor = g.standard_normal((m, m)) + 3 * np.eye(m)
    s = factor @ factor.T
    for weights, solved in (
        (np.diag(w), tesela.wls(a, b, w, errors=True)),
        (np.linalg.inv(s), tesela.gls(a, b, s, errors=True)),
        (np.eye(m), tesela.lstsq(a, b, errors=True)),
    ):
        v = np.linalg.inv(a.T @ weights @ a)
        u = b - a @ solved.x
        expected = [u[:, k] @ weights @ u[:, k] / (m - n) * v for k in range(2)]
        assert np.allclose(solved.covariance, np.hstack(expected), rtol=1e-10)
        assert np.allclose(solved.standard_errors, np.sqrt([np.diag(c) for c in expected]).T, rtol=1e-10)
    assert tesela.wls(a, b[:, 0], w, errors=True).standard_errors.shape == (n,)
    plain = tesela.wls(a, b, w)
    assert plain.standard_errors is None and plain.covariance is None
    assert tesela.lstsq(np.ones((5, 2)), np.ones(5), errors=True).covariance is None  # a deficient rank
