"""Kernels whose variant on cores is compiled code."""

import ctypes
import os

import numpy as np
import pytest
from conftest import numbers, random, values

import tesela
from tesela import In, InOut


def c_function(name, signature, body):
    """Compiles a C function and returns it from ctypes; skips the test without a compiler."""
    import shutil
    import subprocess
    import tempfile

    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "f.c")
    with open(path, "w") as file:
        file.write(f"#include <stdint.h>\nvoid {name}({signature}) {{ {body} }}\n")
    library = os.path.join(folder, "f.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", path, "-o", library], check=True)
    return getattr(ctypes.CDLL(library), name)


SIGNATURE = "void* const* tiles, const int64_t* shapes, const double* values"


@pytest.fixture(scope="module")
def c_axpy():
    return c_function(
        "axpy",
        SIGNATURE,
        "const double* x = tiles[0]; double* y = tiles[1];"
        "for (int64_t j = 0; j < shapes[4]; ++j) for (int64_t i = 0; i < shapes[3]; ++i)"
        "  y[i + j * shapes[5]] += values[0] * x[i + j * shapes[2]] + values[1];",
    )


def axpy_with(function):
    class axpy:
        x: In
        y: InOut
        alpha: float
        shift: float = 0
        cpu = function

    return tesela.kernel(axpy)


def test_a_compiled_variant(c_axpy):
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    address = ctypes.cast(c_axpy, ctypes.c_void_p).value
    numba_like = type("CFunc", (), {"address": address})()
    for function in (c_axpy, capsule(address, b"axpy", None), numba_like):
        axpy = axpy_with(function)
        a = random(1, 7, 5)
        m = np.asfortranarray(np.vstack([a, a]))
        M = tesela.TileMatrix(m, (7, 3))
        with tesela.Graph() as g:
            for j in range(2):
                g.insert(axpy, M[0, j], M[1, j], alpha=2, shift=1)
        M.bring_home()
        assert np.allclose(m[7:], 3 * a + 1) and np.array_equal(m[:7], a)


def test_a_compiled_variant_refuses_tiles_of_another_type(c_axpy):
    single = tesela.TileMatrix(np.zeros((4, 2), np.float32, order="F"), (2, 2))
    with tesela.Graph() as g, pytest.raises(TypeError, match="axpy: the compiled function reads float64, but a tile has float32"):
        g.insert(axpy_with(c_axpy), single[0, 0], single[1, 0], alpha=2)
    doubling = c_function("doubling", SIGNATURE, "float* x = tiles[0]; for (int64_t i = 0; i < shapes[0]; ++i) x[i] *= 2;")
    kernel = tesela.kernel(type("twice", (), {"__annotations__": {"x": InOut}, "cpu": doubling, "dtype": "float32"}))
    x = np.array([[1], [3]], np.float32, order="F")
    X = tesela.TileMatrix(x, (2, 1))
    with tesela.Graph() as g:
        g.insert(kernel, X[0, 0])
    X.bring_home()
    assert x.tolist() == [[2], [6]]
    with pytest.raises(TypeError, match="float16"):
        tesela.kernel(type("half", (), {"__annotations__": {"x": InOut}, "cpu": doubling, "dtype": "float16"}))


def test_a_numba_kernel():
    numba = pytest.importorskip("numba")
    pointer = numba.types.CPointer

    @numba.cfunc(numba.void(pointer(pointer(numba.float64)), pointer(numba.int64), pointer(numba.float64)))
    def axpy(tiles, shapes, values):
        x = numba.carray(tiles[0], (shapes[2], shapes[1]))
        y = numba.carray(tiles[1], (shapes[5], shapes[4]))
        for j in range(shapes[4]):
            for i in range(shapes[3]):
                y[i, j] += values[0] * x[i, j]

    x = numbers(1, 2)
    with tesela.Graph() as g:
        g.insert(axpy_with(axpy), x[0, 0], x[1, 0], alpha=3)
    assert values(x) == [1, 5]


def test_a_cffi_function(c_axpy):
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    address = ctypes.cast(c_axpy, ctypes.c_void_p).value
    x = numbers(1, 2)
    with tesela.Graph() as g:
        function = ffi.cast("void (*)(void* const*, const int64_t*, const double*)", address)
        g.insert(axpy_with(function), x[0, 0], x[1, 0], alpha=3)
    assert values(x) == [1, 5]


def test_compiled_variants_do_not_need_the_interpreter_lock():
    wait = c_function(
        "meet",
        SIGNATURE,
        "volatile double* here = tiles[0]; for (long k = 0; *here == 0 && k < 4000000000; ++k) ;",
    )

    class meet:
        a: In
        cpu = wait

    m = np.zeros((1, 1), order="F")
    M = tesela.TileMatrix(m, 1)
    with tesela.Graph() as g:
        g.insert(tesela.kernel(meet), M[0, 0])
        m[0, 0] = 1  # the task sees it while Python runs here
    M.bring_home()


def test_arguments_of_compiled_variants_are_numbers(c_axpy):
    x = numbers(1, 2)
    with tesela.Graph() as g, pytest.raises(TypeError):
        g.insert(axpy_with(c_axpy), x[0, 0], x[1, 0], alpha="two")
