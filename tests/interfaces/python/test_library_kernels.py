"""The kernels of the library in Python: the list, arguments, errors, help."""

import doctest
import pathlib
import pickle
import pydoc
import re

import numpy as np
import pytest
import scipy.linalg
from conftest import norm, random

import tesela
from tesela import kernels

ROOT = pathlib.Path(__file__).parents[3]


def zeros(*shape, dtype=np.float64):
    return tesela.TileMatrix(np.zeros(shape, dtype, order="F"), shape)[0, 0]


def whole(a):
    return tesela.TileMatrix(a, a.shape)


def names_in_the_source():
    """Returns the names of the kernels, read in another way than by kernel_list.py."""
    names = []
    for file in sorted((ROOT / "codelets").rglob("*.hpp")):
        names += [name.replace("-", "_") for name in re.findall(r'auto name = "(.*?)";', file.read_text())]
    return names


@pytest.mark.skipif(not (ROOT / "codelets").exists(), reason="needs the source")
def test_every_kernel_is_in_the_list_or_has_a_reason():
    names, missing = names_in_the_source(), kernels.unreachable()
    assert len(names) > 180 and len(set(names)) == len(names)
    both = [name for name in kernels.__all__ if not name.endswith("_out")] + list(missing)
    assert sorted(both) == sorted(names)
    assert len(missing) <= 24 and all(len(reason) > 10 for reason in missing.values())
    assert {name.removesuffix("_out") for name in kernels.__all__} == set(names) - set(missing)


def test_every_kernel_has_tiles_and_a_text():
    for name in kernels.__all__:
        kernel = getattr(kernels, name)
        assert kernel.tiles and kernel.comment and repr(kernel) == f"tesela.kernels.{name}"
        assert pickle.loads(pickle.dumps(kernel)).name == name
        for tile, mode, types in kernel.tiles:
            assert mode.removeprefix("*") in {"In", "Out", "InOut", "Commute", "Reduce", "Scratch"} and tile and types


def test_the_example_runs():
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(kernels.__doc__, {}, "kernels", None, 0))
    assert runner.summarize().attempted > 4 and runner.summarize().failed == 0


