"""The singular value decomposition, under SciPy's names."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _tesela
from ._arrays import Array, each, finite, matrix, name_item, numbers, plain

__all__ = ["randomized_svd", "svd", "svdvals"]


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

    stack = matrix(a, "a", square=False, convert=numbers)
    if stack.ndim > 2 and stack.size > 0 and min(stack.shape[-2:]) <= 64 and max(stack.shape[-2:]) <= 1024:
        return _small(finite(stack, "a"), full_matrices, compute_uv, largest)
    return each(decompose, (2,), stack)


def _small(stack: Array, full_matrices: bool, compute_uv: bool, largest: int | None) -> Any:
    """Decomposes a stack of small matrices together."""
    count, (m, n), lead = int(np.prod(stack.shape[:-2])), stack.shape[-2:], stack.shape[:-2]
    try:
        u, s, v = _tesela._svd_batch(np.ascontiguousarray(stack).reshape(-1, n), count,
                                     full_matrices and largest is None, compute_uv)
    except np.linalg.LinAlgError as error:
        number, error.result = error.result, None  # type: ignore[attr-defined]
        name_item(error, tuple(int(i) for i in np.unravel_index(number, lead)))
        raise
    s = s.T.reshape(*lead, min(m, n))[..., :largest]
    if not compute_uv:
        return s
    rows = [x.T.reshape(*lead, -1, x.shape[0])[..., :largest, :] for x in (u, v)]
    return rows[0].swapaxes(-1, -2), s, rows[1]


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


def randomized_svd(a: ArrayLike, n_components: int, *, n_oversamples: int = 10, n_iter: int = 2,
                   random_state: int = 1) -> Any:
    """Decompose a into its largest singular values and vectors by products with random vectors.

    The method is that of Halko, Martinsson and Tropp (2011), and the names are those of scikit-learn.

    Parameters
    ----------
    a : (m, n) array
        Only read.
    n_components : int
        Number of values and vectors.
    n_oversamples : int
        Additional random vectors.
    n_iter : int
        Power iterations: more for values that decrease slowly.
    random_state : int
        Seed of the random vectors. The result depends only on it.

    Returns
    -------
    LowRankResult
        u, s and vh, which can be unpacked, and error_bound: the 2-norm of a - u diag(s) vh is not larger, with
        probability 1 - 3e-10.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a is not finite or a value overflows.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> a = np.outer(np.arange(1., 5.), np.ones(3))
    >>> result = tesela.randomized_svd(a, 1)
    >>> round(float(result.s[0])**2, 10), result.error_bound < 1e-12
    (90.0, True)
    """
    rank, oversampling = operator.index(n_components), operator.index(n_oversamples)
    power, seed = operator.index(n_iter), operator.index(random_state)
    least = min(np.shape(a)[-2:], default=0)
    if not 1 <= rank <= least:
        raise ValueError(f"n_components must be between 1 and min(m, n) = {least}, not {rank}")
    if oversampling < 0 or power < 0:
        raise ValueError("n_oversamples and n_iter must not be negative")
    if not 0 <= seed < 2**64:
        raise ValueError("random_state must be a seed from 0 on")
    if not plain(a):
        raise ValueError("a must be one matrix")
    return _tesela._randomized_svd(a, rank, oversampling, power, seed)
