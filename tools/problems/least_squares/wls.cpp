#include "tools/problems/least_squares/wls.hpp"

#include "tools/checks/glm_error.hpp"
#include "tools/checks/least_squares_bounds.hpp"
#include <tesela/algorithms/least_squares/weighted_least_squares.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/kept_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace tesela::cli {

using namespace kernels;

template <class T>
void WlsProblem<T>::generate_weights(double spread, std::uint64_t of_weights) {
  const HostMatrix<real_t<T>> exponents = uniform<real_t<T>>({this->shape.rows, 1}, of_weights);
  for (index_t i = 0; i < exponents.rows(); ++i)
    weights.push_back(static_cast<real_t<T>>(std::pow(10.0, spread * static_cast<double>(exponents(i, 0)))));
}

template <class T>
void WlsProblem<T>::generate_weighted(const std::string& random, const std::string& random_f, bool inconsistent,
                                      double spread) {
  const index_t m = this->shape.rows;
  this->generate_model(by_weights() ? 0 : m, random, random_f, by_weights() || inconsistent);
  if (by_weights()) return generate_weights(spread, this->seed + 1);
  if (!by_sigma()) return;
  HostMatrix<T> sigma = HostMatrix<T>::zeros(m, m);
  add_product(this->factor, adjoint<T>, this->factor, sigma);
  for (index_t j = 0; j < m; ++j) {
    for (index_t i = 0; i < j; ++i) sigma(j, i) = conj(sigma(i, j));
    sigma(j, j) = T(real_part(sigma(j, j)));
  }
  this->factor = std::move(sigma);
}

template <class T>
void WlsProblem<T>::read_weights(const std::string& path) {
  const HostMatrix<double> given = read_matrix<double>(path);
  for (index_t i = 0; i < given.rows(); ++i) {
    const double weight = given(i, 0);
    weights.push_back(static_cast<real_t<T>>(weight));
    const std::string found = fmt::format("the weight of row {} is {}", i + 1, weight);
    if (weight < 0) throw ArgumentError("wls", "--weights", path + ": " + found + "; weights are not negative");
    if (!keeps(weight, weights.back())) throw PrecisionError(path, found + "; that does not fit single precision");
  }
}

template <class T>
double WlsProblem<T>::flops() const {
  const auto m = static_cast<double>(this->shape.rows), columns = static_cast<double>(this->shape.cols + this->rhs);
  return OlsProblem<T>::flops() +
         flops_each<T> * ((by_weights() ? 0 : m * m * columns) + (by_sigma() ? m * m * m / 3 : 0));
}

