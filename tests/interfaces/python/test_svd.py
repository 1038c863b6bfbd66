"""Singular values, compared with SciPy's."""

import numpy as np
import pytest
import scipy.linalg
from conftest import dtypes, eps, laid_out, layouts, norm, random, seeds
from hypothesis import given, strategies as st

import tesela


@given(st.integers(0, 30), st.integers(0, 30), st.booleans(), dtypes, layouts, seeds)
def test_svd_agrees_with_scipy(m, n, full_matrices, dtype, layout, seed):
    a = random(seed, m, n).astype(dtype)
    given = laid_out(a, layout)
    u, s, vh = tesela.svd(given, full_matrices=full_matrices)
    k = min(m, n)
    bound = 20 * (m + n + 1) * eps(dtype)
    assert u.dtype == s.dtype == vh.dtype == dtype
    assert u.shape == (m, m if full_matrices else k) and vh.shape == (n if full_matrices else k, n)
    assert np.array_equal(given, a)
    assert norm((u[:, :k] * s) @ vh[:k] - a) <= bound * norm(a)
    assert norm(u.T.astype(float) @ u - np.eye(u.shape[1])) <= bound
    assert norm(vh.astype(float) @ vh.T - np.eye(len(vh))) <= bound
    if k > 0:
        expected = scipy.linalg.svd(a.astype(float), compute_uv=False)
        assert norm(s - expected) <= bound * norm(a)
        assert norm(tesela.svdvals(given) - expected) <= bound * norm(a)
        assert np.array_equal(tesela.svd(given, compute_uv=False), tesela.svdvals(given))


def test_values_in_two_stages_have_the_norms_of_the_matrix():
    a = random(1, 850, 900)  # above the order for LAPACK
    s = tesela.svdvals(a)
    assert s.shape == (850,) and (np.diff(s) <= 0).all()
    assert norm(s) == pytest.approx(norm(a), rel=1e-13)
    assert norm(s**2) == pytest.approx(norm(a @ a.T), rel=1e-13)


@given(st.integers(1, 20), st.integers(1, 20), st.booleans(), dtypes, seeds)
def test_stacks_of_small_matrices_agree_with_scipy(m, n, full_matrices, dtype, seed):
    a = random(seed, 3, m, n).astype(dtype)[::-1]
    u, s, vh = tesela.svd(a, full_matrices=full_matrices)
    k, bound = min(m, n), 20 * (m + n + 1) * eps(dtype)
    assert u.dtype == s.dtype == vh.dtype == dtype
    assert u.shape == (3, m, m if full_matrices else k) and vh.shape == (3, n if full_matrices else k, n)
    assert norm((u[..., :k] * s[:, None, :]) @ vh[:, :k] - a) <= bound * norm(a)
    assert norm(u.swapaxes(1, 2).astype(float) @ u - np.eye(u.shape[2])) <= bound
    assert norm(vh.astype(float) @ vh.swapaxes(1, 2) - np.eye(vh.shape[1])) <= bound
    expected = np.linalg.svd(a.astype(float), compute_uv=False)
    assert norm(s - expected) <= bound * norm(a)
    assert norm(tesela.svdvals(a) - expected) <= bound * norm(a)
    assert tesela.svd(a, largest=1)[0].shape == (3, m, 1)


def test_a_stack_names_the_matrix_that_is_not_finite():
    a = random(1, 2, 3, 4, 5)
    a[1, 2, 3, 4] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match=r"a\[1, 2, 3, 4\] is not finite"):
        tesela.svd(a)


@pytest.mark.parametrize("shape", [(3, 2, 2), (3, 100, 70)])  # together, and one after another
def test_a_stack_names_the_matrix_that_overflows(shape):
    a = np.ones(shape, np.float32)
    a[1] = 3e38
    with pytest.raises(np.linalg.LinAlgError, match="^matrix 1 of the stack: svd: overflow") as caught:
        tesela.svd(a)
    assert caught.value.result is None and caught.value.status.startswith("overflow")
    with pytest.raises(np.linalg.LinAlgError, match=r"^matrix \(0, 1\) of the stack: svd: overflow"):
        tesela.svdvals(a[None])


