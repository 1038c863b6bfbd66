#include "interfaces/c/arguments.hpp"
#include "interfaces/c/objects.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/algorithms/least_squares/weighted_least_squares.hpp>
#include <tesela/runtime/shortest.hpp>

#include <cmath>

extern "C" {
/// What least squares found beside X. Begin it with sizeof: tesela_gels_result result = {sizeof result};
typedef struct tesela_gels_result {
  size_t size;
  int64_t status;              ///< TESELA_OK, TESELA_RANK_DEFICIENT, or why there is no X
  int64_t rank;                ///< numerical
  double condition;            ///< by which the rank was decided, of A with columns of unit norm
  double backward_error;       ///< measured
  double backward_bound;       ///< the most that it may be
  double cut;                  ///< of a deficient rank: by how much of its norm a column of A was changed at most
  int64_t degrees_of_freedom;  ///< rows that count less the rank
  int64_t original_units;      ///< 0: X is of least norm in units of A's column norms (docs/least-squares.md)
  double* residual_norms;      ///< the caller's: NULL, or room for nrhs numbers, ||A x - b||_2 each
} tesela_gels_result;
}  // extern "C"

namespace tesela::c {
namespace {

/// What the result says, and the info for it.
template <class T>
Code finish(const LeastSquares<T>& answer, tesela_gels_result whole, tesela_gels_result* result) {
  whole.status = static_cast<std::int64_t>(answer.status);
  whole.rank = answer.rank;
  whole.condition = answer.condition;
  whole.backward_error = answer.backward_error.error;
  whole.backward_bound = answer.backward_error.bound;
  whole.cut = answer.cut;
  whole.degrees_of_freedom = answer.degrees_of_freedom;
  whole.original_units = answer.original_units ? 1 : 0;
  if (whole.residual_norms != nullptr)
    std::copy(answer.residual_norms.begin(), answer.residual_norms.end(), whole.residual_norms);
  write_struct(whole, result);
  if (answer.status == OlsStatus::ok || answer.status == OlsStatus::rank_deficient) return 0;
  return failed(whole.status, description(answer.status));
}

/// X takes B's first n rows.
template <class T, class Solve>
Code solve(index_t m, index_t n, index_t nrhs, T* a, index_t lda, T* b, index_t ldb, double rcond,
           tesela_gels_result* result, const Solve& with, const Array<const T>& weights = {"w", nullptr, 0}) {
  require_sizes({{"m", m}, {"n", n}, {"nrhs", nrhs}});
  const Array<T> array_a("a", a, {m, n}, "lda", lda), array_b("b", b, {std::max(m, n), nrhs}, "ldb", ldb);
  if (!(rcond >= 0 && rcond < 1)) throw WrongArgument("rcond", shortest(rcond) + " is not in [0, 1)");
  const tesela_gels_result whole = read_struct("result", result);
  const Array<double> norms("result", whole.residual_norms, whole.residual_norms != nullptr ? nrhs : 0);
  require_apart({array_a, array_b, norms}, {weights});
  const Session session;
  OlsOptions options;
  options.method = suitable_ols_method(m, n, nrhs);
  options.rcond = rcond;
  const TileShape tile =
      possible_ols_tile(options.method, suitable_ols_tile(session.runtime(), options.method, m, n), m, n);
  LeastSquares<T> answer;
  {
    const auto A = array_a.in_tiles(session, tile, "A"), B = array_b.top(m).in_tiles(session, tile, "B");
    Graph g(session);
    answer = with(g, A, B, options);
  }
  array_b.take(answer.X);
  return finish(answer, whole, result);
}

}  // namespace

/// Least squares, LAPACK gels and, where A is rank deficient, gelsy: X = argmin ||A X - B||_2 column by column, for any
/// m x n A; of several solutions that of least norm. B is max(m, n) x nrhs: m rows go in, and n rows of X come out. A
/// is overwritten. A deficient rank is no failure: result, which may be NULL, says it. info > 0: the status, there is
/// no X.
template <class T>
Code gels(index_t m, index_t n, index_t nrhs, T* a, index_t lda, T* b, index_t ldb, tesela_gels_result* result) {
  return solve(m, n, nrhs, a, lda, b, ldb, 0, result,
               [](Graph& g, const auto& A, const auto& B, const OlsOptions& o) { return ols(g, A, B, o); });
}

/// The same where singular values of A, its columns scaled to unit norm, count as zero up to rcond times the largest; 0
/// means max(m, n) eps.
template <class T>
Code gelsy(index_t m, index_t n, index_t nrhs, T* a, index_t lda, T* b, index_t ldb, double rcond,
           tesela_gels_result* result) {
  return solve(m, n, nrhs, a, lda, b, ldb, rcond, result,
               [](Graph& g, const auto& A, const auto& B, const OlsOptions& o) { return ols(g, A, B, o); });
}

/// Weighted least squares: X = argmin sum_i w(i) (A x - b)(i)^2, w of m finite numbers from 0 on; a row of weight 0
/// does not count. Otherwise as gels.
template <class T>
Code wls(index_t m, index_t n, index_t nrhs, const T* w, T* a, index_t lda, T* b, index_t ldb,
         tesela_gels_result* result) {
  require_sizes({{"m", m}});
  const Array<const T> weights("w", w, m);
  for (index_t i = 0; i < m; ++i)
    if (!(w[i] >= 0 && std::isfinite(w[i])))
      throw WrongArgument("w", "element " + std::to_string(i) + " is " + shortest(w[i]) + ", not finite and from 0 on");
  const HostMatrix<T> copy = weights.copy();
  const auto with = [&](Graph& g, const auto& A, const auto& B, const OlsOptions& o) {
    const std::vector<T> numbers(copy.data(), copy.data() + copy.size());
    return tesela::wls(g, A, B, numbers, o);
  };
  return solve(m, n, nrhs, a, lda, b, ldb, 0, result, with, weights);
}

/// gels of matrices in tiles: A m x n, B m x nrhs, both overwritten, cut alike along m; X n x nrhs, cut any way.
template <class T>
Code gels_tile(tesela_matrix* a, tesela_matrix* b, tesela_matrix* x, tesela_gels_result* result) {
  const TileMatrix<T> A = tiles<T>("a", a), B = tiles<T>("b", b), X = tiles<T>("x", x);
  if (X.m() != A.n() || X.n() != B.n()) throw WrongArgument("x", "must be " + to_string(Shape{A.n(), B.n()}));
  const tesela_gels_result whole = read_struct("result", result);
  const Session session;
  Graph g(session);
  const LeastSquares<T> answer = ols(g, A, B, OlsOptions{.method = OlsMethod::tiles});
  if (answer.X.size() > 0) X.copy_from(answer.X.data(), answer.X.ld());
  return finish(answer, whole, result);
}

/// The same behind the caller, as a part of the graph: tesela_graph_wait returns its info, and has filled result then,
/// which must stay until then. It waits for values of its own, so what is inserted next into this graph waits for it.
template <class T>
Code gels_async(tesela_graph* graph, tesela_matrix* a, tesela_matrix* b, tesela_matrix* x, tesela_gels_result* result) {
  const auto into = object<GraphObject>("graph", graph);
  const TileMatrix<T> A = tiles<T>("a", a), B = tiles<T>("b", b), X = tiles<T>("x", x);
  if (X.m() != A.n() || X.n() != B.n()) throw WrongArgument("x", "must be " + to_string(Shape{A.n(), B.n()}));
  const tesela_gels_result whole = read_struct("result", result);
  const Session session;
  into->run_behind([=](Graph& g) {
    const LeastSquares<T> answer = ols(g, A, B, OlsOptions{.method = OlsMethod::tiles});
    if (answer.X.size() > 0) X.copy_from(answer.X.data(), answer.X.ld());
    return finish(answer, whole, result);
  });
  return 0;
}

}  // namespace tesela::c
