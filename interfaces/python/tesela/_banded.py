"""Band matrices, and eigenvalues without eigenvectors, under SciPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _tesela
from ._arrays import Array, each, fail, finite, matrix, numbers, plain, real, real_diagonal, solution, warn

__all__ = ["cho_solve_banded", "cholesky_banded", "eig_banded", "eigh", "eigh_tridiagonal", "eigvals_banded",
           "eigvalsh", "eigvalsh_tridiagonal", "solve_banded", "solveh_banded"]

STATUSES = ("ok", "doubtful", "inaccurate", "singular", "zero pivot", "not positive definite", "not finite")


def judge(routine: str, solved: tuple[Array, int, int, str]) -> Array:
    """Returns x. Throws LinAlgError or warns as the status requires."""
    x, number, place, description = solved
    status = STATUSES[number]
    if status == "doubtful":
        warn(f"{routine}: the matrix is {description}: x may have fewer than two correct digits")
    elif status == "singular":
        fail(f"{routine}: the matrix is {description}", status, x)
    elif status == "zero pivot":
        fail(f"{routine}: the matrix is singular: pivot {place} is zero or not finite", "singular")
    elif status == "not positive definite":
        fail(f"{routine}: the matrix is not positive definite: the leading minor of order {place + 1} is not positive",
             status)
    elif status == "not finite":
        fail(f"{routine}: x[:, {place}] is not finite", status)
    return x


def stored(ab: Array, lower: bool, name: str = "ab") -> Array:
    """Returns the upper band form, of the adjoint of a lower triangle, with zeros in the places that are not read."""
    if ab.ndim != 2:
        raise ValueError(f"{name} has {ab.ndim} dimensions, not 2")
    rows, n = ab.shape
    upper = np.zeros_like(ab)
    for k in range(min(rows, n)):  # diagonal k
        upper[rows - 1 - k, k:] = ab[k, : n - k].conj() if lower else ab[rows - 1 - k, k:]
    finite(upper, name)
    if rows:
        real_diagonal(ab[0 if lower else -1], name)
    return upper


def solve_banded(l_and_u: tuple[int, int], ab: ArrayLike, b: ArrayLike, overwrite_ab: bool = False,
                 overwrite_b: bool = False, check_finite: bool = True) -> Array:
    """Solve a x = b for a band matrix, on one core; `solve_tridiagonal` uses all.

    Parameters
    ----------
    l_and_u : (int, int)
        Number of diagonals below and above the main one.
    ab : (l + u + 1, n) array
        Element (i, j) of a in ab[u + i - j, j].
    b : (n,) or (n, k) array

    Raises
    ------
    numpy.linalg.LinAlgError
        If a is singular, exactly or to working precision.

    Warns
    -----
    LinAlgWarning
        If x may have fewer than two correct digits.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> tesela.solve_banded((1, 0), np.array([[2., 2.], [1., 0.]]), np.array([2., 3.]))
    array([1., 1.])
    """
    band, right = numbers(ab, "ab"), numbers(b, "b")
    below, above = (int(i) for i in l_and_u)
    if right.ndim == 0:
        raise ValueError("b must be a vector or a matrix")
    if band.ndim > 2 or right.ndim > 2:
        return each(lambda x, y: solve_banded(l_and_u, x, y), (2, min(right.ndim, 2)), band, right)
    if below < 0 or above < 0:
        raise ValueError(f"l_and_u is ({below}, {above}); it must not be negative")
    if band.ndim != 2 or band.shape[0] != below + above + 1:
        raise ValueError(f"ab has the shape {band.shape}; it must have l + u + 1 = {below + above + 1} rows")
    n = band.shape[1]
    if right.shape[0] != n:
        raise ValueError(f"b has {right.shape[0]} rows, not {n}")
    room = np.zeros((2 * below + above + 1, n), band.dtype, order="F")
    for k in range(-below, above + 1):
        at = above - k
        if -n < k < n:
            room[below + at, max(k, 0): n + min(k, 0)] = band[at, max(k, 0): n + min(k, 0)]
    solved: tuple[Array, int, int, str] = _tesela._solve_band(below, above, finite(room, "ab"), finite(right, "b"))
    return judge("solve_banded", solved)


def solveh_banded(ab: ArrayLike, b: ArrayLike, overwrite_ab: bool = False, overwrite_b: bool = False,
                  lower: bool = False, check_finite: bool = True) -> Array:
    """Solve a x = b for a symmetric or Hermitian positive definite band matrix; errors and warnings as `solve_banded`.

    Parameters
    ----------
    ab : (u + 1, n) array
        Element (i, j) of a in ab[u + i - j, j], or with `lower` in ab[i - j, j].
    b : (n,) or (n, k) array

    Examples
    --------
    >>> import numpy as np, tesela
    >>> tesela.solveh_banded(np.array([[2., 2.], [1., 0.]]), np.array([3., 3.]), lower=True)
    array([1., 1.])
    """
    band, right = numbers(ab, "ab"), numbers(b, "b")
    if band.ndim > 2 or right.ndim > 2:
        return each(lambda x, y: solveh_banded(x, y, lower=lower), (2, min(right.ndim, 2)), band, right)
    if right.ndim == 0 or band.ndim != 2 or band.shape[1] != right.shape[0]:
        raise ValueError(f"ab and b have the shapes {band.shape} and {right.shape}, which do not conform")
    solved: tuple[Array, int, int, str] = _tesela._solve_positive_band(stored(band, lower), finite(right, "b"))
    return judge("solveh_banded", solved)


def cholesky_banded(ab: ArrayLike, overwrite_ab: bool = False, lower: bool = False,
                    check_finite: bool = True) -> Array:
    """The Cholesky factor of a symmetric or Hermitian positive definite band matrix, stored as ab.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> tesela.cholesky_banded(np.array([[4., 5.], [2., 0.]]), lower=True)
    array([[2., 2.],
           [1., 0.]])
    """
    band = numbers(ab, "ab")
    if band.ndim > 2:
        return each(lambda x: cholesky_banded(x, lower=lower), (2,), band)
    factor: Array
    factor, minor = _tesela._factor_band(stored(band, lower))
    if minor:
        fail(f"ab is not positive definite: the leading minor of order {minor} is not positive",
             "not positive definite")
    if not lower:
        return factor
    rows, n = factor.shape
    result = np.zeros_like(factor)
    for k in range(min(rows, n)):
        result[k, : n - k] = factor[rows - 1 - k, k:].conj()
    return result


def cho_solve_banded(cb_and_lower: tuple[ArrayLike, bool], b: ArrayLike, overwrite_b: bool = False,
                     check_finite: bool = True) -> Array:
    """Solve a x = b by the factor of `cholesky_banded` and its `lower`."""
    cb, lower = cb_and_lower
    band, right = numbers(cb, "cb"), numbers(b, "b")
    if band.ndim > 2 or right.ndim > 2:
        return each(lambda x, y: cho_solve_banded((x, lower), y), (2, min(right.ndim, 2)), band, right)
    if right.ndim == 0 or band.shape[-1] != right.shape[0]:
        raise ValueError(f"cb and b have the shapes {band.shape} and {right.shape}, which do not conform")
    return solution(_tesela._solve_factored_band(stored(band, lower, "cb"), finite(right, "b")))


def selection(select: Any, select_range: Any) -> str:
    """Returns 'a', 'v' or 'i' for SciPy's names and numbers of them. Throws ValueError for others."""
    kinds = {0: "a", 1: "v", 2: "i", "all": "a", "value": "v", "index": "i", "a": "a", "v": "v", "i": "i"}
    try:
        kind = kinds[select.lower() if isinstance(select, str) else select]
    except (KeyError, TypeError):
        raise ValueError(f"select must be 'a', 'v' or 'i', not {select!r}") from None
    if kind != "a" and select_range is None:
        raise ValueError(f"select_range is missing: select={select!r} needs a pair (low, high)")
    return kind


