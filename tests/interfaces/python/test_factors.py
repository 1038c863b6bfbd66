"""Factors, structured and stacked systems, determinants and inverses, compared with NumPy's and with closed forms."""

import warnings

import numpy as np
import pytest
from conftest import close, eps, random, symmetric

import tesela

SIZES = [0, 1, 2, 5, 33, 255, 256, 300]
TYPES = [np.float32, np.float64]


def matrix(n, dtype=np.float64):
    return (random(n, n, n) + 2 * n**0.5 * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("m, n", [(n, n) for n in SIZES] + [(0, 3), (3, 0), (7, 4), (4, 7), (300, 260)])
def test_lu_and_its_solutions(m, n, dtype):
    a = random(m + n, m, n).astype(dtype)
    p, lower, upper = tesela.lu(a)
    assert p.dtype == lower.dtype == upper.dtype == dtype
    close(p @ lower @ upper, a)
    indices, lower, upper = tesela.lu(a, p_indices=True)
    close(lower[indices] @ upper, a)
    both, upper = tesela.lu(a, permute_l=True)
    close(both @ upper, a)
    assert np.array_equal(lower, np.tril(lower)) and np.array_equal(upper, np.triu(upper))
    if m == n:
        a = matrix(n, dtype)
        factors = tesela.lu_factor(a)
        for b in (random(1, n).astype(dtype), random(2, n, 3).astype(dtype)):
            close(tesela.lu_solve(factors, b), np.linalg.solve(a, b))
            close(tesela.lu_solve(factors, b, trans=1), np.linalg.solve(a.T, b))


def test_singular_matrices_have_factors_and_warn():
    for n in (3, 300):
        a = random(n, n, n)
        a[:, n // 2] = 0
        p, lower, upper = tesela.lu(a)
        close(p @ lower @ upper, a)
        with pytest.warns(tesela.LinAlgWarning, match="singular"):
            tesela.lu_factor(a)
        assert tesela.det(a) == 0


@pytest.mark.parametrize("assume_a", [None, "gen", "general", "sym", "her", "pos", "diagonal", "tridiagonal", "banded",
                                      "upper triangular", "lower triangular"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("n", [1, 2, 40, 257])
def test_structures_read_only_their_elements(assume_a, transposed, lower, n):
    a = matrix(n)
    given = a.copy()
    if assume_a in ("sym", "her", "pos"):
        a = a + a.T
        given = a.copy()
        given[np.triu_indices(n, 1) if lower else np.tril_indices(n, -1)] = 1e9
    elif assume_a == "diagonal":
        a = np.diag(np.diag(a))
    elif assume_a == "tridiagonal":
        a = np.triu(np.tril(a, 1), -1)
    elif assume_a == "banded":
        a = given = np.triu(np.tril(a, 2), -1)
    elif assume_a == "upper triangular":
        a = np.triu(a)
    elif assume_a == "lower triangular":
        a = np.tril(a)
    given = a if assume_a in ("diagonal", "tridiagonal", None, "gen", "general") else given
    for b in (random(1, n), random(2, n, 3)):
        x = tesela.solve(given, b, assume_a=assume_a, transposed=transposed, lower=lower)
        close(x, np.linalg.solve(a.T if transposed else a, b), 100)


@pytest.mark.parametrize("structure", ["upper triangular", "lower triangular"])
def test_condition_of_a_triangle_does_not_depend_on_units_of_columns(structure):
    rng = np.random.default_rng(5)
    triangle = np.triu(rng.standard_normal((6, 6))) + 3 * np.eye(6)
    a = triangle if structure == "upper triangular" else triangle.T.copy()
    units = np.logspace(0, -250, 6)
    for right in (a @ np.ones(6), a @ np.ones((6, 2))):
        x = tesela.solve(a * units, right, assume_a=structure)
        np.testing.assert_allclose(x * (units if right.ndim == 1 else units[:, None]), np.ones_like(right), rtol=1e-12)
    with pytest.raises(np.linalg.LinAlgError):
        tesela.solve(a * units, 1e200 * np.ones(6), assume_a=structure)  # x overflows


@pytest.mark.parametrize("structure", ["upper triangular", "lower triangular"])
@pytest.mark.parametrize("k", [0, 1, 70])
def test_condition_of_a_triangle_does_not_depend_on_units_of_rows_and_columns(structure, k):
    numbers = np.random.default_rng(6)
    for n in [2, 3, 7] * 20:
        triangle = numbers.integers(-1, 2, (n, n)) * (numbers.random((n, n)) < 0.5)
        triangle = np.triu(triangle) if structure == "upper triangular" else np.tril(triangle)
        np.fill_diagonal(triangle, 8)
        rows, columns = numbers.integers(-90, 91, (2, n))
        a = np.ldexp(triangle.astype(float), rows[:, None] + columns)
        b = np.ldexp(triangle.sum(axis=1).astype(float), rows)
        x = tesela.solve(a, np.repeat(b[:, None], k, axis=1) if k else b, assume_a=structure)
        np.testing.assert_allclose(np.ldexp(x.T, columns), 1, rtol=1e-12)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("k", [1, 70])
def test_triangles_are_divided_by_subnormal_elements(dtype, k):
    step = np.finfo(dtype).smallest_subnormal
    for lower in (False, True):
        a = np.array([[1, 0], [1, 3 * step]] if lower else [[3 * step, 1], [0, 1]], dtype)
        x = np.array([[0], [2]] if lower else [[2], [0]], dtype) * np.ones((2, k), dtype)
        for trans in (0, 1):
            b = (a.T if trans else a) @ x
            assert np.array_equal(tesela.solve_triangular(a, b, lower=lower, trans=trans), x)
        assert np.array_equal(tesela.solve(a, a @ x, assume_a=("lower" if lower else "upper") + " triangular"), x)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("assume_a", ["gen", "pos", "upper triangular"])
@pytest.mark.parametrize("dtype", TYPES)
def test_least_numbers_are_well_conditioned(dtype, assume_a):
    info = np.finfo(dtype)
    for number in (info.smallest_subnormal, 3 * info.smallest_subnormal, info.tiny):
        for n in (1, 3):
            a = np.eye(n, dtype=dtype) * number
            np.testing.assert_allclose(tesela.solve(a, np.diagonal(a).copy(), assume_a=assume_a), 1, rtol=4 * info.eps)


@pytest.mark.parametrize("assume_a", ["gen", "sym", "pos", "diagonal", "tridiagonal", "upper triangular",
                                      "lower triangular"])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_singular_matrices_are_errors(assume_a, n):
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        tesela.solve(np.zeros((n, n)), np.ones(n), assume_a=assume_a)


def test_the_public_case_of_a_singular_matrix():
    with pytest.raises(np.linalg.LinAlgError):
        tesela.solve(np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]), np.array([1.0, 2, 4]))
    h = 1 / (1 + np.arange(11) + np.arange(11)[:, None])
    with pytest.warns(tesela.LinAlgWarning, match="ill-conditioned") as caught:
        tesela.solve(h, np.ones(11))
    assert caught[0].filename == __file__


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
@pytest.mark.parametrize("n", [1, 5, 60])
def test_scales(n, scale):
    a, b = matrix(n) / n, random(1, n)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = tesela.solve(a * scale, b * scale)
        close(x, np.linalg.solve(a, b))
        ab = np.stack([np.ones(n), np.full(n, 4.0), np.ones(n)])
        close(tesela.solve_banded((1, 1), ab * scale, b * scale), tesela.solve_banded((1, 1), ab, b))
        close(tesela.solveh_banded(ab[:2] * scale, b * scale), tesela.solveh_banded(ab[:2], b))
        c = 0.5 ** np.arange(n)
        close(tesela.solve_toeplitz(c * scale, b * scale).x, tesela.solve_toeplitz(c, b).x)


@pytest.mark.parametrize("place", ["a", "b"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_errors(place, value):
    a, b = np.eye(4), np.ones(4)
    (a if place == "a" else b)[0] = value
    band = a[:2] if place == "a" else np.ones((2, 4))
    for call in [
        lambda: tesela.solve(a, b), lambda: tesela.solve(a, b, assume_a="pos"),
        lambda: tesela.solve(a, b, assume_a="sym"),
        lambda: tesela.solve(a, b, assume_a="diagonal"), lambda: tesela.solve_triangular(a, b),
        lambda: tesela.solve(a, b, assume_a="banded"), lambda: tesela.solve_banded((1, 0), band, b),
        lambda: tesela.solveh_banded(band + [[0], [3]], b), lambda: tesela.solve_toeplitz(a[0], b),
    ]:
        with pytest.raises(np.linalg.LinAlgError):
            call()


def dense(ab, lower_width, upper_width):
    n = ab.shape[1]
    a = np.zeros((n, n), ab.dtype)
    for i in range(n):
        for j in range(max(0, i - lower_width), min(n, i + upper_width + 1)):
            a[i, j] = ab[upper_width + i - j, j]
    return a


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 2, 3, 50, 300])
@pytest.mark.parametrize("kl, ku", [(0, 0), (1, 1), (2, 0), (0, 3), (4, 2)])
def test_bands(n, kl, ku, dtype):
    ab = random(n, kl + ku + 1, n).astype(dtype)
    ab[ku] += 5 * (kl + ku + 1)
    a = dense(ab, kl, ku)
    for k in range(ku + kl + 1):  # elements outside the matrix are not read
        j = np.arange(n)
        ab[k, (j + k - ku < 0) | (j + k - ku >= n)] = np.nan
    for b in (random(1, n).astype(dtype), random(2, n, 3).astype(dtype)):
        close(tesela.solve_banded((kl, ku), ab, b), np.linalg.solve(a, b))
    if kl == 0:
        s = a + a.T
        upper = ab.copy()
        upper[ku] *= 2
        lower = np.zeros_like(ab)
        for k in range(min(ku + 1, n)):
            lower[k, : n - k] = upper[ku - k, k:]
        b = random(3, n, 2).astype(dtype)
        for form, is_lower in ((upper, False), (lower, True)):
            close(tesela.solveh_banded(form, b, lower=is_lower), np.linalg.solve(s, b))
            factor = tesela.cholesky_banded(form, lower=is_lower)
            r = dense(factor, ku, 0) if is_lower else dense(factor, 0, ku)
            close((r @ r.T if is_lower else r.T @ r).astype(dtype), s)
            close(tesela.cho_solve_banded((factor, is_lower), b), np.linalg.solve(s, b))
            w, v = tesela.eig_banded(form, lower=is_lower)
            close(w, np.linalg.eigvalsh(s.astype(float)).astype(dtype))
            close((v * w) @ v.T, s)
            close(tesela.eigvals_banded(form, lower=is_lower, select="i", select_range=(0, n // 2)), w[: n // 2 + 1])
            middle = (w[0] + w[-1]) / 2
            below = tesela.eigvals_banded(form, is_lower, select="v", select_range=(-1e9, middle))
            assert len(below) == (w <= middle).sum()


def test_band_statuses():
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        tesela.solve_banded((0, 0), np.array([[1.0, 0.0]]), np.ones(2))
    for call in (tesela.cholesky_banded, lambda ab: tesela.solveh_banded(ab, np.ones(2))):
        with pytest.raises(np.linalg.LinAlgError, match="order 2 is not positive"):
            call(np.array([[0.0, 2.0], [1.0, 1.0]]))


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("trans", [0, 1, "N", "T"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("n, k", [(0, 1), (1, 1), (5, 2), (300, 70)])
def test_triangles(n, k, lower, trans, unit):
    a = matrix(n) / max(n, 1)
    b = random(1, n, k)
    t = np.tril(a) if lower else np.triu(a)
    if unit:
        np.fill_diagonal(t, 1)
    a[np.triu_indices(n, 1) if lower else np.tril_indices(n, -1)] = np.nan
    x = tesela.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit)
    close((t.T if trans in (1, "T") else t) @ x, b)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("m, n", [(0, 0), (3, 0), (0, 2), (1, 1), (6, 3), (3, 6), (400, 300)])
def test_pivoted_qr(m, n, dtype):
    a = (random(m + n, m, n) * 10.0 ** -np.arange(n).clip(0, 4)).astype(dtype)
    for mode in ("full", "economic"):
        q, r, p = tesela.qr(a, mode=mode, pivoting=True)
        close(q @ r, a[:, p])
        close(q.T @ q, np.eye(q.shape[1], dtype=dtype))
    d = abs(np.diagonal(r)).astype(float)
    assert (d[1:] <= d[:-1] * (1 + 100 * max(m, 1) * eps(dtype))).all()
    (h, tau), upper = tesela.qr(a, mode="raw")
    assert h.shape == (m, n) and tau.shape == (min(m, n),) and np.array_equal(upper, np.triu(h[: min(m, n)]))
    close((upper.T @ upper).astype(dtype), (a.T @ a).astype(dtype))
    c = random(1, 3, m).astype(dtype)
    product, r = tesela.qr_multiply(a, c)
    close((product @ r).astype(dtype), (c @ a).astype(dtype))
    left, r = tesela.qr_multiply(a, random(2, min(m, n), 2).astype(dtype), "left")
    close((left.T @ left).astype(dtype), (random(2, min(m, n), 2).T @ random(2, min(m, n), 2)).astype(dtype), 10)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 1, 2)])
@pytest.mark.parametrize("n", [1, 4])
def test_stacks(shape, n):
    a = random(n, *shape, n, n) + 3 * np.eye(n)
    s = a + np.swapaxes(a, -1, -2)
    b, v = random(1, *shape, n, 2), random(2, n)
    close(tesela.solve(a, b), np.linalg.solve(a, b))
    close(tesela.solve(a, v), np.linalg.solve(a, np.broadcast_to(v[:, None], (*shape, n, 1)))[..., 0])
    close(tesela.inv(a), np.linalg.inv(a))
    close(np.asarray(tesela.det(a)), np.linalg.det(a))
    sign, logarithm = tesela.slogdet(-a)
    close(np.asarray(sign * np.exp(logarithm)), np.linalg.det(-a))
    close(tesela.cholesky(s, lower=True), np.linalg.cholesky(s))
    w, x = tesela.eigh(s)
    close(w, np.linalg.eigvalsh(s))
    close(s @ x, x * w[..., None, :])
    q, r = tesela.qr(a)
    close(q @ r, a)
    p, lower, upper = tesela.lu(a)
    close(p @ lower @ upper, a)
    close(tesela.cho_solve(tesela.cho_factor(s), b), np.linalg.solve(s, b))
    close(tesela.lu_solve(tesela.lu_factor(a), b), np.linalg.solve(a, b))
    close(tesela.pinv(a), np.linalg.inv(a))
    close(tesela.pinvh(s), np.linalg.inv(s))
    close(tesela.lstsq(a, b)[0], np.linalg.solve(a, b))
    close(tesela.matmul(a, b), a @ b)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7])
def test_determinants_of_matrices_whose_rows_are_exchanged(n):
    for seed in range(6):
        a = random(seed, n, n)
        sign, logarithm = tesela.slogdet(a)
        close(np.array([tesela.det(a), sign * np.exp(logarithm)]), np.full(2, np.linalg.det(a)), 100)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("n", [0, 1, 5, 300])
def test_cholesky_factors_solve(n, lower):
    a = matrix(n)
    s, b = a @ a.T, random(1, n, 2)
    c, flag = tesela.cho_factor(s, lower=lower)
    assert flag is lower
    close(tesela.cho_solve((c, flag), b), np.linalg.solve(s, b), 100)
    close(tesela.solve(s, b, assume_a="pos", lower=lower), np.linalg.solve(s, b), 100)


def test_determinants_neither_overflow_nor_lose_their_sign():
    for n in (3, 300):
        sign, logarithm = tesela.slogdet(np.diag(np.full(n, -1e200)))
        assert sign == (-1) ** n and abs(logarithm - n * np.log(1e200)) < 1e-10 * n
    assert tesela.slogdet(np.zeros((2, 2))) == (0, -np.inf) and tesela.det(np.zeros((0, 0))) == 1


def test_determinants_of_badly_scaled_matrices():
    a = np.array([[1e-300, 0, 1e-300, 1], [1, 1e-300, 2, 1e300], [3e-300, 0, -1e-300, 2], [1, 2e-300, 1, 3e300]])
    sign, logarithm = tesela.slogdet(a)
    assert sign == -1 and abs(logarithm + 1379.2484707034) < 1e-9  # by exact rational numbers
    b = random(1, 6, 6) + 1j * random(2, 6, 6)
    expected = np.linalg.slogdet(b)
    rows, columns = np.logspace(-150, 150, 6, base=2), np.logspace(140, -170, 6, base=2)
    sign, logarithm = tesela.slogdet(rows[:, None] * b * columns)
    assert abs(sign - expected.sign) < 1e-12
    assert abs(logarithm - expected.logabsdet - np.log(rows).sum() - np.log(columns).sum()) < 1e-11
    large = tesela.det(np.diag([1e200 + 1e200j, 1e200]))
    assert np.isposinf(large.real) and np.isposinf(large.imag)


def test_solutions_by_factors_that_are_not_finite_are_errors():
    one, large = np.array([[1e-300]]), np.array([1e300])
    for solve in (lambda: tesela.solve_triangular(one, large), lambda: tesela.lu_solve(tesela.lu_factor(one), large),
                  lambda: tesela.cho_solve((one + 0j, False), large),
                  lambda: tesela.cho_solve_banded((one + 0j, False), large)):
        with pytest.raises(np.linalg.LinAlgError, match="x is not finite"):
            solve()


def test_wrong_exchanges_are_refused():
    lu, piv = tesela.lu_factor(random(1, 6, 6))
    for wrong in (piv[:3], piv - 6, piv[None], piv + 3, piv.astype(float)):
        with pytest.raises(ValueError, match="piv"):
            tesela.lu_solve((lu, wrong), np.ones(6))


def test_imaginary_diagonals_of_hermitian_matrices_are_refused():
    band, a = np.array([[9, 9 - 2j], [1j, 0]]), np.array([[9, 1j], [-1j, 9 - 2j]])
    for call in (lambda: tesela.cholesky_banded(band, lower=True), lambda: tesela.solve(a, np.ones(2), assume_a="her"),
                 lambda: tesela.solveh_banded(band, np.ones(2), lower=True)):
        with pytest.raises(ValueError, match="diagonal element 1 has the imaginary part -2"):
            call()
    with pytest.raises(ValueError, match="negative"):
        tesela.solve_banded((-1, 1), np.ones((1, 3)), np.ones(3))


@pytest.mark.parametrize("m, n", [(0, 0), (0, 3), (3, 0), (1, 1), (5, 9), (9, 5), (200, 300)])
def test_toeplitz_products(m, n):
    c, r = random(m, m), random(n + 1, n)
    t = np.array([[c[i - j] if i >= j else r[j - i] for j in range(n)] for i in range(m)]).reshape(m, n)
    for x in (random(1, n), random(2, n, 3)):
        close(tesela.matmul_toeplitz((c, r), x), t @ x)


def test_lstsq_unpacks_as_scipys():
    a, b = random(1, 6, 3), random(2, 6)
    x, residues, rank, values = tesela.lstsq(a, b, singular_values=True)
    expected = np.linalg.lstsq(a, b)
    close(x, expected[0])
    assert rank == 3 and abs(residues - expected[1][0]) < 1e-13
    close(values, expected[3])
    x, residues, rank, values = tesela.lstsq(symmetric(1, 3)[:2], np.ones((2, 2)))
    assert residues.shape == (0,) and values is None and rank == 2
    assert tesela.lstsq(np.diag([1.0, 1e-14]), np.ones(2), rcond=-1)[2] == 2


def test_numbers_and_flags():
    assert tesela.solve(2.0, np.array([2.0, 4.0])).tolist() == [1, 2] and tesela.solve([[2.0]], 4.0) == 2
    with pytest.raises(np.linalg.LinAlgError):
        tesela.solve(0, [1.0])
    a = np.array([[4.0, 1.0], [2.0, 5.0]])
    x = tesela.solve(a, np.ones(2), lower=np.bool_(True), assume_a="sym")
    close(x, np.linalg.solve([[4.0, 2], [2, 5]], np.ones(2)))
