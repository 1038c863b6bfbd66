#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/least_squares/glm.hpp>

extern "C" {
/// What ggglm found beside x and y. Begin it with sizeof.
typedef struct tesela_ggglm_result {
  size_t size;
  int64_t status;         ///< TESELA_OK, TESELA_RANK_DEFICIENT, or why there is no solution
  int64_t rank;           ///< of A
  int64_t rank_b;         ///< of the rows of Q^T B that A leaves
  double condition;       ///< of A with columns of unit norm
  double condition_b;     ///< of those rows
  double backward_error;  ///< measured
  double backward_bound;  ///< the most that it may be
  double distance;        ///< of d from what A x + B y can be
} tesela_ggglm_result;
}  // extern "C"

namespace tesela::c {
namespace {

Code code_of(GlmStatus status) {
  switch (status) {
    case GlmStatus::ok:
      return TESELA_OK;
    case GlmStatus::rank_deficient:
      return TESELA_RANK_DEFICIENT;
    case GlmStatus::inconsistent:
      return TESELA_INCONSISTENT;
    case GlmStatus::not_finite:
      return TESELA_NOT_FINITE;
    case GlmStatus::inaccurate:
      return TESELA_INACCURATE;
  }
  return TESELA_INTERNAL;
}

}  // namespace

/// The general Gauss-Markov linear model, LAPACK ggglm: min ||y||_2 subject to d = A x + B y, A n x m, B n x p, any n,
/// m and p. x takes m numbers, y takes p; A, B and d are overwritten. A deficient rank of A is no failure: x is of
/// least norm. info > 0: the status, there is no x.
template <class T>
Code ggglm(index_t n, index_t m, index_t p, T* a, index_t lda, T* b, index_t ldb, T* d, T* x, T* y,
           tesela_ggglm_result* result) {
  require_sizes({{"n", n}, {"m", m}, {"p", p}});
  const Array<T> array_a("a", a, {n, m}, "lda", lda), array_b("b", b, {n, p}, "ldb", ldb), array_d("d", d, n),
      array_x("x", x, m), array_y("y", y, p);
  require_apart({array_a, array_b, array_d, array_x, array_y});
  tesela_ggglm_result whole = read_struct("result", result);
  const Session session;
  const GlmOptions options;
  const GlmTiles tile = suitable_glm_tiles(session.runtime(), options.method, n, m, p);
  Glm<T> answer;
  {
    const auto A = array_a.in_tiles(session, tile.a, "A"), B = array_b.in_tiles(session, tile.b, "B"),
               right = array_d.in_tiles(session, {tile.a.mb, 1}, "d");
    Graph g(session);
    answer = glm(g, A, B, right, options);
  }
  array_x.take(answer.X);
  array_y.take(answer.U);
  whole.status = code_of(answer.status);
  whole.rank = answer.rank;
  whole.rank_b = answer.rank_b;
  whole.condition = answer.condition;
  whole.condition_b = answer.condition_b;
  whole.backward_error = answer.backward_error.error;
  whole.backward_bound = answer.backward_error.bound;
  if (!answer.distances.empty()) whole.distance = answer.distances[0];
  write_struct(whole, result);
  return whole.status <= TESELA_RANK_DEFICIENT ? 0 : failed(whole.status, description(answer.status));
}

}  // namespace tesela::c
