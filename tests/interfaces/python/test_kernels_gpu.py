"""CUDA variants of kernels in Python: CuPy, numba, source code by NVRTC."""

import numpy as np
import pytest
from conftest import norm, random

import tesela
from tesela import Commute, In, InOut, Out, Reduce, Scratch

SCALE = """template <class T> __global__ void scale(Tile<T> a, double factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < a.rows && j < a.cols) a(i, j) *= factor;
}"""


@pytest.fixture(scope="module", autouse=True)
def workers():
    if not any("CUDA" in worker for worker in tesela.workers()):
        pytest.skip("the workers use no GPU")


def scale_kernel(source=SCALE, name="scale<T>", **more):
    class scale:
        a: InOut
        factor: float = 2
        cuda = tesela.cuda_source(source, name, **more)

    return tesela.kernel(scale)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape, tile", [((1, 1), 1), ((33, 17), 8), ((300, 200), 128)])
def test_source_code(dtype, shape, tile):
    a = np.asfortranarray(random(1, *shape, dtype=dtype))
    expected = a * 12
    A = tesela.TileMatrix(a, tile)
    scale = scale_kernel()
    with tesela.Graph() as g:
        for i in range(A.tiles[0]):
            for j in range(A.tiles[1]):
                g.insert(scale, A[i, j])
                g.insert(scale, A[i, j], factor=6)
    A.bring_home()
    assert np.allclose(a, expected)


def test_a_grid_by_a_function_and_more_shared_memory():
    source = """extern "C" __global__ void rows(Tile<const double> a, Tile<double> sums) {
      extern __shared__ double part[];
      double sum = 0;
      for (int j = threadIdx.x; j < a.cols; j += blockDim.x) sum += a(blockIdx.x, j);
      part[threadIdx.x] = sum;
      __syncthreads();
      if (threadIdx.x == 0) {
        sum = 0;
        for (int k = 0; k < blockDim.x; ++k) sum += part[k];
        sums(blockIdx.x, 0) = sum;
      }
    }"""

    @tesela.kernel
    class rows:
        a: In
        sums: Out
        cuda = tesela.cuda_source(source, "rows", grid=lambda a: a.rows, block=64, shared=100_000)

    a = np.asfortranarray(random(1, 70, 300))
    sums = tesela.TileMatrix.empty((70, 1), (70, 1))
    A = tesela.TileMatrix(a, (70, 300))
    with tesela.Graph() as g:
        g.insert(rows, A[0, 0], sums[0, 0])
    assert np.allclose(sums.to_numpy()[:, 0], a.sum(axis=1))


@pytest.mark.parametrize(
    "source, name, words",
    [
        ("__global__ void scale( {", "scale", "NVRTC refuses.*scale.1.: error"),
        (SCALE, "other", "NVRTC refuses"),
        (SCALE, "scale", "NVRTC refuses|finds no function"),
    ],
)
def test_wrong_source_code(source, name, words):
    x = tesela.TileMatrix(np.ones((2, 2), order="F"), 2)
    g = tesela.Graph()
    g.insert(scale_kernel(source, name), x[0, 0])
    with pytest.raises(OSError, match=f"(?s)kernel scale: .*{words}"):
        g.wait()
    y = tesela.TileMatrix(np.ones((2, 2), order="F"), 2)
    with tesela.Graph() as g:
        g.insert(scale_kernel(), y[0, 0])
    assert (y.to_numpy() == 2).all()


def test_a_block_that_is_too_large():
    x = tesela.TileMatrix(np.ones((2, 2), order="F"), 2)
    with pytest.raises(OSError, match="scale<double> failed with status"), tesela.Graph() as g:
        g.insert(scale_kernel(block=(64, 64)), x[0, 0])


def test_variants_for_cores_and_gpus():
    where = []

    @tesela.kernel
    class both:
        def cpu(a: InOut, factor=2):
            where.append("cpu")
            a *= factor

        cuda = tesela.cuda_source(SCALE, "scale<T>")

    x = tesela.TileMatrix(np.ones((2, 2), order="F"), 2)
    with tesela.Graph() as g:
        for _ in range(3):
            g.insert(both, x[0, 0], on="gpu")
            g.insert(both, x[0, 0], factor=10, on="cpu")
    assert where == ["cpu"] * 3 and (x.to_numpy() == 8000).all()


def test_the_workers_restart_between_launches():
    scale = scale_kernel()
    for _ in range(3):
        x = tesela.TileMatrix(np.ones((2, 2), order="F"), 2)
        with tesela.Graph() as g:
            g.insert(scale, x[0, 0])
        assert (x.to_numpy() == 2).all()
        tesela.stop()


