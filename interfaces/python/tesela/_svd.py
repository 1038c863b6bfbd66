"""The singular value decomposition, under SciPy's names."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _tesela
from ._arrays import Array, each, matrix, plain

__all__ = ["svd", "svdvals"]


def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False,
        check_finite: bool = True, lapack_driver: str = "gesdd", *, hermitian: bool = False,
        largest: int | None = None) -> Any:
    """Decompose a = u diag(s) vh into singular values, descending, and singular vectors.

    Parameters
    ----------
    a : (..., m, n) array
        Only read.
    full_matrices : bool
        Whether u is m x m and vh n x n, or only the first k = min(m, n) columns of u and rows of vh are computed.
    compute_uv : bool
        Whether to compute u and vh; otherwise only s is returned.
    lapack_driver : {'gesdd', 'gesvd'}
        Accepted for scipy.linalg.svd; the method is the same.
    hermitian : bool
        Accepted for numpy.linalg.svd; the method is the same.
    largest : int, optional
        Compute only this many of the largest values, at most min(m, n), with as many columns of u and rows of vh.

    Returns
    -------
    SvdResult
        u, s and vh, which can be unpacked; or s alone. A stack of matrices gives a tuple of stacks.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a is not finite, if a value overflows, or if the iteration did not converge.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> u, s, vh = tesela.svd(np.array([[3., 0.], [4., 5.]]))
    >>> np.round(s**2, 12)
    array([45.,  5.])
    """
    if not isinstance(lapack_driver, str):
        raise TypeError("lapack_driver must be a string")
    if lapack_driver not in ("gesdd", "gesvd"):
        raise ValueError("lapack_driver must be 'gesdd' or 'gesvd'")
    if largest is not None:
        largest = operator.index(largest)
        least = min(np.shape(a)[-2:], default=0)
        if not 1 <= largest <= least:
            raise ValueError(f"largest must be between 1 and min(m, n) = {least}, not {largest}")
    if plain(a):
        return _tesela._svd(a, full_matrices, compute_uv, largest)

    def decompose(x: Array) -> Any:
        found = _tesela._svd(x, full_matrices, compute_uv, largest)
        return tuple(found) if compute_uv else found

    return each(decompose, (2,), matrix(a, "a", square=False))


def svdvals(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True, *, largest: int | None = None) -> Any:
    """Compute the singular values of a matrix, descending.

    Parameters
    ----------
    a : (..., m, n) array
        Only read.
    largest : int, optional
        Compute only this many of the largest values.

    Returns
    -------
    array
        min(m, n) or `largest` values for each matrix.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> tesela.svdvals(np.array([[0., 2.], [1., 0.]]))
    array([2., 1.])
    """
    return svd(a, compute_uv=False, largest=largest)
