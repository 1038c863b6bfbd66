"""Arrays that are refused, and unusual arrays that are accepted. No crash and no hang."""

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
        np.eye(2, dtype=object),
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
@pytest.mark.parametrize("wrong", [np.float64(1), 1.0])
def test_numbers_are_value_errors(call, wrong):
    if call is not ONE_MATRIX[1]:  # solve divides by a number
        with pytest.raises(ValueError, match="dimensions"):
            call(wrong)


@pytest.mark.parametrize("call", ONE_MATRIX[1:2] + ONE_MATRIX[3:])
def test_other_dimensions_are_value_errors(call):
    with pytest.raises(ValueError):
        call(np.ones((1, 2, 2, 1)))


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
        np.zeros((2, 2), dtype=[("x", "f8"), ("y", "u1")]),  # strides that are not multiples of the element size
    ],
)
def test_unusual_arrays_are_accepted(call, same):
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
def test_nan_is_never_a_result(call):
    a = np.eye(3)
    a[1, 1] = np.nan
    with pytest.raises((np.linalg.LinAlgError, ValueError)):
        call(a)


def test_arguments_are_not_overwritten():
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


def test_an_array_released_by_another_thread_lives_until_the_call_ends():
    holder = [random(1, 1500, 300)]
    expected = np.linalg.lstsq(holder[0], np.ones(1500), rcond=None)[0]
    found = []
    thread = threading.Thread(target=lambda: found.append(tesela.lstsq(holder[0], np.ones(1500)).x))
    thread.start()
    with pytest.raises((ValueError, IndexError)):
        for _ in range(10_000):
            holder[0].resize((1, 1))  # refused while the array is exported
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


def masked(a):
    return np.ma.array(a, mask=np.arange(np.size(a)).reshape(np.shape(a)) == 0)


