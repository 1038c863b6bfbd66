import gc
import shutil
import weakref
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import check, dtypes, eps, norm, random, seeds
from hypothesis import given, settings, strategies as st

import tesela


def tile_qr(a, nb, ib, **options):
    """Overwrites a with R, by the textbook loop."""
    A = tesela.TileMatrix(a, nb)
    mt, nt = A.tiles
    T = tesela.TileMatrix.empty((ib * mt, a.shape[1]), (ib, nb), a.dtype)
    S = tesela.TileMatrix.empty((ib * mt, a.shape[1]), (ib, nb), a.dtype)
    with tesela.Graph(**options) as g:
        for k in range(min(mt, nt)):
            g.geqrt(A[k, k], T[k, k], priority=2)
            for j in range(k + 1, nt):
                g.unmqr(A[k, k], T[k, k], A[k, j])
            for i in range(k + 1, mt):
                g.tpqrt(A[k, k], A[i, k], S[i, k], priority=1)
                for j in range(k + 1, nt):
                    g.tpmqrt(A[i, k], S[i, k], A[k, j], A[i, j])
    A.bring_home()
    return np.triu(a), g


def tile_cholesky(a, nb, **options):
    """Overwrites the upper triangle of a with R, where a = R' R."""
    A = tesela.TileMatrix(a, nb)
    nt = A.tiles[0]
    with tesela.Graph(**options) as g:
        for k in range(nt):
            g.potrf(A[k, k], priority=3)
            for j in range(k + 1, nt):
                g.trsm(A[k, k], A[k, j], trans=True, priority=2)
            for i in range(k + 1, nt):
                for j in range(i, nt):
                    g.gemm(A[k, i], A[k, j], A[i, j], trans_a=True, alpha=-1, priority=1 if i == k + 1 else 0)
    A.bring_home()
    return np.triu(a), g


@settings(max_examples=25)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(3, 30), st.integers(1, 8), dtypes, seeds)
def test_tile_qr(m, n, nb, ib, dtype, seed):
    a = random(seed, m, n, dtype=dtype)
    r, _ = tile_qr(np.array(a, order="F"), nb, ib)
    gram = a.T.astype(float) @ a
    assert norm(r.T.astype(float) @ r - gram) <= 20 * (m + n) * eps(dtype) * norm(a) ** 2


@settings(max_examples=25)
@given(st.integers(1, 60), st.integers(3, 30), dtypes, seeds)
def test_tile_cholesky(n, nb, dtype, seed):
    f = random(seed, n, n)
    a = (f @ f.T + n * np.eye(n)).astype(dtype)
    r, _ = tile_cholesky(np.array(a, order="F"), nb)
    assert norm(r.T.astype(float) @ r - a) <= 10 * (n + 1) * eps(dtype) * norm(a)


def test_a_minor_that_is_not_positive_is_reported():
    a = np.asfortranarray(np.eye(50))
    a[33, 33] = -1
    with pytest.raises(np.linalg.LinAlgError, match="order 34") as caught:
        tile_cholesky(a, 10)
    assert caught.value.status == "not positive definite"


def test_a_recorded_graph_is_drawn_and_bounded(tmp_path):
    a = np.asfortranarray(random(1, 120, 120))
    expected = np.linalg.qr(a, mode="r")
    r, g = tile_qr(a, 30, 8, record=True, longest_path_priorities=True)
    assert np.allclose(np.abs(r), np.abs(expected))
    # 4 x 4 tiles: sums over k of 1, 3 - k, 3 - k and (3 - k)^2
    assert g.tasks == 4 + 6 + 6 + 14 == g.bounds().tasks and 0 < g.bounds().path_flops < g.bounds().work_flops
    g.draw(str(tmp_path / "qr.dot"))
    text = (tmp_path / "qr.dot").read_text()
    assert text.startswith("digraph") and text.count("geqrt") >= 4 and "->" in text


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz")
def test_a_graph_draws_itself_in_a_notebook(monkeypatch):
    _, g = tile_cholesky(np.asfortranarray(4 * np.eye(40)), 10, record=True)
    picture = g._repr_svg_()
    nodes = [element for element in ElementTree.fromstring(picture).iter() if element.get("class") == "node"]
    assert len(nodes) == g.tasks == 20 and picture.count(">potrf<") == 4
    monkeypatch.setenv("PATH", "")
    assert g._repr_svg_() is None
    assert tile_cholesky(np.asfortranarray(np.eye(4)), 4)[1]._repr_svg_() is None  # not recorded


