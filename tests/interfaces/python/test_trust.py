"""No useless solution is silent: `solve` and `solve_tridiagonal` raise or warn, and only then."""

import warnings

import numpy as np
import pytest
from conftest import eps, norm, random

import tesela


def outcome(call):
    """Returns the status of the call's error, 'warning', or its result."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return call()
        except tesela.LinAlgWarning as warning:
            assert "reciprocal condition number" in str(warning)
            return "warning"
        except np.linalg.LinAlgError as error:
            return error.status


def hilbert(n):
    return 1 / (np.arange(n)[:, None] + np.arange(n) + 1)


def growth(n):
    """Returns Wilkinson's matrix: elements grow by 2^(n - 1) although the condition is about n / 2."""
    return np.c_[(np.eye(n) - np.tril(np.ones((n, n)), -1))[:, :-1], np.ones(n)]


def gram(n, rank):
    f = random(4, n, rank)
    return f @ f.T


SINGULAR = {
    "1 ... 9": np.arange(1.0, 10).reshape(3, 3),
    "1 ... 16": np.arange(1.0, 17).reshape(4, 4),
    "vander": np.vander(np.linspace(0, 1, 30)),
    "hilbert 14": hilbert(14),
    "hilbert 15": hilbert(15),
    "gram": gram(50, 49),
    "two equal columns": random(5, 40, 40)[:, np.r_[:39, 0]],
    "rows of any size": np.diag(10.0 ** np.arange(-100, 100, 40)) @ np.vander(np.array([1.0, 2, 3, 3, 4])),
    "many tiles": random(7, 300, 300) @ np.diag([1.0] * 299 + [1e-17]) @ random(8, 300, 300),
}


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_matrices_singular_to_working_precision_are_errors(name, dtype):
    a = SINGULAR[name]
    if dtype == np.float32:
        a = (a / np.abs(a).max(axis=1, keepdims=True)).astype(dtype)
    found = outcome(lambda: tesela.solve(a, a @ np.ones(len(a), dtype)))
    assert found in ("singular", "warning"), found
    if dtype == np.float64 and name in ("1 ... 9", "hilbert 14", "vander", "many tiles"):
        assert found == "singular"


@pytest.mark.parametrize("n", [20, 50, 80])
def test_a_singular_matrix_is_an_error_by_cholesky(n):
    for a in (gram(n, n - 1), hilbert(13)):  # rounding decides whether a pivot becomes negative
        found = outcome(lambda: tesela.solve(a, np.ones(len(a)), assume_a="pos"))
        assert found in ("singular", "warning", "not positive definite")


@pytest.mark.parametrize("n", range(2, 130, 8))
def test_growth_of_elements_is_never_silent(n):
    a = growth(n)
    found = outcome(lambda: tesela.solve(a, a @ np.ones(n)))
    if isinstance(found, str):
        assert n > 40 and found in ("inaccurate", "warning")
    else:
        assert n < 60 and np.abs(found - 1).max() <= 0.05


def test_the_error_has_the_solution_and_the_warning_the_callers_line():
    with pytest.raises(np.linalg.LinAlgError, match="reciprocal condition number") as caught:
        tesela.solve(SINGULAR["hilbert 14"], np.ones(14))
    assert caught.value.result.shape == (14,)
    with pytest.warns(tesela.LinAlgWarning) as seen:
        x = tesela.solve(hilbert(11), hilbert(11) @ np.ones(11))
    assert seen[0].filename == __file__ and np.abs(x - 1).max() < 1
    assert issubclass(tesela.LinAlgWarning, RuntimeWarning)


def test_a_row_in_large_units_makes_no_matrix_singular():
    a = np.array([[1, 2], [3, 1e100]])  # unscaled, the pivot 3 loses the 2
    x = outcome(lambda: tesela.solve(a, [5, 2e100]))
    assert not isinstance(x, str) and np.abs(x - [1, 2]).max() <= 1e-15
    assert np.abs(tesela.inv(a) - [[1, -2e-100], [-3e-100, 1e-100]]).max() <= 1e-15


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("assume_a", ["gen", "pos"])
def test_the_scaling_of_rows_and_columns_does_not_matter(dtype, assume_a):
    n, decades = 50, 120 if dtype == np.float64 else 12
    f = random(1, n, n)
    a = f @ f.T + n * np.eye(n)
    rows, columns = 10.0 ** np.random.default_rng(2).uniform(-decades, decades, (2, n))
    if assume_a == "pos":
        columns = rows
    scaled = (rows[:, None] * a * columns).astype(dtype)
    x = outcome(lambda: tesela.solve(scaled, (rows * a.sum(axis=1)).astype(dtype), assume_a=assume_a))
    assert not isinstance(x, str), x
    assert np.abs(x * columns - 1).max() <= 1e5 * eps(dtype)  # the size of rows affects the choice of pivots


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", ["solve", "inv", "solve_banded"])
def test_units_of_rows_and_columns_do_not_matter_for_a_matrix_with_zeros(dtype, function):
    n, reach = 60, 60 if dtype == np.float64 else 12
    generator = np.random.default_rng(4)
    for _ in range(10):
        a = 8 * np.eye(n) + generator.uniform(-1, 1, (n, n)) * (generator.random((n, n)) < 0.1)
        if function == "solve_banded":
            a = np.triu(np.tril(a, 1), -1)
        else:
            a = a[generator.permutation(n)]
        rows, columns = 2.0 ** generator.integers(-reach, reach + 1, (2, n))
        scaled = (rows[:, None] * a * columns).astype(dtype)
        b = (rows * a.sum(axis=1)).astype(dtype)
        if function == "solve_banded":
            band = np.zeros((3, n), dtype)
            band[0, 1:], band[1], band[2, :-1] = (np.diagonal(scaled, k) for k in (1, 0, -1))
            x = outcome(lambda: tesela.solve_banded((1, 1), band, b))
        else:
            x = outcome(lambda: tesela.solve(scaled, b) if function == "solve" else tesela.inv(scaled))
        assert not isinstance(x, str), x
        if function == "inv":
            x = np.asarray(x, float) @ b
        assert np.abs(x * columns - 1).max() <= 1e3 * eps(dtype)


