"""Arguments, stacks of matrices and warnings of the functions in Python."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _tesela

Array = NDArray[Any]
FOLDER = os.path.dirname(__file__)


def numbers(a: ArrayLike, name: str) -> Array:
    """Returns an array as `real`, or of native complex64 or complex128."""
    array = np.asarray(a)
    if array.dtype.kind != "c" or isinstance(a, np.ma.MaskedArray):
        return real(a, name)
    return array.astype(np.complex64 if array.dtype.itemsize == 8 else np.complex128, copy=False)


def real(a: ArrayLike, name: str) -> Array:
    """Returns an array of native float32 or float64. Integers and longer numbers become float64, float16
    becomes float32."""
    if isinstance(a, np.ma.MaskedArray) and np.ma.is_masked(a):
        raise ValueError(f"{name} has masked elements: masked arrays are not supported")
    array = np.asarray(a)
    dtype = array.dtype
    if dtype == np.float64 or dtype == np.float32:
        return array
    if dtype.kind in "biu" or (dtype.kind == "f" and dtype.itemsize >= 8):
        return array.astype(np.float64)
    if dtype.kind == "f":
        return array.astype(np.float32)
    hint = "; docs/factorizations.md lists the functions of complex numbers" if dtype.kind == "c" else ""
    raise TypeError(f"{name} has numbers of type {dtype}, not of float32 or float64{hint}")


def matrix(a: ArrayLike, name: str, square: bool = True, convert: Callable[[ArrayLike, str], Array] = real) -> Array:
    """Returns a matrix or a stack of them. Throws LinAlgError for other dimensions, and unless each is square."""
    array = convert(a, name)
    if array.ndim < 2:
        raise np.linalg.LinAlgError(f"{name} has {array.ndim} dimensions; it must be a matrix or a stack of matrices")
    if square and array.shape[-1] != array.shape[-2]:
        raise np.linalg.LinAlgError(f"{name} must be a square matrix, not {array.shape[-2]} x {array.shape[-1]}")
    return array


def solution(x: Array) -> Array:
    """Returns x. Throws LinAlgError if it is not finite."""
    if not np.isfinite(x).all():
        fail("x is not finite", "not finite", x)
    return x


def real_diagonal(diagonal: Array, name: str) -> None:
    """Throws ValueError if a diagonal element of a Hermitian matrix is not real."""
    if np.iscomplexobj(diagonal) and diagonal.imag.any():
        k = int(np.flatnonzero(diagonal.imag)[0])
        raise ValueError(f"{name}: its diagonal element {k} has the imaginary part {diagonal[k].imag:g}, and a Hermitian "
                         "matrix has a real diagonal")


def finite(a: Array, name: str) -> Array:
    """Returns the array. Throws LinAlgError if an element is NaN or infinite."""
    if not np.isfinite(a).all():
        place = ", ".join(str(i) for i in np.argwhere(~np.isfinite(a))[0])
        fail(f"{name}[{place}] is not finite", "not finite")
    return a


def fail(message: str, status: str, result: Any = None) -> NoReturn:
    """Throws LinAlgError with the attributes `status` and `result`."""
    error = np.linalg.LinAlgError(message)
    error.status, error.result = status, result  # type: ignore[attr-defined]
    raise error


def name_item(error: np.linalg.LinAlgError, index: tuple[int, ...]) -> None:
    """Puts the place of a matrix in its stack before the message."""
    error.args = (f"matrix {index if len(index) > 1 else index[0]} of the stack: {error}", *error.args[1:])


@contextmanager
def as_routine(name: str) -> Iterator[None]:
    """Puts the called routine into the message of a LinAlgError, in place of the routine behind it."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        error.args = (re.sub(r"^(svd|eigh|inv|solve\w*): ", f"{name}: ", str(error)), *error.args[1:])
        raise


def warn(message: str) -> None:
    """Issues a LinAlgWarning at the line that called the package. A routine solve… in it becomes the called function."""
    level, frame, routine = 1, sys._getframe(), ""
    while frame.f_back is not None and (frame.f_code.co_filename == "<tesela>" or
                                        frame.f_code.co_filename.startswith(FOLDER)):
        routine, frame, level = frame.f_code.co_name, frame.f_back, level + 1
    message = re.sub(r"^solve\w*(?=: )", routine, message)
    warnings.warn(message, _tesela.LinAlgWarning, stacklevel=level)


def foreign(a: Any) -> bool:
    """Returns whether it is an array of another library than NumPy, which only compiled functions read."""
    return not isinstance(a, (np.ndarray, np.generic)) and (hasattr(a, "__dlpack_device__") or
                                                            hasattr(a, "__cuda_array_interface__"))


def plain(*arrays: ArrayLike) -> bool:
    """Returns whether no argument is a stack of matrices: then the compiled functions read all."""
    return all(foreign(a) or np.ndim(a) <= 2 for a in arrays)


def each(function: Callable[..., Any], dimensions: tuple[int, ...], *arrays: Array) -> Any:
    """Calls a function for each matrix of stacks, and stacks its results.

    `dimensions` has the dimensions of one item of each array; leading dimensions are broadcast as NumPy's. The message
    of a LinAlgError begins with the place of its item.
    """
    shape = np.broadcast_shapes(*(a.shape[: a.ndim - d] for a, d in zip(arrays, dimensions)))
    if shape == ():
        return function(*arrays)
    items = [np.broadcast_to(a, shape + a.shape[a.ndim - d:]) for a, d in zip(arrays, dimensions)]

    def call(index: tuple[int, ...]) -> Any:
        try:
            return function(*(a[index] for a in items))
        except np.linalg.LinAlgError as error:
            name_item(error, index)
            raise

    results = [call(index) for index in np.ndindex(shape)]
    if not results:  # the shapes of one result
        samples = [np.eye(*a.shape[-d:], dtype=a.dtype) if d == 2 else
                   np.full(a.shape[a.ndim - d:], 1 if a.dtype.kind in "fc" else 0, a.dtype)
                   for a, d in zip(arrays, dimensions)]
        results = [function(*samples)]
        return _joined(results, lambda x: np.empty(shape + np.shape(x[0]), np.asarray(x[0]).dtype))
    return _joined(results, lambda x: np.stack(x).reshape(shape + np.shape(x[0])))


def _joined(results: list[Any], join: Callable[[list[Any]], Any]) -> Any:
    shapes = {np.shape(x) for x in results if not isinstance(x, tuple)}
    if len(shapes) > 1:
        raise ValueError(f"the results for the matrices of the stack have different shapes, {sorted(shapes)}: call the "
                         "function for each matrix")
    if not isinstance(results[0], tuple):
        return join(results)
    return tuple(None if part[0] is None else join(list(part)) for part in zip(*results))
