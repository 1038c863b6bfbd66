"""Names of other libraries, for the message of a missing attribute."""

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

ELSEWHERE = {
    "OLS ols lm regress linregress polyfit": "lstsq solves least squares, sem(..., method='ols') regressions of formulas",
    "IV2SLS iv tsls ivreg sur SUR": "sem estimates equations with instruments",
    "WLS": "wls",
    "GLS": "gls",
    "eig eigs eigsh syevd": "eigh has the eigenvalues and eigenvectors of a symmetric matrix",
    "eigvals": "eigvalsh has the eigenvalues of a symmetric matrix",
    "gesvd gesdd svd_lowrank svds": "svd",
    "PCA princomp prcomp": "pca",
    "Ridge RidgeCV ridge_regression tikhonov": "ridge",
    "ODR odr orthogonal_regression": "tls",
    "rank": "matrix_rank",
    "inverse": "inv",
    "cholesky_solve potrs chol": "cholesky, cho_factor and cho_solve",
    "toeplitz toeplitz_solve levinson": "solve_toeplitz",
    "tridiagonal_solve thomas tridiag gtsv": "solve_tridiagonal",
    "detect sphere_decoder mimo": "mimo_detect",
    "load loadtxt mmread read_csv": "read_matrix reads matrices, sem tables",
    "save savetxt mmwrite": "write_matrix",
}

ATTRIBUTES = {
    "std_errors std_errs stderr se bse standard_error": "standard_errors",
    "params beta betas coef coef_ coefs": "coefficients",
    "pvalues pvals p": "p_values",
    "tvalues t_values z_values zvalues": "statistics",
    "conf_int confidence_intervals ci": "intervals",
    "cov vcov cov_params": "covariance",
    "nobs n": "observations",
    "sigma singular_values": "s",
    "v vt v_t": "vh",
    "w values eigvals": "eigenvalues",
    "vectors eigvecs": "eigenvectors",
}

# For each function keywords of other libraries.
KEYWORDS = {
    "wls": {"weights weight sample_weight": "w"},
    "sem": {"cov cov_type vcov robust": "covariance='robust'", "cluster groups": "clusters", "dof ddof df": "divisor",
            "estimator": "method", "formula formulas": "model"},
    "svd": {"k nev n_components rank": "largest", "full": "full_matrices"},
    "svdvals": {"k nev n_components rank": "largest"},
    "pca": {"n_components k n": "components", "standardize scaled whiten": "scale"},
    "ridge": {"lam lambda_ l2": "alpha", "fit_intercept": "intercept"},
    "tls": {"fit_intercept": "intercept"},
    "mimo_detect": {"noise sigma2 noise_variance snr": "n0, the variance of the noise"},
    "start": {"sched policy STARPU_SCHED": "scheduler", "ncpu threads n_jobs workers": "cpus", "ncuda": "gpus"},
    "mimo_soft": {"noise sigma2 noise_variance snr": "n0, the variance of the noise"},
}


def meant(word: str, table: dict[str, str], names: Sequence[str]) -> str:
    """Return the name here for a word of another library, or the most similar name; empty for other words."""
    for others, instead in table.items():
        if word in others.split() and (table is not ATTRIBUTES or instead in names):
            return instead
    similar = [n for n in names if n.lower() == word.lower()] or difflib.get_close_matches(word, names, 1)
    return similar[0] if similar else ""


def add_attribute_hints(result: type) -> None:
    """Let a class name the member that an unknown attribute resembles."""
    names = [name for name in vars(result) if not name.startswith("_")]

    def __getattr__(self: object, name: str) -> object:
        text = f"{result.__name__!r} object has no attribute {name!r}"
        hint = "" if name.startswith("_") else meant(name, ATTRIBUTES, names) or meant(name.lower(), ATTRIBUTES, names)
        raise AttributeError(f"{text}; did you mean {hint!r}?" if hint else text, name=name, obj=self)

    result.__getattr__ = __getattr__  # type: ignore[attr-defined]


def with_keyword_hints(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, which names the keyword that an unknown one means."""

    @functools.wraps(function)
    def hinting(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError, OSError) as error:
            if function.__name__ == "sem" and len(args) == 2 and isinstance(args[1], str) and "~" in args[1]:
                raise TypeError("the formulas come first: sem(model, data)") from error
            unknown = re.match(rf"{function.__name__}\(\) got an unexpected keyword argument '(\w+)'", str(error))
            names = list(inspect.signature(function).parameters)
            hint = unknown and meant(unknown[1], KEYWORDS[function.__name__], names)
            if not hint:
                raise
            raise TypeError(f"{error}; did you mean {hint}?") from None

    return hinting


def message(module: str, name: str, names: Sequence[str]) -> str:
    """Return the message for an attribute that the module lacks, with a hint if there is one."""
    text = f"module {module!r} has no attribute {name!r}"
    for others, instead in ELSEWHERE.items():
        if name in others.split():
            return f"{text}: {instead}"
    similar = difflib.get_close_matches(name, names, 1)
    return f"{text}; did you mean {similar[0]!r}?" if similar and not name.startswith("_") else text
