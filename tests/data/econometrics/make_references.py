"""Makes table.csv, designs.txt and regressions.json, the references of the tests of formulas.

pip install numpy pandas patsy formulaic statsmodels; the files here are of formulaic 1.2.2, patsy 1.0.3 and
statsmodels 0.15.0. nist_*.csv are data of the NIST Statistical Reference Datasets (public domain).
"""
import json
import re
import warnings

import formulaic
import numpy as np
import pandas as pd
import patsy
import statsmodels.formula.api as smf

warnings.simplefilter("ignore")
random = np.random.default_rng(5)
rows = 40
table = pd.DataFrame({
    "x1": random.normal(2, 1, rows).round(4),
    "x2": random.normal(0, 3, rows).round(4),
    "x3": random.lognormal(0, 1, rows).round(4),
    "region": random.choice(["east", "north", "south", "west"], rows),
    "sex": random.choice(["f", "m"], rows),
    "flag": random.choice([True, False], rows),
    "k": random.integers(1, 4, rows),
    "w": random.uniform(0.2, 3, rows).round(4),
})
table["y"] = (3 + table.x1 - 0.5 * table.x1 * table.x2 + np.log(table.x3) + (table.region == "west")
              + random.normal(0, 1, rows)).round(5)
table.rename(columns=str).replace({True: "TRUE", False: "FALSE"}).to_csv("table.csv", index=False)


def r_name(name):
    """Returns R's name of a column of formulaic or patsy."""
    name = re.sub(r"\[(?:T\.)?([^\]]*)\]", r"\1", name).replace("'", '"').replace("True", "TRUE")
    return {"Intercept": "(Intercept)"}.get(name, name.replace("False", "FALSE").replace("**", "^"))


designs = [
    "x1 + x2", "x1*region", "region*sex", "region + region:sex", "x1:region", "x1 + x1:region", "0 + region",
    "0 + region + sex", "0 + x1 + region", "region + region:x1", "0 + region:sex", "C(k)", "C(k)*x1",
    "(x1 + x2 + sex)**2", "x1*x2*sex", "0 + x1:region", "sex/x1", "region/sex", "C(region, Treatment('south'))",
    "C(k, Treatment(3))", "x1:x2:sex", "sex:region:x1", "poly(x1, 4)", "poly(x1, 2)*sex", "log(x3) + exp(x1)",
    "x1*x2*sex - x1:x2:sex", "region*sex*x1",
]
with open("designs.txt", "w") as file:
    for formula in designs:
        matrix = formulaic.model_matrix(formula, table)
        file.write(f"# {formula}\n" + "\t".join(r_name(c) for c in matrix.columns) + "\n")
        for row in np.asarray(matrix, dtype=float)[:8]:
            file.write("\t".join(repr(float(x)) for x in row) + "\n")
    for formula in ["flag", "0 + flag", "region*flag"]:  # formulaic treats bool as numbers
        matrix = patsy.dmatrix(formula, table)
        file.write(f"# {formula}\n" + "\t".join(r_name(c) for c in matrix.design_info.column_names) + "\n")
        for row in np.asarray(matrix)[:8]:
            file.write("\t".join(repr(float(x)) for x in row) + "\n")


def summary(fit):
    low, high = fit.conf_int().to_numpy().T
    return {
        "names": [r_name(n).replace("np.", "") for n in fit.params.index], "estimate": list(fit.params),
        "std_error": list(fit.bse), "statistic": list(fit.tvalues), "p": list(fit.pvalues), "low": list(low),
        "high": list(high), "sigma": float(np.sqrt(fit.scale)), "degrees_of_freedom": fit.df_resid,
        "r2": fit.rsquared, "adjusted_r2": fit.rsquared_adj, "f": float(fit.fvalue), "f_p": float(fit.f_pvalue),
    }


fits = {
    "y ~ x1 * x2 + np.log(x3) + C(region)": None, "y ~ x1 + x2 - 1": None, "np.exp(x1) ~ x2 * flag": None,
    "y ~ x1 + C(region, Treatment('south'))": "w", "x1 ~ 0 + x2 + x3": "w",
}
shared = np.asarray(patsy.dmatrix("0 + region", table))  # errors that the rows of a region share
covariances = {"effects": np.eye(rows) + shared @ shared.T, "noise": np.diag(table.w**2) + shared @ shared.T}
with open("regressions.json", "w") as file:
    json.dump([{"formula": formula, "weights": weights} | summary(
        smf.wls(formula, table, weights=table[weights]).fit() if weights else smf.ols(formula, table).fit())
        for formula, weights in fits.items()]
        + [{"formula": "y ~ x1 + x2", "covariance": name} | summary(smf.gls("y ~ x1 + x2", table, sigma=sigma).fit())
           for name, sigma in covariances.items()], file, indent=1)
