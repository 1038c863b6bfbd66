"""Ridge regression, total least squares and principal components, compared with formulas of NumPy."""

import numpy as np
import pytest
from conftest import dtypes, eps, laid_out, layouts, norm, random, seeds
from hypothesis import given, strategies as st

import tesela


def augmented(a, b, alpha):
    n = a.shape[1]
    rows, right = np.vstack([a, np.sqrt(alpha) * np.eye(n)]), np.concatenate([b, np.zeros((n, *b.shape[1:]))])
    return np.linalg.lstsq(rows.astype(float), right.astype(float), rcond=None)[0]


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 3), st.floats(0.1, 100), dtypes, layouts, seeds)
def test_ridge_is_least_squares_of_more_rows(m, n, k, alpha, dtype, layout, seed):
    a, b = random(seed, m, n).astype(dtype), random(seed + 1, *((m, k) if k else (m,))).astype(dtype)
    r = tesela.ridge(laid_out(a, layout), laid_out(b, layout), alpha)
    expected = augmented(a, b, alpha)
    assert r.x.dtype == dtype and r.x.shape == expected.shape and r.status == "ok"
    assert norm(r.x - expected) <= 5000 * eps(dtype) * max(norm(expected), norm(b) / np.sqrt(alpha))
    assert r.backward_error <= r.backward_bound
    assert norm(r.residual_norms - np.linalg.norm(b - a @ expected, axis=0)) <= 2e4 * eps(dtype) * norm(b)
    assert r.alphas is None and r.gcv_curve is None


def test_cross_validation_is_that_of_the_hat_matrix():
    a, b = random(1, 40, 6), random(2, 40, 2)
    r = tesela.ridge(a, b)
    assert r.alpha.shape == r.gcv.shape == (2,) and r.alphas.shape == r.gcv_curve.shape == (201, 2)
    for k in range(2):
        for alpha, gcv in [(r.alpha[k], r.gcv[k]), *zip(r.alphas[::40, k], r.gcv_curve[::40, k])]:
            hat = a @ np.linalg.solve(a.T @ a + alpha * np.eye(6), a.T)
            assert gcv == pytest.approx(40 * norm(b[:, k] - hat @ b[:, k]) ** 2 / (40 - np.trace(hat)) ** 2, rel=1e-9)
        assert r.gcv[k] <= r.gcv_curve[:, k].min() * (1 + 1e-12)
    one = tesela.ridge(a, b[:, 0])
    assert one.alpha == r.alpha[0] and isinstance(one.gcv, float) and one.alphas.shape == (201,)


def test_intercept_is_not_penalized():
    a, b = random(3, 50, 4) + 10, random(4, 50) + 100
    r = tesela.ridge(a, b, 2.0, intercept=True)
    centred = augmented(a - a.mean(0), b - b.mean(), 2.0)
    assert norm(r.x - centred) <= 1e-12 * norm(centred)
    assert r.intercept == pytest.approx(b.mean() - a.mean(0) @ centred, rel=1e-12)
    hat = (a - a.mean(0)) @ np.linalg.solve((a - a.mean(0)).T @ (a - a.mean(0)) + 2 * np.eye(4), (a - a.mean(0)).T)
    assert r.effective_df == pytest.approx(1 + np.trace(hat), rel=1e-12)
    assert tesela.ridge(a, b, 2.0).intercept == 0


def test_failures_of_ridge():
    a, b = random(5, 6, 2), random(6, 6)
    for wrong in (-1, np.nan, np.inf):
        with pytest.raises(ValueError, match="alpha"):
            tesela.ridge(a, b, wrong)
    with pytest.raises(ValueError):
        tesela.ridge(a, b[:3])
    a[2, 1] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match="not finite") as error:
        tesela.ridge(a, b)
    assert error.value.status == "not finite" and error.value.result.x is None
    assert tesela.ridge(np.ones((4, 2)), np.ones(4), 0).status == "rank deficient"


