"""Arrays that cannot be used, and those that can although they look odd. Nothing crashes or hangs."""

import threading

import numpy as np
import pytest
from conftest import random

import tesela

ONE_MATRIX = [
    lambda a: tesela.lstsq(a, np.ones(2)).x,
    lambda a: tesela.solve(a, np.ones(2)),
    lambda a: tesela.qr(a).r,
    lambda a: tesela.cholesky(a),
    lambda a: tesela.eigh(a, eigvals_only=True),
    lambda a: tesela.matmul(a, np.eye(2)),
]
EVERY = pytest.mark.parametrize("call", ONE_MATRIX)


@EVERY
@pytest.mark.parametrize(
    "wrong",
    [
        np.eye(2, dtype=complex),
        np.eye(2, dtype=object),
        np.eye(2, dtype=np.longdouble),
        np.array([["1", "0"], ["0", "1"]]),
        np.zeros(2, dtype="f8,f8"),
        np.zeros((2, 2), dtype="M8[s]"),
        "text",
        {1: 2},
        object(),
    ],
)
def test_numbers_of_another_kind_are_type_errors(call, wrong):
    with pytest.raises(TypeError):
        call(wrong)


@EVERY
@pytest.mark.parametrize("wrong", [np.float64(1), 1.0, np.ones((2, 2, 2)), np.ones((1, 2, 2, 1))])
def test_other_dimensions_are_value_errors(call, wrong):
    with pytest.raises(ValueError, match="dimensions"):
        call(wrong)


@EVERY
def test_arrays_on_a_gpu_of_unknown_libraries_need_cupy(call):
    class Foreign:
        __cuda_array_interface__ = {"shape": (2, 2), "typestr": "<f8", "data": (0, False), "version": 3}

    class Other:
        def __dlpack_device__(self):
            return 2, 0

    try:
        import cupy  # noqa: F401
    except ImportError:
        for wrong in (Foreign(), Other()):
            with pytest.raises(TypeError, match="CuPy"):
                call(wrong)
    else:
        pytest.skip("CuPy is here")


@EVERY
def test_none_is_a_type_error(call):
    with pytest.raises(TypeError):
        call(None)


@EVERY
@pytest.mark.parametrize(
    "same",
    [
        np.array([[4, 2], [2, 5]]),
        np.array([[4, 2], [2, 5]], dtype=np.uint8),
        np.array([[4, 2], [2, 5]], dtype=">f8"),
        np.array([[4, 2], [2, 5]], dtype=">i4"),
        [[4, 2], [2, 5.0]],
        memoryview(np.array([[4.0, 2], [2, 5]])),
        np.array([[5.0, 2], [2, 4]])[::-1, ::-1],
        np.ma.array([[4.0, 2], [2, 5]]),
        np.frombuffer(b"\0" + np.array([[4.0, 2], [2, 5]]).tobytes(), "u1")[1:].view("f8").reshape(2, 2),  # not aligned
        np.zeros((2, 2), dtype=[("x", "f8"), ("y", "u1")]),  # strides that are no multiples
    ],
)
def test_what_can_be_used_is(call, same):
    if getattr(same, "dtype", None) is not None and same.dtype.names:
        same["x"] = [[4, 2], [2, 5]]
        same = same["x"]
    assert np.allclose(call(same), call(np.array([[4.0, 2], [2, 5]])), atol=1e-12)


def test_half_precision_counts_as_single():
    assert tesela.qr(np.eye(2, dtype=np.float16)).r.dtype == np.float32
    assert tesela.matmul(np.eye(2, dtype=np.float16), np.eye(2)).dtype == np.float64


def test_strides_of_zero():
    a = np.broadcast_to(np.array([[1.0, 2.0, 3.0]]), (4, 3))
    assert np.allclose(tesela.matmul(a, np.ones(3)), 6)
    assert tesela.lstsq(a, np.ones(4)).rank == 1
    assert np.allclose(tesela.solve_tridiagonal(np.broadcast_to(0.0, 5), np.broadcast_to(2.0, 5), np.broadcast_to(0.0, 5), np.ones(5)), 0.5)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_empty(shape):
    a = np.zeros(shape)
    assert tesela.qr(a, mode="economic").r.shape == (0, shape[1])
    assert tesela.lstsq(a, np.zeros(shape[0])).x.shape == (shape[1],)
    assert tesela.matmul(a, np.zeros((shape[1], 2))).shape == (shape[0], 2)
    if shape == (0, 0):
        assert tesela.solve(a, np.zeros(0)).shape == (0,) and tesela.cholesky(a).shape == (0, 0)
        assert tesela.eigh(a, eigvals_only=True).shape == (0,)
        assert tesela.eigh_toeplitz(np.zeros(0), eigvals_only=True).shape == (0,)
        assert tesela.solve_tridiagonal(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0)).shape == (0,)


