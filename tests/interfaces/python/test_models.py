"""Systems of equations compared with two-stage and three-stage least squares in NumPy."""

import numpy as np
import pytest
import scipy.stats

import tesela

MODEL = """
demand: quantity ~ price + income
supply: quantity ~ price + rain + trend
instruments: ~ income + rain + trend
"""


def market(seed=1, rows=400):
    g = np.random.default_rng(seed)
    income, rain, trend = g.standard_normal((3, rows))
    shared = g.standard_normal(rows)
    u, v = 0.3 * (shared + g.standard_normal(rows)), 0.3 * (shared - g.standard_normal(rows))
    price = (10 + 1.5 * income + u - (3 + 2 * rain + 0.5 * trend + v)) / 3
    quantity = 10 - 2 * price + 1.5 * income + u
    return {"income": income, "rain": rain, "trend": trend, "price": price, "quantity": quantity}


def columns(data, names):
    return np.column_stack([np.ones_like(data["price"])] + [data[name] for name in names])


def two_stage(data, names, divisor="n"):
    z, x, y = columns(data, names), columns(data, ["income", "rain", "trend"]), data["quantity"]
    explained = x @ np.linalg.lstsq(x, z)[0]
    b = np.linalg.lstsq(explained, y)[0]
    u = y - z @ b
    count = len(y) - (z.shape[1] if divisor == "small" else 0)
    return b, np.sqrt(u @ u / count * np.diag(np.linalg.inv(explained.T @ explained))), u


@pytest.mark.parametrize("divisor", ["n", "small"])
def test_two_stages(divisor):
    data = market()
    found = tesela.sem(MODEL, data, divisor=divisor)
    assert found.labels == ["demand", "supply"] and found.status == "ok" and found.observations == 400
    for label, names in (("demand", ["price", "income"]), ("supply", ["price", "rain", "trend"])):
        b, errors, _ = two_stage(data, names, divisor)
        equation = found[label]
        assert equation.names == ["(Intercept)"] + names
        assert np.allclose(equation.coefficients, b, rtol=1e-9)
        assert np.allclose(equation.standard_errors, errors, rtol=1e-9)
        assert (equation.p_values < 1e-6).all() and equation.degrees_of_freedom == 400 - len(b)
    assert np.isfinite(found["demand"].sargan) and np.isnan(found["supply"].sargan)  # that equation is just identified


def test_three_stages():
    data = market()
    found = tesela.sem(MODEL, data, method="3sls")
    x = columns(data, ["income", "rain", "trend"])
    parts = [(["price", "income"]), (["price", "rain", "trend"])]
    residuals = np.column_stack([two_stage(data, names)[2] for names in parts])
    weights = np.linalg.inv(residuals.T @ residuals / len(x))
    q = np.linalg.qr(x)[0]
    z = [q.T @ columns(data, names) for names in parts]
    normal = np.block([[weights[i, j] * z[i].T @ z[j] for j in range(2)] for i in range(2)])
    right = np.concatenate([z[i].T @ (q.T @ data["quantity"]) * weights[i].sum() for i in range(2)])
    b = np.linalg.solve(normal, right)
    errors = np.sqrt(np.diag(np.linalg.inv(normal)))
    assert np.allclose(np.concatenate([found[label].coefficients for label in found.labels]), b, rtol=1e-8)
    assert np.allclose(np.concatenate([found[label].standard_errors for label in found.labels]), errors, rtol=1e-8)
    assert found.mcelroy_r2 > 0.5 and 0 <= found.hansen_sargan_p <= 1
    assert tesela.sem(MODEL, data, method="3sls", iterate=True)["demand"].coefficients.shape == (3,)


