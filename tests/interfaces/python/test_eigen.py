import numpy as np
import pytest
import scipy.linalg
from conftest import dtypes, eps, laid_out, layouts, norm, one_triangle, random, seeds, symmetric
from hypothesis import given, strategies as st

import tesela


@given(st.integers(0, 40), st.booleans(), dtypes, layouts, st.booleans(), seeds)
def test_eigh_agrees_with_scipy(n, lower, dtype, layout, overwrite, seed):
    a = symmetric(seed, n, dtype)
    w, v = tesela.eigh(laid_out(one_triangle(a, lower), layout), lower=lower, overwrite_a=overwrite)
    bound = 20 * (n + 1) * eps(dtype)
    assert w.dtype == v.dtype == dtype and w.shape == (n,) and v.shape == (n, n)
    assert norm(a.astype(float) @ v - v * w) <= bound * norm(a) and norm(v.T.astype(float) @ v - np.eye(n)) <= bound
    values = tesela.eigh(laid_out(a, layout), eigvals_only=True)
    if n > 0:
        expected = scipy.linalg.eigh(a.astype(float), eigvals_only=True)
        assert norm(w - expected) <= bound * norm(a) and norm(values - expected) <= bound * norm(a)


@given(st.integers(1, 40), dtypes, st.data(), seeds)
def test_parts_of_a_spectrum_agree_with_scipy(n, dtype, data, seed):
    a = symmetric(seed, n, dtype)
    expected = scipy.linalg.eigh(a.astype(float), eigvals_only=True)
    bound = 20 * (n + 1) * eps(dtype) * norm(a)
    low = data.draw(st.integers(0, n - 1))
    high = data.draw(st.integers(low, n - 1))
    w, v = tesela.eigh(a, subset_by_index=(low, high))
    assert norm(w - expected[low : high + 1]) <= bound and v.shape == (n, high - low + 1)
    # SciPy's range is (low, high]: an eigenvalue at the upper end belongs to it, one at the lower end does not.
    values = tesela.eigh(a, eigvals_only=True).astype(float)
    if low < high and np.diff(values[low : high + 1]).min() > bound:
        part = tesela.eigh(a, eigvals_only=True, subset_by_value=(values[low], values[high]))
        middle = tesela.eigh(a, eigvals_only=True, subset_by_value=(values[low] + bound / 2, values[high] + bound / 2))
        assert len(middle) == high - low and abs(len(part) - (high - low)) <= 1


def wilkinson(copies, joint):
    d = np.tile(np.abs(np.arange(21.0) - 10), copies)
    return d, np.tile(np.append(np.ones(20), joint), copies)[:-1]


tridiagonal = {
    "wilkinson": wilkinson(1, 0),
    "glued": wilkinson(30, 1e-8),
    "glued to rounding": wilkinson(30, 1e-14),
    "split": wilkinson(30, 0),
    "graded": (10.0 ** -np.linspace(0, 16, 500), 0.3 * 10.0 ** -np.linspace(0, 16, 500)[1:]),
    "zero diagonal": (np.zeros(301), np.ones(300)),
    "identity": (np.ones(90), np.zeros(89)),
}


