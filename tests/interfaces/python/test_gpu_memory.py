"""Arrays on a GPU: refused arrays, synchronization, and use of memory."""

import numpy as np
import pytest
from conftest import close, random, run
from gpu_arrays import LIBRARIES, require_gpu

import tesela


def test_other_strides_and_numbers(gpu):
    a = random(23, 40, 30)
    if gpu.name != "jax":
        big = gpu.put(np.full((83, 63), np.nan))
        view = big[1:81:2, 2:62:2]
        view[...] = gpu.put(a)
        close(gpu.get(tesela.matmul(view, gpu.put(np.eye(30)))), a)
        padded = gpu.put(np.full((50, 30), np.nan), "F")[:40]
        padded[...] = gpu.put(a)
        for overwrite in (False, True):
            close(abs(gpu.get(tesela.qr(padded, mode="economic", overwrite_a=overwrite).r)), abs(np.linalg.qr(a)[1]))
    if gpu.name == "cupy":
        close(gpu.get(tesela.matmul(gpu.put(a)[::-1], gpu.put(np.eye(30)))), a[::-1])
    close(gpu.get(tesela.matmul(gpu.put(np.array([[4, 2], [2, 5]])), gpu.put(np.eye(2)))), np.array([[4.0, 2], [2, 5]]))
    half = gpu.put(np.eye(2, dtype=np.float16))
    assert gpu.get(tesela.qr(half).r).dtype == np.float32


def test_bad_input(gpu):
    square = gpu.put(np.eye(4))
    for other in (np.eye(4), gpu.put(np.eye(4, dtype=np.float32))):
        with pytest.raises(TypeError, match="a and b"):
            tesela.solve(square, other)
    with pytest.raises(TypeError, match="float32 and float64"):
        tesela.toeplitz_count(gpu.put(np.ones(4, dtype=complex)), [0.0])
    with pytest.raises(ValueError, match="dimensions"):
        tesela.qr(gpu.put(np.ones((2, 2, 2))))
    with pytest.raises(ValueError, match="rows"):
        tesela.solve(square, gpu.put(np.ones(3)))
    bad = np.eye(4)
    bad[1, 1] = np.nan
    for call in (tesela.qr, tesela.cholesky, tesela.eigh):
        with pytest.raises(np.linalg.LinAlgError):
            call(gpu.put(bad))


def test_arrays_on_two_gpus(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    a, b = torch.eye(4, device="cuda:0", dtype=torch.float64), torch.ones(4, device="cuda:1", dtype=torch.float64)
    with pytest.raises(TypeError, match="a and b lie in different memories"):
        tesela.solve(a, b)
    x = tesela.solve(a.to("cuda:1"), b)
    assert x.device == b.device and bool((x == 1).all())


def test_tensors_with_a_history_are_refused(torch):
    a = torch.ones(3, 3, device="cuda", dtype=torch.float64, requires_grad=True)
    with pytest.raises(TypeError, match="detach"):
        tesela.qr(a)
    assert tesela.qr(a.detach()).r.is_cuda
    with pytest.raises(TypeError, match="detach"):
        tesela.qr(torch.ones(3, 3, requires_grad=True))
    negated = torch.ones(3, 3, dtype=torch.complex128).conj().imag
    with pytest.raises(TypeError, match="negated"):
        tesela.qr(negated)


def test_the_interface_of_cuda_arrays(cupy):
    class Foreign:
        def __init__(self, array, read_only=False):
            self.array = array
            self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "data": (array.data.ptr, read_only)}

    a = cupy.asfortranarray(cupy.asarray(random(24, 20, 20) + 9 * np.eye(20)))
    kept = a.copy()
    for read_only in (True, False):
        x = tesela.solve(Foreign(a, read_only), cupy.ones(20), overwrite_a=True)
        assert isinstance(x, cupy.ndarray) and cupy.allclose(kept @ x, 1)
        assert bool((a == kept).all()) == read_only


