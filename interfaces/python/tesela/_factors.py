"""Factorizations and the solutions by their factors, under SciPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _tesela
from ._arrays import Array, each, fail, finite, foreign, matrix, numbers, plain, solution, warn

__all__ = ["cho_factor", "cho_solve", "cholesky", "lu", "lu_factor", "lu_solve", "qr", "qr_multiply",
           "solve_triangular"]


def cholesky(a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The Cholesky factor of a symmetric or Hermitian positive definite matrix: a = r' r, or with `lower` a = l l'.

    Reads only the triangle of `a` that the factor occupies; a stack of matrices gives a stack of factors.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a leading minor is not positive, or an element is not finite.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> tesela.cholesky(np.array([[4., 2.], [2., 5.]]))
    array([[2., 1.],
           [0., 2.]])
    """
    if not plain(a):
        return each(lambda x: cholesky(x, lower), (2,), matrix(a, "a", convert=numbers))
    try:
        return _tesela.cholesky(a, lower, overwrite_a=overwrite_a)
    except np.linalg.LinAlgError as error:
        failure = error
    if not overwrite_a and not foreign(a):
        finite(np.tril(numbers(a, "a")) if lower else np.triu(numbers(a, "a")), "a")
    raise failure


def cho_factor(a: ArrayLike, lower: bool = False, overwrite_a: bool = False,
               check_finite: bool = True) -> tuple[Any, bool]:
    """Factor as `cholesky`, for `cho_solve`.

    Returns
    -------
    c : (n, n) array
    lower : bool

    Examples
    --------
    >>> import numpy as np, tesela
    >>> factor = tesela.cho_factor(np.array([[4., 2.], [2., 5.]]))
    >>> tesela.cho_solve(factor, np.array([6., 7.]))
    array([1., 1.])
    """
    return cholesky(matrix(a, "a", convert=numbers), lower, overwrite_a), bool(lower)


def cho_solve(c_and_lower: tuple[ArrayLike, bool], b: ArrayLike, overwrite_b: bool = False,
              check_finite: bool = True) -> Array:
    """Solve a x = b by the factor of `cho_factor`."""
    c, lower = c_and_lower
    factor, right = matrix(c, "c", convert=numbers), numbers(b, "b")

    def solve(c: Array, b: Array) -> Array:
        first = solve_triangular(c, b, trans=0 if lower else 2, lower=lower)
        return solve_triangular(c, first, trans=2 if lower else 0, lower=lower)

    require_rows(factor, right)
    return each(solve, (2, min(right.ndim, 2)), factor, right)


def require_rows(a: Array, b: Array) -> None:
    """Throws ValueError unless b, a vector or a stack of matrices, has a row for each of a."""
    rows = b.shape[0] if b.ndim == 1 else b.shape[-2] if b.ndim > 1 else 0
    if rows != a.shape[-2]:
        raise ValueError(f"b has {rows} rows, not {a.shape[-2]}")


def solve_triangular(a: ArrayLike, b: ArrayLike, trans: int | str = 0, lower: bool = False,
                     unit_diagonal: bool = False, overwrite_b: bool = False, check_finite: bool = True) -> Array:
    """Solve a x = b, or a.T x = b or a.conj().T x = b, for a triangular matrix.

    Parameters
    ----------
    a : (..., n, n) array
        Only one triangle is read.
    b : (n,) or (..., n, k) array
    trans : {0, 1, 2, 'N', 'T', 'C'}
        0 or 'N' for a, 1 or 'T' for its transpose, the others for its adjoint.
    lower : bool
        Whether the lower triangle is read, or the upper.
    unit_diagonal : bool
        Whether the diagonal counts as ones and is not read.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the diagonal has a zero, or a triangle, b or x is not finite.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> tesela.solve_triangular(np.array([[2., 1.], [0., 4.]]), np.array([3., 4.]))
    array([1., 1.])
    """
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError("trans must be 0, 1, 2, 'N', 'T' or 'C'")
    transposed = (trans in (1, 2, "T", "C")) != bool(lower)

    def solve(a: Array, b: Array) -> Array:
        if trans in (2, "C"):
            a = a.conj()
        return solution(_tesela._solve_upper(upper_part(a, lower, unit_diagonal), finite(b, "b"), transposed))

    given, right = matrix(a, "a", convert=numbers), numbers(b, "b")
    require_rows(given, right)
    return each(solve, (2, min(right.ndim, 2)), given, right)


def upper_part(a: Array, lower: bool, unit_diagonal: bool = False) -> Array:
    """Returns the upper triangle of a, or the transpose of the lower one. Throws LinAlgError if a is singular."""
    r = np.triu(a.T if lower else a)
    if unit_diagonal:
        np.fill_diagonal(r, 1)
    zero = np.flatnonzero(np.diagonal(r) == 0)
    if zero.size:
        fail(f"a is singular: a[{zero[0]}, {zero[0]}] is zero", "singular")
    return finite(r, "a")