def eig_banded(a_band: ArrayLike, lower: bool = False, eigvals_only: bool = False, overwrite_a_band: bool = False,
               select: str = "a", select_range: tuple[float, float] | None = None, max_ev: int = 0,
               check_finite: bool = True) -> Any:
    """Compute eigenvalues of a symmetric or Hermitian band matrix, ascending, and eigenvectors.

    Parameters
    ----------
    a_band : (u + 1, n) array
        As ab of `solveh_banded`. n may be 0; without a row it is a ValueError (SciPy returns no eigenvalues).
    eigvals_only : bool
        Return w alone.
    select : {'a', 'v', 'i'}, in either case
        All; in (low, high] of `select_range`; or from its first to its second index.
    max_ev : int
        Without effect.

    Returns
    -------
    w, v : arrays
        Eigenvalues, and eigenvectors as columns.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> np.round(tesela.eig_banded(np.array([[2., 2.], [1., 0.]]), lower=True, eigvals_only=True), 12)
    array([1., 3.])
    """
    band = numbers(a_band, "a_band")
    if band.ndim > 2:
        return each(lambda x: eig_banded(x, lower, eigvals_only, False, select, select_range), (2,), band)
    upper = stored(band, lower, "a_band")
    rows, n = upper.shape
    kind = selection(select, select_range) if n else "a"
    form = np.zeros_like(upper)
    for k in range(min(rows, n)):
        form[k, : n - k] = upper[rows - 1 - k, k:].conj()
    w, v = _tesela._eig_band(form, not eigvals_only, kind, select_range)
    return w if eigvals_only else (w, v)


