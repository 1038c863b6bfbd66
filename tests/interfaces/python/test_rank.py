"""Rank, condition, bases, the pseudoinverse and the polar decomposition, compared with SciPy's and NumPy's."""

import warnings

import numpy as np
import pytest
import scipy.linalg
from conftest import dtypes, eps, norm, random, seeds
from hypothesis import given, strategies as st

import tesela


def of_rank(seed, m, n, rank, dtype=np.float64):
    return (random(seed, m, rank) @ random(seed + 1, rank, n)).astype(dtype)


@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 20), dtypes, seeds)
def test_agrees_with_scipy(m, n, rank, dtype, seed):
    rank = min(m, n, rank)
    a = of_rank(seed, m, n, rank, dtype)
    bound = 2000 * eps(dtype)
    assert tesela.matrix_rank(a) == np.linalg.matrix_rank(a)
    basis, kernel = tesela.orth(a), tesela.null_space(a)
    expected = scipy.linalg.orth(a)
    assert basis.shape == expected.shape and kernel.shape == scipy.linalg.null_space(a).shape
    assert norm(basis @ basis.T - expected @ expected.T) <= 100 * bound
    assert norm(a @ kernel) <= bound * norm(a) and norm(kernel.T @ kernel - np.eye(kernel.shape[1])) <= bound
    for side in ("right", "left"):
        u, p = tesela.polar(a, side)
        assert u.dtype == p.dtype == dtype
        assert norm((u @ p if side == "right" else p @ u) - a) <= bound * norm(a)
        assert np.array_equal(p, p.T) and np.linalg.eigvalsh(p).min() >= -bound * norm(a)
        gram = u.T @ u if m >= n else u @ u.T
        assert norm(gram - np.eye(len(gram))) <= bound
    if rank == min(m, n):
        x = tesela.pinv(a)
        size = norm(x) * np.linalg.cond(a)
        assert norm(x - scipy.linalg.pinv(a)) <= bound * size and x.dtype == dtype


@pytest.mark.parametrize("options", [{}, {"rtol": 0.5}, {"atol": 1e-3}, {"atol": 0.1, "rtol": 0.1}, {"rtol": 0.0}])
def test_thresholds_of_pinv_are_scipys(options):
    a = scipy.linalg.qr(random(1, 6, 6))[0] * [3, 1, 0.4, 1e-2, 1e-4, 1e-18] @ scipy.linalg.qr(random(2, 6, 6))[0]
    x, rank = tesela.pinv(a, return_rank=True, **options)
    expected, count = scipy.linalg.pinv(a, return_rank=True, **options)
    assert rank == count
    assert norm(x - expected) <= (1e-6 if options != {"rtol": 0.0} else 10) * norm(expected)


def test_names_of_pinv():
    a = random(3, 4, 2)
    assert np.array_equal(tesela.pinv(a, 1e-3), tesela.pinv(a, rtol=1e-3))
    assert norm(tesela.pinv(a @ a.T, hermitian=True) - np.linalg.pinv(a @ a.T)) <= 1e-12 * norm(np.linalg.pinv(a @ a.T))
    assert tesela.pinv(np.zeros((3, 2))).tolist() == np.zeros((2, 3)).tolist()
    assert tesela.pinv(np.zeros((0, 3))).shape == (3, 0)
    assert tesela.pinv(random(1, 2, 3, 4)).shape == (2, 4, 3)
    with pytest.raises(ValueError, match="give only one"):
        tesela.pinv(a, 0.1, rtol=0.1)
    for name in ("atol", "rtol"):
        for wrong in (-1, np.nan):
            with pytest.raises(ValueError, match=name):
                tesela.pinv(a, **{name: wrong})
    # A column of another size counts as in SciPy: columns are not scaled.
    assert tesela.pinv(np.diag([1, 1e-20]), return_rank=True)[1] == 1
    with pytest.raises(np.linalg.LinAlgError, match="overflow"):
        tesela.pinv(np.diag([1e-310, 1e-310]))


def test_without_a_tolerance_every_value_counts():
    a = np.diag([1, 1e-300])
    for invert in (tesela.pinv, tesela.pinvh):
        assert invert(a, return_rank=True)[1] == 1
        x, rank = invert(a, atol=0, return_rank=True)
        assert rank == 2 and np.allclose(x, np.diag([1, 1e300]), rtol=1e-14)
    with pytest.raises(np.linalg.LinAlgError, match="pinv: an element of the inverse overflows"):
        tesela.pinv(np.diag([1, 1e-310]), atol=0)