def test_calls_wait_for_the_stream_of_the_input(torch, cupy):
    n = 2048
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        a = torch.zeros(n, n, device="cuda", dtype=torch.float64)
        b = torch.rand(n, n, device="cuda", dtype=torch.float64)
        for _ in range(30):
            b = b @ b / n
        a += 3
        product = tesela.matmul(a, torch.eye(n, device="cuda", dtype=torch.float64))
        assert bool((product == 3).all())
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        a = cupy.zeros((n, n))
        b = cupy.random.rand(n, n)
        for _ in range(30):
            b = b @ b / n
        a += 3
        product = tesela.matmul(a, cupy.eye(n))
        assert bool((product == 3).all())


def test_user_written_loops(torch):
    n, nb = 600, 128
    f = random(25, n, n)
    a = f @ f.T + n * np.eye(n)
    t = torch.from_numpy(np.asfortranarray(a)).cuda()
    A = tesela.TileMatrix(t, nb)
    with tesela.Graph() as g:
        for k in range(A.tiles[0]):
            g.potrf(A[k, k])
            for j in range(k + 1, A.tiles[1]):
                g.trsm(A[k, k], A[k, j], trans=True)
            for i in range(k + 1, A.tiles[0]):
                for j in range(i, A.tiles[1]):
                    g.gemm(A[k, i], A[k, j], A[i, j], trans_a=True, alpha=-1)
    A.bring_home()
    close(np.triu(t.cpu().numpy()), np.linalg.cholesky(a).T)
    del A, g
    with pytest.raises(ValueError, match="Fortran order"):
        tesela.TileMatrix(t.contiguous(), nb)


def test_many_calls_do_not_leak(cupy):
    a, b = cupy.asarray(random(26, 64, 64) + 30 * np.eye(64)), cupy.ones(64)
    for _ in range(20):
        tesela.solve(a, b)
    before = cupy.cuda.runtime.memGetInfo()[0]
    for _ in range(500):
        tesela.solve(a, b)
    assert before - cupy.cuda.runtime.memGetInfo()[0] < 2**23


def test_overwriting_needs_no_second_array(cupy, monkeypatch):
    monkeypatch.setenv("TESELA_GEMM", "cublas")  # products by residues have a work space
    n = 8192
    a = cupy.random.rand(n, n).T
    tesela.qr(cupy.asfortranarray(a[:512, :512]), mode="r", overwrite_a=True)
    cupy.get_default_memory_pool().free_all_blocks()
    before = cupy.cuda.runtime.memGetInfo()[0]
    answer = tesela.solve(a, cupy.ones(n), overwrite_a=True)
    scratch = before - cupy.cuda.runtime.memGetInfo()[0]
    assert scratch < n * n * 8, scratch / (n * n * 8)
    assert answer.shape == (n,)
    a = cupy.random.rand(n, n).T
    cupy.get_default_memory_pool().free_all_blocks()
    before = cupy.cuda.runtime.memGetInfo()[0]
    assert tesela.qr(a, mode="r", overwrite_a=True).r is a
    scratch = before - cupy.cuda.runtime.memGetInfo()[0]
    assert scratch < n * n * 8, scratch / (n * n * 8)


LOADED = """
def loaded(word):
    return sorted({line.split()[-1] for line in open("/proc/self/maps") if word in line})
"""


@pytest.mark.parametrize("name", LIBRARIES)
def test_either_may_be_imported_first(name):
    require_gpu(name)
    use = {
        "cupy": "x = cupy.ones((9, 9)); y = x @ x",
        "torch": "x = torch.ones((9, 9), device='cuda'); y = x @ x",
        "jax": "import jax.numpy; x = jax.numpy.ones((9, 9)); y = (x @ x).block_until_ready()",
    }[name]
    found = []
    for first, second in ((f"import {name}; {use}", "import tesela"), ("import tesela; tesela.workers()", f"import {name}; {use}")):
        code = f"""
{LOADED}
{first}
{second}
import {name}, tesela
r = tesela.qr(x).r
{use}
print([loaded(library) for library in ("libcublas.so", "libcusolver.so", "libcudart.so")])
"""
        status, out, errors = run(code, environment={"XLA_PYTHON_CLIENT_PREALLOCATE": "false"})
        assert status == 0, errors
        found.append(out)
    assert found[0] == found[1]
