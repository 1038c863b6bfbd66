"""Problems of public bug reports and questions, each with its right result, by the command and by the module."""

import csv
import gzip
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import tesela

COMMAND = os.environ.get("TESELA", pathlib.Path(tesela.__file__).parents[2] / "bin" / "tesela")
with open(pathlib.Path(__file__).parents[2] / "data" / "econometrics" / "cases.csv") as _file:
    ROWS = list(csv.DictReader(_file))  # columns y x w z1 z2 y2 region ex big
TWO_STAGE = "eq: y ~ x + w\ninstruments: ~ w + z1 + z2\n"

pytestmark = pytest.mark.skipif(not os.path.exists(COMMAND), reason="the command was not built (TESELA names it)")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the command in a folder and returns its output, of this exit code."""
    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        done = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, timeout=120)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stderr if code == 2 else done.stdout

    return call


def column(name):
    return np.array([float(row[name]) for row in ROWS])


def write_table(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def estimates(run, model, method="2sls", data="d.csv", **options):
    """Returns the coefficients of each equation by `tesela sem`, and their standard errors."""
    pathlib.Path("m.txt").write_text(model)
    more = [word for name, value in options.items() for word in ("--" + name, value)]
    report = json.loads(run("sem", "--data", data, "--model", "m.txt", "--method", method, "--json", "-", *more))
    return [{c["name"]: (c["estimate"], c["std_error"]) for c in e["coefficients"]} for e in report["equations"]]


def of_formula(run, formula):
    write_table("d.csv", ROWS[0].keys(), [row.values() for row in ROWS])
    return [b for b, _ in estimates(run, "eq: " + formula + "\n", "ols")[0].values()]


def matches(found, expected, rtol=1e-11):
    return np.shape(found) == np.shape(expected) and np.allclose(found, expected, rtol=rtol, atol=0)


def test_3sls_robust_missing(run):
    groups = np.arange(60) // 6
    write_table("d.csv", [*ROWS[0], "g"], [[*row.values(), g] for row, g in zip(ROWS, groups)])
    model = "a: y ~ x + w\nb: y2 ~ x + z1\ninstruments: ~ w + z1 + z2\n"
    robust, plain = (estimates(run, model, "3sls", cov=cov) for cov in ("cluster:g", "classical"))
    y, x, w, z1, z2, y2 = map(column, ("y", "x", "w", "z1", "z2", "y2"))
    one = np.ones(60)
    z, sides, designs = np.c_[one, w, z1, z2], (y, y2), (np.c_[one, x, w], np.c_[one, x, z1])
    projected = [z @ np.linalg.lstsq(z, d, rcond=None)[0] for d in designs]
    residuals = np.array([s - d @ np.linalg.lstsq(p, s, rcond=None)[0] for s, d, p in zip(sides, designs, projected)])
    weights = np.linalg.inv(residuals @ residuals.T / 60)
    bread = np.block([[weights[i, j] * projected[i].T @ projected[j] for j in (0, 1)] for i in (0, 1)])
    right = np.concatenate([sum(weights[i, j] * projected[i].T @ sides[j] for j in (0, 1)) for i in (0, 1)])
    b = np.linalg.solve(bread, right)
    e = np.array([s - d @ c for s, d, c in zip(sides, designs, (b[:3], b[3:]))])
    scores = np.hstack([projected[i] * (weights[i] @ e)[:, None] for i in (0, 1)])
    of_groups = np.array([scores[groups == g].sum(axis=0) for g in range(10)])
    errors = np.sqrt(np.diag(np.linalg.inv(bread) @ of_groups.T @ of_groups @ np.linalg.inv(bread)))
    found = np.array([pair for equation in robust for pair in equation.values()])
    assert matches(found[:, 0], b, 1e-9)
    ratio = found[:, 1] / errors
    assert np.allclose(ratio, ratio[0], rtol=1e-8) and 0.9 < ratio[0] < 1.2  # up to a correction for few clusters
    assert [list(e) for e in plain] == [list(e) for e in robust]


@pytest.mark.parametrize("code", ["N/A", "#N/A", "null", "NULL", "n/a", '"NA"', "-", "nan"])
def test_csv_na_codes(run, code):
    lines = [",".join(list(row.values())[:6]) for row in ROWS]
    fields = lines[4].split(",")
    lines[4] = ",".join([fields[0], code, *fields[2:]])
    pathlib.Path("d.csv").write_text("\n".join(["y,x,w,z1,z2,y2", *lines, ""]))
    found = [b for b, _ in estimates(run, TWO_STAGE)[0].values()]
    assert matches(found, [1.8584754026162358, 1.5622823454106465, -0.8454177009803627])


def test_csv_write_table(run):
    write_table("d.csv", ROWS[0].keys(), [[k, *row.values()] for k, row in enumerate(ROWS)])
    found = estimates(run, TWO_STAGE)[0]
    assert list(found) == ["(Intercept)", "x", "w"]
    assert matches([b for b, _ in found.values()], [1.860106523486563, 1.5657995307744115, -0.8288349075959406])


def test_eig_complex_zero_imag(run):
    np.save("A.npy", np.array([[2, 1], [1, 2]], complex))
    assert "A.npy" in (said := run("eig", "--a", "A.npy", "--out", "w.npy", code=2)) and "must be real" in said


def test_eig_one_ulp_asymmetry(run):
    q = np.linalg.qr(np.random.default_rng(1).standard_normal((11, 11)))[0]
    a = (q * np.r_[np.linspace(0.1, 0.8, 9), 0.91, 1]) @ q.T
    a = (a + a.T) / 2
    a[1, 0] = np.nextafter(a[0, 1], 9)
    np.save("A.npy", a)
    np.save("b.npy", np.ones(11))
    run("eig", "--a", "A.npy", "--largest", 2, "--out", "w.npy")
    run("cholesky", "--a", "A.npy", "--b", "b.npy", "--out", "x.npy")
    assert np.allclose(np.load("w.npy").ravel(), [0.91, 1], rtol=1e-14)
    assert np.allclose(np.load("x.npy"), np.linalg.solve(a, np.ones(11)), rtol=1e-12)


def test_formula_dot(run):
    """z1 and z2 occur twice: the estimates have the least norm, and sem names the columns."""
    names = ["y", "x", "w", "z1", "z2", "y2", "big", "1B", "größe"]
    keys = ["y", "x", "w", "z1", "z2", "y2", "big", "z1", "z2"]
    write_table("d.csv", names, [[row[key] for key in keys] for row in ROWS])
    expected = [0.8538493704208886, 2.5198517002550247, -0.9964471194099183, -0.5485082242238785, 0.24497658976046366,
                0.042254007047373136, 2.6374086008473796e-06, -0.548508224223878, 0.24497658976046333]
    report = json.loads(run("ols", "d.csv", "y ~ .", "--json", "-"))
    assert matches([c["estimate"] for c in report["regression"][0]["coefficients"]], expected, 1e-10)
    pathlib.Path("m.txt").write_text("eq: y ~ .\n", encoding="utf-8")
    report = json.loads(run("sem", "--data", "d.csv", "--model", "m.txt", "--method", "ols", "--json", "-"))
    assert report["status"] == "eq: collinear"
    equation = report["equations"][0]
    assert equation["because_of"] == ["`1B`", "größe"] and equation["degrees_of_freedom"] == 60 - 7
    assert matches([c["estimate"] for c in equation["coefficients"]], expected, 1e-10)
    assert {c["std_error"] for c in equation["coefficients"]} == {None}


def test_formula_factor(run):
    expected = [2.5635253343126534, -0.6752740689376562, 0.912691788721089, 1.8852814065967705]
    assert matches(of_formula(run, "y ~ w + region"), expected)


def test_formula_interaction(run):
    expected = [3.5382358249704167, -0.5578300963271656, 1.778099507354628, 0.35977994923455675]
    assert matches(of_formula(run, "y ~ w*z1"), expected)


def test_formula_log_lhs(run):
    assert matches(of_formula(run, "log(big) ~ x"), [1.489270050372758, 1.7901369724990033])
    assert matches(of_formula(run, "I(y * 2 - w) ~ x"), [2.8459422937572327, 3.554109275583333])


def test_formula_log(run):
    assert matches(of_formula(run, "y ~ log(ex) + w"), [3.494050166969622, 1.768009095950799, -0.5144881257927327])


def test_formula_power(run):
    assert matches(of_formula(run, "y ~ w + I(w^2)"), [3.337630185234298, -0.8233351074354808, 0.19716966815928316])


def test_gemm_beta0_nan(run):
    np.save("A.npy", np.arange(6.0).reshape(2, 3))
    np.save("B.npy", np.ones((3, 2)))
    for value in (np.nan, 1.0):
        np.save("C.npy", np.full((2, 2), value))
        run("gemm", "--a", "A.npy", "--b", "B.npy", "--c", "C.npy", "--beta", 0, "--out", "D.npy")
        assert np.load("D.npy").tolist() == [[3, 3], [12, 12]]


@pytest.mark.parametrize("formula", ["y ~ 1 + w + [x ~ z1 + z2]", "y ~ w | x | z1 + z2", "y ~ x + w | w + z1 + z2",
                                     "y ~ x + w | . - x + z1 + z2"])
def test_iv_bracket_syntax(run, formula):
    write_table("d.csv", ROWS[0].keys(), [row.values() for row in ROWS])
    found = estimates(run, "eq: " + formula + "\n")[0]
    assert matches([found[name][0] for name in ("(Intercept)", "x", "w")],
                   [1.860106523486563, 1.5657995307744115, -0.8288349075959406])


def test_mimo_pi2_bpsk(run):
    np.save("H.npy", np.ones((1, 1), complex))
    np.save("Y.npy", np.ones((1, 1), complex))
    run("mimo", "detect", "--h", "H.npy", "--y", "Y.npy", "--constellation", "pi/2-bpsk", "--n0", 0.1, "--out-s",
        "s.npy", "--out-points", "p.npy")
    assert np.allclose(np.load("p.npy"), (1 + 1j) / np.sqrt(2)) and np.load("s.npy").shape == (1, 1)


def test_mm_complex_hermitian(run):
    pathlib.Path("A.mtx").write_text("%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 2 0\n2 1 0 -1\n2 2 2 0\n")
    said = run("eig", "--a", "A.mtx", "--out", "w.npy", code=2)
    assert "A.mtx: line 1: complex matrices are not supported, only real ones" in said


def product_with_identity(run, a, n):
    np.save("I.npy", np.eye(n))
    run("gemm", "--a", a, "--b", "I.npy", "--out", "C.npy")
    return np.load("C.npy").tolist()


def test_mm_fortran_D(run):
    pathlib.Path("A.mtx").write_text("%%MatrixMarket matrix array real general\n1 2\n0.125D+01\n-2.5D-02\n")
    assert product_with_identity(run, "A.mtx", 2) == [[1.25, -0.025]]


def test_mm_gz(run):
    pathlib.Path("A.mtx.gz").write_bytes(gzip.compress(b"%%MatrixMarket matrix array real general\n1 1\n3\n"))
    assert product_with_identity(run, "A.mtx.gz", 1) == [[3]]


def test_npy_float16(run):
    np.save("A.npy", np.array([[1, 2], [3, 4.5]], np.float16))
    assert product_with_identity(run, "A.npy", 2) == [[1, 2], [3, 4.5]]


def test_npy_int64(run):
    np.save("A.npy", np.array([[1, 2], [3, 4]]))
    assert product_with_identity(run, "A.npy", 2) == [[1, 2], [3, 4]]


@pytest.mark.parametrize("kind", ["i8", "i4", "f2"])
def test_py_read_int_npy(tmp_path, kind):
    np.save(tmp_path / "a.npy", np.array([[1, 2], [3, 4]], kind))
    assert tesela.read_matrix(tmp_path / "a.npy").tolist() == [[1, 2], [3, 4]]


def test_py_sem_masked():
    random, n = np.random.default_rng(3), 60
    z = random.standard_normal(n)
    x = z + random.standard_normal(n)
    y = 1 + 2 * x + random.standard_normal(n)
    model = "eq: y ~ x\ninstruments: ~ z\n"
    found = tesela.sem(model, {"y": np.ma.array(y, mask=np.arange(n) < 5), "x": x, "z": z})
    assert found.dropped_rows == 5 and np.allclose(found["eq"].coefficients, [1.15950296, 1.90129563], rtol=1e-8)


def test_py_solve_singular():
    hilbert = 1 / (np.arange(14)[:, None] + np.arange(14) + 1)
    for a, b in ((np.arange(1.0, 10).reshape(3, 3), [1, 2, 4]), (hilbert, hilbert @ np.ones(14))):
        with pytest.raises(np.linalg.LinAlgError, match="singular"):
            tesela.solve(a, b)


def test_py_toeplitz_tuple():
    c, r = np.array([4, 1, 0.5]), np.array([4, 2, 1.0])
    symmetric = np.array([[4, 1, 0.5], [1, 4, 1], [0.5, 1, 4]])
    general = np.array([[4, 2, 1], [1, 4, 2], [0.5, 1, 4]])
    for given, matrix in (((c, c), symmetric), ((c, r), general)):
        x = tesela.solve_toeplitz(given, np.ones(3))
        assert np.allclose(getattr(x, "x", x), np.linalg.solve(matrix, np.ones(3)), rtol=1e-14)
    x = tesela.solve_toeplitz(c + 0j, np.ones(3))
    assert np.allclose(getattr(x, "x", x), np.linalg.solve(symmetric, np.ones(3)), rtol=1e-14)


def test_single_underflow(run):
    """Files with numbers that single precision lacks are solved in double precision."""
    np.save("b.npy", np.array([1e-50, 2e-50]))
    for name, value in (("A.npy", 1e-50), ("B.npy", 1e39)):
        np.save(name, np.diag([value, value]))
        said = run("ols", "--a", name, "--b", "b.npy", "-p", "s", "--out", "x.npy")
        assert "computed in double precision: " + name + ": the value at [0, 0]" in said
        assert np.allclose(np.load("x.npy"), np.array([1e-50, 2e-50]) / value, rtol=1e-15, atol=0)


def test_toeplitz_complex(run):
    np.save("t.npy", np.array([2, 0.5 + 0.5j, 0.1j]))
    np.save("b.npy", np.ones(3, complex))
    said = run("toeplitz", "solve", "--t", "t.npy", "--b", "b.npy", "--out", "x.npy", code=2)
    assert "t.npy" in said and "must be real" in said
    run("toeplitz", "solve", "--t", "t.npy", "--b", "b.npy", "-p", "z", "--out", "x.npy")
    t = np.array([[2, 0.5 - 0.5j, -0.1j], [0.5 + 0.5j, 2, 0.5 - 0.5j], [0.1j, 0.5 + 0.5j, 2]])
    assert np.allclose(t @ np.load("x.npy").ravel(), 1, rtol=1e-14)


def test_toeplitz_nonsymmetric(run):
    for name, values in (("t", [1.1, 0.3, 0.2]), ("r", [1.1, -0.5, 0.7]), ("b", [1.3, 0.9, 1.6])):
        np.save(name + ".npy", np.array(values))
    run("toeplitz", "solve", "--t", "t.npy", "--row", "r.npy", "--b", "b.npy", "--out", "x.npy")
    assert np.allclose(np.load("x.npy"), 1, rtol=1e-14)


def test_tridiag_eig_dpss_large(run):
    """The matrix of the discrete prolate spheroidal sequences of 8000 samples and bandwidth 4 / 8000."""
    n = 8000
    k = np.arange(n)
    np.save("d.npy", ((n - 1 - 2 * k) / 2) ** 2 * np.cos(2 * np.pi * 4 / n))
    np.save("e.npy", k[1:] * (n - k[1:]) / 2)
    run("eig", "--diagonal", "d.npy", "--off-diagonal", "e.npy", "--largest", 7, "--vectors", "--out", "w.npy",
        "--out-vectors", "x.npy")
    expected = [15999931.635434473, 15999939.97100207, 15999949.322967798, 15999959.49099472, 15999970.348716335,
                15999981.819378434, 15999993.850160368]
    assert np.allclose(np.load("w.npy").ravel(), expected, rtol=4e-15) and np.load("x.npy").shape == (n, 7)


@pytest.mark.parametrize("corner", [1e30, np.nan])
def test_tridiag_garbage_corners(run, corner):
    one = np.ones(3)
    for name, values in (("dl", [corner, *one]), ("d", np.full(4, 4.0)), ("du", [*one, -corner]), ("b", np.ones(4))):
        np.save(name + ".npy", np.array(values))
    run("tridiag", "--dl", "dl.npy", "--d", "d.npy", "--du", "du.npy", "--b", "b.npy", "--out", "x.npy")
    assert np.allclose(np.load("x.npy"), np.array([4, 3, 3, 4]) / 19, rtol=1e-15)
