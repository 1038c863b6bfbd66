/* Complex least squares: the amplitudes of damped oscillations in a signal. */
#include <tesela.h>

#include <complex.h>
#include <math.h>
#include <stdio.h>

int main(void) {
  enum { m = 400, n = 3 };
  const double complex frequency[n] = {-0.002 + 0.11 * I, -0.001 + 0.2 * I, -0.004 - 0.31 * I};
  const double complex amplitude[n] = {1 + 2 * I, -3 * I, 0.5 - 0.25 * I};
  static double complex a[m * n], signal[m];
  tesela_gels_result result = {.size = sizeof result};
  double norm = 0, error = 0;
  int i, j;
  result.residual_norms = &norm;
  for (j = 0; j < n; ++j)
    for (i = 0; i < m; ++i) {
      a[i + j * m] = cexp(frequency[j] * i);
      signal[i] += amplitude[j] * a[i + j * m];
    }

  if (tesela_zgels(m, n, 1, a, m, signal, m, &result) != 0) { /* a and signal are overwritten, by x the latter */
    fprintf(stderr, "%s\n", tesela_error());
    return 1;
  }
  for (j = 0; j < n; ++j) {
    printf("amplitude %5.2f %+5.2fi\n", creal(signal[j]), cimag(signal[j]));
    error = fmax(error, cabs(signal[j] - amplitude[j]));
  }
  return result.status == TESELA_OK && error < 1e-12 && norm < 1e-11 ? 0 : 1;
}
