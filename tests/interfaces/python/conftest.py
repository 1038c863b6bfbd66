"""Shared by the tests: matrices in every layout, and hypothesis strategies for them."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from gpu_arrays import LIBRARIES, Gpu, require_gpu
from hypothesis import HealthCheck, settings, strategies as st

import tesela

settings.register_profile(
    "tesela", deadline=None, derandomize=True, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tesela")

dtypes = st.sampled_from([np.float64, np.float32])
layouts = st.sampled_from(["F", "C", "padded", "reversed", "every second", "read-only"])
seeds = st.integers(0, 2**32 - 1)


def eps(dtype):
    return np.finfo(dtype).eps


def laid_out(a, layout):
    """Returns the same numbers in another memory layout, with NaN in between."""
    if layout in ("F", "C"):
        return np.array(a, order=layout)
    if layout == "read-only":
        b = np.array(a, order="F")
        b.flags.writeable = False
        return b
    if layout == "reversed":
        return np.array(a[::-1], order="C")[::-1]
    big = np.full([2 * n + 3 for n in a.shape], np.nan, a.dtype, order="F")
    view = big[tuple(slice(0, n) if layout == "padded" else slice(0, 2 * n, 2) for n in a.shape)]
    view[...] = a
    return view


def random(seed, *shape, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def norm(x):
    return np.linalg.norm(np.asarray(x, float))


def symmetric(seed, n, dtype=np.float64):
    a = random(seed, n, n)
    return (a + a.T).astype(dtype)


def one_triangle(a, lower):
    """Returns `a` with NaN in the triangle that must not be read."""
    other = np.triu_indices(len(a), 1) if lower else np.tril_indices(len(a), -1)
    b = a.copy()
    b[other] = np.nan
    return b


def run(code, **more):
    """Runs the code in a separate process and returns its exit status and output."""
    environment = {**os.environ, **more.pop("environment", {})}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, **{"capture_output": True, "text": True, "timeout": 120, "env": environment, **more})
    return done.returncode, done.stdout, done.stderr


def check(code, expected, **more):
    status, out, errors = run(code, **more)
    assert (status, out) == (0, expected), errors


def close(x, y, scale=1.0):
    bound = 2000 * max(np.finfo(z.dtype).eps for z in (x, np.asarray(y))) * scale
    assert x.shape == np.shape(y) and norm(x - y) <= bound * max(norm(y), 1.0), (norm(x - y), bound * norm(y))


def numbers(*values, tile=1, dtype=np.float64):
    """Returns a column in tiles of one row."""
    return tesela.TileMatrix(np.asfortranarray(np.array(values, dtype)[:, None]), tile)


def values(matrix):
    return matrix.to_numpy()[:, 0].tolist()


@pytest.fixture(params=LIBRARIES, scope="module")
def gpu(request):
    return Gpu(request.param)


@pytest.fixture(scope="module")
def torch():
    return require_gpu("torch")


@pytest.fixture(scope="module")
def cupy():
    return require_gpu("cupy")
