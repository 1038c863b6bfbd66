/* An asynchronous graph: B = 2 A, B = Q R and C = Q^T A, inserted in turn while their tasks run. Then C = R / 2, with
   zeros below the diagonal. */
#include <tesela.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void require(int64_t info) {
  if (info == 0) return;
  fprintf(stderr, "%s (info %d)\n", tesela_error(), (int)info);
  exit(1);
}

int main(void) {
  enum { m = 600, n = 300, tile = 100 };
  double *a = malloc(sizeof *a * m * n), *c = malloc(sizeof *c * m * n), *one = calloc(n * n, sizeof *one);
  double below = 0, above = 0;
  int64_t i, j;
  tesela_matrix *A = NULL, *I = NULL, *B = NULL, *C = NULL;
  tesela_graph* graph = NULL;
  tesela_qr* qr = NULL;
  if (a == NULL || c == NULL || one == NULL) return 1;
  for (j = 0; j < n; ++j) {
    for (i = 0; i < m; ++i) a[i + j * m] = c[i + j * m] = (double)((i * 7 + j * 13) % 101) + (i == j ? 500 : 0);
    one[j + j * n] = 1;
  }

  require(tesela_dmatrix_map(m, n, a, m, tile, tile, &A)); /* in place: nothing is copied */
  require(tesela_dmatrix_map(m, n, c, m, tile, tile, &C));
  require(tesela_dmatrix_map(n, n, one, n, tile, tile, &I));
  require(tesela_dmatrix_create(m, n, tile, tile, &B));

  require(tesela_graph_create(&graph));
  require(tesela_dgemm_async(graph, 'N', 'N', 2, A, I, 0, B));
  require(tesela_dgeqrf_async(graph, B, &qr));
  require(tesela_dormqr_async(graph, 'L', 'T', qr, C));
  require(tesela_graph_wait(graph)); /* returns the failure of a task */
  require(tesela_dmatrix_home(C));   /* now c holds it */

  for (j = 0; j < n; ++j)
    for (i = 0; i < m; ++i) {
      double* largest = i > j ? &below : &above;
      if (fabs(c[i + j * m]) > *largest) *largest = fabs(c[i + j * m]);
    }
  printf("below the diagonal of Q^T A: %s\n", below < 1e-12 * above ? "rounding" : "more than rounding");
  require(tesela_graph_free(graph));
  require(tesela_qr_free(qr));
  require(tesela_matrix_free(A));
  require(tesela_matrix_free(B));
  require(tesela_matrix_free(C));
  require(tesela_matrix_free(I));
  free(a);
  free(c);
  free(one);
  return below < 1e-12 * above ? 0 : 1;
}