def test_ordinary_least_squares_with_expressions_and_lags():
    data = market()
    found = tesela.sem("eq: quantity ~ lag(price) + I(rain * 2) - 1", data, method="ols")
    z = np.column_stack([data["price"][:-1], 2 * data["rain"][1:]])
    b = np.linalg.lstsq(z, data["quantity"][1:])[0]
    assert np.allclose(found["eq"].coefficients, b) and found.observations == 399
    robust = tesela.sem("eq: quantity ~ price", data, method="ols", covariance="robust")["eq"]
    z = columns(data, ["price"])
    b = np.linalg.lstsq(z, data["quantity"])[0]
    inverse = np.linalg.inv(z.T @ z)
    scores = z * (data["quantity"] - z @ b)[:, None]
    assert np.allclose(robust.standard_errors, np.sqrt(np.diag(inverse @ scores.T @ scores @ inverse)))
    towns = np.repeat(["x", "y", "z", "t"], 100)
    by_town = tesela.sem("eq: quantity ~ price", {**data, "town": towns}, method="ols", clusters="town")["eq"]
    sums = np.array([scores[towns == town].sum(axis=0) for town in "xyzt"])
    assert np.allclose(by_town.standard_errors, np.sqrt(np.diag(inverse @ sums.T @ sums @ inverse)))


def test_weights_and_missing_values():
    data = market()
    weight = np.ones(400)
    weight[:50] = 0
    rest = {name: column[50:] for name, column in data.items()}
    expected = tesela.sem(MODEL, rest)["demand"].coefficients
    assert np.allclose(tesela.sem(MODEL, {**data, "w": weight}, weights="w")["demand"].coefficients, expected)
    data["rain"] = data["rain"].copy()
    data["rain"][:50] = np.nan
    found = tesela.sem(MODEL, data)
    assert found.dropped_rows == 50 and np.allclose(found["demand"].coefficients, expected)
    with pytest.raises(ValueError, match="rain"):
        tesela.sem(MODEL, data, missing="raise")


def test_tables():
    data = market()
    expected = tesela.sem(MODEL, data)["supply"].coefficients
    structured = np.zeros(400, [(name, "f8") for name in data])
    for name in data:
        structured[name] = data[name]
    assert (tesela.sem(MODEL, structured)["supply"].coefficients == expected).all()
    lists = {name: list(column) for name, column in data.items()}
    assert (tesela.sem(MODEL, lists)["supply"].coefficients == expected).all()


def test_an_equation_that_is_not_identified():
    with pytest.raises(np.linalg.LinAlgError, match="not identified") as caught:
        tesela.sem("good: quantity ~ price + income\nbad: quantity ~ price + income + rain + trend\ninstruments: ~ income + rain + trend", market())
    result = caught.value.result
    assert result["good"].status == "ok" and result["bad"].status.startswith("not identified")
    with pytest.raises(KeyError):
        result["other"]


@pytest.mark.parametrize(
    "model, more",
    [
        ("demand: quantity ~", {}),
        ("demand: quantity ~ cost", {"method": "ols"}),
        ("demand: quantity ~ price", {}),  # no instruments
        ("demand: quantity ~ price", {"method": "none"}),
        ("demand: quantity ~ price", {"method": "ols", "divisor": "none"}),
        ("demand: quantity ~ price", {"method": "sur", "covariance": "robust"}),
        ("demand: quantity ~ price", {"method": "ols", "iterate": True}),
        ("demand: quantity ~ price", {"method": "ols", "missing": "none"}),
    ],
)
def test_bad_input(model, more):
    with pytest.raises(ValueError):
        tesela.sem(model, market(), **more)


def test_columns_of_different_length():
    with pytest.raises(ValueError, match="rows"):
        tesela.sem(MODEL, {**market(), "rain": np.zeros(3)})


@pytest.mark.parametrize("kind", [complex, object, "U8", "datetime64[s]"])
def test_columns_of_other_kinds_are_type_errors(kind):
    data = market(rows=50)
    data["rain"] = data["rain"].astype("i8").astype(kind)
    with pytest.raises(TypeError, match="rain has values of type"):
        tesela.sem(MODEL, data)
    assert np.isfinite(tesela.sem(MODEL, {**data, "rain": np.arange(50)})["demand"].coefficients).all()


