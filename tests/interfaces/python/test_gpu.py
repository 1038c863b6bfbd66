"""Arrays of CuPy, PyTorch and JAX on a GPU: the result has the same kind, and other memory is unchanged."""

import numpy as np
import pytest
from conftest import close, one_triangle, random, symmetric

import tesela

orders = pytest.mark.parametrize("order", ["F", "C"])
dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@dtypes
@pytest.mark.parametrize("layouts", ["FF", "FC", "CF", "CC"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (300, 200, 257), (5, 1, 700)])
def test_products(gpu, dtype, layouts, shape):
    m, n, k = shape
    a, b = random(1, m, k, dtype=dtype), random(2, k, n, dtype=dtype)
    on_gpu = gpu.put(a, layouts[0]), gpu.put(b, layouts[1])
    product = gpu.get(tesela.matmul(*on_gpu))
    assert product.dtype == dtype
    close(product, a @ b)
    assert (gpu.get(on_gpu[0]) == a).all() and (gpu.get(on_gpu[1]) == b).all()
    close(gpu.get(tesela.matmul(on_gpu[0], gpu.put(b[:, 0]))), a @ b[:, 0])
    close(gpu.get(tesela.matmul(gpu.put(a[0]), on_gpu[1])), a[0] @ b)
    assert abs(tesela.matmul(gpu.put(a[0]), gpu.put(b[:, 0])) - a[0] @ b[:, 0]) < 1e-2


@dtypes
@orders
@pytest.mark.parametrize("shape", [(1, 1), (700, 300), (300, 700)])
def test_qr(gpu, dtype, order, shape):
    a = random(3, *shape, dtype=dtype)
    given = gpu.put(a, order)
    q, r = (gpu.get(x) for x in tesela.qr(given, mode="economic"))
    close(q @ r, a)
    close(q.T @ q, np.eye(q.shape[1], dtype=dtype))
    assert (np.tril(r, -1) == 0).all() and (gpu.get(given) == a).all()
    close(abs(gpu.get(tesela.qr(given, mode="r").r)[: min(shape)]), abs(r))
    if gpu.name != "jax":
        close(abs(gpu.get(tesela.qr(given, mode="r", overwrite_a=True).r)[: min(shape)]), abs(r))
    assert gpu.get(tesela.qr(gpu.put(a, order)).q).shape == (shape[0], shape[0])


@dtypes
@orders
def test_least_squares(gpu, dtype, order):
    a, b = random(4, 900, 120, dtype=dtype), random(5, 900, 3, dtype=dtype)
    expected = np.linalg.lstsq(a.astype(float), b.astype(float))[0]
    for overwrite in (False, True):
        found = tesela.lstsq(gpu.put(a, order), gpu.put(b, order), overwrite_a=overwrite, overwrite_b=overwrite)
        close(gpu.get(found.x), expected, 10)
        close(gpu.get(found.residual_norms), np.linalg.norm(a @ expected - b, axis=0), 10)
        assert found.rank == 120 and found.status == "ok"
    w = np.ones(900, dtype)
    w[-1] = 0
    close(
        gpu.get(tesela.wls(gpu.put(a, order), gpu.put(b[:, 0]), gpu.put(w)).x),
        np.linalg.lstsq(a[:-1].astype(float), b[:-1, 0].astype(float))[0],
        10,
    )
    a[:, 1] = a[:, 0]
    assert tesela.lstsq(gpu.put(a, order), gpu.put(b, order)).rank == 119
    a[3, 1] = np.nan
    with pytest.raises(np.linalg.LinAlgError):
        tesela.lstsq(gpu.put(a, order), gpu.put(b, order))