def test_arrays_that_share_memory_are_not_overwritten_under_each_other():
    both = {"overwrite_a": True, "overwrite_b": True}

    def new():
        return np.asfortranarray(random(1, 40, 40) + 20 * np.eye(40))

    a = new()
    assert np.allclose(tesela.solve(a, a, **both), np.eye(40))
    a = new()
    assert np.allclose(tesela.lstsq(a, a, **both).x, np.eye(40))
    a = new()
    expected = np.linalg.solve(a, a[:, 3])
    assert np.allclose(tesela.solve(a, a[:, 3], **both), expected)
    a = new() + new().T
    assert np.allclose(tesela.eigh(a, a, **both)[0], 1)
    d = np.full(50, 4.0)
    expected = tesela.solve_tridiagonal(np.ones(50), np.full(50, 4.0), np.ones(50), np.full(50, 4.0))
    assert np.allclose(tesela.solve_tridiagonal(np.ones(50), d, np.ones(50), d, overwrite_b=True), expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: tesela.lstsq(a, np.ones(3)),
        lambda a: tesela.solve(a, np.ones(3)),
        lambda a: tesela.solve(np.eye(3), a),
        lambda a: tesela.solve(np.eye(3), a, assume_a="pos"),
        lambda a: tesela.qr(a),
        lambda a: tesela.cholesky(a),
        lambda a: tesela.eigh(a),
        lambda a: tesela.symmetric_inertia(a),
        lambda a: tesela.eigh_toeplitz(a[1]),
        lambda a: tesela.solve_toeplitz(a[1], np.ones(3)),
        lambda a: tesela.solve_tridiagonal(a[0], a[1], a[2], np.ones(3)),
        lambda a: tesela.lse(a, np.ones(3), np.ones((1, 3)), np.ones(1)),
        lambda a: tesela.glm(a, np.eye(3), np.ones(3)),
    ],
)
def test_nan_is_never_an_answer(call):
    a = np.eye(3)
    a[1, 1] = np.nan
    with pytest.raises((np.linalg.LinAlgError, ValueError)):
        call(a)


def test_what_must_not_be_written_to_is_not():
    both = {"overwrite_a": True, "overwrite_b": True}
    a, b = np.asfortranarray(random(1, 40, 40) + 20 * np.eye(40)), np.ones(40)
    expected = np.linalg.solve(a, b)
    for array in (a, b):
        array.flags.writeable = False
    kept = a.copy()
    x = tesela.solve(a, b, **both)
    assert x is not b and np.allclose(x, expected)
    assert tesela.qr(a, mode="r", overwrite_a=True).r is not a
    assert np.allclose(tesela.lstsq(a, b, **both).x, expected)
    assert np.array_equal(a, kept) and (b == 1).all()


def test_an_array_that_another_thread_lets_go_stays_until_the_call_is_over():
    holder = [random(1, 1500, 300)]
    expected = np.linalg.lstsq(holder[0], np.ones(1500), rcond=None)[0]
    found = []
    thread = threading.Thread(target=lambda: found.append(tesela.lstsq(holder[0], np.ones(1500)).x))
    thread.start()
    with pytest.raises((ValueError, IndexError)):
        for _ in range(10_000):
            holder[0].resize((1, 1))  # refused while somebody looks at it
        holder.clear()
        holder[0]
    thread.join()
    assert len(found) == 1 and np.allclose(found[0], expected)


def test_jax_arrays_come_back_and_are_never_written_to():
    jax = pytest.importorskip("jax")
    a = jax.numpy.asarray(np.asfortranarray(random(1, 6, 3)).astype(np.float32))
    before = np.array(a)
    x = tesela.lstsq(a, jax.numpy.ones(6), overwrite_a=True, overwrite_b=True).x
    assert isinstance(x, jax.Array) and np.array_equal(a, before)
    assert np.allclose(x, np.linalg.lstsq(before, np.ones(6), rcond=None)[0], atol=1e-5)


def test_torch_tensors_come_back():
    torch = pytest.importorskip("torch")
    a = torch.tensor(random(1, 6, 3))
    x = tesela.lstsq(a, torch.ones(6, dtype=torch.float64)).x
    assert isinstance(x, torch.Tensor) and np.allclose(x, np.linalg.lstsq(a, np.ones(6), rcond=None)[0])
    with pytest.raises((RuntimeError, TypeError)):
        tesela.lstsq(a.requires_grad_(), torch.ones(6))


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_arrays_on_a_gpu_are_refused(library):
    module = pytest.importorskip(library)
    if library == "torch" and not module.cuda.is_available():
        pytest.skip("no GPU")
    a = module.eye(2) if library == "cupy" else module.eye(2, device="cuda")
    with pytest.raises(TypeError, match="host"):
        tesela.qr(a)
