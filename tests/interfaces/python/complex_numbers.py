"""Complex matrices of the tests."""

import numpy as np
import pytest

TYPES = pytest.mark.parametrize("dtype", [np.complex64, np.complex128])


def random(*shape, dtype=np.complex128, seed=1, order="F"):
    r = np.random.default_rng(seed)
    return np.asarray(r.standard_normal(shape) + 1j * r.standard_normal(shape), dtype, order=order)


def hermitian(n, dtype=np.complex128):
    a = random(n, n, dtype=dtype)
    a = a + a.conj().T + 8 * np.sqrt(n) * np.eye(n, dtype=dtype)
    np.fill_diagonal(a, a.diagonal().real)
    return np.asfortranarray(a, dtype)


def close(found, expected, dtype, factor=300):
    assert found.dtype == dtype
    scale = np.linalg.norm(expected) if np.size(expected) else 1
    assert np.linalg.norm(found - expected) <= factor * np.finfo(dtype).eps * scale