@pytest.mark.parametrize("reach", [5, 100, 480])
@pytest.mark.parametrize("kl, ku", [(3, 0), (5, 0), (4, 1), (0, 4), (5, 2)])
def test_a_well_conditioned_band_system_is_solved_in_any_units(kl, ku, reach):
    generator = np.random.default_rng(5)
    for n in (30, 64, 257):
        for _ in range(5):
            a = np.tril(np.triu(generator.uniform(-1, 1, (n, n)), -kl), ku) * (generator.random((n, n)) < 0.8)
            a += (kl + ku + 1) * np.eye(n)
            rows, columns = 2.0 ** generator.integers(-reach, reach + 1, (2, n))
            scaled = rows[:, None] * a * columns
            band = np.zeros((kl + ku + 1, n))
            for k in range(-kl, ku + 1):
                band[ku - k, max(k, 0): n + min(k, 0)] = np.diagonal(scaled, k)
            x = outcome(lambda: tesela.solve_banded((kl, ku), band, rows * a.sum(axis=1)))
            assert not isinstance(x, str), x
            y = x * columns
            rest = np.abs(a @ y - a.sum(axis=1)) / (np.abs(a) @ np.abs(y))
            assert max(rest.max(), np.abs(y - 1).max()) <= 1e4 * eps(float)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
@pytest.mark.parametrize("n", [1, 2, 33, 200])
def test_good_systems_of_any_size_are_silent(n, scale):
    for a in (random(1, n, n) + 3 * np.eye(n), np.eye(n)[::-1], np.triu(np.full((n, n), 0.01)) + np.eye(n)):
        x = outcome(lambda: tesela.solve(scale * a, scale * a.sum(axis=1)))
        assert not isinstance(x, str), x
        assert np.abs(x - 1).max() <= 1e-11
    assert not isinstance(outcome(lambda: tesela.solve(hilbert(9), np.ones(9))), str)


def second_difference(n, shift):
    return -np.ones(n - 1), np.full(n, 2 - shift), -np.ones(n - 1)


def eigenvalue(n, k):
    return 2 - 2 * np.cos(np.pi * k / (n + 1))


@pytest.mark.parametrize("n, k", [(2, 1), (5, 2), (50, 7), (1000, 400), (20000, 1)])
def test_a_singular_tridiagonal_system_is_an_error(n, k):
    b = random(1, n)
    assert outcome(lambda: tesela.solve_tridiagonal(*second_difference(n, eigenvalue(n, k)), b)) in ("singular", "warning")


def test_a_nearly_singular_tridiagonal_system_is_silent_as_long_as_digits_are_left():
    n = 500
    for distance in (1e-3, 1e-6, 1e-9):
        dl, d, du = second_difference(n, eigenvalue(n, 20) - distance)
        x = outcome(lambda: tesela.solve_tridiagonal(dl, d, du, random(1, n)))
        assert not isinstance(x, str), (distance, x)


def test_the_singular_one_of_many_is_named():
    n, k = 60, 9
    d = np.full((n, k), 4.0)
    d[:, 6] = 2 - eigenvalue(n, 11)
    one = np.full((n, k), -1.0)
    with pytest.raises(np.linalg.LinAlgError, match="system 6: .*reciprocal condition number") as caught:
        tesela.solve_tridiagonal(one, d, one, random(2, n, k))
    assert caught.value.status == "singular" and caught.value.result.shape == (n, k)
    with pytest.raises(np.linalg.LinAlgError):  # cyclic rows that sum to zero
        tesela.solve_tridiagonal(one[:, 0], np.full(n, 2.0), one[:, 0], random(3, n), periodic=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_good_tridiagonal_systems_are_silent(dtype):
    for n in (1, 2, 3, 300, 70000):
        for scale in (1e-30, 1.0, 1e30):
            dl, du, d = (scale * random(i, n).clip(-2, 2) for i in range(3))
            d = d + np.copysign(5 * scale, d)
            b = d + np.r_[0, dl[1:]] + np.r_[du[:-1], 0]
            x = outcome(lambda: tesela.solve_tridiagonal(*(v.astype(dtype) for v in (dl, d, du, b))))
            assert not isinstance(x, str), x
            assert np.abs(x - 1).max() <= 20 * eps(dtype)
    assert norm(outcome(lambda: tesela.solve_tridiagonal(np.ones(4), np.full(5, 4.0), np.ones(4), np.zeros(5)))) == 0
