"""Systems of equations compared with NumPy, and with statsmodels and linearmodels where they are installed."""

import pathlib

import numpy as np
import pytest
import scipy.stats

import tesela

FOOD_MARKET = pathlib.Path(__file__).parents[3] / "examples" / "econometrics" / "food_market.csv"
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
        ("demand: quantity ~ price", {"method": "sur", "covariance": "any"}),
        ("demand: quantity ~ price", {"method": "ols", "level": 1.0}),
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


def kmenta():
    """Kmenta's food market."""
    table = np.loadtxt(FOOD_MARKET, delimiter=",", skiprows=1)
    with open(FOOD_MARKET) as file:
        names = [name.strip('"') for name in file.readline().strip().split(",")]
    return dict(zip(names, table.T))


FOOD = """
demand: consump ~ price + income
supply: consump ~ price + farmPrice + trend
instruments: ~ income + farmPrice + trend
"""


def test_attributes_agree_with_linearmodels():
    """The references are linearmodels 7.1: IV3SLS, IV2SLS with debiased, IVGMM."""
    data = kmenta()
    three = tesela.sem(FOOD, data, method="3sls", covariance="robust", divisor="small")
    demand = three["demand"]
    assert demand.dependent == "consump"
    assert np.allclose(demand.standard_errors, [5.583196919159, 0.08232403850955, 0.04655907374197], rtol=1e-10)
    assert np.allclose(demand.f, 29.24917765565, rtol=1e-10) and demand.f_df == (2, 17)
    assert np.allclose(demand.f_p, scipy.stats.f.sf(demand.f, 2, 17), rtol=1e-10)
    assert np.allclose(demand.covariance[0, 1], -0.3950305569677, rtol=1e-9)
    assert np.allclose(demand.statistics, demand.coefficients / demand.standard_errors, rtol=1e-14)
    half = scipy.stats.t.ppf(0.975, 17) * demand.standard_errors
    assert np.allclose(demand.intervals, np.column_stack([demand.coefficients - half, demand.coefficients + half]))
    narrow = tesela.sem(FOOD, data, method="3sls", covariance="robust", divisor="small", level=0.5)["demand"].intervals
    assert (np.diff(narrow) < np.diff(demand.intervals)).all()
    plain = tesela.sem(FOOD, data, method="3sls", covariance="robust")
    assert np.allclose([plain.hansen, plain.hansen_p], [3.516608018766, scipy.stats.chi2.sf(3.516608018766, 1)])
    assert np.allclose(plain["demand"].f_p, scipy.stats.chi2.sf(2 * 34.41079724201, 2))


@pytest.mark.parametrize("covariance", ["classical", "robust"])
def test_two_stages_agree_with_linearmodels(covariance):
    iv = pytest.importorskip("linearmodels.iv")
    data = kmenta()
    exogenous = np.column_stack([np.ones(20), data["income"]])
    outside = np.column_stack([data["farmPrice"], data["trend"]])
    arguments = data["consump"], exogenous, data["price"], outside
    kind = "unadjusted" if covariance == "classical" else "robust"
    expected = iv.IV2SLS(*arguments).fit(cov_type=kind, debiased=True)
    found = tesela.sem(FOOD, data, divisor="small", covariance=covariance)["demand"]
    order = [0, 2, 1]  # linearmodels has the endogenous regressor at the end
    params, errors = np.asarray(expected.params)[order], np.asarray(expected.std_errors)[order]
    assert np.allclose(found.coefficients, params, rtol=1e-10) and np.allclose(found.standard_errors, errors, rtol=1e-10)
    assert np.allclose(found.p_values, np.asarray(expected.pvalues)[order], rtol=1e-9)
    assert np.allclose(found.intervals, np.asarray(expected.conf_int())[order], rtol=1e-10)
    assert np.allclose(found.covariance, np.asarray(expected.cov)[np.ix_(order, order)], rtol=1e-9)
    assert np.allclose([found.r2, found.adjusted_r2], [expected.rsquared, expected.rsquared_adj], rtol=1e-10)
    assert np.allclose([found.f, found.f_p], [expected.f_statistic.stat, expected.f_statistic.pval], rtol=1e-9)
    assert np.allclose([found.sargan, found.sargan_p], [expected.sargan.stat, expected.sargan.pval], rtol=1e-9)
    test = expected.wald_test(np.array([[0, 1, 1.0]]), np.array([0.25]))
    assert np.allclose(found.wald([0, 1, 1], 0.25), (test.stat, 1, test.pval), rtol=1e-9)
    first = expected.first_stage.diagnostics
    f, df1, df2, p = found.first_stage["price"]
    wald = 1 if covariance == "classical" else df1  # linearmodels has chi squared for robust errors
    assert np.allclose(wald * f, first["f.stat"].iloc[0], rtol=1e-9) and (df1, df2) == (2, 16)
    assert np.allclose(p, scipy.stats.f.sf(f, df1, df2), rtol=1e-9)
    if covariance == "robust":
        j = iv.IVGMM(*arguments, weight_type="robust").fit().j_stat
        assert np.allclose([found.hansen, found.hansen_p], [j.stat, j.pval], rtol=1e-9)


