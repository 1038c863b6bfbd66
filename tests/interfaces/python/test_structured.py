import numpy as np
import pytest
import scipy.linalg
from conftest import dtypes, eps, laid_out, layouts, norm, random, seeds
from hypothesis import given, strategies as st

import tesela


def dense(dl, d, du):
    """Returns the matrix of three full-length bands; their ends couple the first and the last unknown."""
    n = len(d)
    a = np.zeros((n, n))
    for i in range(n):
        a[i, i] += d[i]
        a[i, (i - 1) % n] += dl[i]
        a[i, (i + 1) % n] += du[i]
    return a


@given(
    st.integers(1, 40), st.integers(1, 4), st.booleans(), st.booleans(), st.booleans(), dtypes, layouts, seeds
)
def test_solve_tridiagonal(n, k, periodic, many, short, dtype, layout, seed):
    shape = (n, k) if many else (n,)
    dl, d, du = (random(seed + i, *shape, dtype=dtype) for i in range(3))
    d = (d + 4 * np.sign(d)).astype(dtype)
    if not periodic:
        dl[0] = du[-1] = 0
    b = random(seed + 3, n, k, dtype=dtype)
    bands = [np.atleast_2d(x.T).T.astype(float) for x in (dl, d, du)]
    lower, upper = laid_out(dl, layout), laid_out(du, layout)
    if not periodic:
        if short:
            lower, upper = lower[1:], upper[:-1]
        elif lower.flags.writeable:
            lower[0] = upper[-1] = np.nan  # must not be read
    x = tesela.solve_tridiagonal(lower, laid_out(d, layout), upper, laid_out(b, layout), periodic=periodic)
    assert x.dtype == dtype and x.shape == b.shape
    for j in range(k):
        a = dense(*(band[:, j if many else 0] for band in bands))
        assert norm(a @ x[:, j] - b[:, j]) <= 100 * eps(dtype) * np.linalg.cond(a) * (norm(a) * norm(x[:, j]) + 1)


def test_solve_tridiagonal_agrees_with_solve_banded_in_place():
    n = 200_000
    bands = random(1, 3, n)
    bands[1] += 4
    b = random(2, n)
    expected = scipy.linalg.solve_banded((1, 1), bands, b)
    x = tesela.solve_tridiagonal(bands[2, :-1], bands[1], bands[0, 1:], b, overwrite_b=True)
    assert x is b and norm(x - expected) <= 1e-12 * norm(expected)


def test_solve_tridiagonal_names_the_singular_system():
    d = np.ones((3, 2))
    d[1, 1] = 0
    zero = np.zeros((3, 2))
    with pytest.raises(np.linalg.LinAlgError, match="system 1"):
        tesela.solve_tridiagonal(zero, d, zero, np.ones((3, 2)))


@pytest.mark.parametrize("factor", [0.15, 1, 1.1])
def test_units_of_columns_do_not_change_the_verdict_on_a_band(factor):
    units = 10.0 ** (factor * np.array([100, -100, 120, -130, 3]))
    for end, middle in ((4, 4), (1, 2)):  # the second matrix is singular
        bands = np.array([[-1.0] * 5, [end, middle, middle, middle, end], [-1.0] * 5]) * units
        a = np.diag(bands[1]) + np.diag(bands[0, 1:], 1) + np.diag(bands[2, :-1], -1)
        for solve in (lambda b: tesela.solve_banded((1, 1), bands, b), lambda b: tesela.solve(a, b)):
            if end == 1:
                with pytest.raises(np.linalg.LinAlgError, match="singular"):
                    solve(np.ones(5))
            else:
                assert norm(a / units @ (solve(np.ones(5)) * units) - 1) < 1e-14


@given(st.integers(1, 60), st.sampled_from([None, 1, 3]), dtypes, layouts, seeds)
def test_solve_toeplitz_agrees_with_scipy(n, nrhs, dtype, layout, seed):
    c = random(seed, n, dtype=dtype)
    c[0] += 2 * np.sign(c[0]) * np.sqrt(n)
    b = random(seed + 1, *((n,) if nrhs is None else (n, nrhs)), dtype=dtype)
    t = scipy.linalg.toeplitz(c).astype(float)
    condition = np.linalg.cond(t)
    if condition > 0.01 / eps(dtype):
        return
    r = tesela.solve_toeplitz(laid_out(c, layout), laid_out(b, layout))
    expected = scipy.linalg.solve(t, b.astype(float))
    assert r.status == "ok" and r.x.dtype == dtype and r.x.shape == b.shape and r.residual <= r.residual_bound
    assert norm(r.x - expected) <= 100 * eps(dtype) * np.sqrt(n) * condition * norm(expected)
    assert r.condition <= 10 * n * condition


@given(st.integers(1, 60), st.sampled_from([None, 1, 3]), dtypes, layouts, st.sampled_from([0, 1, 1e-10]), seeds)
def test_solve_toeplitz_of_a_nonsymmetric_matrix_agrees_with_scipy(n, nrhs, dtype, layout, diagonal, seed):
    c, row = random(seed, n, dtype=dtype), random(seed + 2, n, dtype=dtype)
    c[0] *= diagonal  # 0: the first leading minor vanishes
    row[0] = np.float32(0.75)  # not used
    b = random(seed + 1, *((n,) if nrhs is None else (n, nrhs)), dtype=dtype)
    t = scipy.linalg.toeplitz(c, row).astype(float)
    condition = np.linalg.cond(t)
    if condition > 1e-3 / eps(dtype):
        return
    r = tesela.solve_toeplitz((laid_out(c, layout), laid_out(row, layout)), laid_out(b, layout))
    expected = scipy.linalg.solve(t, b.astype(float))
    assert r.status == "ok" and r.x.dtype == dtype and r.x.shape == b.shape and r.residual <= r.residual_bound
    assert norm(r.x - expected) <= 100 * eps(dtype) * np.sqrt(n) * condition * norm(expected)
    assert condition / (10 * n) <= r.condition <= 10 * n * condition


