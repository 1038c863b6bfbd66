#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>

extern "C" {
/// What gglse found beside x. Begin it with sizeof.
typedef struct tesela_gglse_result {
  size_t size;
  int64_t status;               ///< TESELA_OK, TESELA_RANK_DEFICIENT, or why there is no x
  int64_t constraint_rank;      ///< of B
  int64_t rank;                 ///< of A where B x = 0
  double constraint_condition;  ///< of the constraints that were kept
  double condition;             ///< of A where B x = 0
  double constraint_error;      ///< measured: ||B x - d|| / (||B||_F ||x|| + ||d||)
  double constraint_bound;      ///< the most that it may be
  double residual_norm;         ///< ||A x - c||_2
} tesela_gglse_result;
}  // extern "C"

namespace tesela::c {
namespace {

Code code_of(LseStatus status) {
  switch (status) {
    case LseStatus::ok:
      return TESELA_OK;
    case LseStatus::rank_deficient:
      return TESELA_RANK_DEFICIENT;
    case LseStatus::inconsistent:
      return TESELA_INCONSISTENT;
    case LseStatus::not_finite:
      return TESELA_NOT_FINITE;
    case LseStatus::inaccurate:
      return TESELA_INACCURATE;
  }
  return TESELA_INTERNAL;
}

}  // namespace

/// Equality-constrained least squares, LAPACK gglse: min ||A x - c||_2 subject to B x = d, A m x n, B p x n, of any
/// shapes and ranks; of several solutions that of least norm. A and c are overwritten. A deficient rank is no failure,
/// nor is a constraint that others imply. info > 0: the status, there is no x.
template <class T>
Code gglse(index_t m, index_t n, index_t p, T* a, index_t lda, const T* b, index_t ldb, T* c, const T* d, T* x,
           tesela_gglse_result* result) {
  require_sizes({{"m", m}, {"n", n}, {"p", p}});
  const Array<T> array_a("a", a, {m, n}, "lda", lda), array_c("c", c, m), array_x("x", x, n);
  const Array<const T> array_b("b", b, {p, n}, "ldb", ldb), array_d("d", d, p);
  require_apart({array_a, array_c, array_x}, {array_b, array_d});
  tesela_gglse_result whole = read_struct("result", result);
  const Session session;
  OlsOptions options;
  options.method = suitable_ols_method(m, n, 1);
  const TileShape tile =
      possible_ols_tile(options.method, suitable_ols_tile(session.runtime(), options.method, m, n), m, n);
  ConstrainedLeastSquares<T> answer;
  {
    const auto A = array_a.in_tiles(session, tile, "A"), right = array_c.in_tiles(session, {tile.mb, 1}, "c");
    Graph g(session);
    answer = lse(g, A, right, array_b.copy(), array_d.copy(), options);
  }
  array_x.take(answer.X);
  whole.status = code_of(answer.status);
  whole.constraint_rank = answer.constraint_rank;
  whole.rank = answer.rank;
  whole.constraint_condition = answer.constraint_condition;
  whole.condition = answer.condition;
  whole.constraint_error = answer.constraint_error.error;
  whole.constraint_bound = answer.constraint_error.bound;
  if (!answer.residual_norms.empty()) whole.residual_norm = static_cast<double>(answer.residual_norms[0]);
  write_struct(whole, result);
  return whole.status <= TESELA_RANK_DEFICIENT ? 0 : failed(whole.status, description(answer.status));
}

}  // namespace tesela::c