@pytest.mark.parametrize("name", tridiagonal)
@pytest.mark.parametrize("scale", [1, 1e300, 1e-300])
def test_few_pairs_of_a_tridiagonal_matrix_are_accurate(name, scale):
    d, e = tridiagonal[name]
    n = len(d)
    expected = scipy.linalg.eigh_tridiagonal(d, e, eigvals_only=True, lapack_driver="stev")
    full = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    bound = 20 * n**0.5 * np.finfo(float).eps
    size = max(np.abs(d).max(), np.abs(e).max())
    for low, high in ((0, n // 10), (n // 2, n // 2 + 1), (n - n // 10, n - 1)):
        w, v = tesela.eigh_tridiagonal(d * scale, e * scale, select="i", select_range=(low, high))
        w /= scale
        assert np.abs(w - expected[low : high + 1]).max() <= bound * size
        assert norm(full @ v - v * w) <= bound * n**0.5 * size and norm(v.T @ v - np.eye(high - low + 1)) <= bound * n**0.5
        band = np.zeros((2, n))
        band[0], band[1, :-1] = d * scale, e * scale
        assert np.array_equal(tesela.eig_banded(band, True, select="i", select_range=(low, high))[0] / scale, w)


def test_a_range_of_values_holds_its_upper_end():
    a = np.diag([1.0, 2.0, 3.0, 4.0])
    assert list(tesela.eigh(a, eigvals_only=True, subset_by_value=(1, 3))) == [2, 3]
    assert list(scipy.linalg.eigh(a, eigvals_only=True, subset_by_value=(1, 3))) == [2, 3]
    assert list(tesela.eigh_tridiagonal(np.diag(a).copy(), np.zeros(3), True, "v", (1, 3))) == [2, 3]


@pytest.mark.parametrize("d, e", [([0, 1, 0, 2, 0], [0, 0, 0, 0]), ([0, 1, 0, 2, 0], [0, 0, 1, 0]), ([0, 0, 0], [1, 1]),
                                  ([2, 2], [1]), ([2] * 51, [1] * 50)])
def test_a_range_that_ends_at_an_eigenvalue_is_half_open(d, e):
    d, e = np.array(d, float), np.array(e, float)
    w = scipy.linalg.eigh(np.diag(d) + np.diag(e, 1) + np.diag(e, -1), eigvals_only=True)
    w = np.where(abs(w) < 1e-14, 0, w)
    for low, high in [(-1, 0), (0, 5), (-np.inf, 0), (0, np.inf), (0, 1), (0, 2)]:
        found = tesela.eigh_tridiagonal(d, e, True, "v", (low, high))
        assert len(found) == np.sum((w > low) & (w - 1e-14 <= high)) and np.all((found > low) & (found <= high))
        band = np.array([d, np.append(e, 0)])
        found = tesela.eig_banded(band, True, True, select="v", select_range=(low, high))
        assert len(found) == np.sum((w > low) & (w - 1e-14 <= high)) and np.all((found > low) & (found <= high))


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_subnormal_values_are_in_their_range(dtype, vectors):
    step = float(np.finfo(dtype).smallest_subnormal)
    numbers = np.random.default_rng(0)
    for n in [3, 10, 33] * 4:
        steps = numbers.integers(-3, 4, (2, n)).astype(float)
        limit = scipy.linalg.eig_banded(steps, True, True)[n // 2]
        for end in (0.0, np.floor(limit) * step, np.ceil(limit) * step):
            for low, high in [(-np.inf, end), (end, np.inf)]:
                found = tesela.eig_banded((steps * step).astype(dtype), True, not vectors, select="v",
                                          select_range=(low, high))
                values = found[0] if vectors else found
                assert np.all((values > low) & (values <= high))


@given(st.integers(1, 30), st.sampled_from([1, 2, 3]), st.booleans(), dtypes, layouts, seeds)
def test_eigh_of_a_pair_agrees_with_scipy(n, type, lower, dtype, layout, seed):
    a, f = symmetric(seed, n, dtype), random(seed + 1, n, n)
    b = (f @ f.T + n * np.eye(n)).astype(dtype)
    w, v = tesela.eigh(
        laid_out(one_triangle(a, lower), layout), laid_out(one_triangle(b, lower), layout), lower=lower, type=type
    )
    expected = scipy.linalg.eigh(a.astype(float), b.astype(float), eigvals_only=True, type=type)
    assert norm(w - expected) <= 100 * n * eps(dtype) * np.linalg.cond(b.astype(float)) * norm(expected)
    assert v.shape == (n, n) and np.isfinite(v).all()


@given(st.integers(1, 60), dtypes, layouts, st.data(), seeds)
def test_eigh_tridiagonal_agrees_with_scipy(n, dtype, layout, data, seed):
    d, e = random(seed, n, dtype=dtype), random(seed + 1, n - 1, dtype=dtype)
    expected = scipy.linalg.eigh_tridiagonal(d.astype(float), e.astype(float), eigvals_only=True)
    t = np.diag(d).astype(float) + np.diag(e, 1) + np.diag(e, -1)
    bound = 20 * (n + 1) * eps(dtype) * max(norm(t), 1e-30)
    w, v = tesela.eigh_tridiagonal(laid_out(d, layout), laid_out(e, layout))
    assert w.dtype == v.dtype == dtype and norm(w - expected) <= bound and norm(t @ v - v * w) <= bound
    low = data.draw(st.integers(0, n - 1))
    high = data.draw(st.integers(low, n - 1))
    w, v = tesela.eigh_tridiagonal(d, e, select="i", select_range=(low, high))
    assert norm(w - expected[low : high + 1]) <= bound and v.shape == (n, high - low + 1)
    ends = (expected[low] - 10 * bound, expected[high] + 10 * bound)
    if np.diff(expected).min(initial=np.inf) > 30 * bound:
        w = tesela.eigh_tridiagonal(d, e, True, "v", ends)
        assert norm(w - expected[low : high + 1]) <= bound


@given(st.integers(1, 40), st.booleans(), dtypes, layouts, seeds)
def test_symmetric_inertia_counts(n, lower, dtype, layout, seed):
    a = symmetric(seed, n, dtype)
    values = np.linalg.eigvalsh(a.astype(float))
    below, uncertainty = tesela.symmetric_inertia(laid_out(one_triangle(a, lower), layout), 0.3, lower=lower)
    assert np.sum(values < 0.3 - uncertainty) <= below <= np.sum(values < 0.3 + uncertainty)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("lower", [True, False])
def test_symmetric_inertia_refuses_nan(bad, lower):
    for i, j in ((0, 0), (299, 0), (150, 150), (299, 299), (280, 270)):
        a = symmetric(1, 300) + 60 * np.eye(300)
        a[j, i] = bad  # above the diagonal
        if i == j or not lower:
            with pytest.raises(np.linalg.LinAlgError, match="not finite") as caught:
                tesela.symmetric_inertia(a, lower=lower)
            assert caught.value.status == "not finite"
        else:
            assert tesela.symmetric_inertia(a, lower=lower)[0] == 0


def test_nan_is_an_error_with_its_status():
    a = np.eye(3)
    a[2, 1] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match="finite") as caught:
        tesela.eigh(a)
    assert caught.value.status in str(caught.value)
    with pytest.raises(np.linalg.LinAlgError, match="positive"):
        tesela.eigh(np.eye(2), -np.eye(2))
    with pytest.raises(np.linalg.LinAlgError):
        tesela.eigh_tridiagonal(np.array([1.0, np.inf]), np.ones(1))


@pytest.mark.parametrize(
    "call",
    [
        lambda: tesela.eigh(np.ones((2, 3))),
        lambda: tesela.eigh(np.eye(2), np.eye(3)),
        lambda: tesela.eigh(np.eye(2), np.eye(2), type=4),
        lambda: tesela.eigh(np.eye(2), subset_by_index=(1, 0)),
        lambda: tesela.eigh(np.eye(2), subset_by_value=(1, 1)),
        lambda: tesela.eigh_tridiagonal(np.ones(3), np.ones(3)),
        lambda: tesela.eigh_tridiagonal(np.ones(3), np.ones(2), select="x"),
        lambda: tesela.eigh_tridiagonal(np.ones(3), np.ones(2), select="v"),
        lambda: tesela.symmetric_inertia(np.ones(3), 1.0),
    ],
)
def test_wrong_arguments_are_value_errors(call):
    with pytest.raises(ValueError):
        call()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("only", [True, False])
def test_eigenvalues_beyond_the_largest_number(dtype, only):
    most = np.finfo(dtype).max
    for call in (
        lambda: tesela.eigh(np.full((3, 3), most / 2, dtype), eigvals_only=only),
        lambda: tesela.eigh(np.full((1, 1), most / 2, dtype), np.full((1, 1), 1e-3, dtype), eigvals_only=only),
        lambda: tesela.eigh_tridiagonal(np.full(2, most, dtype), np.full(1, most, dtype), eigvals_only=only),
        lambda: tesela.eigh_toeplitz(np.full(3, most / 2, dtype), eigvals_only=only),
    ):
        with pytest.raises(np.linalg.LinAlgError, match="overflow") as caught:
            call()
        assert caught.value.status.startswith("overflow")


def test_positions_are_integers():
    with pytest.raises(TypeError):
        tesela.eigh_tridiagonal(np.array([1.0, 2, 3]), np.zeros(2), True, "i", (0.5, 1))


@pytest.mark.parametrize("wrong", [(0, 1, 2), (0,), 1, ("a", "b"), (0, None)])
def test_ranges_are_pairs(wrong):
    d, e, pair = np.ones(3), np.ones(2), "must be a pair (low, high) of "
    for name, call in (
        ("select_range", lambda: tesela.eigh_tridiagonal(d, e, select="i", select_range=wrong)),
        ("select_range", lambda: tesela.eigh_tridiagonal(d, e, select="v", select_range=wrong)),
        ("select_range", lambda: tesela.eig_banded(np.ones((2, 3)), select="i", select_range=wrong)),
        ("subset_by_index", lambda: tesela.eigh(np.eye(3), subset_by_index=wrong)),
        ("subset_by_value", lambda: tesela.eigh_toeplitz(d, subset_by_value=wrong)),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        kind = "integers" if name == "subset_by_index" else "numbers"
        assert str(caught.value) == f"{name} {pair}{kind}, not {wrong!r}"


def test_names_and_numbers_of_selections():
    d, e = np.array([1.0, 2, 3]), np.zeros(2)
    band = np.stack([[0.0, 0, 0], d])
    for select, part, expected in (
        (0, None, [1, 2, 3]),
        ("all", None, [1, 2, 3]),
        ("A", None, [1, 2, 3]),
        ("All", None, [1, 2, 3]),
        ("V", (1, 2), [2]),
        ("I", (1, 2), [2, 3]),
        (1, (1, 2), [2]),
        ("value", (1, 2), [2]),
        (2, np.array([1, 2]), [2, 3]),
        ("index", [1.0, 2.0], [2, 3]),
    ):
        assert list(tesela.eigh_tridiagonal(d, e, True, select, part)) == expected
        assert list(tesela.eig_banded(band, False, True, select=select, select_range=part)) == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_empty_parts_and_empty_bands_give_scipys_empty_arrays(dtype):
    def check(band, select="a", select_range=None):
        for name in ("eig_banded", "eigvals_banded"):
            mine, theirs = (getattr(library, name)(band, select=select, select_range=select_range)
                            for library in (tesela, scipy.linalg))
            pairs = zip(mine, theirs) if name == "eig_banded" else [(mine, theirs)]
            assert all((a.shape, a.dtype) == (b.shape, b.dtype) and b.size == 0 for a, b in pairs)

    for rows in (1, 2, 4):
        for n in (1, 2, 7):
            band = np.ones((rows, n), dtype)
            check(band, "v", (100, 101))
            check(band, "V", (-np.inf, -100))
        for select, part in (("a", None), ("i", (0, 0)), ("v", (0, 1))):
            check(np.zeros((rows, 0), dtype), select, part)
    check(np.zeros((0, 0), dtype))


def test_unbounded_ranges_contain_overflowing_eigenvalues():
    most = np.finfo(float).max
    a = np.full((2, 2), -most)  # eigenvalues -2 most and 0
    for high in (np.inf, 0.0, -most):
        with pytest.raises(np.linalg.LinAlgError, match="overflow"):
            tesela.eigh(a, subset_by_value=(-np.inf, high))
    assert len(tesela.eigh(a, eigvals_only=True, subset_by_value=(-1e300, np.inf))) == 1
    with pytest.raises(np.linalg.LinAlgError, match="overflow"):
        tesela.eigh(a, np.eye(2), subset_by_value=(-np.inf, np.inf))
    with pytest.raises(np.linalg.LinAlgError, match="overflow"):
        tesela.eigh_toeplitz(a[0], subset_by_value=(-np.inf, np.inf))
    for dtype in (np.float64, np.float32):
        m = np.finfo(dtype).max
        d, e = np.array([-m, -m, 0], dtype), np.array([m, 0], dtype)
        with pytest.raises(np.linalg.LinAlgError, match="overflow"):
            tesela.eigh_tridiagonal(d, e, select="v", select_range=(-np.inf, np.inf))
        assert len(tesela.eigh_tridiagonal(d, e, eigvals_only=True, select="v", select_range=(-1.0, np.inf))) == 2