def test_help_shows_comment_tiles_and_arguments():
    text = pydoc.plain(pydoc.render_doc(kernels.trsm))
    for words in ("insert(kernels.trsm, r, x, op='none', column=0)", "Solves X = op(R)^-1 X (BLAS trsm)", "x : InOut, float32 or float64",
                  "op : 'none' or 'transpose' or 'conjugate' = 'none'", "column : int = 0", "Runs on cores and GPUs"):  # fmt: skip
        assert words in text, text
    assert "insert(kernels.gather_upper, r, *tiles)" in kernels.gather_upper.__doc__
    assert "generator.seed : int = 0" in kernels.fill.__doc__


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_lu_factorization_of_library_kernels_agrees_with_lapack(dtype):
    n, nb = 70, 20
    a = np.asfortranarray(random(1, n, n, dtype=dtype))
    expected = a.copy()
    A = tesela.TileMatrix(a, (n, nb))
    swaps = tesela.TileMatrix.empty((n, 1), (nb, 1), "int32")
    zero = zeros(1, 1)
    with tesela.Graph() as g:
        work, wide = g.scratch(nb // 8 + 128, 1, "int32"), g.scratch(512, nb, dtype)
        for k in range(A.tiles[1]):
            v = tesela.TileMatrix.empty((A[0, k].cols, A[0, k].cols), n, dtype)[0, 0]
            g.insert(kernels.getrf, A[0, k], v, swaps[k, 0], zero, work, row=k * nb, pivoting="tournament")
            for j in range(A.tiles[1]):
                if j > k:
                    g.insert(kernels.lu_update, A[0, k], v, swaps[k, 0], A[0, j], wide, row=k * nb, pivoting="tournament")
                if j < k:
                    g.insert(kernels.laswp, A[0, j], swaps[k, 0], row=k * nb)
    A.bring_home()
    lower, upper = np.tril(a, -1) + np.eye(n, dtype=dtype), np.triu(a)
    for i, other in enumerate(swaps.to_numpy()[:, 0]):
        expected[[i, other]] = expected[[other, i]]
    assert sorted(set(swaps.to_numpy()[:, 0]))[0] >= 0 and norm(lower @ upper - expected) <= 100 * n * np.finfo(dtype).eps
    p, l, u = scipy.linalg.lu(expected.astype(float))
    assert abs(np.prod(np.abs(np.diag(u))) / np.prod(np.abs(np.diag(upper)).astype(float)) - 1) < 1e-2


def test_a_list_of_tiles_and_integer_arrays():
    a = np.asfortranarray(random(2, 60, 30))
    A = tesela.TileMatrix(a.copy(order="F"), (60, 15))
    r = np.asfortranarray(np.full((30, 30), np.nan))
    R = whole(r)
    with tesela.Graph() as g:
        g.insert(kernels.append_rows_out, R[0, 0], g.scratch(30 * 30 + 60 * 30 + 4096, 1), A[0, 0], A[0, 1])
    R.bring_home()
    assert norm(r.T @ r - a.T @ a) <= 1e-12 * norm(a) ** 2 and not np.tril(r, -1).any()

    for dtype in np.int32, np.int64, np.uint8:
        numbers = np.arange(6, dtype=dtype).reshape(3, 2, order="F").copy(order="F")
        matrix = tesela.TileMatrix(numbers, 2)
        assert matrix.dtype == dtype and matrix.tiles == (2, 1) and np.array_equal(matrix.to_numpy(), numbers)

        @tesela.kernel
        class bump:
            def cpu(x: tesela.InOut):
                x += 1

        with tesela.Graph() as g:
            g.insert(bump, matrix[1, 0])
        matrix.bring_home()
        assert numbers.tolist() == [[0, 3], [1, 4], [3, 6]]


def test_arguments_of_every_kind():
    a = np.asfortranarray(np.zeros((4, 3)))
    A = whole(a)
    with tesela.Graph() as g:
        g.insert(kernels.fill, A[0, 0], generator={"pattern": "constant", "value": np.float32(2.5)})
        g.insert(kernels.scal, A[0, 0], alpha=2)
    assert (A.to_numpy() == 5).all()
    with tesela.Graph() as g:
        g.insert(kernels.fill, A[0, 0], generator={"pattern": "index", "columns": 3}, column=1)
    assert A.to_numpy()[1].tolist() == [4, 5, 6]
    for generator, missing in (({"pattern": "index"}, "columns"), ({"pattern": "graded", "columns": 3}, "rows")):
        with pytest.raises(OSError, match=f"generator.{missing}: 0; the pattern"), tesela.Graph() as g:
            g.insert(kernels.fill, A[0, 0], generator=generator)
    with tesela.Graph() as g:
        g.insert(kernels.fill, A[0, 0], generator={"pattern": "constant", "value": 5})
    b = whole(np.zeros((4, 3), order="F"))
    with tesela.Graph(record=True) as g:
        g.insert(kernels.copy_block, A[0, 0], b[0, 0], rows=np.int64(2), columns=1, reverse_rows=True, priority=3, on="cpu")
    assert b.to_numpy()[:2, 0].tolist() == [5, 5] and b.to_numpy().sum() == 10
    c = whole(np.ones((3, 3), order="F"))
    with tesela.Graph(record=True) as g:
        g.insert(kernels.gemm, A[0, 0], b[0, 0], c[0, 0], op_a="transpose", alpha=1, beta=2.0, kernel="automatic")
    assert np.allclose(c.to_numpy(), A.to_numpy().T @ b.to_numpy() + 2) and g.bounds().work_flops == 2 * 3 * 3 * 4


@pytest.mark.parametrize(
    "words, call",
    [
        ("kernel trsm has no argument opp, but op, column", lambda g, a: g.insert(kernels.trsm, a, zeros(3, 3), opp="none")),
        ("kernel trsm has 2 tiles .r, x., and insert passes 1", lambda g, a: g.insert(kernels.trsm, a)),
        ("kernel gather_upper has 2 or more tiles .r, .*., and insert passes 1", lambda g, a: g.insert(kernels.gather_upper, a)),
        ("types .float64, float32., not .float32, float32. or .float64, float64.",
         lambda g, a: g.insert(kernels.trsm, a, zeros(3, 3, dtype=np.float32))),
        ("op is 'none' or 'transpose' or 'conjugate', not 'up'", lambda g, a: g.insert(kernels.trsm, a, zeros(3, 3), op="up")),
        ("op is 'none' or 'transpose' or 'conjugate', not 1", lambda g, a: g.insert(kernels.trsm, a, zeros(3, 3), op=1)),
        ("column is int, not 1.5", lambda g, a: g.insert(kernels.trsm, a, zeros(3, 3), column=1.5)),
        ("column is int, not 1267650600228229401496703205376", lambda g, a: g.insert(kernels.trsm, a, zeros(3, 3), column=2**100)),
        ("exponent is int, not 4294967296", lambda g, a: g.insert(kernels.scale_power_of_two, a, exponent=2**32)),
        ("alpha is float, not 'two'", lambda g, a: g.insert(kernels.scal, a, alpha="two")),
        ("symmetric is bool, not 2", lambda g, a: g.insert(kernels.factor_stages, a, zeros(1, 1), symmetric=2)),
        ("kernel fill needs the argument generator", lambda g, a: g.insert(kernels.fill, a)),
        ("generator is a dict of pattern, value", lambda g, a: g.insert(kernels.fill, a, generator=3)),
        ("no argument generator.size, but pattern", lambda g, a: g.insert(kernels.fill, a, generator={"size": 3})),
        ("element of a TileMatrix", lambda g, a: g.insert(kernels.scal, np.ones((3, 3)))),
        ("has no argument work, but none", lambda g, a: g.insert(kernels.transpose, a, zeros(3, 3), work=1)),
    ],
)  # fmt: skip
def test_wrong_insertions(words, call):
    a = zeros(3, 3)
    g = tesela.Graph()
    with pytest.raises(TypeError, match=words):
        call(g, a)
    assert g.tasks == 0


def test_wrong_tiles_are_refused():
    a = zeros(3, 3)
    with pytest.raises(ValueError, match="another graph"):
        tesela.Graph().insert(kernels.not_finite, a, tesela.Graph().status())
    with pytest.raises(ValueError, match="used twice"):
        tesela.Graph().insert(kernels.transpose, a, a)
    with pytest.raises(ValueError, match="nothing was written"):
        tesela.Graph().insert(kernels.scal, tesela.TileMatrix.empty((3, 3), 3)[0, 0])
    for find in kernels.LibraryKernel, kernels.__getattr__:
        with pytest.raises(AttributeError, match="no kernel nothing"):
            find("nothing")
    with pytest.raises(AttributeError, match="only C.. can insert it .tiles of IterationProgress"):
        kernels.qr_steps
    with pytest.raises(TypeError, match="decorator tesela.kernel"):
        tesela.Graph().reduction(a, kernels.scal)