VECTOR, MATRIX, COMPLEX = np.array([4.0, 1.0]), np.array([[4.0, 1], [1, 3]]), np.eye(2, dtype=complex)
POSITIVE, BAND = MATRIX, np.array([[0.0, 1.0], [4.0, 3.0]])
ALL_ARRAYS = {
    "matmul": (tesela.matmul, MATRIX, MATRIX),
    "solve": (tesela.solve, MATRIX, VECTOR),
    "cholesky": (tesela.cholesky, MATRIX),
    "qr": (tesela.qr, MATRIX),
    "lstsq": (tesela.lstsq, MATRIX, VECTOR),
    "nnls": (tesela.nnls, MATRIX, VECTOR),
    "wls": (tesela.wls, MATRIX, VECTOR, VECTOR),
    "gls": (tesela.gls, MATRIX, VECTOR, MATRIX),
    "lse": (tesela.lse, MATRIX, VECTOR, MATRIX[:1], VECTOR[:1]),
    "glm": (tesela.glm, MATRIX, MATRIX, VECTOR),
    "solve_tridiagonal": (tesela.solve_tridiagonal, VECTOR, 9 * VECTOR, VECTOR, VECTOR),
    "solve_toeplitz": (tesela.solve_toeplitz, VECTOR, VECTOR),
    "eigh_toeplitz": (tesela.eigh_toeplitz, VECTOR),
    "toeplitz_count": (tesela.toeplitz_count, VECTOR, VECTOR),
    "eigh": (tesela.eigh, MATRIX, MATRIX),
    "eigh_tridiagonal": (tesela.eigh_tridiagonal, VECTOR, VECTOR[:1]),
    "symmetric_inertia": (tesela.symmetric_inertia, MATRIX),
    "mimo_detect": (lambda h, y, c: tesela.mimo_detect(h, y, c), COMPLEX, COMPLEX[0], np.array([1, -1, 1j, -1j])),
    "mimo_soft": (lambda h, y, c: tesela.mimo_soft(h, y, c, 1.0), COMPLEX, COMPLEX[0], np.array([1, -1, 1j, -1j])),
    "cho_factor": (tesela.cho_factor, POSITIVE),
    "cho_solve": (lambda c, b: tesela.cho_solve((c, False), b), MATRIX, VECTOR),
    "cho_solve_banded": (lambda c, b: tesela.cho_solve_banded((c, False), b), MATRIX, VECTOR),
    "cholesky_banded": (tesela.cholesky_banded, BAND),
    "det": (tesela.det, MATRIX),
    "eig_banded": (tesela.eig_banded, BAND),
    "eigvals_banded": (tesela.eigvals_banded, BAND),
    "eigvalsh": (tesela.eigvalsh, MATRIX, POSITIVE),
    "eigvalsh_tridiagonal": (tesela.eigvalsh_tridiagonal, VECTOR, VECTOR[:1]),
    "inv": (tesela.inv, MATRIX),
    "lu": (tesela.lu, MATRIX),
    "lu_factor": (tesela.lu_factor, MATRIX),
    "lu_solve": (lambda f, b: tesela.lu_solve((f, [0, 1]), b), MATRIX, VECTOR),
    "matmul_toeplitz": (lambda c, r, x: tesela.matmul_toeplitz((c, r), x), VECTOR, VECTOR, VECTOR),
    "pinv": (tesela.pinv, MATRIX),
    "pinvh": (tesela.pinvh, MATRIX),
    "cond": (tesela.cond, MATRIX),
    "matrix_rank": (tesela.matrix_rank, MATRIX),
    "null_space": (tesela.null_space, MATRIX),
    "orth": (tesela.orth, MATRIX),
    "polar": (tesela.polar, MATRIX),
    "pca": (tesela.pca, MATRIX),
    "ridge": (tesela.ridge, MATRIX, VECTOR),
    "tls": (tesela.tls, MATRIX, VECTOR),
    "qr_multiply": (tesela.qr_multiply, MATRIX, MATRIX),
    "slogdet": (tesela.slogdet, MATRIX),
    "solve_banded": (lambda ab, b: tesela.solve_banded((1, 0), ab, b), BAND, VECTOR),
    "solve_triangular": (tesela.solve_triangular, MATRIX, VECTOR),
    "solveh_banded": (tesela.solveh_banded, BAND, VECTOR),
    "randomized_svd": (lambda a: tesela.randomized_svd(a, 1), MATRIX),
    "svd": (tesela.svd, MATRIX),
    "svdvals": (tesela.svdvals, MATRIX),
    "write_matrix": (lambda a: tesela.write_matrix("/nonexistent/a.npy", a), MATRIX),
    "TileMatrix": (lambda a: tesela.TileMatrix(a, 2), np.asfortranarray(MATRIX)),
}


@pytest.mark.parametrize("name", ALL_ARRAYS)
def test_masked_elements_are_refused_in_every_argument(name):
    function, *arrays = ALL_ARRAYS[name]
    for place, array in enumerate(arrays):
        with pytest.raises(ValueError, match="masked arrays are not supported"):
            function(*(masked(array) if i == place else a for i, a in enumerate(arrays)))


def test_every_function_of_arrays_is_tried_with_masks():
    takes_none = {"read_matrix", "start", "stop", "workers", "convert_trace", "sem", "kernel", "cuda_source",
                  "compare_traces", "predict"}
    functions = {name for name in tesela.__all__ if not isinstance(getattr(tesela, name), type)}
    assert functions - takes_none == ALL_ARRAYS.keys() - {"TileMatrix"}