def test_an_exception_on_a_gpu():
    @tesela.kernel
    class fails:
        def cuda(stream, a: InOut):
            raise LookupError(int(stream) != 0)

    x = tesela.TileMatrix(np.ones((2, 2), order="F"), 2)
    with pytest.raises(LookupError) as caught, tesela.Graph() as g:
        g.insert(fails, x[0, 0])
    assert "fails([0, 0])" in caught.value.__notes__[0]

    @tesela.kernel
    class returns:
        def cuda(stream, a: InOut):
            return 1

    with pytest.raises(TypeError, match="return None"), tesela.Graph() as g:
        g.insert(returns, tesela.TileMatrix(np.ones((2, 2), order="F"), 2)[0, 0])


# CuPy


@tesela.kernel(flops=lambda a: a.rows**3 / 3)
class potrf:
    def cuda(stream, a: InOut, info: Out):
        import cupy

        a[...] = cupy.linalg.cholesky(a)
        info[...] = 0


@tesela.kernel(flops=lambda l, b: b.rows * l.rows**2)
class trsm:
    def cuda(stream, l: In, b: InOut):
        import cupyx.scipy.linalg

        b[...] = cupyx.scipy.linalg.solve_triangular(l, b.T, lower=True).T


@tesela.kernel(flops=lambda a, b: 2 * a.rows * b.rows * a.cols)
class gemm:
    def cuda(stream, a: In, b: In, c: InOut, alpha=-1):
        c += alpha * (a @ b.T)


@pytest.mark.parametrize("n, tile", [(64, 64), (300, 100), (500, 128)])
def test_a_cholesky_factorization_in_cupy(cupy, n, tile):
    f = random(1, n, n)
    a = np.asfortranarray(f @ f.T + n * np.eye(n))
    expected = np.linalg.cholesky(a)
    A = tesela.TileMatrix(a, tile)
    nt = A.tiles[0]
    with tesela.Graph() as g:
        for k in range(nt):
            g.insert(potrf, A[k, k], g.status())
            for i in range(k + 1, nt):
                g.insert(trsm, A[k, k], A[i, k])
            for j in range(k + 1, nt):
                for i in range(j, nt):
                    g.insert(gemm, A[i, k], A[j, k], A[i, j])
    A.bring_home()
    assert norm(np.tril(a) - expected) <= 1e-13 * n * norm(expected)


def test_every_mode_in_cupy(cupy):
    @tesela.kernel
    class plus:
        def cpu(a: Commute, b: In):
            a += b

        def cuda(stream, a: Commute, b: In):
            a += b

    @tesela.kernel
    class contribute:
        def cuda(stream, x: In, total: Reduce, work: Scratch):
            work[...] = x
            total += work

    x = tesela.TileMatrix(np.asfortranarray(np.arange(40.0)[:, None]), 1)
    total = tesela.TileMatrix(np.full((1, 1), 1000.0, order="F"), 1)
    with tesela.Graph() as g:
        g.reduction(total[0, 0], plus)
        for i in range(40):
            g.insert(contribute, x[i, 0], total[0, 0], g.scratch(1, 1))
    assert total.to_numpy() == 1000 + 780


def test_a_numba_cuda_kernel():
    cuda = pytest.importorskip("numba.cuda")

    @cuda.jit
    def add_one(a):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            a[i, j] += 1

    try:
        add_one[(1, 1), (16, 16)](cuda.device_array((1, 1)))
    except AttributeError as error:
        pytest.skip(f"this numba and this NumPy do not fit: {error}")

    @tesela.kernel
    class increments:
        def cuda(stream, a: InOut):
            add_one[(4, 4), (16, 16), cuda.external_stream(int(stream))](cuda.as_cuda_array(a))

    x = tesela.TileMatrix(np.zeros((60, 50), order="F"), (60, 50))
    with tesela.Graph() as g:
        g.insert(increments, x[0, 0])
        g.insert(increments, x[0, 0])
    assert (x.to_numpy() == 2).all()


def test_a_triton_kernel(torch):
    triton = pytest.importorskip("triton")
    language = pytest.importorskip("triton.language")
    globals()["language"] = language

    @triton.jit
    def add_one(a, n, BLOCK: language.constexpr):
        i = language.program_id(0) * BLOCK + language.arange(0, BLOCK)
        language.store(a + i, language.load(a + i, mask=i < n) + 1, mask=i < n)

    @tesela.kernel
    class increments:
        def cuda(stream, a: InOut):
            with torch.cuda.stream(torch.cuda.ExternalStream(int(stream))):
                column = torch.as_tensor(a, device="cuda")
                add_one[(4,)](column, column.shape[0], BLOCK=256)

    x = tesela.TileMatrix(np.zeros((1000, 1), order="F"), (1000, 1))
    with tesela.Graph() as g:
        g.insert(increments, x[0, 0])
    assert (x.to_numpy() == 1).all()