def eigvals_banded(a_band: ArrayLike, lower: bool = False, overwrite_a_band: bool = False, select: str = "a",
                   select_range: tuple[float, float] | None = None, check_finite: bool = True) -> Array:
    """Compute eigenvalues as `eig_banded`."""
    w: Array = eig_banded(a_band, lower, True, False, select, select_range)
    return w


def eigh(a: ArrayLike, b: ArrayLike | None = None, *, lower: bool = True, eigvals_only: bool = False,
         overwrite_a: bool = False, overwrite_b: bool = False, type: int = 1, check_finite: bool = True,
         subset_by_index: tuple[int, int] | None = None, subset_by_value: tuple[float, float] | None = None) -> Any:
    if plain(a) and (b is None or plain(b)):
        return _tesela.eigh(a, b, lower=lower, eigvals_only=eigvals_only, type=type, subset_by_index=subset_by_index,
                            subset_by_value=subset_by_value, overwrite_a=overwrite_a, overwrite_b=overwrite_b)

    def solve(*pair: Array) -> Any:
        found = _tesela.eigh(*pair, lower=lower, eigvals_only=eigvals_only, type=type, subset_by_index=subset_by_index,
                             subset_by_value=subset_by_value)
        return found if eigvals_only else tuple(found)

    stacks = [matrix(x, name, convert=numbers) for x, name in ((a, "a"), (b, "b")) if x is not None]
    return each(solve, (2,) * len(stacks), *stacks)


eigh.__doc__ = _tesela.eigh.__nb_signature__[0][1]


def eigvalsh(a: ArrayLike, b: ArrayLike | None = None, *, lower: bool = True, overwrite_a: bool = False,
             overwrite_b: bool = False, type: int = 1, check_finite: bool = True,
             subset_by_index: tuple[int, int] | None = None,
             subset_by_value: tuple[float, float] | None = None) -> Any:
    """Compute eigenvalues as `eigh`."""
    return eigh(a, b, lower=lower, eigvals_only=True, overwrite_a=overwrite_a, overwrite_b=overwrite_b, type=type,
                subset_by_index=subset_by_index, subset_by_value=subset_by_value)


def eigh_tridiagonal(d: ArrayLike, e: ArrayLike, eigvals_only: bool = False, select: str = "a",
                     select_range: tuple[float, float] | None = None, check_finite: bool = True) -> Any:
    kind = selection(select, select_range)
    if isinstance(d, np.ndarray) and d.ndim == 1 or not isinstance(d, np.ndarray):
        return _tesela.eigh_tridiagonal(d, e, eigvals_only, kind, select_range)

    def solve(d: Array, e: Array) -> Any:
        found = _tesela.eigh_tridiagonal(d, e, eigvals_only, kind, select_range)
        return found if eigvals_only else tuple(found)

    return each(solve, (1, 1), real(d, "d"), real(e, "e"))


eigh_tridiagonal.__doc__ = _tesela.eigh_tridiagonal.__nb_signature__[0][1]


def eigvalsh_tridiagonal(d: ArrayLike, e: ArrayLike, select: str = "a",
                         select_range: tuple[float, float] | None = None, check_finite: bool = True) -> Any:
    """Compute eigenvalues as `eigh_tridiagonal`."""
    return eigh_tridiagonal(d, e, True, select, select_range)
