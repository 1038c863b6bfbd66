import numpy as np
import pytest
import scipy.linalg
from conftest import check, dtypes, eps, laid_out, layouts, norm, one_triangle, random, seeds
from hypothesis import given, strategies as st

import tesela

sizes = st.integers(0, 40)


@given(sizes, sizes, sizes, st.sampled_from(["mm", "mv", "vm", "vv"]), dtypes, dtypes, layouts, layouts, seeds)
def test_matmul_agrees_with_numpy(m, k, n, kinds, dtype_a, dtype_b, layout_a, layout_b, seed):
    a = random(seed, *((m, k) if kinds[0] == "m" else (k,)), dtype=dtype_a)
    b = random(seed + 1, *((k, n) if kinds[1] == "m" else (k,)), dtype=dtype_b)
    c = tesela.matmul(laid_out(a, layout_a), laid_out(b, layout_b))
    expected = np.matmul(a.astype(float), b.astype(float))
    worst = max(eps(dtype_a), eps(dtype_b))
    assert np.shape(c) == expected.shape
    assert norm(c - expected) <= 2 * (k + 1) * worst * norm(a) * norm(b)
    if kinds != "vv":
        assert c.dtype == np.result_type(dtype_a, dtype_b)


def test_matmul_accepts_an_accuracy():
    a = random(1, 5, 5)
    assert np.allclose(tesela.matmul(a, a, accuracy="componentwise"), a @ a)
    with pytest.raises(ValueError, match="accuracy"):
        tesela.matmul(a, a, accuracy="exact")


@given(st.integers(0, 40), st.sampled_from([None, 1, 3]), dtypes, layouts, layouts, st.booleans(), seeds)
def test_solve_agrees_with_scipy(n, nrhs, dtype, layout_a, layout_b, positive, seed):
    a = random(seed, n, n, dtype=dtype)
    if positive:
        a = (a @ a.T + n * np.eye(n)).astype(dtype)
    b = random(seed + 1, *((n,) if nrhs is None else (n, nrhs)), dtype=dtype)
    given_a = one_triangle(a, lower=False) if positive else a
    x = tesela.solve(laid_out(given_a, layout_a), laid_out(b, layout_b), assume_a="pos" if positive else "gen")
    assert x.dtype == dtype and x.shape == b.shape
    assert norm(a.astype(float) @ x - b) <= 50 * (n + 1) * eps(dtype) * (norm(a) * norm(x) + norm(b))
    if n > 0:
        expected = scipy.linalg.solve(a.astype(float), b.astype(float))
        assert norm(x - expected) <= 50 * n * eps(dtype) * np.linalg.cond(a.astype(float)) * norm(expected)


def test_solve_into_b():
    a, b = random(1, 300, 300), np.asfortranarray(random(2, 300, 2))
    expected = np.linalg.solve(a, b)
    x = tesela.solve(a, b, overwrite_b=True)
    assert x is b and np.allclose(b, expected)


def test_singular_matrices_are_errors():
    with pytest.raises(np.linalg.LinAlgError) as caught:
        tesela.solve(np.ones((2, 2)), np.ones(2))
    assert caught.value.status == "singular"
    for f in (tesela.cholesky, lambda a: tesela.solve(a, np.ones(2), assume_a="pos")):
        with pytest.raises(np.linalg.LinAlgError, match="order 2") as caught:
            f(np.array([[1.0, 2.0], [2.0, 1.0]]))
        assert caught.value.status == "not positive definite"
    with pytest.raises(np.linalg.LinAlgError):
        tesela.solve(np.full((2, 2), np.nan), np.ones(2))


@given(st.integers(0, 60), st.booleans(), dtypes, layouts, st.booleans(), seeds)
def test_cholesky_agrees_with_scipy(n, lower, dtype, layout, overwrite, seed):
    f = random(seed, n, n)
    a = (f @ f.T + n * np.eye(n)).astype(dtype)
    r = tesela.cholesky(laid_out(one_triangle(a, lower), layout), lower, overwrite_a=overwrite)
    assert r.dtype == dtype and r.shape == a.shape
    assert np.array_equal(r, np.tril(r) if lower else np.triu(r))
    product = r.astype(float) @ r.T if lower else r.T.astype(float) @ r
    assert norm(product - a) <= 10 * (n + 1) * eps(dtype) * norm(a)
    if n > 0:
        expected = scipy.linalg.cholesky(a.astype(float), lower)
        assert norm(r - expected) <= 10 * n * eps(dtype) * np.linalg.cond(a.astype(float)) * norm(expected)