@orders
def test_other_least_squares(gpu, order):
    a, b = random(6, 60, 20), random(7, 60, 2)
    s = random(8, 60, 60)
    s = s @ s.T + np.eye(60)
    w = np.linalg.inv(s)
    close(
        gpu.get(tesela.gls(gpu.put(a, order), gpu.put(b, order), gpu.put(s, order)).x),
        np.linalg.solve(a.T @ w @ a, a.T @ w @ b),
        1e3,
    )
    c, d = random(9, 5, 20), random(10, 5, 2)
    found = tesela.lse(gpu.put(a, order), gpu.put(b, order), gpu.put(c, order), gpu.put(d, order))
    close(c @ gpu.get(found.x), d, 1e3)
    found = tesela.glm(gpu.put(a, order), gpu.put(np.eye(60), order), gpu.put(b[:, 0]))
    close(gpu.get(found.x), np.linalg.lstsq(a, b[:, 0])[0], 1e3)
    close(gpu.get(found.y), b[:, 0] - a @ np.linalg.lstsq(a, b[:, 0])[0], 1e3)


@dtypes
@orders
@pytest.mark.parametrize("n", [1, 300])
def test_linear_systems(gpu, dtype, order, n):
    a = random(11, n, n, dtype=dtype) + 2 * np.sqrt(n).astype(dtype) * np.eye(n, dtype=dtype)
    b = random(12, n, 3, dtype=dtype)
    x = np.linalg.solve(a.astype(float), b.astype(float))
    given = gpu.put(a, order), gpu.put(b, order)
    close(gpu.get(tesela.solve(*given)), x, 30)
    close(gpu.get(tesela.solve(given[0], gpu.put(b[:, 0]))), x[:, 0], 30)
    assert (gpu.get(given[0]) == a).all() and (gpu.get(given[1]) == b).all()
    p = a @ a.T + np.eye(n, dtype=dtype)
    close(gpu.get(tesela.solve(gpu.put(p, order), given[1], assume_a="pos")), np.linalg.solve(p.astype(float), b), 3000)
    if gpu.name != "jax":
        answer = tesela.solve(*given, overwrite_a=True, overwrite_b=True)
        close(gpu.get(answer), x, 30)
        assert order == "C" or answer is given[1]
    with pytest.raises(np.linalg.LinAlgError):
        tesela.solve(gpu.put(np.zeros((n, n), dtype), order), given[1])


@dtypes
@orders
@pytest.mark.parametrize("n", [1, 300])
@pytest.mark.parametrize("lower", [False, True])
def test_cholesky(gpu, dtype, order, n, lower):
    f = random(13, n, n, dtype=dtype)
    a = (f @ f.T + n * np.eye(n, dtype=dtype)).astype(dtype)
    factor = np.linalg.cholesky(a.astype(float))
    expected = factor if lower else factor.T
    for overwrite in (False, True):
        found = gpu.get(tesela.cholesky(gpu.put(one_triangle(a, lower), order), lower=lower, overwrite_a=overwrite))
        close(found, expected, 10)
        assert not np.triu(found, 1).any() if lower else not np.tril(found, -1).any()
    with pytest.raises(np.linalg.LinAlgError):
        tesela.cholesky(gpu.put(-a, order), lower=lower)


