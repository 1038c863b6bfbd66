"""Kernels that are wrong: each is refused with a sentence or ends its graph with an exception."""

import ctypes
import warnings

import numpy as np
import pytest
from conftest import check

import tesela
from tesela import In, InOut, Out, Reduce


def tile(value=1.0, dtype=np.float64):
    return tesela.TileMatrix(np.full((1, 1), value, dtype, order="F"), 1)[0, 0]


def kernel(function, which="cpu", **options):
    return tesela.kernel(type("wrong", (), {which: function}), **options)


def ended_by(function, *modes, tiles=None):
    """Returns the exception of a graph that a kernel of this function ends."""
    function.__annotations__ = dict(zip(function.__code__.co_varnames, modes))
    g = tesela.Graph()
    g.insert(kernel(function), *(tiles or [tile() for _ in modes]))
    with pytest.raises(BaseException) as caught:
        g.wait()
    g.wait()
    assert "raised by the task wrong(" in caught.value.__notes__[0]
    return caught.value


def no_annotation(a, b):
    pass


def tiles_after_arguments(a, b: In):
    pass


def method(self, a: InOut):
    pass


def default(a: InOut = None):
    pass


def by_name(*, a: InOut):
    pass


def more(a: InOut, **more):
    pass


def list_without_mode(a: InOut, *more):
    pass


def unknown_annotation(a: "Nothing", b: InOut):  # noqa: F821
    pass


def without_stream(a: InOut):
    pass


