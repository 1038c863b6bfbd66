#include "tools/problems/least_squares/glm.hpp"

#include "tools/app/sizes.hpp"
#include "tools/checks/least_squares_bounds.hpp"
#include "tools/peers/cusolver_least_squares.hpp"
#include "tools/peers/device.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/support/column_ends.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::cli {

using namespace kernels;

template <class T>
void GlmProblem<T>::generate_uniform(index_t p, bool on_workers) {
  OlsProblem<T>::generate_uniform(on_workers);
  factor = uniform<T>({this->shape.rows, p}, this->seed + 2);
  if (on_workers || p == 0) return;
  work_factor = HostMatrix<T>(this->shape.rows, p);
  this->pinned.emplace_back(*this->runtime, work_factor.data(),
                            static_cast<std::size_t>(work_factor.size()) * sizeof(T));
}

template <class T>
void GlmProblem<T>::generate_model(index_t p, const std::string& random, const std::string& random_f,
                                   bool inconsistent) {
  const auto [m, n] = this->shape;
  const index_t r = this->rhs;
  this->a = generate<T>(this->shape, parse_random_kind(random), this->seed);
  factor = generate<T>({m, p}, parse_random_kind(random_f, "--random-b"), this->seed + 1);
  this->b = inconsistent ? uniform<T>({m, r}, this->seed + 2) : HostMatrix<T>::zeros(m, r);
  if (inconsistent) return;
  add_product(this->a, Op::none, uniform<T>({n, r}, this->seed + 3), this->b);
  add_product(factor, Op::none, uniform<T>({p, r}, this->seed + 4), this->b);
}

template <class T>
GlmOptions GlmProblem<T>::glm_options(const std::string& name) const {
  QrMethod named = this->method;
  named.name = name;
  GlmOptions options;
  options.rcond = this->rcond;
  options.multipliers = this->multipliers;
  options.keep_spread = this->keep_triangle;
  if (!is_complex<T> || givens_method(name)) options.column_ends = column_ends(this->a);
  if (givens_method(name)) {
    options.method = GlmMethod::givens;
    options.givens = givens_options(named);
  } else {
    options.method = *find_named(glm_methods(), name);
    options.qr = qr_options(named);
  }
  return options;
}

template <class T>
GlmTiles GlmProblem<T>::glm_tiles(const GlmOptions& options) const {
  const auto [m, n] = this->shape;
  GlmTiles tiles = tesela::glm_tiles(*this->runtime, options.method, {m, n}, factor.cols());
  if (this->tile.empty()) return tiles;
  tiles.a = parse_tile(this->tile, tiles.a);
  if (options.method == GlmMethod::givens) tiles.a.mb = std::max<index_t>(m, 1);
  return {tiles.a, tiles.a};
}

template <class T>
void GlmProblem<T>::describe(const std::string& name, nlohmann::json& report) const {
  const TileShape cut = glm_tiles(glm_options(name)).a;
  report.update({{"mb", cut.mb}, {"nb", cut.nb}});
}

template <class T>
double GlmProblem<T>::flops() const {
  const auto [m, n] = this->shape;
  const index_t columns = std::min(m, n);
  const auto k = static_cast<double>(columns), sides = static_cast<double>(factor.cols() + this->rhs);
  return flops_each<T> *
         (qr_flops(m, n) + 2 * k * sides * (2 * static_cast<double>(m) - k) + qr_flops(factor.cols(), m - columns));
}

template <class T>
void GlmProblem<T>::restore() {
  OlsProblem<T>::restore();
  restore_factor();
}

template <class T>
void GlmProblem<T>::restore_factor() {
  if (work_factor.shape() != factor.shape()) work_factor = HostMatrix<T>(factor.rows(), factor.cols());
  bench::RestoredMatrix<T>::release(work_factor.data());
  copy_elements(factor, work_factor);
}

