"""Square systems of a known structure, determinants, inverses and least squares, under SciPy's names."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _banded, _factors, _tesela
from ._arrays import Array, as_routine, each, fail, finite, foreign, matrix, numbers, plain, real_diagonal, warn

__all__ = ["SlogdetResult", "det", "inv", "lstsq", "matmul", "matmul_toeplitz", "pinvh", "slogdet", "solve"]

STRUCTURES = {
    None: "general", "gen": "general", "general": "general",
    "pos": "positive definite", "positive definite": "positive definite",
    "sym": "symmetric", "symmetric": "symmetric", "her": "hermitian", "hermitian": "hermitian",
    "diagonal": "diagonal", "tridiagonal": "tridiagonal", "banded": "banded",
    "upper triangular": "upper triangular", "lower triangular": "lower triangular",
}
OTHER_TRIANGLE = {"upper triangular": "lower triangular", "lower triangular": "upper triangular"}


def solve(a: ArrayLike, b: ArrayLike, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
          check_finite: bool = True, assume_a: str | None = None, transposed: bool = False) -> Any:
    """Solve a x = b, of real or complex numbers, by LU with tournament pivoting, or as the structure of a permits.

    The condition number is estimated after scaling rows and columns; errors are measured on random systems.

    Parameters
    ----------
    a : (..., n, n) array
        A stack of matrices is solved one after another.
    b : (n,) or (..., n, k) array
    lower : bool
        Whether the lower triangle is read, or the upper, for 'pos' and 'sym'.
    overwrite_a, overwrite_b : bool
        Whether the function may overwrite the array, which saves a copy if it is in Fortran order.
    check_finite : bool
        Without effect: values that are not finite are an error.
    assume_a : {None, 'gen', 'pos', 'sym', 'her', 'diagonal', 'tridiagonal', 'banded', 'upper triangular', \
'lower triangular'}
        'pos': symmetric or Hermitian positive definite; 'sym' and 'her': symmetric and Hermitian, one triangle is read;
        or SciPy's long names. None is 'gen'.
    transposed : bool
        Solve a.T x = b instead, without a conjugate. Complex numbers need False: give a.T or a.conj().T as a.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a is singular, exactly or to working precision, if x is not finite, if a leading minor is not positive, or if
        element growth in the elimination may have caused errors above a tenth of x ('inaccurate'). The attributes are
        `status`, and `result` with the x that was computed.

    Warns
    -----
    LinAlgWarning
        If x may have fewer than two correct digits; the message states the reciprocal condition number.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> tesela.solve(np.array([[2., 0.], [0., 4.]]), np.array([2., 2.]))
    array([1. , 0.5])
    """
    try:
        structure = STRUCTURES[assume_a]
    except (KeyError, TypeError):
        names = ", ".join(repr(s) for s in STRUCTURES)
        raise ValueError(f"assume_a is {assume_a!r}, not in {names}") from None
    try:
        return solve_all(a, b, structure, lower, overwrite_a, overwrite_b, transposed)
    except np.linalg.LinAlgError as error:
        failure = error
    if getattr(failure, "status", None) in ("singular", "not finite", "not positive definite"):
        if not overwrite_a and not foreign(a):
            finite_part(numbers(a, "a"), structure, lower)
        if not overwrite_b and not foreign(b):
            finite(numbers(b, "b"), "b")
    raise failure


def finite_part(a: Array, structure: str, lower: bool) -> None:
    """Throws LinAlgError if an element of a that `solve` reads is NaN or infinite."""
    if structure in ("positive definite", "symmetric", "hermitian"):
        a = np.tril(a) if lower else np.triu(a)
    if structure in ("general", "banded", "positive definite", "symmetric", "hermitian"):  # others check their own data
        finite(a, "a")


def solve_all(a: ArrayLike, b: ArrayLike, structure: str, lower: bool, overwrite_a: bool, overwrite_b: bool,
              transposed: bool) -> Any:
    """Solves with one matrix or a stack of them."""
    direct = foreign(a) or foreign(b) or np.ndim(a) == 2 and np.ndim(b) in (1, 2) and np.shape(a)[0] == np.shape(b)[0]
    if direct and structure == "general" and not transposed:
        return _tesela.solve(a, b, overwrite_a=overwrite_a, overwrite_b=overwrite_b)
    conjugated = transposed and not foreign(a) and np.iscomplexobj(a)
    if direct and structure == "positive definite" and hasattr(a, "T") and not conjugated:
        return _tesela.solve(upper(a) if lower else a, b, assume_a="pos", overwrite_a=overwrite_a, overwrite_b=overwrite_b)
    given, right = numbers(a, "a"), numbers(b, "b")
    if transposed and "c" in (given.dtype.kind, right.dtype.kind):
        raise TypeError("solve: complex numbers need transposed=False")
    if given.size == 1 and given.ndim in (0, 2) and right.ndim < 2 or given.ndim == 0:
        return by_number(given, right)
    given = matrix(given, "a", convert=numbers)
    if right.ndim == 0:
        raise ValueError("b must be a vector or a matrix")
    _factors.require_rows(given, right)
    if transposed:
        overwrite_a = overwrite_a and bool(given.flags.f_contiguous)
        given, lower = given.swapaxes(-1, -2), not lower
        structure = OTHER_TRIANGLE.get(structure, structure)
    dimensions = (2, min(right.ndim, 2))
    return each(lambda x, y: solve_one(x, y, structure, lower, overwrite_a, overwrite_b), dimensions, given, right)


def upper(a: Any) -> Any:
    """Returns the adjoint, whose upper triangle belongs to the lower triangle of a Hermitian a."""
    is_complex = np.iscomplexobj(a) or foreign(a) and "complex" in str(getattr(a, "dtype", ""))
    return a.conj().T if is_complex else a.T


def by_number(a: Array, b: Array) -> Array:
    """Returns b / a for one number a."""
    if finite(a, "a").item() == 0:
        fail("solve: a is singular: it is zero", "singular")
    x = finite(b, "b") / a.reshape(())
    return np.asarray(x, np.result_type(a, b))


def solve_one(a: Array, b: Array, structure: str, lower: bool, overwrite_a: bool, overwrite_b: bool) -> Any:
    """Solves with one matrix."""
    if structure == "general":
        return _tesela.solve(a, b, overwrite_a=overwrite_a, overwrite_b=overwrite_b)
    if structure == "positive definite":
        return _tesela.solve(upper(a) if lower else a, b, assume_a="pos", overwrite_a=overwrite_a,
                             overwrite_b=overwrite_b)
    if structure in ("symmetric", "hermitian"):
        if structure == "hermitian":
            real_diagonal(np.diagonal(a), "a")
        triangle = np.tril(a) if lower else np.triu(a)
        whole = triangle + (triangle.conj().T if structure == "hermitian" else triangle.T)
        np.fill_diagonal(whole, np.diagonal(a))
        return _tesela.solve(whole, b, overwrite_a=True, overwrite_b=overwrite_b)
    if structure == "diagonal":
        return by_diagonal(finite(np.diagonal(a), "a"), finite(b, "b"))
    if structure == "tridiagonal":
        below, above = np.diagonal(a, -1), np.diagonal(a, 1)
        return _tesela.solve_tridiagonal(below, np.diagonal(a), above, b)
    if structure == "banded":
        return by_band(a, b)
    lower = structure == "lower triangular"
    r, b = _factors.upper_part(a, lower), finite(b, "b")
    if lower:  # rows and columns in descending order make an upper triangle
        r, b = np.asfortranarray(r.T[::-1, ::-1]), np.asfortranarray(b[::-1])
    x, reciprocal = _tesela._solve_scaled_upper(r, b)
    if lower:
        x = x[::-1].copy()
    judge_condition(reciprocal, x)
    if not np.isfinite(x).all():
        fail("solve: x is not finite", "not finite")
    return np.asarray(x)


def by_diagonal(d: Array, b: Array) -> Array:
    """Returns b divided by the diagonal."""
    zero = np.flatnonzero(d == 0)
    if zero.size:
        fail(f"solve: a is singular: a[{zero[0]}, {zero[0]}] is zero", "singular")
    with np.errstate(all="ignore"):
        x = b / (d if b.ndim == 1 else d[:, None])
    if not np.isfinite(x).all():
        fail("solve: x is not finite", "not finite")
    return np.asarray(x)


def by_band(a: Array, b: Array) -> Array:
    """Solves with a matrix whose elements outside a band are zero."""
    rows, columns = np.nonzero(a)
    below = int(max((rows - columns).max(initial=0), 0))
    above = int(max((columns - rows).max(initial=0), 0))
    ab = np.zeros((below + above + 1, len(a)), a.dtype)
    for k in range(-below, above + 1):
        ab[above - k, max(k, 0): len(a) + min(k, 0)] = np.diagonal(a, k)
    return _banded.solve_banded((below, above), ab, b)


def judge_condition(reciprocal: float, x: Array) -> None:
    """Throws LinAlgError for a matrix that is singular to working precision, and warns if two digits may be wrong."""
    loss = np.finfo(x.dtype).eps
    if not reciprocal > loss:
        fail(f"solve: a is singular to working precision: the reciprocal condition number is about {reciprocal:.2g}",
             "singular", x)
    if not reciprocal > 100 * loss:
        warn(f"solve: an ill-conditioned matrix: the reciprocal condition number is about {reciprocal:.2g}: x may have "
             "fewer than two correct digits")


def inv(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True, *, assume_a: str | None = None,
        lower: bool = False) -> Array:
    """Invert a matrix or a stack of matrices; structures, errors and warnings as `solve`.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> tesela.inv(np.array([[2., 0.], [0., 4.]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    given = matrix(a, "a", convert=numbers)
    if given.shape[-1] == 0:
        return given.copy()
    unit = np.eye(given.shape[-1], dtype=given.dtype)
    with as_routine("inv"):
        return np.asarray(solve(given, unit, lower=lower, overwrite_b=True, assume_a=assume_a))


class SlogdetResult(NamedTuple):
    """Sign and logarithm of the absolute value of determinants."""

    sign: Any
    logabsdet: Any


def slogdet(a: ArrayLike) -> SlogdetResult:
    """Compute sign and logarithm of a determinant by `lu`, without overflow; for stacks of matrices, of each.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> sign, logarithm = tesela.slogdet(np.diag([2., -3.]))
    >>> print(sign, np.round(np.exp(logarithm), 12))
    -1.0 6.0
    """

    def parts(a: Array) -> tuple[Any, Any]:
        mantissa, exponent = determinant(finite(a, "a"))
        size = abs(mantissa)
        return (0, -np.inf) if size == 0 else (mantissa / size, np.log(size) + exponent * np.log(2))

    given = matrix(a, "a", convert=numbers)
    sign, logarithm = each(parts, (2,), given)
    size = given.real.dtype
    return SlogdetResult(given.dtype.type(sign) if given.ndim == 2 else sign.astype(given.dtype),
                         size.type(logarithm) if given.ndim == 2 else logarithm.astype(size))


def determinant(a: Array) -> tuple[Any, int]:
    """Returns the mantissa and the exponent of 2 of the determinant. Powers of two scale rows and columns first."""
    wide = a.astype(np.result_type(a, np.float64))
    exponents = np.where(wide == 0, -(1 << 20), np.frexp(sizes(wide))[1])
    of_rows = exponents.max(axis=1, initial=-(1 << 20))
    of_rows[of_rows == -(1 << 20)] = 0
    of_columns = (exponents - of_rows[:, None]).max(axis=0, initial=-(1 << 20))
    of_columns[of_columns < -(1 << 19)] = 0
    wide = shifted(wide, -(of_rows[:, None] + of_columns))
    total = int(of_rows.sum() + of_columns.sum())
    factors, rows = _factors.lu_parts(wide)
    swaps = _factors.exchanges(rows)
    mantissa = wide.dtype.type(-1 if np.count_nonzero(swaps != np.arange(len(swaps))) % 2 else 1)
    for pivot in np.diagonal(factors):
        mantissa = mantissa * pivot
        exponent = int(np.frexp(sizes(mantissa))[1])
        mantissa, total = shifted(mantissa, -exponent), total + exponent
    return mantissa, total


def sizes(x: Any) -> Any:
    """Returns the larger magnitude of the parts."""
    return np.maximum(abs(x.real), abs(x.imag)) if np.iscomplexobj(x) else abs(x)


def shifted(x: Any, exponents: Any) -> Any:
    """Returns x 2^exponents, in two steps: the factor may exceed the range."""
    half = exponents // 2
    with np.errstate(over="ignore", under="ignore"):
        def of(part: Any) -> Any:
            return np.ldexp(np.ldexp(part, half), exponents - half)

        if not np.iscomplexobj(x):
            return of(x)
        result = np.empty(np.broadcast(x, exponents).shape, x.dtype)
        result.real, result.imag = of(x.real), of(x.imag)
        return result[()]


def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Compute the determinant by `lu`; for stacks of matrices, of each.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> float(tesela.det(np.diag([2., -3.])))
    -6.0
    """

    def one(a: Array) -> Any:
        return shifted(*determinant(finite(a, "a")))

    given = matrix(a, "a", convert=numbers)
    value = each(one, (2,), given)
    return np.result_type(given, np.float64).type(value) if given.ndim == 2 else np.asarray(value)


def lstsq(a: ArrayLike, b: ArrayLike, rcond: float | None = None, overwrite_a: bool = False, overwrite_b: bool = False,
          check_finite: bool = True, *, errors: bool = False, singular_values: bool = False,
          cond: float | None = None) -> Any:
    if cond is not None:
        if rcond is not None:
            raise ValueError("cond is SciPy's name of rcond: give only one")
        rcond = cond
    if plain(a, b):
        return _tesela.lstsq(a, b, rcond=rcond, errors=errors, overwrite_a=overwrite_a, overwrite_b=overwrite_b,
                             singular_values=singular_values)
    given, right = matrix(a, "a", square=False, convert=numbers), numbers(b, "b")
    return each(lambda x, y: tuple(_tesela.lstsq(x, y, rcond=rcond, singular_values=singular_values)),
                (2, min(right.ndim, 2)), given, right)


lstsq.__doc__ = _tesela.lstsq.__nb_signature__[0][1]


def pinvh(a: ArrayLike, atol: float | None = None, rtol: float | None = None, lower: bool = True,
          return_rank: bool = False, check_finite: bool = True) -> Any:
    """Compute the Moore-Penrose inverse of a symmetric or Hermitian matrix, of which one triangle is read, by `eigh`.

    Eigenvalues up to atol + rtol times the largest count as zero. Without atol rtol is n eps; with atol alone it is 0.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> np.round(tesela.pinvh(np.ones((2, 2))), 12)
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """

    def invert(a: Array) -> tuple[Any, int]:
        if a.size == 0:
            return a.copy(), 0
        with as_routine("pinvh"):
            w, v = _tesela.eigh(a, lower=lower)
        size = abs(w)
        by_default = len(a) * float(np.finfo(w.dtype).eps) if atol is None else 0.0
        relative = by_default if rtol is None else rtol
        kept = size > (atol or 0) + relative * size.max()
        return _tesela.matmul(v[:, kept] / w[kept], v[:, kept].conj().T), np.count_nonzero(kept)

    x, rank = each(invert, (2,), matrix(a, "a", convert=numbers))
    return (x, rank) if return_rank else x


def matmul(a: ArrayLike, b: ArrayLike, *, accuracy: str = "normwise") -> Any:
    if plain(a, b):
        return _tesela.matmul(a, b, accuracy=accuracy)
    left, right = numbers(a, "a"), numbers(b, "b")
    if left.ndim == 0 or right.ndim == 0:
        raise ValueError("a and b must have dimensions")
    return each(lambda x, y: _tesela.matmul(x, y, accuracy=accuracy), (min(left.ndim, 2), min(right.ndim, 2)), left, right)


matmul.__doc__ = _tesela.matmul.__nb_signature__[0][1]


def matmul_toeplitz(c_or_cr: ArrayLike | tuple[ArrayLike, ArrayLike], x: ArrayLike, check_finite: bool = False,
                    workers: int | None = None) -> Array:
    """Multiply a Toeplitz matrix by a vector or a matrix, in n log n operations for each column.

    Parameters
    ----------
    c_or_cr : (m,) array or tuple of (m,) and (n,) arrays
        The first column, or the first column and the first row, whose first element is not read. Without a row it is
        conj(c).
    x : (n,) or (n, k) array
    workers : int, optional
        Without effect.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> np.round(tesela.matmul_toeplitz((np.array([1., 2.]), np.array([1., 3.])), np.array([1., 1.])), 12)
    array([4., 3.])
    """
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, c_or_cr)
    column, row, right = np.atleast_1d(numbers(c, "c")), np.atleast_1d(numbers(r, "r")), numbers(x, "x")
    if not isinstance(c_or_cr, tuple):
        row = row.conj()
    if max(column.ndim, row.ndim) > 1 or right.ndim > 2:
        return each(lambda c, r, y: matmul_toeplitz((c, r), y), (1, 1, min(right.ndim, 2)), column, row, right)
    m, n = len(column), len(row)
    if right.ndim == 0 or right.shape[0] != n:
        raise ValueError(f"x has the shape {right.shape}; it must have {n} rows")
    if m == 0 or right.size == 0:
        return np.zeros((m, *right.shape[1:]), np.result_type(column, row, right))
    # A symmetric Toeplitz matrix of order m + n - 1 has this matrix in its upper right corner.
    corner = np.concatenate([column[::-1], row[1:]])
    padded = np.zeros((m + n - 1, *right.shape[1:]), right.dtype)
    padded[m - 1:] = right
    return toeplitz_product(corner, padded)[:m].copy()


def toeplitz_product(c: Array, x: Array) -> Array:
    """Returns the product of the symmetric Toeplitz matrix with first column c by products of real numbers."""
    if np.iscomplexobj(c):
        return toeplitz_product(c.real, x) + 1j * toeplitz_product(c.imag, x)
    if np.iscomplexobj(x):
        return toeplitz_product(c, x.real) + 1j * toeplitz_product(c, x.imag)
    product: Array = _tesela._toeplitz_multiply(c, x)
    return product
