"""Kernels in Python: modes, arguments, compiled variants, and wrong ones."""

import ctypes
import gc
import os
import threading
import traceback
import warnings
import weakref

import numpy as np
import pytest
import scipy.linalg
from conftest import check, norm, random, run

import tesela
from tesela import Commute, In, InOut, Out, Reduce, Scratch


def numbers(*values, tile=1, dtype=np.float64):
    """A column in tiles of one row."""
    return tesela.TileMatrix(np.asfortranarray(np.array(values, dtype)[:, None]), tile)


def values(matrix):
    return matrix.to_numpy()[:, 0].tolist()


@tesela.kernel
class add:
    def cpu(x: In, y: InOut, factor=1):
        y += factor * x


@tesela.kernel(flops=lambda a: a.rows**3 / 3, color="#c44e52")
class potrf:
    def cpu(a: InOut, before: In, info: Out):
        info[0] = before[0]
        if before[0] == 0:
            lower, info[0] = scipy.linalg.lapack.dpotrf(a, lower=1, clean=0)
            a[...] = lower


@tesela.kernel(flops=lambda l, b: b.rows * l.rows**2)
class trsm:
    def cpu(l: In, b: InOut, info: In):
        if info[0] == 0:
            b[...] = scipy.linalg.blas.dtrsm(1, l, b, side=1, lower=1, trans_a=1)


@tesela.kernel(flops=lambda a, b: 2 * a.rows * b.rows * a.cols, cost_key="alpha")
class gemm:
    def cpu(a: In, b: In, c: InOut, info: In, alpha=-1.0):
        if info[0] == 0:
            c += alpha * (a @ b.T)


def cholesky(a, tile, **options):
    """Overwrites the lower triangle of a with L, where a = L L'."""
    A = tesela.TileMatrix(a, tile)
    nt = A.tiles[0]
    with tesela.Graph(**options) as g:
        info = g.status()
        for k in range(nt):
            before, info = info, g.status(offset=k * tile)
            g.insert(potrf, A[k, k], before, info, priority=3)
            for i in range(k + 1, nt):
                g.insert(trsm, A[k, k], A[i, k], info, priority=2)
            for j in range(k + 1, nt):
                for i in range(j, nt):
                    g.insert(gemm, A[i, k], A[j, k], A[i, j], info, priority=1)
    A.bring_home()
    return np.tril(a), g