def test_solve_toeplitz_of_a_symmetric_pair_is_that_of_its_column():
    c, b = np.array([4, 1, 0.5]), np.ones(3)
    assert np.array_equal(tesela.solve_toeplitz((c, [9, 1, 0.5]), b).x, tesela.solve_toeplitz(c, b).x)
    assert norm(tesela.solve_toeplitz((c, np.array([4.0, 2, 1])), b).x - scipy.linalg.solve_toeplitz((c, [4, 2, 1]), b)) < 1e-15


def test_solve_toeplitz_of_a_singular_matrix():
    with pytest.raises(np.linalg.LinAlgError) as caught:
        tesela.solve_toeplitz(np.ones(50), np.arange(50.0))
    assert caught.value.status == caught.value.result.status != "ok"


@given(st.integers(1, 50), dtypes, layouts, st.data(), seeds)
def test_eigh_toeplitz_and_counts(n, dtype, layout, data, seed):
    c = random(seed, n, dtype=dtype)
    expected = np.linalg.eigvalsh(scipy.linalg.toeplitz(c).astype(float))
    size = np.abs(expected).max()
    bound = 200 * eps(dtype) * size * max(1, n**0.5)
    w = tesela.eigh_toeplitz(laid_out(c, layout), eigvals_only=True)
    assert w.dtype == dtype and w.shape == (n,) and norm(w - expected) <= bound
    low = data.draw(st.integers(0, n - 1))
    high = data.draw(st.integers(low, n - 1))
    w, v = tesela.eigh_toeplitz(c, subset_by_index=(low, high))
    assert norm(w - expected[low : high + 1]) <= bound and v.shape == (n, high - low + 1)
    t = scipy.linalg.toeplitz(c).astype(float)
    assert norm(t @ v - v * w) <= 100 * bound and norm(v.T.astype(float) @ v - np.eye(len(w))) <= 1e4 * eps(dtype) * n
    gaps = np.diff(expected)
    middle = expected[:-1] + gaps / 2
    clear = gaps > 1e4 * eps(dtype) * n * size
    counts = tesela.toeplitz_count(c, middle[clear])
    assert counts.dtype == np.int64 and np.array_equal(counts, 1 + np.nonzero(clear)[0])
    if clear.any():
        i = int(np.nonzero(clear)[0][0])
        assert norm(tesela.eigh_toeplitz(c, eigvals_only=True, subset_by_value=(middle[i], np.inf)) - expected[i + 1 :]) <= bound


@given(st.integers(2, 60), st.sampled_from([np.float64, np.float32]), st.data())
def test_the_upper_end_of_a_range_belongs_to_it(n, dtype, data):
    c = np.zeros(n, dtype)
    c[:2] = 2, -1
    values = 2 - 2 * np.cos(np.arange(1, n + 1) * np.pi / (n + 1))
    i = data.draw(st.integers(0, n - 2))
    j = data.draw(st.integers(i + 1, n - 1))
    found = tesela.eigh_toeplitz(c, eigvals_only=True, subset_by_value=(values[i], values[j]))  # like scipy.linalg.eigh
    assert len(found) == j - i and np.allclose(found, values[i + 1 : j + 1], atol=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tesela.solve_tridiagonal(np.ones(3), np.ones(3), np.ones(3), np.ones(4)),
        lambda: tesela.solve_tridiagonal(np.ones(1), np.ones(3), np.ones(2), np.ones(3)),
        lambda: tesela.solve_tridiagonal(np.ones(2), np.ones(3), np.ones(2), np.ones(3), periodic=True),
        lambda: tesela.solve_tridiagonal(np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 3))),
        lambda: tesela.solve_toeplitz(np.ones((3, 3)), np.ones(3)),
        lambda: tesela.solve_toeplitz(np.ones(3), np.ones(4)),
        lambda: tesela.solve_toeplitz((np.ones(3), np.ones(4)), np.ones(3)),
        lambda: tesela.solve_toeplitz((np.ones(3), np.ones((3, 1))), np.ones(3)),
        lambda: tesela.solve_toeplitz((np.ones(3),), np.ones(3)),
        lambda: tesela.eigh_toeplitz(np.array([1.0, np.nan])),
        lambda: tesela.eigh_toeplitz(np.ones(3), subset_by_index=(0, 3)),
        lambda: tesela.eigh_toeplitz(np.ones(3), subset_by_index=(0, 1), subset_by_value=(0, 1)),
        lambda: tesela.toeplitz_count(np.ones(3), [np.nan]),
    ],
)
def test_wrong_arguments_are_value_errors(call):
    with pytest.raises(ValueError):
        call()


def test_a_short_off_diagonal_is_refused_with_both_lengths():
    d = np.full(50, 4.0)
    with pytest.raises(ValueError, match="du has 40 rows, not 49 or 50"):
        tesela.solve_tridiagonal(np.ones(49), d, np.ones(40), d)