@pytest.mark.parametrize("yes, no", [(True, False), (np.True_, np.False_), (1, 0), (np.int64(1), np.uint8(0))])
def test_flags(yes, no):
    a = np.array([[4.0, 1.0], [2.0, 5.0]])
    assert tesela.cholesky(a, yes)[0, 1] == 0 and tesela.cholesky(a, lower=no)[1, 0] == 0
    assert isinstance(tesela.eigh(a, eigvals_only=yes), np.ndarray) and len(tesela.eigh(a, eigvals_only=no)) == 2
    assert tesela.Graph(record=yes, longest_path_priorities=no).tasks == 0
    b = np.ones(2)
    assert tesela.solve(a, b.copy(), overwrite_b=no) is not b and tesela.solve(a, b, overwrite_b=yes) is b


@pytest.mark.parametrize("wrong", [2, -1, 1.0, "yes", None, np.array([True, False]), [1]])
def test_invalid_flags_are_refused(wrong):
    with pytest.raises(TypeError):
        tesela.cholesky(np.eye(2), lower=wrong)


NAN = np.array([[1.0, 0, 0], [0, 1, 0], [0, np.nan, 1]])
MESSAGES = {
    "w[1] is -1; weights must be finite and not negative": lambda: tesela.wls(np.ones((3, 1)), np.ones(3), np.array([1.0, -1, 1])),
    "covariance is indefinite: pivot 1 is -2": lambda: tesela.gls(np.ones((2, 1)), np.ones(2), np.diag([1.0, -2])),
    "covariance is not symmetric: worst at (0, 1)": lambda: tesela.gls(np.ones((2, 1)), np.ones(2), np.array([[1.0, 0.5], [0, 1]])),
    "covariance is indefinite: after 1 pivots the pivot of row 1": lambda: tesela.gls(
        np.ones((2, 1)), np.ones(2), np.array([[1.0, 2], [2, 1]])
    ),
    "u[0, 0]": lambda: tesela.solve(np.zeros((2, 2)), np.ones(2)),
    "b[0, 1] is not finite": lambda: tesela.solve(np.eye(3), np.array([[1, np.inf], [1, 1], [1, 1]])),
    "x[:, 1] is not finite": lambda: tesela.solve(np.eye(3), np.array([[1, np.inf], [1, 1], [1, 1]]), overwrite_b=True),
    "a[0, 1] is not finite": lambda: tesela.solve(np.array([[1, np.nan], [1, 1]]), np.ones(2)),
    "a[1, 0] is not finite": lambda: tesela.solve(np.array([[1, 1], [np.nan, 1]]), np.ones(2), transposed=True),
    "a[1, 2, 1] is not finite": lambda: tesela.solve(np.stack([np.eye(3), NAN]), np.ones((3, 1))),
    "inv: a is singular: u[1, 1]": lambda: tesela.inv(np.ones((2, 2))),
    "inv: a is singular: a[1, 1] is zero": lambda: tesela.inv(np.diag([1.0, 0]), assume_a="diagonal"),
    "select must be 'a', 'v' or 'i', not 'ab'": lambda: tesela.eigh_tridiagonal(np.ones(3), np.ones(2), select="ab"),
    "select must be 'a', 'v' or 'i', not ['a']": lambda: tesela.eig_banded(np.ones((2, 3)), select=["a"]),
    "select_range is missing": lambda: tesela.eigvalsh_tridiagonal(np.ones(3), np.ones(2), select=2),
    "select_range must be 0 <= low <= high < n = 3, not 0, 3": lambda: tesela.eigh_tridiagonal(
        np.ones(3), np.ones(2), select="i", select_range=(0, 3)
    ),
    "select_range must be low < high": lambda: tesela.eig_banded(np.ones((2, 3)), select="v", select_range=(1, 1)),
    "subset_by_index must be 0 <= low": lambda: tesela.eigh_toeplitz(np.ones(3), subset_by_index=(2, 1)),
    "a[2, 1] is not finite": lambda: tesela.qr(NAN),
    "not finite: a[2, 1]": lambda: tesela.eigh(NAN),
    "not finite: a[1, 2]": lambda: tesela.eigh(NAN.T, lower=False),
    "not finite: b[2, 1]": lambda: tesela.eigh(np.eye(3), NAN),
    "b is not positive definite": lambda: tesela.eigh(np.eye(2), -np.eye(2)),
    "a[:, 1] is not finite": lambda: tesela.symmetric_inertia(NAN),
    "d[0] is not finite": lambda: tesela.eigh_tridiagonal(np.array([np.nan, 1]), np.ones(1)),
    "e[1] is not finite": lambda: tesela.eigh_tridiagonal(np.ones(3), np.array([1, np.inf]), select="v", select_range=(0, 1)),
    "c[1] is not finite": lambda: tesela.eigh_toeplitz(np.array([1, np.nan])),
    "toeplitz_count: c[0] is not finite": lambda: tesela.toeplitz_count(np.array([np.nan, 1]), [0.0]),
    "solve_toeplitz: c[1] is not finite": lambda: tesela.solve_toeplitz(np.array([1, np.nan]), np.ones(2)),
    "shifts[1] is NaN": lambda: tesela.toeplitz_count(np.ones(2), [0.0, np.nan]),
    "system 1: row 0": lambda: tesela.solve_tridiagonal(np.zeros((1, 2)), np.array([[1.0, 0], [1, 1]]), np.zeros((1, 2)), np.ones((2, 2))),
    "symmetric matrix, or (c, r)": lambda: tesela.solve_toeplitz(np.ones((2, 2)), np.ones(2)),
    "solve_toeplitz: r[1] is not finite": lambda: tesela.solve_toeplitz((np.ones(2), np.array([1, np.inf])), np.ones(2)),
    "h[1, 1, 1] is not finite": lambda: tesela.mimo_detect(np.stack([COMPLEX, NAN[1:, :2]]), np.ones((2, 4)), "qpsk"),
    "h[1, 0] is not finite": lambda: tesela.mimo_soft(NAN[1:, :2][::-1].T, np.ones(2), "qpsk", 1.0),
    "y[0, 3] is not finite": lambda: tesela.mimo_detect(COMPLEX, np.array([[1, 1, 1, np.inf], [1, 1, 1, 1]]), "qpsk"),
    "mimo_detect: method: 'kbest:0' keeps nothing": lambda: tesela.mimo_detect(COMPLEX, np.ones(2), "qpsk", method="kbest:0"),
    "data: row 1: y is missing": lambda: tesela.sem(
        "y ~ x", {"y": np.array([1, np.nan, 2, 3]), "x": np.arange(4.0)}, method="ols", missing="raise"
    ),
}