@given(sizes, sizes, st.sampled_from(["full", "economic", "r"]), dtypes, layouts, seeds)
def test_qr_agrees_with_scipy(m, n, mode, dtype, layout, seed):
    a = random(seed, m, n, dtype=dtype)
    given_a = laid_out(a, layout)
    result = tesela.qr(given_a, mode=mode)
    assert np.array_equal(given_a, a)
    k = min(m, n) if mode == "economic" else m
    assert result.r.shape == (k, n) and np.array_equal(result.r, np.triu(result.r)) and result.r.dtype == dtype
    bound = 10 * (m + n + 1) * eps(dtype)
    if mode == "r":
        (r,) = result
        assert r is result.r and result.q is None
    else:
        q, r = result
        q = q.astype(float)
        assert q.shape == (m, k) and norm(q.T @ q - np.eye(k)) <= bound
        assert norm(q @ r - a) <= bound * norm(a)
    if min(m, n) > 0:
        expected = scipy.linalg.qr(a.astype(float), mode="r")[0]
        s = np.linalg.svd(a.astype(float), compute_uv=False)
        difference = norm(np.abs(result.r[: min(m, n)]) - np.abs(expected[: min(m, n)]))
        assert difference <= bound * (s[0] / s[-1]) * norm(a)


def test_r_overwrites_a_on_request():
    a = np.asfortranarray(random(4, 500, 300))
    expected = tesela.qr(a, mode="r").r
    big = np.full((600, 300), np.nan, order="F")
    big[:500] = a
    padded = big[:500]
    for given_a in (a, padded):
        result = tesela.qr(given_a, mode="r", overwrite_a=True)
        assert result.r is given_a and np.array_equal(result.r, expected) and result.copied == ()
    assert np.isnan(big[500:]).all()


def test_copies_are_reported():
    a, b = random(5, 60, 40), random(6, 60)
    f = np.asfortranarray(a)
    for given_a, may_be_lost, expected in ((f, True, ()), (f, False, ("a",)), (a, True, ("a",)), (a.astype(int), True, ("a",))):
        assert tesela.qr(given_a.copy("K"), overwrite_a=may_be_lost).copied == expected
        found = tesela.lstsq(given_a.copy("K"), b.copy(), overwrite_a=may_be_lost, overwrite_b=True)
        assert found.copied == expected
    assert tesela.wls(f, b, np.ones(60)).copied == ("a", "b")


@pytest.mark.parametrize("call", ["qr(a, mode='r', overwrite_a=True).r is a", "lstsq(a, b, overwrite_a=True).rank == 1200"])
def test_overwriting_needs_no_second_array(call):
    check(
        f"""
        import numpy as np, resource, tesela
        def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        tesela.start(gpus=0)
        a, b = np.ones((600, 400), order="F"), np.ones(600)
        tesela.qr(a, mode="r"), tesela.lstsq(a, b)
        a, b = np.empty((30000, 1200), order="F"), np.ones(30000)
        np.random.default_rng(0).standard_normal(out=a.T)
        before = peak()
        print({call.replace("qr(", "tesela.qr(").replace("lstsq(", "tesela.lstsq(")})
        scratch = (peak() - before) / a.nbytes
        print(scratch if scratch >= 1 else "scratch")  # BLAS buffers, block factors, tasks
        """,
        "True\nscratch\n",
    )


@pytest.mark.parametrize("order", ["F", "C"])  # C order is transposed by tasks
def test_qr_of_many_tiles(order):
    a = np.array(random(3, 700, 500), order=order)
    before = a.copy()
    q, r = tesela.qr(a, mode="economic")
    assert norm(q @ r - a) <= 1e-12 * norm(a) and norm(q.T @ q - np.eye(500)) <= 1e-12
    assert np.array_equal(a, before)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tesela.matmul(np.eye(2), np.eye(3)),
        lambda: tesela.solve(np.ones((2, 3)), np.ones(2)),
        lambda: tesela.solve(np.eye(2), np.ones(3)),
        lambda: tesela.solve(np.eye(2), np.ones(2), assume_a="nonsense"),
        lambda: tesela.cholesky(np.ones(3)),
        lambda: tesela.qr(np.ones(3)),
        lambda: tesela.qr(np.eye(3), mode="nonsense"),
    ],
)
def test_wrong_arguments_are_value_errors(call):
    with pytest.raises(ValueError):
        call()
