#include "tools/problems/least_squares/lse.hpp"

#include "tools/checks/least_squares_bounds.hpp"
#include "tools/peers/cusolver_least_squares.hpp"
#include "tools/peers/device.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::cli {

using namespace kernels;

template <class T>
void LseProblem<T>::generate_uniform(index_t p, bool on_workers) {
  OlsProblem<T>::generate_uniform(on_workers);
  c = uniform<T>({p, this->shape.cols}, this->seed + 2);
  d = uniform<T>({p, this->rhs}, this->seed + 3);
}

template <class T>
void LseProblem<T>::generate_constrained(index_t p, const std::string& random, const std::string& random_c,
                                         bool inconsistent) {
  const auto [m, n] = this->shape;
  const index_t r = this->rhs;
  this->a = generate<T>(this->shape, parse_random_kind(random), this->seed);
  this->b = uniform<T>({m, r}, this->seed + 1);
  c = generate<T>({p, n}, parse_random_kind(random_c, "--random-b"), this->seed + 2);
  d = inconsistent ? uniform<T>({p, r}, this->seed + 3) : HostMatrix<T>::zeros(p, r);
  if (!inconsistent) add_product(c, Op::none, uniform<T>({n, r}, this->seed + 4), d);
}

template <class T>
double LseProblem<T>::flops() const {
  const auto [m, n] = this->shape;
  const index_t of_r = std::min(m, n), p = std::min(c.rows(), n);
  const auto k = static_cast<double>(p), columns = static_cast<double>(n);
  return OlsProblem<T>::flops() +
         flops_each<T> * (qr_flops(n, p) + 2 * static_cast<double>(of_r) * k * (2 * columns - k) +
                          qr_flops(std::max(of_r, n - p), std::min(of_r, n - p)));
}

namespace {

template <class T>
using LseSolver = Solver<ConstrainedLeastSquares<T>>;

template <class T>
LseSolver<T> by_graph(LseProblem<T>& p, const std::string& name) {
  const OlsOptions options = p.options(name);
  return graph_solver<ConstrainedLeastSquares<T>>(
      p, options, [&p, options](Graph& g, const auto& A, const auto& B) { return lse(g, A, B, p.c, p.d, options); },
      [&p, options](auto& g) { return lse(g, triangle_of(g, *p.rows, p.b, options), p.c, p.d, options); });
}

/// solve(X) sets X, n x r, and returns whether the ranks may be full.
template <class T, class Solve>
LseSolver<T> by_library(LseProblem<T>& p, const Solve& solve) {
  const auto answer = std::make_shared<ConstrainedLeastSquares<T>>();
  const auto prepare = [&p, answer] {
    if (!p.resident) p.restore();
    answer->X = HostMatrix<T>::zeros(p.shape.cols, p.rhs);
  };
  const auto run = [answer, solve](Graph*) {
    answer->status = solve(answer->X) ? SolveStatus::ok : SolveStatus::rank_deficient;
  };
  return {prepare, run, {}, [answer] { return std::move(*answer); }};
}

/// Calls gglse for each right-hand side, because it overwrites A.
template <class T>
LseSolver<T> by_lapack(LseProblem<T>& p) {
  const auto [m, n] = p.shape;
  const index_t rows = p.c.rows();
  require(rows <= n && n <= m + rows, p.command, "--method", "lapack solves problems with p <= n <= m + p only");
  return by_library(p, [&p, m = m, n = n, rows](HostMatrix<T>& X) {
    const blas::Threads threads(blas::all_cores());
    bool regular = true;
    for (index_t k = 0; k < p.rhs && n > 0; ++k) {
      if (k > 0) p.restore();
      HostMatrix<T> c = p.c.clone(), d(rows, 1);
      std::copy_n(p.d.data() + k * p.d.ld(), rows, d.data());
      regular &= lapack::gglse(m, n, rows, p.work_a.data(), p.work_a.ld(), c.data(), c.ld(),
                               p.work_b.data() + k * p.work_b.ld(), d.data(), X.data() + k * n) == 0;
    }
    return regular;
  });
}

template <class T>
LseSolver<T> by_cusolver(LseProblem<T>& p) {
  const auto [m, n] = p.shape;
  require(p.c.rows() >= 1 && p.c.rows() < n && n <= m && p.rhs >= 1, p.command, "--method",
          "cusolver solves problems with 0 < p < n <= m only");
  const auto device = std::make_shared<CusolverLse<T>>(m, n, p.c.rows(), p.rhs);
  LseSolver<T> solver = by_library(p, [&p, device](HostMatrix<T>& X) {
    if (!p.resident) {
      device->upload(0, p.work_a.data());
      device->upload(1, p.work_b.data());
    }
    device->upload(2, p.c.data());  // in host memory, as the graph has them
    device->upload(3, p.d.data());
    device->solve(X.data());
    return true;
  });
  if (p.resident)
    solver.prepare = [&p, device, prepare = solver.prepare] {
      prepare();
      bench::generate(device->data(0), p.shape.rows, p.shape.cols, p.a_generator());
      bench::generate(device->data(1), p.shape.rows, p.rhs, p.b_generator());
    };
  return solver;
}

}  // namespace