def test_regressions_agree_with_statsmodels():
    api = pytest.importorskip("statsmodels.api")
    data = market()
    expected = api.OLS(data["quantity"], columns(data, ["price", "rain"])).fit()
    found = tesela.sem("eq: quantity ~ price + rain", data, method="ols", divisor="small")["eq"]
    for mine, theirs in (
        (found.coefficients, expected.params),
        (found.standard_errors, expected.bse),
        (found.statistics, expected.tvalues),
        (found.intervals, expected.conf_int()),
        (found.covariance, expected.cov_params()),
        ([found.r2, found.adjusted_r2], [expected.rsquared, expected.rsquared_adj]),
        (found.f, expected.fvalue),
        (found.sigma**2, expected.mse_resid),
    ):
        assert np.allclose(mine, theirs, rtol=1e-10)
    assert np.allclose([found.f_p, found.p_values[2]], [expected.f_pvalue, expected.pvalues[2]], rtol=1e-8, atol=1e-300)
    robust = tesela.sem("eq: quantity ~ price + rain", data, method="ols", divisor="small", covariance="robust")["eq"]
    hc1 = expected.get_robustcov_results("HC1")
    assert np.allclose(robust.covariance, hc1.cov_params(), rtol=1e-10) and np.allclose(robust.f, hc1.fvalue, rtol=1e-10)


def test_order_condition_counts_instruments():
    with pytest.raises(np.linalg.LinAlgError, match=r"not identified: order \(2 excluded instruments are needed, 1 is given\)"):
        tesela.sem("y ~ p + q\ninstruments: ~ z", dict(zip("ypqz", np.random.default_rng(3).random((4, 30)), strict=True)))


def test_summary():
    found = tesela.sem(FOOD, kmenta(), covariance="robust", divisor="small")
    assert found.covariance_type == "robust (HC1)" and str(found) == found.summary()
    assert "standard errors and tests: robust (HC1)\n" in str(found)
    assert "first stage of price: robust F(2, 16) 113.872" in str(found)
    assert "first stage of price: classical F(2, 16) 88.0251" in str(tesela.sem(FOOD, kmenta()))
    assert tesela.sem(FOOD, kmenta(), clusters="trend").covariance_type == "clustered (20 clusters)"
    text = tesela.sem(FOOD, kmenta(), method="3sls", covariance="robust", divisor="small").summary()
    for part in ("demand: consump", "(Intercept)", "95 % interval", "adjusted", "F(2, 17) 29.2492", "first stage of price",
                 "Hansen's J: chi2(1)", "McElroy"):
        assert part in text


def test_indirect_least_squares():
    with pytest.raises(np.linalg.LinAlgError, match="demand: overidentified") as caught:
        tesela.sem(FOOD, kmenta(), method="ils")
    stages = tesela.sem(FOOD, kmenta())["supply"].coefficients
    assert np.array_equal(caught.value.result["supply"].coefficients, stages)