def lu_parts(a: Array) -> tuple[Array, Array]:
    """Returns L and U in one matrix, and the rows of P A."""
    factors, rows, _ = _tesela._lu_parts(finite(a, "a"))
    return factors, rows


def lu(a: ArrayLike, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True,
       p_indices: bool = False) -> tuple[Array, ...]:
    """Factor a = p l u with tournament pivoting from order 256, and with partial pivoting below.

    Parameters
    ----------
    a : (..., m, n) array
    permute_l : bool
        Return p l and u.
    p_indices : bool
        Return indices in place of the matrix p: a = l[p] u.

    Returns
    -------
    p, l, u : arrays, m x m, m x k and k x n with k = min(m, n)

    Examples
    --------
    >>> import numpy as np, tesela
    >>> p, l, u = tesela.lu(np.array([[1., 2.], [4., 4.]]))
    >>> u
    array([[4., 4.],
           [0., 1.]])
    """

    def factor(a: Array) -> tuple[Array, ...]:
        m, n = a.shape
        k = min(m, n)
        factors, rows = lu_parts(a)
        lower = np.tril(factors[:, :k], -1)
        np.fill_diagonal(lower, 1)
        upper = np.triu(factors[:k])
        places = np.empty(m, np.int64)
        places[rows] = np.arange(m)
        if permute_l:
            return lower[places], upper
        return (places if p_indices else np.eye(m, dtype=a.real.dtype)[:, rows].copy()), lower, upper

    result: tuple[Array, ...] = each(factor, (2,), matrix(a, "a", square=False, convert=numbers))
    return result