namespace {

template <class T>
using GlmSolver = Solver<Glm<T>>;

template <class T>
GlmSolver<T> by_graph(GlmProblem<T>& p, const std::string& name) {
  struct State {
    bench::RestoredMatrix<T> A, F, B;
    Glm<T> answer;
  };
  const auto state = std::make_shared<State>();
  const GlmOptions options = p.glm_options(name);
  const auto prepare = [&p, state, tiles = p.glm_tiles(options)] {
    p.OlsProblem<T>::restore(state->A, state->B, tiles.a);
    if (p.resident) return restore_on_devices(*p.runtime, state->F, p.factor.shape(), tiles.b, p.factor_generator());
    p.restore_factor();
    state->F.on_host(*p.runtime, p.work_factor.data(), p.factor.shape(), tiles.b, p.work_factor.ld());
  };
  const auto run = [state, options](Graph* g) { state->answer = glm(*g, *state->A, *state->F, *state->B, options); };
  return {prepare, run, {}, [state] { return std::move(state->answer); }};
}

/// solve(X, U) sets both and returns whether the ranks may be full.
template <class T, class Solve>
GlmSolver<T> by_library(GlmProblem<T>& p, const char* name, const Solve& solve) {
  const auto [m, n] = p.shape;
  require(n <= m && m <= n + p.factor.cols(), p.command, "--method", std::string(name),
          " solves problems with n <= m <= n + p only");
  const auto answer = std::make_shared<Glm<T>>();
  const auto prepare = [&p, answer] {
    if (!p.resident) p.restore();
    answer->X = HostMatrix<T>::zeros(p.shape.cols, p.rhs);
    answer->U = HostMatrix<T>::zeros(p.factor.cols(), p.rhs);
  };
  const auto run = [answer, solve](Graph*) {
    answer->status = solve(answer->X, answer->U) ? SolveStatus::ok : SolveStatus::rank_deficient;
  };
  return {prepare, run, {}, [answer] { return std::move(*answer); }};
}

/// Calls ggglm for each right-hand side, because it overwrites A and F.
template <class T>
GlmSolver<T> by_lapack(GlmProblem<T>& p) {
  return by_library(p, "lapack", [&p](HostMatrix<T>& X, HostMatrix<T>& U) {
    const auto [m, n] = p.shape;
    const blas::Threads threads(blas::all_cores());
    bool regular = true;
    for (index_t k = 0; k < p.rhs && m > 0; ++k) {
      if (k > 0) p.restore();
      regular &= lapack::ggglm(m, n, U.rows(), p.work_a.data(), p.work_a.ld(), p.work_factor.data(), p.work_factor.ld(),
                               p.work_b.data() + k * p.work_b.ld(), X.data() + k * n, U.data() + k * U.rows()) == 0;
    }
    return regular;
  });
}

/// `whole`: factors all rows of Q^T F, as Ramiro Sánchez 2010, Algorithm 5.3, or only the last m - n.
template <class T>
GlmSolver<T> by_cusolver(GlmProblem<T>& p, bool whole) {
  const auto [m, n] = p.shape;
  const bool empty = m == 0 || p.rhs == 0;
  const auto device = std::make_shared<std::unique_ptr<CusolverGlm<T>>>();
  GlmSolver<T> solver = by_library(p, "cusolver", [&p, device](HostMatrix<T>& X, HostMatrix<T>& U) {
    if (*device == nullptr) return true;
    if (!p.resident) {
      (*device)->upload(0, p.work_a.data());
      (*device)->upload(1, p.work_factor.data());
      (*device)->upload(2, p.work_b.data());
    }
    (*device)->solve(X.data(), U.data());
    return true;
  });
  if (empty) return solver;
  require(n != 0 && m != n, p.command, "--method", "cusolver solves problems with 0 < n < m only");
  *device = std::make_unique<CusolverGlm<T>>(m, n, p.factor.cols(), p.rhs, whole);
  if (p.resident)
    solver.prepare = [&p, device, prepare = solver.prepare] {
      prepare();
      bench::generate((*device)->data(0), p.shape.rows, p.shape.cols, p.a_generator());
      bench::generate((*device)->data(1), p.shape.rows, p.factor.cols(), p.factor_generator());
      bench::generate((*device)->data(2), p.shape.rows, p.rhs, p.b_generator());
    };
  return solver;
}

}  // namespace

template <class T>
std::vector<Method<GlmProblem<T>, Glm<T>>> glm_table() {
  using Row = Method<GlmProblem<T>, Glm<T>>;
  using Place = typename Row::Place;
  std::vector<Row> rows = graph_rows(glm_methods(), by_graph<T>);
  rows.push_back({"lapack", "ggglm, full rank only, a call for each right-hand side", Place::cores, by_lapack<T>});
  for (const bool whole : {true, false})
    if constexpr (!is_complex<T>)
      add_cusolver(rows, whole ? "cusolver" : "cusolver-part",
                   whole ? "geqrf, ormqr and trsm on a GPU, full rank only, transfers timed"
                         : "the same without the rows of B that x determines",
                   [whole](auto& p) { return by_cusolver(p, whole); });
  return rows;
}

template <class T>
GlmError measure_glm(const GlmProblem<T>& p, const Glm<T>& answer) {
  return glm_error(p.a, p.factor, p.b, answer, answer.U);
}

template <class T>
double check_model(const std::string& peer, GlmProblem<T>& p, double error, double bound, double u_norm) {
  if (p.u_norm < 0) p.u_norm = u_norm;
  const double share = std::max(error / bound, std::abs(u_norm - p.u_norm) / p.u_norm / peer_distance<T>);
  if (!(share <= 1))
    throw bench::WrongResult(
        fmt::format("bench {}: {}: residual {:.3g} (bound {:.3g}), ||u|| {:.10g} (another peer's {:.10g})", p.command,
                    peer, error, bound, u_norm, p.u_norm));
  return share;
}

template <class T>
double model_bound(const GlmProblem<T>& p) {
  return peer_bound<T>(std::max(p.shape.rows, p.factor.cols()));
}

template <class T>
double check_peer(const std::string& peer, GlmProblem<T>& p, const Glm<T>& answer) {
  if (answer.status != SolveStatus::ok)
    throw bench::WrongResult(fmt::format("bench {}: {}: {}", p.command, peer, description(answer.status)));
  const double u_norm = static_cast<double>(euclidean_norm(answer.U.size(), answer.U.data()));
  return check_model(peer, p, measure_glm(p, answer).constraint, model_bound(p), u_norm);
}

TESELA_FUNCTIONS_FOR_NUMBERS(glm_table, measure_glm, check_model, model_bound)
#define TESELA_INSTANTIATE(T)    \
  template struct GlmProblem<T>; \
  template double check_peer(const std::string&, GlmProblem<T>&, const Glm<T>&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::cli