@pytest.mark.parametrize("n, tile", [(1, 1), (5, 8), (8, 8), (24, 8), (29, 8), (100, 13)])
def test_a_cholesky_factorization_agrees_with_lapack(n, tile):
    f = random(n, n, n)
    a = np.asfortranarray(f @ f.T + n * np.eye(n))
    expected = np.linalg.cholesky(a)
    lower, g = cholesky(a, tile)
    assert norm(lower - expected) <= 1e-13 * n * norm(expected)
    nt = -(-n // tile)
    assert g.tasks == nt + nt * (nt - 1) // 2 + (nt - 1) * nt * (nt + 1) // 6


def test_a_status_names_the_row_and_stops_later_kernels():
    a = np.asfortranarray(np.eye(50))
    a[33, 33] = -1
    with pytest.raises(np.linalg.LinAlgError, match="status 34") as caught:
        cholesky(a, 10)
    assert caught.value.result == 34 and np.array_equal(a[40:, 40:], np.eye(10))


def test_a_recorded_graph_has_names_colours_and_flops(tmp_path):
    a = np.asfortranarray(4 * np.eye(40))
    _, g = cholesky(a, 10, record=True, longest_path_priorities=True)
    g.draw(str(tmp_path / "g.dot"))
    text = (tmp_path / "g.dot").read_text()
    assert text.count('label="gemm') == 10 and text.count('fillcolor="#c44e52"') == 4 == text.count('label="potrf')
    bounds = g.bounds()
    assert bounds.work_flops == pytest.approx(4 * 1000 / 3 + 6 * 1000 + 10 * 2000)
    assert bounds.path_flops == pytest.approx(4 * 1000 / 3 + 3 * 1000 + 3 * 2000)


def test_modes_are_respected():
    seen = {}

    @tesela.kernel
    class look:
        def cpu(a: In, b: Out, c: InOut, d: Commute, e: Scratch):
            seen.update(a=a, b=b.flags.writeable, c=c.flags.writeable, d=d.flags.writeable, e=e.shape)
            seen["read-only"] = not a.flags.writeable
            seen["a"] = (a.shape, a.dtype, a.strides)
            e[...] = 5
            b[...] = e[0, 0]

    m = tesela.TileMatrix(np.asfortranarray(np.zeros((7, 3), np.float32)), (2, 3))
    out = tesela.TileMatrix.empty((1, 1), 1)
    with tesela.Graph() as g:
        g.insert(look, m[0, 0], out[0, 0], m[1, 0], m[2, 0], g.scratch(4, 5))
    assert seen == {"a": ((2, 3), np.float32, (4, 28)), "b": True, "c": True, "d": True, "e": (4, 5), "read-only": True}
    assert out.to_numpy() == 5


def test_arguments_have_defaults_and_names():
    x = numbers(1, 10)
    with tesela.Graph() as g:
        g.insert(add, x[0, 0], x[1, 0])
        g.insert(add, x[0, 0], x[1, 0], factor=100)
        g.insert(add, x[0, 0], x[1, 0], factor=np.float32(0.5), priority=5, on="cpu")
    assert values(x) == [1, 111.5]


@pytest.mark.parametrize("count", [1, 8, 9, 17, 20, 40])
def test_many_tiles(count):
    @tesela.kernel(flops=lambda tiles: len(tiles))
    class total:
        def cpu(out: Out, *tiles: In, scale):
            out[...] = scale * sum(tile[0, 0] for tile in tiles)

    x = numbers(*range(count))
    out = numbers(np.nan)
    with tesela.Graph() as g:
        g.insert(total, out[0, 0], *(x[i, 0] for i in range(count)), scale=2)
    assert values(out) == [count * (count - 1)] and g.bounds().work_flops == count

    names = [f"a{i}" for i in range(count)]
    scope = {"InOut": InOut}
    exec(f"def cpu({', '.join(n + ': InOut' for n in names)}):\n for a in ({', '.join(names)},): a += 1", scope)
    bump = tesela.kernel(type("bump", (), {"cpu": scope["cpu"]}))
    with tesela.Graph() as g:
        g.insert(bump, *(x[i, 0] for i in range(count)))
    assert values(x) == list(range(1, count + 1))


def test_a_reduction():
    @tesela.kernel
    class plus:
        def cpu(a: Commute, b: In):
            a += b

    @tesela.kernel
    class contribute:
        def cpu(x: In, total: Reduce):
            total += x

    x, total = numbers(*range(50)), numbers(1000)
    with tesela.Graph() as g:
        g.reduction(total[0, 0], plus)
        for i in range(50):
            g.insert(contribute, x[i, 0], total[0, 0])
    assert values(total) == [1000 + 49 * 25]
    with pytest.raises(ValueError, match="contribute"):
        tesela.Graph().reduction(total[0, 0], contribute)


def test_tasks_of_threads_run_in_order():
    def work(results):
        x = numbers(1)

        @tesela.kernel
        class twice:
            def cpu(a: InOut):
                a *= 2

        with tesela.Graph() as g:
            for _ in range(10):
                g.insert(twice, x[0, 0])
        results.append(values(x))

    results = []
    threads = [threading.Thread(target=work, args=(results,)) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [[1024]] * 6


# Exceptions


@tesela.kernel
class fails:
    def cpu(a: InOut, when=True):
        if when:
            a[0, 0] = 1 / 0


def test_an_exception_ends_the_graph_once_with_its_traceback_and_task():
    x = numbers(1, 2, 3)
    g = tesela.Graph()
    for _ in range(5):
        g.insert(fails, x[2, 0])
        g.insert(add, x[0, 0], x[2, 0])
    with pytest.raises(ZeroDivisionError) as caught:
        g.wait()
    text = "".join(traceback.format_exception(caught.value))
    assert "a[0, 0] = 1 / 0" in text and text.count("raised by the task fails([2, 0])") == 1
    g.wait()
    assert values(numbers(4)) == [4]
    with pytest.raises(ValueError, match="dropped"):
        x.to_numpy()


def test_an_exception_ends_a_with_block():
    x = numbers(1)
    with pytest.raises(ZeroDivisionError), tesela.Graph() as g:
        g.insert(fails, x[0, 0])
    with pytest.raises(KeyError), tesela.Graph() as g:  # the exception of the block is more informative
        g.insert(fails, numbers(1)[0, 0])
        raise KeyError


def test_the_first_of_many_exceptions_is_reported():
    @tesela.kernel
    class each:
        def cpu(a: InOut):
            raise LookupError(a[0, 0])

    x = numbers(*range(20))
    g = tesela.Graph()
    for i in range(20):
        g.insert(each, x[i, 0])
    with pytest.raises(LookupError):
        g.wait()
    g.wait()


def test_an_exception_without_wait_is_not_lost(capfd):
    check(
        """
        import numpy as np, sys, tesela
        @tesela.kernel
        class fails:
            def cpu(a: tesela.InOut): raise LookupError("nobody waits")
        sys.unraisablehook = lambda u: print(u.exc_value, u.exc_value.__notes__)
        x = tesela.TileMatrix(np.zeros((1, 1), order="F"), 1)
        g = tesela.Graph()
        g.insert(fails, x[0, 0])
        del g
        """,
        "nobody waits ['raised by the task fails([0, 0])']\n",
    )


def test_system_exit_in_a_kernel_is_an_exception_like_others():
    @tesela.kernel
    class leaves:
        def cpu(a: InOut):
            raise SystemExit(3)

    g = tesela.Graph()
    g.insert(leaves, numbers(1)[0, 0])
    with pytest.raises(SystemExit):
        g.wait()


# Compiled variants


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


# Kernels that are defined again


def define(factor):
    scope = {"InOut": InOut}
    exec(f"def cpu(a: InOut):\n a *= {factor}", scope)
    return tesela.kernel(type("scale", (), {"cpu": scope["cpu"]}))


def test_a_kernel_that_is_defined_again_replaces_the_old_one():
    x = numbers(1)
    scale = define(2)
    with tesela.Graph() as g:
        for _ in range(5):
            g.insert(scale, x[0, 0])
        old, scale = scale.model, define(3)
        g.insert(scale, x[0, 0])
    assert values(x) == [96]
    assert old != scale.model and define(3).model == scale.model and scale.name == "scale"


def test_times_of_other_code_are_not_used():
    check(
        """
        import numpy as np, tesela
        tesela.start(scheduler="dmdas")
        def define(factor):
            scope = {"InOut": tesela.InOut}
            exec(f"def cpu(a: InOut):\\n a *= {factor}", scope)
            return tesela.kernel(type("timed", (), {"cpu": scope["cpu"]}))
        def untimed(kernel, times):
            x = tesela.TileMatrix(np.ones((1, 1), order="F"), 1)
            with tesela.Graph(record=True) as g:
                for _ in range(times): g.insert(kernel, x[0, 0])
            return g.bounds().untimed
        untimed(define(1.0), 60)
        print(untimed(define(1.0), 2), untimed(define(1.5), 2))
        """,
        "0 2\n",
        environment={"STARPU_CALIBRATE": "1"},
    )


# Memory


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_many_graphs_leave_memory_unchanged():
    x = tesela.TileMatrix(np.ones((20, 20), order="F"), 10)

    def graphs(count):
        for i in range(count):
            with tesela.Graph() as g:
                g.insert(add, x[0, 0], x[1, 1], factor=i)
                g.insert(define(i % 3), x[0, 1]) if i % 50 == 0 else None
            try:
                with tesela.Graph() as g:
                    g.insert(fails, x[1, 0], when=i % 20 == 0)
            except ZeroDivisionError:
                x[1, 0]
                y = tesela.TileMatrix(np.ones((1, 1), order="F"), 1)
                with tesela.Graph() as g:
                    g.insert(add, y[0, 0], x[0, 0])
            if i % 20 == 0:
                restore(x)

    def restore(matrix):
        @tesela.kernel
        class one:
            def cpu(a: Out):
                a[...] = 1

        with tesela.Graph() as g:
            g.insert(one, matrix[1, 0])

    graphs(1000)
    gc.collect()
    before = resident()
    graphs(10000)
    gc.collect()
    assert resident() - before < 4 << 20


def test_a_task_keeps_its_tiles_and_arguments():
    class Kept(np.ndarray):
        pass

    class Argument:
        pass

    array = np.asfortranarray(np.ones((1, 1))).view(Kept)
    argument = Argument()
    seen = weakref.ref(array), weakref.ref(argument)
    gate = threading.Event()

    @tesela.kernel
    class waits:
        def cpu(a: InOut, argument):
            gate.wait(10)

    g = tesela.Graph()
    x = tesela.TileMatrix(array, 1)
    g.insert(waits, x[0, 0], argument=argument)
    del x, array, argument
    gc.collect()
    assert seen[0]() is not None and seen[1]() is not None
    gate.set()
    g.wait()
    gc.collect()
    assert seen[0]() is None and seen[1]() is None


def test_matrices_and_graphs_that_end_in_a_task():
    """Garbage is collected on a worker's thread, where nothing may wait."""

    class Cycle:
        pass

    @tesela.kernel
    class collects:
        def cpu(a: InOut):
            gc.collect()

    x = numbers(1)
    with tesela.Graph() as g:
        for _ in range(20):
            cycle = Cycle()
            cycle.self, cycle.matrix, cycle.graph = cycle, numbers(1), tesela.Graph()
            cycle.graph.insert(add, cycle.matrix[0, 0], tesela.TileMatrix(np.zeros((1, 1), order="F"), 1)[0, 0])
            cycle = None
            g.insert(collects, x[0, 0])
    gc.collect()
    assert values(x) == [1]
