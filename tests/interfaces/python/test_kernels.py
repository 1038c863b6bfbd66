"""Kernels in Python: modes, arguments, statuses, reductions, and exceptions."""

import threading
import traceback

import numpy as np
import pytest
import scipy.linalg
from conftest import check, norm, numbers, random, values

import tesela
from tesela import Commute, In, InOut, Out, Reduce, Scratch


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


def test_a_factorization_with_a_diagonal_by_a_newcomer():
    """A = L D L', written from docs/write-your-own.md."""

    @tesela.kernel(flops=lambda a: a.rows**3 / 3)
    class ldlt:
        def cpu(a: InOut, before: In, info: Out):
            info[...] = before
            for k in range(len(a) if before[0, 0] == 0 else 0):
                if a[k, k] == 0:
                    info[...] = k + 1
                    return
                column = a[k + 1 :, k] / a[k, k]
                a[k + 1 :, k + 1 :] -= np.outer(column, a[k + 1 :, k])
                a[k + 1 :, k] = column

    @tesela.kernel
    class solve:
        def cpu(l: In, b: InOut, info: In):
            if info[0, 0] == 0:
                b[...] = scipy.linalg.solve_triangular(l, b.T, lower=True, unit_diagonal=True).T / np.diag(l)

    @tesela.kernel
    class update:
        def cpu(a: In, b: In, d: In, c: InOut, info: In):
            if info[0, 0] == 0:
                c -= (a * np.diag(d)) @ b.T

    def factor(a, tile):
        A = tesela.TileMatrix(a, tile)
        with tesela.Graph() as g:
            info = g.status()
            for k in range(A.tiles[0]):
                before, info = info, g.status(offset=tile * k)
                g.insert(ldlt, A[k, k], before, info, priority=1)
                for i in range(k + 1, A.tiles[0]):
                    g.insert(solve, A[k, k], A[i, k], info)
                for j in range(k + 1, A.tiles[0]):
                    for i in range(j, A.tiles[0]):
                        g.insert(update, A[i, k], A[j, k], A[k, k], A[i, j], info)
        A.bring_home()

    for n, tile in (1, 5), (5, 5), (12, 5), (60, 20):
        s = random(n, n, n)
        s += s.T + 4 * n * np.diag((-1.0) ** np.arange(n))
        a = np.asfortranarray(s)
        factor(a, tile)
        lower = np.tril(a, -1) + np.eye(n)
        assert norm((lower * np.diag(a)) @ lower.T - s) <= 1e-14 * n * norm(s)
    a = np.asfortranarray(np.diag([1.0] * 7 + [0] + [1] * 4))
    with pytest.raises(np.linalg.LinAlgError, match="status 8"):
        factor(a, 5)


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


def test_a_tile_has_one_reduction():
    def plus(a: Commute, b: In):
        a += b

    def largest(a: Commute, b: In):
        np.maximum(a, b, out=a)

    add, most = (tesela.kernel(type(f.__name__, (), {"cpu": f})) for f in (plus, largest))
    total = numbers(0)
    with tesela.Graph() as g:
        g.reduction(total[0, 0], add)
        g.reduction(total[0, 0], add)
        with pytest.raises(ValueError, match="largest.*already has the reduction plus"):
            g.reduction(total[0, 0], most)


def test_an_exception_where_copies_of_a_reduction_combine_ends_its_graph():
    @tesela.kernel
    class plus:
        def cpu(a: Commute, b: In):
            raise LookupError("plus")

    @tesela.kernel
    class contribute:
        def cpu(x: In, total: Reduce):
            total += x

    x, total = numbers(*range(20)), numbers(1000)
    g = tesela.Graph()
    g.reduction(total[0, 0], plus)
    for i in range(20):
        g.insert(contribute, x[i, 0], total[0, 0])
    with pytest.raises(LookupError, match="plus") as caught:
        g.wait()
    assert "combines a reduction" in caught.value.__notes__[0]
    y = numbers(4)
    with tesela.Graph() as g:
        g.insert(add, x[1, 0], y[0, 0])
    assert values(y) == [5]


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