template <class T>
std::vector<Method<LseProblem<T>, ConstrainedLeastSquares<T>>> lse_table() {
  using Row = Method<LseProblem<T>, ConstrainedLeastSquares<T>>;
  using Place = typename Row::Place;
  std::vector<Row> rows = graph_rows(ols_methods(), by_graph<T>);
  rows.push_back({"lapack", "gglse, full rank only, a call for each right-hand side", Place::cores, by_lapack<T>});
  if constexpr (!is_complex<T>)
    add_cusolver(rows, "cusolver", "geqrf, ormqr, trmm and trsm on a GPU, full rank only, transfers timed",
                 [](auto& p) { return by_cusolver(p); });
  return rows;
}

template <class T>
LseError measure_lse(const LseProblem<T>& p, const ConstrainedLeastSquares<T>& answer) {
  const RowBlocks<T> rows = [&](const auto& use) { p.for_each_block(use); };
  return lse_error<T>(rows, p.b, p.c, p.d, answer.X, answer.multipliers, answer.multiplier_exponents,
                      answer.multiplier_row_exponents);
}

template <class T>
double check_peer(const std::string& peer, LseProblem<T>& p, const ConstrainedLeastSquares<T>& answer) {
  if (answer.status != SolveStatus::ok)
    throw bench::WrongResult(fmt::format("bench lse: {}: {}", peer, description(answer.status)));
  const LseError error = measure_lse(p, answer);
  const double bound = peer_bound<T>(p.shape.cols),
               norm = static_cast<double>(euclidean_norm(answer.X.size(), answer.X.data()));
  if (p.x_norm < 0) {
    p.x_norm = norm;
    p.residual_norm = error.residual_norm;
  }
  const double share = std::max({error.constraint / bound, std::abs(norm / p.x_norm - 1) / peer_distance<T>,
                                 std::abs(error.residual_norm / p.residual_norm - 1) / peer_distance<T>});
  if (!(share <= 1))
    throw bench::WrongResult(
        fmt::format("bench lse: {}: ||C x - d|| {:.3g} (bound {:.3g}), ||x|| {:.10g} and ||A x - b|| {:.10g} (another "
                    "peer's {:.10g} and {:.10g})",
                    peer, error.constraint, bound, norm, error.residual_norm, p.x_norm, p.residual_norm));
  return share;
}

TESELA_FUNCTIONS_FOR_NUMBERS(lse_table, measure_lse)
#define TESELA_INSTANTIATE(T)    \
  template struct LseProblem<T>; \
  template double check_peer(const std::string&, LseProblem<T>&, const ConstrainedLeastSquares<T>&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::cli