namespace {

template <class T>
using WlsSolver = Solver<GeneralizedLeastSquares<T>>;

template <class T>
GeneralizedLeastSquares<T> of_rows(LeastSquares<T> answer) {
  GeneralizedLeastSquares<T> result;
  static_cast<LeastSquares<T>&>(result) = std::move(answer);
  result.path = CovariancePath::rows;
  return result;
}

/// Returns a power of four near the largest weight: rows scaled by weights relative to it do not overflow.
template <class T>
T weight_unit(const std::vector<T>& weights) {
  const T most = weights.empty() ? T(0) : *std::max_element(weights.begin(), weights.end());
  return most > T(0) ? std::ldexp(T(1), 2 * (std::ilogb(most) / 2)) : T(1);
}

/// Returns the rows from `first` on times the roots of their weights over `unit`; zero for a weight of zero.
template <class T>
HostMatrix<T> scaled_rows(const std::vector<real_t<T>>& weights, real_t<T> unit, index_t first,
                          const Block<const T>& rows) {
  HostMatrix<T> result(rows.rows, rows.cols);
  for (index_t i = 0; i < rows.rows; ++i) {
    const real_t<T> weight = weights[static_cast<std::size_t>(first + i)], root = std::sqrt(weight / unit);
    for (index_t j = 0; j < rows.cols; ++j) result(i, j) = weight > 0 ? root * rows(i, j) : T(0);
  }
  return result;
}

template <class T>
Block<const T> rows_of(const HostMatrix<T>& a, index_t first, index_t count) {
  return {a.data() + first, count, a.cols(), a.ld()};
}

template <class T>
WlsSolver<T> by_graph(WlsProblem<T>& p, const std::string& name) {
  const OlsOptions options = p.options(name);
  if (!p.by_weights()) {
    const auto covariance = std::make_shared<HostMatrix<T>>();
    const auto solve = [&p, options, covariance](Graph& g, const auto& A, const auto& B) {
      return p.by_sigma() ? gls_covariance(g, A, B, std::move(*covariance), options)
                          : gls_factor(g, A, B, std::move(*covariance), options);
    };
    WlsSolver<T> solver =
        graph_solver<GeneralizedLeastSquares<T>>(p, options, solve, [](auto&) { return GeneralizedLeastSquares<T>(); });
    solver.prepare = [&p, covariance, prepare = solver.prepare] {
      prepare();
      *covariance = p.factor.clone();
    };
    return solver;
  }
  // On devices weights stay there after the first run; in host memory they are registered for each run.
  const auto on_devices = std::make_shared<std::optional<TileMatrix<real_t<T>>>>();
  if (p.resident) {
    const index_t m = p.shape.rows;
    on_devices->emplace(*p.runtime, m, 1, TileShape{p.tiles(options).mb, 1}, "w");
    (*on_devices)->copy_from(p.weights.data(), m);
  }
  return graph_solver<GeneralizedLeastSquares<T>>(
      p, options,
      [&p, options, on_devices](Graph& g, const auto& A, const auto& B) {
        return of_rows(*on_devices ? wls(g, A, B, **on_devices, options) : wls(g, A, B, p.weights, options));
      },
      [&p, options](auto& g) { return of_rows(wls(g, *p.rows, p.b, p.weights, options)); });
}

/// Returns a library's solver by ols on scaled rows, or by glm.
template <class T>
WlsSolver<T> by_library(WlsProblem<T>& p, const std::string& name) {
  const auto copy_problem = [&p](auto& problem) {
    static_cast<OlsProblem<T>&>(problem) = {p.method, p.rcond, p.tile, p.shape, p.rhs, p.seed, p.runtime};
    problem.command = p.command;
  };
  if (p.by_weights()) {
    const auto scaled = std::make_shared<OlsProblem<T>>();
    copy_problem(*scaled);
    const real_t<T> unit = weight_unit(p.weights);
    scaled->a = scaled_rows<T>(p.weights, unit, 0, rows_of(p.a, 0, p.a.rows()));
    scaled->b = scaled_rows<T>(p.weights, unit, 0, rows_of(p.b, 0, p.b.rows()));
    const auto solver = find_method(ols_table<T>(), name).solver(*scaled);
    return {solver.prepare, solver.run, {}, [scaled, result = solver.result] { return of_rows(result()); }};
  }
  const auto model = std::make_shared<GlmProblem<T>>();
  copy_problem(*model);
  model->a = p.a.clone();
  model->b = p.b.clone();
  model->factor = p.factor.clone();
  if (p.by_sigma()) {
    HostMatrix<T>& factor = model->factor;
    if (lapack::potrf(factor.rows(), factor.data(), factor.ld()) != 0)
      throw ArgumentError("wls", "--method", name + " needs a positive definite sigma");
    for (index_t j = 0; j < factor.cols(); ++j)
      for (index_t i = 0; i < j; ++i) factor(j, i) = conj(std::exchange(factor(i, j), T(0)));
  }
  const auto solver = find_method(glm_table<T>(), name).solver(*model);
  return {solver.prepare, solver.run, {}, [model, result = solver.result] {
            Glm<T> found = result();
            GeneralizedLeastSquares<T> answer;
            answer.status = found.status;
            answer.X = std::move(found.X);
            answer.U = std::move(found.U);
            return answer;
          }};
}

}  // namespace

template <class T>
std::vector<Method<WlsProblem<T>, GeneralizedLeastSquares<T>>> wls_table() {
  using Row = Method<WlsProblem<T>, GeneralizedLeastSquares<T>>;
  using Place = typename Row::Place;
  std::vector<Row> rows = graph_rows(ols_methods(), by_graph<T>);
  const auto library = [](const char* name) { return [name](auto& p) { return by_library(p, name); }; };
  rows.push_back({"lapack", "gels on scaled rows, or ggglm, full rank only", Place::cores, library("lapack")});
  if constexpr (!is_complex<T>)
    add_cusolver(rows, "cusolver", "geqrf, ormqr and trsm on a GPU, full rank only, transfers timed",
                 library("cusolver"));
  return rows;
}