@dtypes
@orders
@pytest.mark.parametrize("n", [1, 300])
def test_symmetric_eigenproblems(gpu, dtype, order, n):
    a = symmetric(14, n, dtype)
    scale = 10 * np.sqrt(n)
    w, v = (gpu.get(x) for x in tesela.eigh(gpu.put(one_triangle(a, True), order)))
    close(w, np.linalg.eigvalsh(a.astype(float)), scale)
    close(a @ v, v * w, scale)
    close(v.T @ v, np.eye(n), scale)
    w2, v2 = (gpu.get(x) for x in tesela.eigh(gpu.put(a, order), lower=False, subset_by_index=(0, n // 2)))
    close(w2, w[: n // 2 + 1], scale)
    close(a @ v2, v2 * w2, scale)
    close(gpu.get(tesela.eigh(gpu.put(a, order), eigvals_only=True, overwrite_a=True)), w, scale)
    f = random(15, n, n, dtype=dtype)
    b = (f @ f.T + n * np.eye(n, dtype=dtype)).astype(dtype)
    w3, v3 = (gpu.get(x) for x in tesela.eigh(gpu.put(a, order), gpu.put(b, order)))
    close(a @ v3, b @ v3 * w3, 10 * scale)
    count, _ = tesela.symmetric_inertia(gpu.put(a, order), 0.5)
    assert count == (np.linalg.eigvalsh(a.astype(float)) < 0.5).sum()


@dtypes
@pytest.mark.parametrize("n", [1, 2, 1000])
def test_tridiagonal(gpu, dtype, n):
    dl, d, du = random(16, n, dtype=dtype), random(17, n, dtype=dtype) + 5, random(18, n, dtype=dtype)
    b = random(19, n, 4, dtype=dtype)
    full = (np.diag(dl[1:], -1) + np.diag(d) + np.diag(du[:-1], 1)).astype(float)
    x = np.linalg.solve(full, b)
    bands = gpu.put(dl), gpu.put(d), gpu.put(du)
    for order in "FC":
        close(gpu.get(tesela.solve_tridiagonal(*bands, gpu.put(b, order))), x)
    right = gpu.put(b[:, 0])
    answer = tesela.solve_tridiagonal(gpu.put(dl[1:]), bands[1], gpu.put(du[:-1]), right, overwrite_b=True)
    close(gpu.get(answer), x[:, 0])
    assert gpu.name == "jax" or answer is right
    if n > 2:
        full[0, -1], full[-1, 0] = dl[0], du[-1]
        close(gpu.get(tesela.solve_tridiagonal(*bands, gpu.put(b), periodic=True)), np.linalg.solve(full, b))
    each = [gpu.put(np.repeat(band[:, None], 4, 1)) for band in (dl, d, du)]
    close(gpu.get(tesela.solve_tridiagonal(*each, gpu.put(b))), x)
    shorter = [gpu.put(np.repeat(band[:, None], 4, 1)) for band in (dl[1:], d, du[:-1])]
    close(gpu.get(tesela.solve_tridiagonal(*shorter, gpu.put(b, "C"))), x)
    s, t = random(20, n, dtype=dtype), random(21, max(n - 1, 0), dtype=dtype)
    w, v = (gpu.get(y) for y in tesela.eigh_tridiagonal(gpu.put(s), gpu.put(t)))
    full = (np.diag(s) + np.diag(t, 1) + np.diag(t, -1)).astype(float)
    close(w, np.linalg.eigvalsh(full), 30)
    close(full @ v, v * w, 30)


@dtypes
@pytest.mark.parametrize("n", [1, 50, 600])
def test_toeplitz(gpu, dtype, n):
    c = (0.7 ** np.arange(n)).astype(dtype)
    t = c[abs(np.subtract.outer(np.arange(n), np.arange(n)))].astype(float)
    b = random(22, n, 3, dtype=dtype)
    for order in "FC":
        close(gpu.get(tesela.solve_toeplitz(gpu.put(c), gpu.put(b, order)).x), np.linalg.solve(t, b), 30)
    values = np.linalg.eigvalsh(t)
    w, v = (gpu.get(x) for x in tesela.eigh_toeplitz(gpu.put(c)))
    close(w, values, 30)
    close(t @ v, v * w, 30)
    shifts = np.array([0.0, (values[n // 2] + values[n // 2 - 1]) / 2 if n > 1 else 2.0, 1e3], dtype)
    assert (gpu.get(tesela.toeplitz_count(gpu.put(c), gpu.put(shifts))) == [(values < x).sum() for x in shifts]).all()


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_empty(gpu, shape):
    a = gpu.put(np.zeros(shape))
    assert gpu.get(tesela.qr(a, mode="economic").r).shape == (0, shape[1])
    assert gpu.get(tesela.lstsq(a, gpu.put(np.zeros(shape[0]))).x).shape == (shape[1],)
    assert gpu.get(tesela.matmul(a, gpu.put(np.zeros((shape[1], 2))))).shape == (shape[0], 2)
    if shape == (0, 0):
        assert gpu.get(tesela.solve(a, gpu.put(np.zeros(0)))).shape == (0,)
        assert gpu.get(tesela.cholesky(a)).shape == (0, 0)
        assert gpu.get(tesela.eigh(a, eigvals_only=True)).shape == (0,)