@pytest.mark.parametrize("message", MESSAGES)
def test_messages_name_arguments_and_count_from_zero(message):
    with pytest.raises(ValueError) as caught:  # a LinAlgError is one
        MESSAGES[message]()
    assert message in str(caught.value)


def test_warnings_name_the_called_function():
    h = 1 / (1 + np.arange(11) + np.arange(11)[:, None])
    with pytest.warns(tesela.LinAlgWarning, match="^inv: "):
        tesela.inv(h)
    with pytest.warns(tesela.LinAlgWarning, match="^solve: "):
        tesela.solve(h, np.ones(11), assume_a="banded")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "true, false", [(True, False), (np.bool_(True), np.bool_(False)), (1, 0), (np.int64(1), np.int64(0))]
)
def test_flags_accept_bools_of_numpy_and_0_and_1(true, false):
    upper = np.array([[2.0, 1.0], [5.0, 2.0]])
    np.testing.assert_allclose(tesela.eigh(upper, lower=false, eigvals_only=true), [1.0, 3.0], rtol=1e-14)
    assert isinstance(tesela.eigh(np.eye(2), eigvals_only=false), type(tesela.eigh(np.eye(2))))


@pytest.mark.parametrize("value", [2, -1, 0.0, "yes", None])
def test_flags_refuse_other_values(value):
    with pytest.raises(TypeError):
        tesela.eigh(np.eye(2), lower=value)
