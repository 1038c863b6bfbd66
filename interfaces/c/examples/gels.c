/* Least squares in three forms, like examples/least_squares.cpp: more equations than unknowns, a redundant column, and
   fewer equations than unknowns. */
#include <tesela.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Fits a polynomial with n coefficients to m points of the cosine, min ||A x - b||, x in b; `twice` repeats the last
   column of A. */
static int64_t fit(int64_t m, int64_t n, int twice, double* b, tesela_gels_result* result) {
  double* a = malloc((size_t)(m * n) * sizeof *a);
  int64_t i, j, info;
  if (a == NULL) return TESELA_ENVIRONMENT;
  for (i = 0; i < m; ++i) {
    const double t = (double)i / (double)m;
    for (j = 0; j < n; ++j) a[i + j * m] = pow(t, (double)(twice && j == n - 1 ? j - 1 : j));
    b[i] = cos(t);
  }
  info = tesela_dgels(m, n, 1, a, m, b, m > n ? m : n, result); /* a and b are overwritten */
  if (info != 0) fprintf(stderr, "%s\n", tesela_error());
  free(a);
  return info;
}

int main(void) {
  static double full_x[2000], deficient_x[2000], wide_x[6];
  double norm = 0;
  tesela_gels_result full = {.size = sizeof full}, deficient = {.size = sizeof deficient}, wide = {.size = sizeof wide};
  int shared, right;
  full.residual_norms = deficient.residual_norms = wide.residual_norms = &norm;

  if (fit(2000, 6, 0, full_x, &full) != 0) return 1;
  printf("%-15s rank %d, condition %.1e, residual norm %.1e\n", full.status == TESELA_OK ? "ok" : "?", (int)full.rank,
         full.condition, norm);

  if (fit(2000, 7, 1, deficient_x, &deficient) != 0) return 1; /* the last two columns are the same */
  printf("%-15s rank %d, residual norm %.1e, coefficients %.6f and %.6f\n",
         deficient.status == TESELA_RANK_DEFICIENT ? "rank deficient" : "?", (int)deficient.rank, norm, deficient_x[5],
         deficient_x[6]);

  if (fit(3, 6, 0, wide_x, &wide) != 0) return 1; /* x is the solution of least norm */
  printf("%-15s rank %d, residual norm %.1e\n", wide.status == TESELA_OK ? "ok" : "?", (int)wide.rank, norm);

  /* Two equal columns share the coefficient of a single one. */
  shared = fabs(deficient_x[5] - full_x[5] / 2) < 1e-10 && fabs(deficient_x[6] - full_x[5] / 2) < 1e-10;
  right = full.rank == 6 && deficient.rank == 6 && shared && wide.rank == 3;
  return right ? 0 : 1;
}