def test_a_large_graph_is_summarized_by_kernel_and_level():
    _, g = tile_cholesky(np.asfortranarray(4 * np.eye(36)), 3, record=True)
    picture = ElementTree.fromstring(g._repr_svg_())
    texts = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    # 12 x 12 tiles: the longest path passes 12 potrf, and a trsm and a gemm between two of them
    assert texts[0] == "364 tasks at 34 levels" and texts[2:] == ["gemm: 286", "potrf: 12", "trsm: 66"]
    bars = [title.text.split(": ") for title in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert sum(int(count) for _, count in bars) == g.tasks == 364
    assert [count for name, count in bars if name == "potrf"] == ["1"] * 12


def test_a_trace(tmp_path):
    check(
        f"""
        import numpy as np, os, tesela
        tesela.start(trace_dir={str(tmp_path)!r})
        a = tesela.TileMatrix(np.asfortranarray(np.eye(40) * 4), 10)
        with tesela.Graph() as g:
            for k in range(4): g.potrf(a[k, k])
        tesela.stop()
        try: g.potrf(a[0, 0])
        except RuntimeError: print("stopped")
        tesela.convert_trace({str(tmp_path)!r})
        print("potrf" in open(os.path.join({str(tmp_path)!r}, "tasks.rec")).read())
        """,
        "stopped\nTrue\n",
    )


def test_arrays_live_as_long_as_their_tiles():
    class Kept(np.ndarray):
        pass

    a = np.asfortranarray(4.0 * np.eye(20)).view(Kept)
    seen = weakref.ref(a)
    matrix = tesela.TileMatrix(a, 10)
    tile = matrix[0, 0]
    del a, matrix
    gc.collect()
    assert seen() is not None
    with tesela.Graph() as g:
        g.potrf(tile)
    del tile, g
    gc.collect()
    assert seen() is None


def test_an_array_with_tiles_cannot_be_resized():
    a = np.zeros(16).reshape(4, 4, order="F").copy(order="F")
    matrix = tesela.TileMatrix(a, 2)
    with pytest.raises(ValueError):
        a.resize((5, 5))
    del matrix


def test_a_graph_accepts_tasks_after_two_waits():
    a = np.asfortranarray(16.0 * np.eye(4))
    matrix = tesela.TileMatrix(a, 4)
    g = tesela.Graph()
    g.wait()
    g.potrf(matrix[0, 0])
    g.wait()
    g.wait()
    g.potrf(matrix[0, 0])
    g.wait()
    assert a[0, 0] == 2 and matrix[-1, -1].shape == (4, 4) and matrix.dtype == np.float64


def test_threads_have_graphs_of_their_own_or_share_one():
    import threading

    a = [np.asfortranarray(16.0 * np.eye(40)) for _ in range(8)]
    shared = tesela.Graph()

    def work(i):
        matrix = tesela.TileMatrix(a[i], 10)
        g = shared if i % 2 else tesela.Graph()
        for k in range(4):
            g.potrf(matrix[k, k])
        g.wait()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(np.array_equal(x, 4 * np.eye(40)) for x in a)


def matrix(m=4, n=4, nb=2, dtype=np.float64):
    return tesela.TileMatrix(np.zeros((m, n), dtype, order="F"), nb)


@pytest.mark.parametrize(
    "error, call",
    [
        (ValueError, lambda g: tesela.TileMatrix(np.zeros((4, 4)), 2)),
        (ValueError, lambda g: tesela.TileMatrix(np.zeros((4, 4), int), 2)),
        (ValueError, lambda g: tesela.TileMatrix(np.broadcast_to(0.0, (4, 4)), 2)),
        (ValueError, lambda g: tesela.TileMatrix(np.zeros((4, 4), order="F"), 0)),
        (ValueError, lambda g: tesela.TileMatrix(np.zeros((8, 4), order="F")[::2], 2)),
        (ValueError, lambda g: tesela.TileMatrix.empty((-1, 4), 2)),
        (TypeError, lambda g: tesela.TileMatrix.empty((4, 4), 2, np.complex128)),
        (TypeError, lambda g: g.potrf(np.zeros((4, 4)))),
        (TypeError, lambda g: g.potrf(None)),
        (IndexError, lambda g: matrix()[2, 0]),
        (IndexError, lambda g: matrix()[0, -3]),
        (TypeError, lambda g: matrix()[0]),
        (ValueError, lambda g: g.potrf(matrix(4, 4, (2, 3))[0, 0])),
        (ValueError, lambda g: g.gemm(matrix()[0, 0], matrix(nb=3)[0, 0], matrix()[0, 0])),
        (ValueError, lambda g: g.trsm(matrix()[0, 0], matrix(nb=3)[0, 0])),
        (ValueError, lambda g: g.geqrt(matrix()[0, 0], matrix(nb=(2, 1))[0, 0])),
        (ValueError, lambda g: g.unmqr(matrix()[0, 0], matrix()[0, 0], matrix(nb=3)[0, 0])),
        (ValueError, lambda g: g.tpqrt(matrix()[0, 0], matrix(nb=3)[0, 0], matrix()[0, 0])),
        (ValueError, lambda g: g.tpmqrt(matrix()[0, 0], matrix()[0, 0], matrix()[0, 0], matrix(nb=3)[0, 0])),
        (TypeError, lambda g: g.trsm(matrix()[0, 0], matrix(dtype=np.float32)[0, 0])),
        (ValueError, lambda g: g.potrf(tesela.TileMatrix.empty((4, 4), 2)[0, 0])),  # without contents
        (ValueError, lambda g: tesela.TileMatrix.empty((4, 4), 2).to_numpy()),
        (ValueError, lambda g: g.draw("/tmp/x.dot")),  # not recorded
    ],
)
def test_wrong_arguments(error, call):
    g = tesela.Graph()
    with pytest.raises(error):
        call(g)
    g.wait()


def test_the_same_tile_twice():
    A = matrix()
    with tesela.Graph() as g, pytest.raises(ValueError):
        g.gemm(A[0, 0], A[0, 0], A[0, 0])


def test_an_exception_in_the_block_propagates():
    with pytest.raises(ZeroDivisionError), tesela.Graph() as g:
        g.potrf(tesela.TileMatrix(np.asfortranarray(-np.eye(2)), 2)[0, 0])
        1 / 0