@given(st.integers(0, 3), dtypes, layouts, seeds)
def test_randomized_svd_is_within_its_bound(power, dtype, layout, seed):
    a = (random(seed, 60, 8) @ np.diag(0.1 ** np.arange(8)) @ random(seed + 1, 8, 40)).astype(dtype)
    result = tesela.randomized_svd(laid_out(a, layout), 5, n_oversamples=2, n_iter=power, random_state=seed % 1000)
    u, s, vh = result
    error = np.linalg.norm(a.astype(float) - (u.astype(float) * s) @ vh, 2)
    assert u.shape == (60, 5) and s.shape == (5,) and vh.shape == (5, 40) and u.dtype == dtype
    assert error <= result.error_bound <= 100 * error + 1000 * eps(dtype) * s[0]
    best = np.linalg.svd(a.astype(float), compute_uv=False)[5]
    assert error >= best * (1 - 1e-6) - 100 * eps(dtype) * s[0]


def test_randomized_svd_refuses_wrong_arguments():
    a = random(1, 5, 4)
    for wrong in ({"n_components": 5}, {"n_components": 0}, {"n_components": 1, "n_iter": -1},
                  {"n_components": 1, "n_oversamples": -1}, {"n_components": 1, "random_state": -1}):
        with pytest.raises(ValueError):
            tesela.randomized_svd(a, **wrong)
    with pytest.raises(ValueError, match="one matrix"):
        tesela.randomized_svd(np.ones((2, 3, 4)), 1)
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        tesela.randomized_svd(np.full((3, 3), np.nan), 1)


def test_stacks_of_matrices():
    a = random(7, 2, 3, 5, 4)
    u, s, vh = tesela.svd(a, full_matrices=False)
    assert u.shape == (2, 3, 5, 4) and s.shape == (2, 3, 4) and vh.shape == (2, 3, 4, 4)
    assert norm((u * s[..., None, :]) @ vh - a) <= 1e-13 * norm(a)
    assert tesela.svdvals(a).shape == (2, 3, 4)
    a[1, 2, 4, 0] = np.nan
    for function in (tesela.svd, tesela.svdvals):
        with pytest.raises(np.linalg.LinAlgError, match=r"^a\[1, 2, 4, 0\] is not finite") as caught:
            function(a)
        assert caught.value.status == "not finite"  # type: ignore[attr-defined]
    with pytest.raises(np.linalg.LinAlgError, match=r"^a\[2, 4, 0\] is not finite"):
        tesela.svdvals(a[1])


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (2, 6, 4)])
def test_largest_values(shape):
    a = random(8, *shape)
    u, s, vh = tesela.svd(a, full_matrices=False)
    most_u, most, most_vh = tesela.svd(a, largest=2)
    assert norm(most - s[..., :2]) <= 1e-14 * norm(s)
    assert most_u.shape == (*shape[:-1], 2) and most_vh.shape == (*shape[:-2], 2, shape[-1])
    assert norm((most_u * most[..., None, :]) @ most_vh - (u[..., :2] * s[..., None, :2]) @ vh[..., :2, :]) <= 1e-13 * norm(a)
    assert norm(tesela.svdvals(a, largest=3) - s[..., :3]) <= 1e-14 * norm(s)
    for wrong in (0, -1, 5):
        with pytest.raises(ValueError, match="largest must be between 1 and min"):
            tesela.svd(a, largest=wrong)
    with pytest.raises(TypeError):
        tesela.svdvals(a, largest=1.5)


def test_hermitian_is_accepted():
    assert tesela.svd(np.diag([2.0, -3.0]), hermitian=True).s.tolist() == [3, 2]


def test_results_and_failures():
    found = tesela.svd(np.diag([3.0, 4.0]))
    assert found.s.tolist() == [4, 3] and len(found) == 3 and "4." in repr(found)
    assert tesela.svdvals(np.full((3, 3), 1e-310)).max() == pytest.approx(3e-310, rel=1e-12)
    for bad in (np.nan, np.inf):
        a = np.eye(3)
        a[1, 2] = bad
        with pytest.raises(np.linalg.LinAlgError, match=r"a\[1, 2\]"):
            tesela.svd(a)
    with pytest.raises(np.linalg.LinAlgError, match="overflow"):
        tesela.svdvals(np.full((4, 4), 1e308))
    with pytest.raises(ValueError, match="lapack_driver"):
        tesela.svd(np.eye(2), lapack_driver="other")
    with pytest.raises(ValueError):
        tesela.svd(np.ones(3))