def test_ranks():
    assert tesela.matrix_rank(np.zeros(3)) == 0 and tesela.matrix_rank([1, 0]) == 1 and tesela.matrix_rank(3.0) == 1
    a = np.stack([np.eye(3), np.diag([1, 1e-5, 0])])
    assert tesela.matrix_rank(a).tolist() == [3, 2]
    assert tesela.matrix_rank(a, rtol=1e-3).tolist() == [3, 1]
    assert tesela.matrix_rank(a, tol=[2, 1e-7]).tolist() == [0, 2]
    assert tesela.matrix_rank(np.zeros((0, 3))) == 0 and tesela.matrix_rank(np.zeros((2, 3, 0))).tolist() == [0, 0]
    assert tesela.matrix_rank(a * 1e-200).tolist() == [3, 2] and tesela.matrix_rank(a * 1e150).tolist() == [3, 2]
    with pytest.raises(ValueError):
        tesela.matrix_rank(a, tol=1, rtol=1)


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"])
def test_conditions(p):
    a = random(4, 3, 5, 5)
    assert tesela.cond(a, p) == pytest.approx(np.linalg.cond(a, p), rel=1e-11)
    assert tesela.cond(a[0], p) == pytest.approx(np.linalg.cond(a[0], p), rel=1e-11)
    assert tesela.cond(a[0].astype(np.float32), p).dtype == np.float32
    if p != -2:
        assert tesela.cond(np.zeros((2, 2)), p) == np.inf == tesela.cond(np.array([[1.0, 2], [0, 0]]), p)


@pytest.mark.parametrize("p", [1, np.inf, "fro"])
@pytest.mark.parametrize("dtype, n", [(np.float64, 12), (np.float32, 6), (np.float32, 7)])
def test_conditions_beyond_the_precision(p, dtype, n):
    exact = np.linalg.cond(scipy.linalg.hilbert(n), p)
    found = tesela.cond(scipy.linalg.hilbert(n).astype(dtype), p)
    assert exact / 10 < found < 10 * exact


@pytest.mark.parametrize("p", [None, -2, 1, np.inf, "fro"])
def test_conditions_at_the_ends_of_the_range(p):
    a = np.array([[4, 1], [0, 2.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for factor in (2.0**-1070, 2.0**-600, 2.0**1021):
            assert tesela.cond(factor * a, p) == pytest.approx(np.linalg.cond(a, p), rel=1e-14)
        beyond = tesela.cond(np.diag([1e-160, 1e160]), p)
        assert 0 < beyond < 1e-300 if p == -2 else beyond == np.inf


def test_stacks_with_several_ranks_or_tolerances_are_refused():
    a = np.stack([np.eye(2), np.ones((2, 2))])
    for function in (tesela.orth, tesela.null_space):
        with pytest.raises(ValueError, match="different shapes"):
            function(a)
    with pytest.raises(TypeError, match="rtol must be one number"):
        tesela.pinv(a, rtol=np.array([0.1, 0.2]))


def test_conditions_of_other_shapes():
    a = random(5, 6, 3)
    assert tesela.cond(a) == pytest.approx(np.linalg.cond(a), rel=1e-12)
    assert tesela.cond(a * 1e-300) == pytest.approx(np.linalg.cond(a), rel=1e-12)
    for wrong in (lambda: tesela.cond(a, 1), lambda: tesela.cond(np.zeros((0, 2)))):
        with pytest.raises(np.linalg.LinAlgError):
            wrong()


@pytest.mark.parametrize("name", ["matrix_rank", "cond", "orth", "null_space", "polar", "pinv"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite(name, bad):
    a = np.eye(3)
    a[1, 2] = bad
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        getattr(tesela, name)(a)


@pytest.mark.parametrize("name", ["matrix_rank", "orth", "null_space", "polar", "pinv"])
def test_errors_name_the_routine_that_was_called(name):
    a = np.full((2, 2), 1.5e308)
    with pytest.raises(np.linalg.LinAlgError, match=f"^{name}: overflow"):
        getattr(tesela, name)(a)
    with pytest.raises(np.linalg.LinAlgError, match=f"^matrix 1 of the stack: {name}: overflow"):
        getattr(tesela, name)(np.stack([np.eye(2), a]))


def test_bases_of_small_shapes():
    assert tesela.orth(np.zeros((4, 2))).shape == (4, 0) and tesela.null_space(np.zeros((4, 2))).shape == (2, 2)
    assert tesela.orth(np.zeros((4, 0))).shape == (4, 0) and tesela.null_space(np.zeros((0, 3))).shape == (3, 3)
    assert tesela.null_space(np.diag([1, 1e-5]), 1e-3).shape == (2, 1)
    u, p = tesela.polar(np.array([[0.0, -1], [1, 0]]))
    assert norm(u - [[0, -1], [1, 0]]) <= 1e-15 and norm(p - np.eye(2)) <= 1e-15
    with pytest.raises(ValueError, match="side"):
        tesela.polar(np.eye(2), "up")
