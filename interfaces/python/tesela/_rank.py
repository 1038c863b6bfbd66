"""Rank, condition, bases and inverses by singular values, under SciPy's and NumPy's names."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _solvers, _tesela
from ._arrays import Array, as_routine, each, fail, finite, matrix, numbers

__all__ = ["cond", "matrix_rank", "null_space", "orth", "pinv", "polar"]


def default_rtol(a: Array) -> float:
    """Returns max(m, n) eps."""
    return max(a.shape[-2:]) * float(np.finfo(a.dtype).eps)


def kept(s: Array, a: Array, rtol: float | None, atol: float = 0) -> int:
    """Returns the number of singular values of a above atol + rtol times the largest."""
    bound = atol + (default_rtol(a) if rtol is None else rtol) * (s[0] if s.size else 0)
    return int(np.count_nonzero(s > bound))


def decomposed(routine: str, a: Array, full_matrices: bool, compute_uv: bool) -> Any:
    """Returns (u, s, vh), or s alone. The message of an error names the routine."""
    with as_routine(routine):
        return _tesela._svd(a, full_matrices, compute_uv)


def scaled(a: Array, exponent: int) -> Array:
    """Returns a 2^exponent."""
    if a.dtype.kind != "c":
        return np.ldexp(a, exponent)
    parts = np.empty_like(a)
    parts.real, parts.imag = np.ldexp(a.real, exponent), np.ldexp(a.imag, exponent)
    return parts


def tolerance(value: float | None, name: str) -> float | None:
    """Returns a tolerance as a number. Throws ValueError if it is negative or NaN."""
    if value is None:
        return None
    if np.ndim(value) > 0:
        raise TypeError(f"{name} must be one number, not an array: call the function for each matrix")
    number = float(operator.index(value)) if isinstance(value, int) else float(value)
    if not number >= 0:
        raise ValueError(f"{name} must not be negative, and is {number}")
    return number


def pinv(a: ArrayLike, rcond: float | None = None, hermitian: bool = False, *, atol: float | None = None,
         rtol: float | None = None, return_rank: bool = False, check_finite: bool = True) -> Any:
    """Compute the Moore-Penrose inverse by singular values: the least-squares solutions of least norm for unit vectors.

    Parameters
    ----------
    a : (..., m, n) array
    rcond : float, optional
        NumPy's name of rtol.
    hermitian : bool
        Whether a is symmetric or Hermitian: `pinvh` inverts its eigenvalues.
    atol, rtol : float, optional
        Singular values up to atol + rtol times the largest count as zero. Without atol rtol is max(m, n) eps; with
        atol alone it is 0.
    return_rank : bool
        Return the rank, too.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> np.round(tesela.pinv(np.array([[3.], [4.]])), 12)
    array([[0.12, 0.16]])
    """
    if rcond is not None:
        if rtol is not None:
            raise ValueError("rcond is NumPy's name of rtol: give only one")
        rtol = rcond
    absolute, relative = tolerance(atol, "atol"), tolerance(rtol, "rtol")
    if relative is None and absolute is not None:
        relative = 0.0
    if hermitian:
        return _solvers.pinvh(a, atol=absolute, rtol=relative, return_rank=return_rank)

    def invert(a: Array) -> tuple[Any, int]:
        u, s, vh = decomposed("pinv", a, False, True)
        rank = kept(s, a, relative, absolute or 0)
        with np.errstate(over="ignore"):
            inverse = _tesela.matmul(vh[:rank].conj().T / s[:rank], u[:, :rank].conj().T)
        if not np.isfinite(inverse).all():
            fail("pinv: an element of the inverse overflows", "not finite")
        return inverse, rank

    x, rank = each(invert, (2,), matrix(a, "a", square=False, convert=numbers))
    return (x, rank) if return_rank else x


def matrix_rank(A: ArrayLike, tol: float | None = None, hermitian: bool = False, *, rtol: float | None = None) -> Any:
    """Count the singular values above a threshold.

    Parameters
    ----------
    A : (..., m, n) array
        A vector has rank 1, or 0 if all its elements are 0.
    tol : float or (...) array, optional
        Absolute threshold; by default rtol times the largest value.
    hermitian : bool
        Accepted for numpy.linalg.matrix_rank; the method is the same.
    rtol : float or (...) array, optional
        max(m, n) eps by default.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> int(tesela.matrix_rank(np.ones((3, 2))))
    1
    """
    if tol is not None and rtol is not None:
        raise ValueError("tol and rtol cannot both be given")
    array = numbers(A, "A")
    if array.ndim < 2:
        return int(finite(array, "A").any())
    if array.size == 0:
        return np.zeros(array.shape[:-2], np.intp)[()]
    s = each(lambda x: decomposed("matrix_rank", x, False, False), (2,), array)
    bound = np.asarray(tol)[..., None] if tol is not None else (
        default_rtol(array) if rtol is None else np.asarray(rtol)[..., None]) * s.max(axis=-1, keepdims=True)
    return np.count_nonzero(s > bound, axis=-1)


def cond(x: ArrayLike, p: float | str | None = None) -> Any:
    """Compute the condition number of a matrix in a norm: of a times its inverse; infinite for a singular matrix.

    Parameters
    ----------
    x : (..., m, n) array
        Square unless p is None, 2 or -2.
    p : {None, 2, -2, 1, -1, inf, -inf, 'fro', 'nuc'}
        The norm of numpy.linalg.norm. None and 2 give the largest over the smallest singular value, -2 the reverse.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> float(tesela.cond(np.diag([8., 2.])))
    4.0
    """
    by_values = p is None or p in (2, -2)
    array = finite(matrix(x, "x", square=not by_values, convert=numbers), "x")
    if 0 in array.shape[-2:]:
        raise np.linalg.LinAlgError("cond is not defined for a matrix without elements")

    def one(a: Array) -> Any:
        # A factor does not change the condition number: numbers near 1 keep all digits of the values and norms.
        a = scaled(a, -np.frexp(max(abs(a.real).max(), abs(a.imag).max()))[1])
        if by_values:
            s = decomposed("cond", a, False, False)
            large, small = (s[-1], s[0]) if p == -2 else (s[0], s[-1])
            if small == 0:
                return s.dtype.type(np.inf)
            with np.errstate(over="ignore"):
                return large / small
        size = np.linalg.norm(a, p)  # type: ignore[arg-type]
        try:
            with as_routine("cond"), np.errstate(over="ignore"):
                return np.asarray(size * np.linalg.norm(_solvers.inv(a), p), a.real.dtype)[()]  # type: ignore[arg-type]
        except np.linalg.LinAlgError as error:
            # An inverse without correct digits has about the right size. The inverse of numbers near 1 overflows only
            # if the condition number does.
            status, inverse = getattr(error, "status", None), getattr(error, "result", None)
            if inverse is not None and np.isfinite(inverse).all():
                return np.asarray(size * np.linalg.norm(inverse, p), a.real.dtype)[()]  # type: ignore[arg-type]
            if status not in ("singular", "not finite"):
                raise
            return a.real.dtype.type(np.inf)

    return each(one, (2,), array)


def orth(A: ArrayLike, rcond: float | None = None) -> Any:
    """Compute an orthonormal basis of the range of a matrix, as columns: its left singular vectors.

    Parameters
    ----------
    A : (..., m, n) array
    rcond : float, optional
        Singular values up to rcond times the largest count as zero; max(m, n) eps by default.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> tesela.orth(np.ones((3, 2))).shape
    (3, 1)
    """
    relative = tolerance(rcond, "rcond")

    def basis(a: Array) -> Any:
        u, s, _ = decomposed("orth", a, False, True)
        return u[:, :kept(s, a, relative)]

    return each(basis, (2,), matrix(A, "A", square=False, convert=numbers))


def null_space(A: ArrayLike, rcond: float | None = None, *, overwrite_a: bool = False, check_finite: bool = True,
               lapack_driver: str = "gesdd") -> Any:
    """Compute an orthonormal basis of the null space of a matrix, as columns: its right singular vectors.

    Parameters
    ----------
    A : (..., m, n) array
    rcond : float, optional
        Singular values up to rcond times the largest count as zero; max(m, n) eps by default.
    lapack_driver : {'gesdd', 'gesvd'}
        Accepted for scipy.linalg.null_space; the method is the same.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> np.round(abs(tesela.null_space(np.array([[1., 1.]]))), 6)
    array([[0.707107],
           [0.707107]])
    """
    if lapack_driver not in ("gesdd", "gesvd"):
        raise ValueError("lapack_driver must be 'gesdd' or 'gesvd'")
    relative = tolerance(rcond, "rcond")

    def basis(a: Array) -> Any:
        _, s, vh = decomposed("null_space", a, a.shape[0] < a.shape[1], True)
        return vh[kept(s, a, relative):].conj().T

    return each(basis, (2,), matrix(A, "A", square=False, convert=numbers))


def polar(a: ArrayLike, side: str = "right") -> Any:
    """Decompose a = u p with orthonormal u and symmetric or Hermitian positive semidefinite p; or a = p u.

    u is the nearest matrix with orthonormal columns, or rows if there are fewer; for a deficient rank it is one of
    several.

    Parameters
    ----------
    a : (..., m, n) array
    side : {'right', 'left'}
        The side of p.

    Returns
    -------
    tuple
        u, m x n, and p, n x n, or m x m on the left.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> u, p = tesela.polar(np.array([[0., -2.], [3., 0.]]))
    >>> np.round(u, 12) + 0., np.round(p, 12) + 0.
    (array([[ 0., -1.],
           [ 1.,  0.]]), array([[3., 0.],
           [0., 2.]]))
    """
    if side not in ("right", "left"):
        raise ValueError("side must be 'right' or 'left'")

    def parts(a: Array) -> tuple[Any, Any]:
        w, s, vh = decomposed("polar", a, False, True)
        vectors = vh.conj().T if side == "right" else w
        p = _tesela.matmul(vectors * s, vectors.conj().T)
        return _tesela.matmul(w, vh), (p + p.conj().T) / 2

    return each(parts, (2,), matrix(a, "a", square=False, convert=numbers))