@given(st.integers(1, 6), st.integers(1, 3), st.booleans(), dtypes, layouts, seeds)
def test_total_least_squares(n, k, intercept, dtype, layout, seed):
    m = n + k + 10
    a, x = random(seed, m, n).astype(dtype), random(seed + 1, n, k)
    b = (a @ x + 0.01 * random(seed + 2, m, k) + (3 if intercept else 0)).astype(dtype)
    r = tesela.tls(laid_out(a, layout), laid_out(b, layout), intercept=intercept)
    both = np.hstack([a, b]).astype(float)
    centred = both - both.mean(0) if intercept else both
    s, vh = np.linalg.svd(centred)[1:]
    v = vh.T
    expected = -v[:n, n:] @ np.linalg.inv(v[n:, n:])
    assert norm(r.x - expected) <= 1e4 * eps(dtype) * norm(expected) / r.gap and r.x.dtype == dtype
    assert r.correction == pytest.approx(norm(s[n:]), rel=1e4 * float(eps(dtype)))
    assert norm(r.singular_values - s) <= 100 * eps(dtype) * s[0]
    if intercept:
        assert norm(r.intercept - (both[:, n:].mean(0) - both[:, :n].mean(0) @ expected)) <= 1e5 * eps(dtype) / r.gap
    else:
        assert r.intercept is None


def test_failures_of_total_least_squares():
    with pytest.raises(np.linalg.LinAlgError, match="nongeneric") as error:
        tesela.tls(np.array([[1.0, 0], [0, 0], [0, 0]]), np.ones(3))
    assert error.value.status == "nongeneric"
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        tesela.tls(np.array([[np.inf], [1]]), np.ones(2))
    assert tesela.tls(np.ones((3, 2)), np.full(3, 2.0)).status == "not unique"
    assert tesela.tls(np.ones((3, 1)), np.ones(3)).x.shape == (1,)


@given(st.integers(2, 40), st.integers(1, 12), st.booleans(), dtypes, layouts, seeds)
def test_principal_components(m, n, scale, dtype, layout, seed):
    a = (random(seed, m, n) + 5).astype(dtype)
    p = tesela.pca(laid_out(a, layout), scale=scale)
    x = a.astype(float) - a.mean(0, dtype=float)
    if scale:
        x /= x.std(0, ddof=1)
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    signs = np.sign(vh[np.arange(len(vh)), abs(vh).argmax(1)])  # scikit-learn's convention
    bound = 2000 * eps(dtype)
    assert p.loadings.dtype == p.scores.dtype == dtype and p.scores.shape == (m, len(s))
    assert norm(p.deviations - s / np.sqrt(m - 1)) <= bound * s[0]
    assert norm(p.explained_variance - p.deviations**2) <= 1e-14 * norm(p.explained_variance)
    assert norm(p.explained_variance_ratio - s**2 / (s**2).sum()) <= bound
    assert norm(p.scores @ p.loadings.T.astype(float) - x) <= bound * norm(x)
    assert norm(p.means - a.mean(0, dtype=float)) <= bound * norm(a.mean(0))
    gap = min([abs(s[0] - s[1]) / s[0]] if len(s) > 1 else [1])
    assert norm(p.loadings[:, 0] - signs[0] * vh[0]) <= bound / max(gap, bound) or gap < 1e-2


def test_failures_of_principal_components():
    a = random(7, 10, 3)
    assert tesela.pca(a, 2).loadings.shape == (3, 2) and "0." in repr(tesela.pca(a))
    for wrong in (0, 4):
        with pytest.raises(ValueError, match="components"):
            tesela.pca(a, wrong)
    with pytest.raises(ValueError):
        tesela.pca(a[:1])
    with pytest.raises(ValueError):
        tesela.pca(a[:, 0])
    a[:, 1] = 4
    with pytest.raises(ValueError, match="column 2 is constant"):
        tesela.pca(a, scale=True)
    a[3, 2] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match=r"a\[3, 2\]"):
        tesela.pca(a)
