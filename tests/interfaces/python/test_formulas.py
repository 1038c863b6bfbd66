"""Formulas of sem on Python's kinds of columns."""

import numpy as np
import pytest

import tesela


def table(rows=60):
    random = np.random.default_rng(4)
    town = random.choice(["b", "a", "c"], rows)
    data = {"x": random.normal(size=rows), "z": random.lognormal(size=rows), "town": town, "open": random.random(rows) > 0.5}
    data["y"] = 1 + data["x"] + np.log(data["z"]) + 2 * (town == "c") - data["open"] + 0.1 * random.normal(size=rows)
    return data


def regression(formula, data):
    found = tesela.sem(formula, data, method="ols")["eq1"]
    return dict(zip(found.names, found.coefficients))


def solved(y, *columns):
    return np.linalg.lstsq(np.column_stack([np.ones(len(y)), *columns]), y, rcond=None)[0]


def test_text_and_bool_are_contrasts():
    data = table()
    found = regression("y ~ x + log(z) + town * open", data)
    names = ["(Intercept)", "x", "log(z)", "townb", "townc", "openTRUE", "townb:openTRUE", "townc:openTRUE"]
    assert list(found) == names
    b, c, o = data["town"] == "b", data["town"] == "c", data["open"]
    expected = solved(data["y"], data["x"], np.log(data["z"]), b, c, o, b & o, c & o)
    assert np.allclose(list(found.values()), expected, rtol=1e-11)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_missing_text_drops_rows(missing):
    data = table()
    town = data["town"].astype(object)
    town[3] = missing
    found = tesela.sem("y ~ town", {**data, "town": town}, method="ols")
    assert found.dropped_rows == 1
    rest = {name: np.delete(column, 3) for name, column in data.items()}
    assert np.allclose(found["eq1"].coefficients, tesela.sem("y ~ town", rest, method="ols")["eq1"].coefficients)


def test_numbers_become_levels_by_factor():
    data = table() | {"k": np.tile([3, 1, 10], 20)}
    assert list(regression("y ~ factor(k)", data)) == ["(Intercept)", "factor(k)3", "factor(k)10"]
    assert list(regression("y ~ factor(k)", data | {"k": data["k"] * 1.0})) == ["(Intercept)", "factor(k)3", "factor(k)10"]
    assert list(regression("y ~ C(k, Treatment(10))", data))[1:] == ["C(k, Treatment(10))1", "C(k, Treatment(10))3"]


def test_categories_keep_their_order():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table())
    frame["town"] = pandas.Categorical(frame["town"], categories=["c", "a", "b"])
    assert list(regression("y ~ town", frame)) == ["(Intercept)", "towna", "townb"]
    frame["town"] = frame["town"].astype("string")
    frame.loc[2, "town"] = pandas.NA
    found = tesela.sem("y ~ town", frame, method="ols")
    assert found["eq1"].names == ["(Intercept)", "townb", "townc"] and found.dropped_rows == 1


def test_digits_and_mixtures_are_no_levels():
    data = table()
    for column in ([str(k) for k in range(60)], np.array(["a", 1.5] * 30, dtype=object)):
        with pytest.raises(TypeError, match="town has values of type"):
            regression("y ~ town", {**data, "town": column})


def test_mistakes_in_formulas_are_value_errors():
    for formula, why in [("y ~ nobody", "has no column nobody"), ("y ~ logg(x)", "no function is called logg"),
                         ("town ~ x", "town has text"), ("y ~ x + [x ~ z]", "x is both endogenous"),
                         ("y ~ town - 1 + C(open, base='z')", "no level is called z")]:
        with pytest.raises(ValueError, match=why):
            regression(formula, table())
