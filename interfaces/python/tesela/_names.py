"""Names of other libraries, for the message of a missing attribute."""

import difflib
from collections.abc import Sequence

ELSEWHERE = {
    "OLS ols lm regress linregress polyfit": "lstsq solves least squares, sem(..., method='ols') regressions of formulas",
    "IV2SLS iv tsls ivreg sur SUR": "sem estimates equations with instruments",
    "WLS": "wls",
    "GLS": "gls",
    "eig eigs eigsh syevd": "eigh has the eigenvalues and eigenvectors of a symmetric matrix",
    "eigvals": "eigvalsh has the eigenvalues of a symmetric matrix",
    "gesvd gesdd svd_lowrank svds": "svd",
    "inverse": "inv",
    "cholesky_solve potrs chol": "cholesky, cho_factor and cho_solve",
    "toeplitz toeplitz_solve levinson": "solve_toeplitz",
    "tridiagonal_solve thomas tridiag gtsv": "solve_tridiagonal",
    "detect sphere_decoder mimo": "mimo_detect",
    "load loadtxt mmread read_csv": "read_matrix reads matrices, sem tables",
    "save savetxt mmwrite": "write_matrix",
}


def message(module: str, name: str, names: Sequence[str]) -> str:
    """Return the message for an attribute that the module lacks, with a hint if there is one."""
    text = f"module {module!r} has no attribute {name!r}"
    for others, instead in ELSEWHERE.items():
        if name in others.split():
            return f"{text}: {instead}"
    similar = difflib.get_close_matches(name, names, 1)
    return f"{text}; did you mean {similar[0]!r}?" if similar and not name.startswith("_") else text