template <class T>
OlsErrors<T> measure_wls(const WlsProblem<T>& p, const GeneralizedLeastSquares<T>& answer) {
  typename NormalResidual<T>::Result residual;
  double scale = 1;
  if (p.by_weights()) {
    const blas::Threads threads(blas::all_cores());
    NormalResidual<T> sums(answer.X);
    const real_t<T> unit = weight_unit(p.weights);
    p.for_each_block([&](index_t first, const Block<const T>& rows) {
      const HostMatrix<T> a = scaled_rows<T>(p.weights, unit, first, rows),
                          b = scaled_rows<T>(p.weights, unit, first, rows_of(p.b, first, rows.rows));
      sums.add(a.rows(), a.data(), a.ld(), b.data(), b.ld());
    });
    residual = sums.result();
    residual.residual_norm *= std::sqrt(static_cast<double>(unit));
  } else {
    const auto found = gls_error(p.a, p.b, p.factor, p.by_sigma(), answer.X);
    residual = {.residual_norm = found.residual_norm,
                .normal_residual = found.normal_residual,
                .backward_error = found.backward_error,
                .column_error = found.column_error,
                .equation_error = found.equation_error};
    // Dividing A by F multiplies its error by F's condition number; Cholesky's factor of sigma has that error as well.
    if (answer.path == CovariancePath::whitened)
      scale = std::pow(std::max(1.0, answer.factor_condition), p.by_sigma() ? 2 : 1);
  }
  Measured backward = ols_error<T>(residual, p.shape, answer.rank, answer.cut);
  backward.bound *= scale;
  backward.cut *= scale;
  if (p.method.library()) backward.bound = std::min(backward.bound, useful_bound);  // the condition is a guess
  return {residual, backward};
}

template <class T>
GlmError measure_model(const WlsProblem<T>& p, const GeneralizedLeastSquares<T>& s) {
  HostMatrix<T> u = (p.by_sigma() ? s.multipliers : s.U).clone();
  for (index_t j = 0; j < u.cols() && p.by_sigma(); ++j)
    for (index_t i = 0; i < u.rows(); ++i)
      u(i, j) = times_power_of_two(u(i, j), s.multiplier_exponents[static_cast<std::size_t>(j)]);
  return glm_error(p.a, p.factor, p.b, s, u);
}

template <class T>
double check_peer(const std::string& peer, WlsProblem<T>& p, const GeneralizedLeastSquares<T>& answer) {
  if (answer.status != SolveStatus::ok)
    throw bench::WrongResult(fmt::format("bench wls: {}: {}", peer, description(answer.status)));
  if (!p.by_weights() && answer.path == CovariancePath::model)
    return check_model(peer, p, measure_model(p, answer).constraint, model_bound<T>(p),
                       static_cast<double>(euclidean_norm(answer.U.size(), answer.U.data())));
  const OlsErrors<T> errors = measure_wls(p, answer);
  const double error = errors.residual.backward_error;
  if (!p.by_weights()) {
    double u_norm = 0;
    for (const real_t<T> norm : answer.residual_norms) u_norm = std::hypot(u_norm, static_cast<double>(norm));
    return check_model<T>(peer, p, error, model_bound<T>(p) * answer.factor_condition, u_norm);
  }
  const double bound = peer_bound<T>(p.shape.cols);
  if (!(error <= bound) || !errors.backward.good())
    throw bench::WrongResult(fmt::format("bench wls: {}: backward error {:.3g}, above {:.3g}", peer, error, bound));
  return error / bound;
}

TESELA_FUNCTIONS_FOR_NUMBERS(wls_table, measure_wls, measure_model)
#define TESELA_INSTANTIATE(T)    \
  template struct WlsProblem<T>; \
  template double check_peer(const std::string&, WlsProblem<T>&, const GeneralizedLeastSquares<T>&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::cli
