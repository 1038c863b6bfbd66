/* Counts the eigenvalues of a symmetric matrix below a number without computing them, and then computes them. */
#include <tesela.h>

#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { n = 400 };
  const double sigma = 0.25;
  double *a = calloc(n * n, sizeof *a), w[n], uncertainty = 0;
  int64_t j, below = 0, found = 0;
  tesela_options options = {.size = sizeof options};
  if (a == NULL) return 1;
  for (j = 0; j < n; ++j) { /* 2 on the diagonal, -1 next to it; the lower triangle suffices */
    a[j + j * n] = 2;
    if (j > 0) a[j + (j - 1) * n] = -1;
  }

  options.cpus = 2; /* set before the first call; without tesela_start it uses all cores */
  if (tesela_start(&options) != 0 ||
      tesela_dsymmetric_inertia('L', n, a, n, sigma, &below, &uncertainty) != 0 ||
      tesela_dsyevr('N', 'V', 'L', n, a, n, -1, sigma, 0, 0, &found, w, NULL, 0) != 0) {
    fprintf(stderr, "%s\n", tesela_error());
    return 1;
  }
  printf("%d eigenvalues below %g, the last %.6f; %d counted, sure to %.0e\n", (int)found, sigma,
         found > 0 ? w[found - 1] : 0.0, (int)below, uncertainty);
  free(a);
  return found == below && below == 64 ? 0 : 1; /* 2 - 2 cos(64 pi / 401) is 0.2463 */
}