def lu_factor(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """Factor as `lu`, for `lu_solve`.

    Returns
    -------
    lu : (..., m, n) array
        l below the diagonal and u on and above it.
    piv : (..., min(m, n)) array
        Row i was exchanged with row piv[i].

    Warns
    -----
    LinAlgWarning
        If u has a zero on its diagonal.
    """

    def factor(a: Array) -> tuple[Array, Array]:
        factors, rows, zero = _tesela._lu_parts(finite(a, "a"))
        if zero >= 0:
            warn(f"lu_factor: a is singular: u[{zero}, {zero}] is zero")
        return factors, exchanges(rows)[: min(a.shape)]

    result: tuple[Array, Array] = each(factor, (2,), matrix(a, "a", square=False, convert=numbers))
    return result


def exchanges(rows: Array) -> Array:
    """Returns LAPACK's exchanges, in order, for an order of rows."""
    m = len(rows)
    at, of = list(range(m)), list(range(m))  # row in each place, place of each row
    swaps = np.empty(m, np.int32)
    for i, row in enumerate(rows.tolist()):
        j = of[row]
        swaps[i] = j
        other = at[i]
        at[i], at[j], of[row], of[other] = row, other, i, j
    return swaps


def order_of(exchanged: Array, m: int) -> Array:
    """Returns the order of rows after LAPACK's exchanges."""
    rows = np.arange(m)
    for i, j in enumerate(exchanged.tolist()):
        rows[i], rows[j] = rows[j], rows[i]
    return rows


def lu_solve(lu_and_piv: tuple[ArrayLike, ArrayLike], b: ArrayLike, trans: int = 0, overwrite_b: bool = False,
             check_finite: bool = True) -> Array:
    """Solve a x = b, a.T x = b for trans=1, or a.conj().T x = b for trans=2, by the factors of `lu_factor`.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> factors = tesela.lu_factor(np.array([[1., 2.], [4., 4.]]))
    >>> tesela.lu_solve(factors, np.array([3., 8.]))
    array([1., 1.])
    """
    factors, piv = matrix(lu_and_piv[0], "lu", convert=numbers), np.asarray(lu_and_piv[1])
    right = numbers(b, "b")
    if trans not in (0, 1, 2):
        raise ValueError("trans must be 0, 1 or 2")
    require_rows(factors, right)
    n = factors.shape[-1]
    if piv.dtype.kind not in "iu" or piv.ndim != factors.ndim - 1 or piv.shape[-1] != n:
        raise ValueError(f"piv must have {n} integers for each matrix")
    if piv.size and (piv.min() < 0 or piv.max() >= n):
        raise ValueError(f"piv must have indices from 0 to {n - 1}")

    def solve(f: Array, piv: Array, b: Array) -> Array:
        rows = order_of(piv, len(f))
        if not trans:
            return solve_triangular(f, solve_triangular(f, b[rows], lower=True, unit_diagonal=True))
        x = solve_triangular(f, solve_triangular(f, b, trans=trans), trans=trans, lower=True, unit_diagonal=True)
        result = np.empty_like(x)
        result[rows] = x
        return result

    return each(solve, (2, 1, min(right.ndim, 2)), factors, piv, right)


def qr(a: ArrayLike, overwrite_a: bool = False, mode: str = "full", pivoting: bool = False,
       check_finite: bool = True) -> Any:
    """Factor a = q r, of real or complex numbers, by tiles, or a[:, p] = q r with column pivoting.

    Parameters
    ----------
    a : (..., m, n) array
    overwrite_a : bool
        Whether the function may overwrite the array, which saves a copy if it is in Fortran order; with mode 'r' r is
        then a itself.
    mode : {'full', 'economic', 'r', 'raw'}
        'full' returns q with m columns, 'economic' with min(m, n), and 'r' returns r alone, as in scipy.linalg.qr.
        'raw' returns LAPACK's form (h, tau) and r, by LAPACK.
    pivoting : bool
        Whether columns are exchanged so that the diagonal of r does not grow; the result also has p.

    Returns
    -------
    QrResult
        q, r and p, which can be unpacked; a tuple for a stack of matrices.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> q, r = tesela.qr(np.array([[3., 1.], [4., 2.]]))
    >>> bool(np.allclose(q @ r, [[3, 1], [4, 2]]))
    True
    """
    if plain(a) and not pivoting and mode != "raw":
        try:
            return _tesela.qr(a, mode=mode, overwrite_a=overwrite_a)
        except np.linalg.LinAlgError as error:
            failure = error
        if not overwrite_a and not foreign(a):
            finite(numbers(a, "a"), "a")
        raise failure
    array = numbers(a, "a")
    if array.ndim < 2:
        raise ValueError("a must be a matrix")
    if array.ndim > 2 and mode == "raw":
        h, tau, *rest = each(lambda x: raw_qr(x, pivoting), (2,), array)
        return (h, tau), *rest
    if array.ndim > 2:
        return each(lambda x: tuple(qr(x, mode=mode, pivoting=pivoting)), (2,), array)
    if mode == "raw":
        h, tau, *rest = raw_qr(array, pivoting)
        return (h, tau), *rest
    p = column_pivots(array)
    result = _tesela.qr(array[:, p], mode=mode)
    pivoted = type(result).__new__(type(result))
    pivoted.__setstate__({**result.__getstate__(), "p": p})
    return pivoted


def column_pivots(a: Array) -> Array:
    """Returns LAPACK's order of columns, whose type is C's int."""
    order: Array = _tesela._column_pivots(finite(a, "a")).astype(np.intc)
    return order


def raw_qr(a: Array, pivoting: bool) -> tuple[Array, ...]:
    """Returns LAPACK's vectors, tau, R, and with pivoting the order of columns."""
    pivots = (column_pivots(a),) if pivoting else ()
    h, tau = _tesela._reflectors(finite(a[:, pivots[0]] if pivoting else a, "a"))
    return h, tau, np.triu(h[: min(a.shape)]), *pivots


def qr_multiply(a: ArrayLike, c: ArrayLike, mode: str = "right", pivoting: bool = False, conjugate: bool = False,
                overwrite_a: bool = False, overwrite_c: bool = False) -> tuple[Array, ...]:
    """Multiply by q of a = q r, without forming it.

    Parameters
    ----------
    a : (..., m, n) array
    c : array
        With 'left' min(m, n) rows, with 'right' m columns; a vector is a column, or a row.
    mode : {'left', 'right'}
        q c, or c q, with min(m, n) columns of q.
    pivoting : bool
        As in `qr`.
    conjugate : bool
        Multiply by q's conjugate instead.

    Returns
    -------
    product, r : arrays
        Followed by p with pivoting.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> product, r = tesela.qr_multiply(np.array([[3.], [4.]]), np.array([[3., 4.]]))
    >>> bool(np.allclose(abs(product), 5))
    True
    """
    if mode not in ("left", "right"):
        raise ValueError("mode must be 'left' or 'right'")
    given, by = numbers(a, "a"), numbers(c, "c")
    if given.ndim > 2 or by.ndim > 2:
        def item(x: Array, y: Array) -> tuple[Array, ...]:
            return qr_multiply(x, y, mode, pivoting, conjugate)

        result: tuple[Array, ...] = each(item, (2, min(by.ndim, 2)), given, by)
        return result
    given = np.atleast_2d(given)
    vector = by.ndim < 2
    if vector:
        by = np.atleast_2d(by).T if mode == "left" else np.atleast_2d(by)
    m, k = given.shape[0], min(given.shape)
    if mode == "left" and overwrite_c and by.shape[0] == m:
        k = m  # SciPy's shape for an overwritten c
    if (by.shape[0] != k) if mode == "left" else (by.shape[1] != m):
        raise ValueError(f"c has the shape {by.shape}; it must have " +
                         (f"{k} rows" if mode == "left" else f"{m} columns"))
    pivots = ()
    if pivoting:
        p = column_pivots(given)
        given, pivots = given[:, p], (p,)
    if mode == "left":
        by = np.concatenate([by, np.zeros((m - k, by.shape[1]), by.dtype)])
    finite(by, "c")
    product, r = _tesela._qr_apply(given, by.conj() if conjugate else by, mode == "right")
    product = product[:, :k] if mode == "right" else product
    if conjugate:
        product = product.conj()
    return (product.ravel() if vector else product, np.triu(r[: min(given.shape)]), *pivots)