class Bound:
    def run(self, a: InOut):
        a *= 2


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: tesela.kernel(no_annotation), "decorates a class"),
        (lambda: tesela.kernel(type("wrong", (), {})), "variant `cpu` or `cuda`"),
        (lambda: kernel(no_annotation), "has no tile.*as in `a: tesela.InOut`"),
        (lambda: kernel(lambda a: None), "lambda cannot have annotations"),
        (lambda: kernel(lambda: None), "has no tile"),
        (lambda: kernel(tiles_after_arguments), "a has no mode such as tesela.In and is before the tile b"),
        (lambda: kernel(method), "no `self`"),
        (lambda: kernel(default), "without a default"),
        (lambda: kernel(by_name), "called by position"),
        (lambda: kernel(more), "neither a tile"),
        (lambda: kernel(list_without_mode), "neither a tile"),
        (lambda: kernel(unknown_annotation), "cannot be evaluated.*Nothing"),
        (lambda: kernel(without_stream, "cuda"), "the stream"),
        (lambda: kernel(5), "neither a function nor compiled code"),
        (lambda: kernel(len), "neither a tile"),
        (lambda: kernel(getattr), "no signature"),
        (lambda: kernel(ctypes.CDLL(None).abs), "compiled variant has no annotations"),
        (lambda: kernel(Bound().run, cost_key="b"), "cost_key names 'b'"),
        (lambda: kernel(Bound().run, flops=lambda b: 1), "flops has a parameter b"),
        (lambda: kernel(Bound().run, flops="many"), "flops is a constant or a function"),
        (lambda: kernel(Bound().run, name="../x"), "becomes part of a file's name"),
        (lambda: kernel(Bound().run, name=5), "becomes part of a file's name"),
        (lambda: kernel(Bound().run, color="red"), "color must be"),
        (lambda: kernel(Bound().run, color=1 << 24), "color must be"),
        (lambda: tesela.cuda_source(b"", "f"), "source code"),
        (lambda: tesela.cuda_source("", "f", block=0), "positive"),
    ],
)
def test_wrong_definitions(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_variants_must_agree():
    def on_gpu(stream, a: In):
        pass

    def other(stream, b: InOut):
        pass

    for cuda in (on_gpu, other):
        with pytest.raises(TypeError, match=r"cpu and cuda differ.*\(a: InOut\) and"):
            tesela.kernel(type("wrong", (), {"cpu": staticmethod(without_stream), "cuda": cuda}))
    with pytest.raises(TypeError, match="the class and cpu differ"):
        tesela.kernel(type("wrong", (), {"cpu": without_stream, "__annotations__": {"a": Out}}))


def test_bound_methods_and_static_methods_are_functions():
    x = tesela.TileMatrix(np.ones((1, 1), order="F"), 1)
    with tesela.Graph() as g:
        g.insert(kernel(Bound().run), x[0, 0])
        g.insert(kernel(staticmethod(without_stream)), x[0, 0])
    assert x.to_numpy() == 2


@tesela.kernel
class twice:
    def cpu(a: InOut, factor=2):
        a *= factor


@tesela.kernel
class total:
    def cpu(a: Out, *tiles: In):
        a[...] = sum(t[0, 0] for t in tiles)


@tesela.kernel
class reduces:
    def cpu(a: Reduce):
        pass


@pytest.mark.parametrize(
    "error, words, call",
    [
        (TypeError, "decorator tesela.kernel", lambda g: g.insert(lambda a: None, tile())),
        (TypeError, "decorator tesela.kernel", lambda g: g.insert(type("plain", (), {}), tile())),
        (TypeError, "decorator tesela.kernel", lambda g: g.insert(None, tile())),
        (TypeError, "has 1 tiles, and insert passes 0", lambda g: g.insert(twice)),
        (TypeError, "has 1 tiles, and insert passes 20", lambda g: g.insert(twice, *[tile() for _ in range(20)])),
        (TypeError, "has 1 or more tiles", lambda g: g.insert(total)),
        (TypeError, "a tile is an element of a TileMatrix", lambda g: g.insert(twice, np.ones((2, 2)))),
        (TypeError, "a tile is an element of a TileMatrix", lambda g: g.insert(twice, None)),
        (TypeError, "a tile is an element of a TileMatrix", lambda g: g.insert(twice, tile(), 3)),
        (TypeError, "has no argument facto", lambda g: g.insert(twice, tile(), facto=3)),
        (ValueError, "on must be", lambda g: g.insert(twice, tile(), on="tpu")),
        (OSError, "only a CPU|only a CUDA", lambda g: g.insert(kernel(no_gpu, "cuda"), tile())),
        (ValueError, "another graph", lambda g: g.insert(twice, tesela.Graph().status())),
        (ValueError, "another graph", lambda g: g.insert(twice, tesela.Graph().scratch(1, 1))),
        (ValueError, "without Graph::reduction", lambda g: g.insert(reduces, tile())),
        (ValueError, "nothing was written", lambda g: g.insert(twice, tesela.TileMatrix.empty((1, 1), 1)[0, 0])),
        (ValueError, "used twice", lambda g: g.insert(total, *[tile()] * 2)),
        (TypeError, "dtype must be", lambda g: g.scratch(1, 1, np.float16)),
        (TypeError, "dtype must be", lambda g: tesela.TileMatrix.empty((1, 1), 1, np.complex128)),
        (ValueError, "writable", lambda g: tesela.TileMatrix(np.ones((1, 1), np.float16, order="F"), 1)),
        (TypeError, "complex", lambda g: tesela.TileMatrix(np.ones((1, 1), complex, order="F"), 1)),
        (TypeError, "float32 or float64", lambda g: g.potrf(g.status())),
    ],
)
def test_wrong_insertions(error, words, call):
    g = tesela.Graph()
    with pytest.raises(error, match=words):
        call(g)
    g.wait()
    x = tile()
    g.insert(twice, x)
    g.wait()
    assert g.tasks == 1


def no_gpu(stream, a: InOut):
    pass


def test_a_flops_function_that_raises_or_returns_no_number():
    for flops, error in [(lambda a: 1 / 0, ZeroDivisionError), (lambda a: "many", ValueError), (lambda a: None, TypeError)]:
        with pytest.raises(error):
            tesela.Graph().insert(kernel(without_stream, flops=flops), tile())


# Wrong variants


def test_a_write_to_an_in_tile():
    def f(a):
        a[0, 0] = 5

    error = ended_by(f, In)
    assert type(error) is ValueError and "read-only" in str(error)


def test_a_returned_value():
    def f(a):
        return a + 1

    error = ended_by(f, InOut)
    assert type(error) is TypeError and "must write to its arrays, and return None" in str(error)


def test_a_resized_array():
    def f(a):
        a.resize((3, 3))

    assert type(ended_by(f, InOut)) is ValueError


def test_an_array_that_outlives_its_task():
    kept = []

    @tesela.kernel
    class keeps:
        def cpu(a: InOut):
            kept.append(a[0])

    matrix = tesela.TileMatrix.empty((4, 1), 1)

    @tesela.kernel
    class fills:
        def cpu(a: Out):
            a[...] = 7

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with tesela.Graph() as g:
            for i in range(4):
                g.insert(fills, matrix[i, 0])
                g.insert(keeps, matrix[i, 0])
    assert [w.category for w in seen] == [RuntimeWarning] and "keeps the array of a tile" in str(seen[0].message)
    del matrix
    assert [a[0] for a in kept] == [7] * 4  # the arrays keep the matrix

    with warnings.catch_warnings():
        warnings.simplefilter("error")

        def f(a):
            kept.append(a)

        assert type(ended_by(f, InOut)) is RuntimeWarning


def test_a_kernel_that_calls_tesela():
    g = tesela.Graph()
    other = tile()
    for call in (
        lambda: g.wait(),
        lambda: g.insert(twice, other),
        lambda: g.potrf(other),
        lambda: tesela.Graph(),
        lambda: tesela.TileMatrix(np.ones((1, 1), order="F"), 1),
        lambda: tesela.solve(np.eye(2), np.ones(2)),
        lambda: g.tasks,
        lambda: tesela.workers(),
    ):

        def f(a, call=call):
            call()

        f.__annotations__ = {"a": InOut}
        with pytest.raises(RuntimeError, match="a kernel calls tesela"), tesela.Graph() as mine:
            mine.insert(kernel(f), tile())
    g.wait()


def test_a_kernel_that_stops_the_workers():
    check(
        """
        import numpy as np, tesela
        @tesela.kernel
        class stops:
            def cpu(a: tesela.InOut): tesela.stop()
        x = tesela.TileMatrix(np.ones((1, 1), order="F"), 1)
        try:
            with tesela.Graph() as g: g.insert(stops, x[0, 0])
        except RuntimeError as e: print(e)
        """,
        "a kernel calls tesela: a kernel works on its tiles alone, and the loop inserts other tasks\n",
    )


def test_a_kernel_after_the_block():
    x = tile()
    with tesela.Graph() as g:
        g.insert(twice, x)
    g.insert(twice, x)
    g.wait()
    g.insert(kernel(fails), x)
    with pytest.raises(LookupError):
        g.wait()


def fails(a: InOut):
    raise LookupError


def test_a_kernel_after_stop():
    check(
        """
        import numpy as np, tesela
        @tesela.kernel
        class twice:
            def cpu(a: tesela.InOut): a *= 2
        x = tesela.TileMatrix(np.ones((1, 1), order="F"), 1)
        g = tesela.Graph()
        g.insert(twice, x[0, 0])
        tesela.stop()
        try: g.insert(twice, x[0, 0])
        except RuntimeError: print("stopped")
        y = tesela.TileMatrix(np.ones((1, 1), order="F"), 1)
        with tesela.Graph() as h: h.insert(twice, y[0, 0])
        print(y.to_numpy())
        """,
        "stopped\n[[2.]]\n",
    )