def hansen(data, names, groups):
    """Returns J of two-step GMM, with moments weighted by the residuals of 2SLS."""
    z, x, y = columns(data, names), columns(data, ["income", "rain", "trend"]), data["quantity"]
    moments = x * two_stage(data, names)[2][:, None]
    sums = np.array([moments[groups == group].sum(axis=0) for group in np.unique(groups)])
    w = np.linalg.inv(sums.T @ sums)
    b = np.linalg.solve(z.T @ x @ w @ x.T @ z, z.T @ x @ w @ x.T @ y)
    g = x.T @ (y - z @ b)
    return g @ w @ g


@pytest.mark.parametrize("clusters", [False, True])
def test_hansens_test_of_robust_errors(clusters):
    data = market()
    data["region"] = np.arange(400) // 8 if clusters else np.arange(400)
    found = tesela.sem(MODEL, data, **({"clusters": "region"} if clusters else {"covariance": "robust"}))
    j = hansen(data, ["price", "income"], data["region"])
    demand, supply = found["demand"], found["supply"]
    assert np.allclose(demand.hansen, j, rtol=1e-8) and np.allclose(demand.hansen_p, scipy.stats.chi2.sf(j, 1), rtol=1e-8)
    assert np.isnan([supply.sargan, supply.sargan_p, supply.hansen, supply.hansen_p]).all()
    classical = tesela.sem(MODEL, data)["demand"]
    assert np.isnan([classical.hansen, classical.hansen_p]).all()
    # Sargan's statistic is D times the R^2 of the residuals regressed on the instruments.
    x, u = columns(data, ["income", "rain", "trend"]), two_stage(data, ["price", "income"])[2]
    explained = x @ np.linalg.lstsq(x, u)[0]
    sargan = len(u) * (explained @ explained) / (u @ u)
    for equation in (demand, classical):
        assert np.allclose([equation.sargan, equation.sargan_p], [sargan, scipy.stats.chi2.sf(sargan, 1)], rtol=1e-8)


@pytest.mark.parametrize("structured", [False, True])
def test_rows_of_masked_elements_are_dropped_and_counted(structured):
    data, keep = market(), np.ones(400, bool)
    keep[[0, 5, 17, 399]] = False
    gaps = {name: np.ma.array(column) for name, column in data.items()}
    for row, name in ((0, "quantity"), (5, "price"), (17, "rain"), (399, "rain")):
        gaps[name][row] = np.ma.masked
        gaps[name].data[row] = 3e9
    table = gaps
    if structured:
        table = np.ma.zeros(400, dtype=[(name, float) for name in gaps])
        for name, column in gaps.items():
            table[name] = column
    found = tesela.sem(MODEL, table)
    expected = tesela.sem(MODEL, {name: column[keep] for name, column in data.items()})
    assert found.dropped_rows == 4 and found.observations == 396
    assert np.array_equal(found["demand"].coefficients, expected["demand"].coefficients)
    with pytest.raises(ValueError, match="data: row 0: quantity is missing"):
        tesela.sem(MODEL, table, missing="raise")


def test_rows_without_a_cluster_are_dropped_and_counted():
    data = market()
    region = np.array(["abcdefghij"[i % 10] for i in range(400)], object)
    region[[3, 7]] = None
    masked = np.ma.array(region.astype(str), mask=[name is None for name in region])
    numbers = np.where(np.arange(400) == 9, np.nan, np.arange(400) // 8)
    keep = np.array([name is not None for name in region])
    expected = tesela.sem(MODEL, {k: v[keep] for k, v in (data | {"region": region}).items()}, clusters="region")
    for column in (region, masked):
        found = tesela.sem(MODEL, data | {"region": column}, clusters="region")
        assert found.dropped_rows == 2 and found["demand"].hansen == expected["demand"].hansen
    assert tesela.sem(MODEL, data | {"region": numbers}, clusters="region").dropped_rows == 1
