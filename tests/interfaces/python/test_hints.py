"""Names of other libraries get a hint."""

import copy
import pickle

import numpy as np
import pytest

import tesela

A = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 4.0]])
B = np.array([1.0, 2.0, 4.0, 5.0])
TABLE = {"y": B, "x": A[:, 1]}


@pytest.mark.parametrize(
    "hint, call",
    [
        ("did you mean w?", lambda: tesela.wls(A, B, weights=B)),
        ("did you mean w?", lambda: tesela.wls(A, B, B, weight=B)),
        ("did you mean covariance='robust'?", lambda: tesela.sem("y ~ x", TABLE, cov="robust")),
        ("did you mean divisor?", lambda: tesela.sem("y ~ x", TABLE, dof="small")),
        ("did you mean largest?", lambda: tesela.svd(A, k=1)),
        ("did you mean compute_uv?", lambda: tesela.svd(A, compute_v=False)),
        ("the formulas come first", lambda: tesela.sem(TABLE, "y ~ x")),
        ("the formulas come first", lambda: tesela.sem("table.csv", "y ~ x")),
    ],
)
def test_keywords(hint, call):
    with pytest.raises(TypeError) as error:
        call()
    assert hint in str(error.value)


def test_attributes_of_results():
    found = tesela.svd(A)
    equation = next(iter(tesela.sem("y ~ x", TABLE, method="ols").equations.values()))
    for result, name, hint in [
        (found, "S", "s"),
        (found, "U", "u"),
        (found, "Vh", "vh"),
        (found, "VT", "vh"),
        (equation, "std_errors", "standard_errors"),
        (equation, "bse", "standard_errors"),
        (equation, "params", "coefficients"),
        (equation, "coeficients", "coefficients"),
    ]:
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'; did you mean '{hint}'\\?"):
            getattr(result, name)
    with pytest.raises(AttributeError, match="has no attribute 'xyz'$"):
        found.xyz
    assert not hasattr(found, "_private")
    for other in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert other.s.tolist() == found.s.tolist()


def test_sem_reads_formulas_from_a_file(tmp_path):
    path = tmp_path / "model.txt"
    path.write_text("y ~ x\n", encoding="utf-8")
    one, other = (tesela.sem(m, TABLE, method="ols").equations for m in (str(path), "y ~ x"))
    assert [e.coefficients.tolist() for e in one.values()] == [e.coefficients.tolist() for e in other.values()]
    with pytest.raises(ValueError, match="model: line 1"):
        tesela.sem("absent.txt", TABLE)
