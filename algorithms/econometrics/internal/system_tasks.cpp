#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/dense/triangular_solve.hpp>
#include <tesela/algorithms/econometrics/internal/system_tasks.hpp>
#include <tesela/codelets/econometrics/equation_qr.hpp>
#include <tesela/codelets/least_squares/minimum_norm.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::detail {

using namespace kernels;
namespace {

HostMatrix<double> identity(index_t n) {
  auto I = HostMatrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) I(i, i) = 1;
  return I;
}

/// Z_i = Q_i R_i of every equation, Q_i in its own coordinates. Waits.
void run_bases(Graph& g, const std::vector<PickedEquation>& equations, std::vector<HostMatrix<double>>& Q,
               std::vector<HostMatrix<double>>& R) {
  Runtime& runtime = g.runtime();
  std::vector<TileMatrix<double>> inputs, results;
  std::vector<TileMatrix<int>> picks;
  const Variables* last = nullptr;
  for (const PickedEquation& e : equations) {
    const HostMatrix<double>& a = e.variables->A;
    const index_t r = e.size(), rows = e.variables->rows;
    if (e.variables != last)
      inputs.push_back(
          TileMatrix<double>::map(runtime, a.data(), a.rows(), a.cols(), a.ld(), {a.rows(), a.cols()}, "R"));
    last = e.variables;
    Q.emplace_back(rows, r), R.emplace_back(r, r);
    picks.push_back(TileMatrix<int>::map(runtime, e.picks.data(), 2, r + 2, 2, {2, r + 2}, "picks"));
    results.push_back(TileMatrix<double>::map(runtime, Q.back().data(), rows, r, rows, {rows, r}, "Q"));
    results.push_back(TileMatrix<double>::map(runtime, R.back().data(), r, r, r, {r, r}, "Ri"));
    const int* const heights = e.picks.data() + 1;
    const Shape work = equation_work(rows, r, runtime.gpus() > 0);
    g.insert<EquationBasis>({equation_panels(heights, r, 2, rows), staircase_flops(heights, r, 2)}, inputs.back()(0, 0),
                            picks.back()(0, 0), results[results.size() - 2](0, 0), results.back()(0, 0),
                            g.scratch<double>(work.rows, work.cols));
  }
  g.wait();
  for (const auto& matrix : results) matrix.bring_home();
}

/// In the model's coordinates, a Q_i of an equation with its own instruments.
HostMatrix<double> in_model_basis(Graph& g, const OwnBasis& own, const HostMatrix<double>& Q) {
  const index_t m = own.copy.rows();
  auto result = HostMatrix<double>::zeros(m, Q.cols());
  for (index_t j = 0; j < Q.cols(); ++j) std::copy_n(&Q(0, j), Q.rows(), &result(0, j));
  const TileShape tile = own.factors->factors().tile_shape();
  const auto C = TileMatrix<double>::map(g.runtime(), result.data(), m, Q.cols(), result.ld(), tile, "Q");
  own.factors->apply(g, Side::left, Op::none, C);
  g.wait();
  C.bring_home();
  return result;
}

}  // namespace

Weights weigh(Graph& g, const HostMatrix<double>& E, const std::vector<double>& divisors) {
  const index_t n = E.cols();
  Weights w;
  w.sigmas = column_norms(E);
  HostMatrix<double> unit = E.clone();
  for (index_t j = 0; j < n; ++j) {
    double& sigma = w.sigmas[static_cast<std::size_t>(j)];
    const double norm = sigma;
    if (!(norm > 0)) w.singular.push_back(j);
    for (index_t i = 0; i < E.rows() && norm > 0; ++i) unit(i, j) /= norm;
    sigma /= divisors[static_cast<std::size_t>(j)];
  }
  if (!w.singular.empty() || n == 0) return w;
  HostMatrix<double> T = triangle_of(g, unit);
  std::vector<int> heights(static_cast<std::size_t>(n));
  const double tolerance = std::sqrt(10 * static_cast<double>(n) * std::numeric_limits<double>::epsilon());
  w.singular = drop_dependent(T, n, std::vector<double>(static_cast<std::size_t>(n), 1.0), tolerance, heights);
  if (!w.singular.empty()) return w;
  HostMatrix<double> inverse = identity(n);
  triangular_solve(g, Op::none, T, inverse);
  w.inverse = product(g, Op::none, Op::transpose, inverse, inverse);
  return w;
}

ThirdStage::ThirdStage(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                       const std::vector<const OwnBasis*>& own)
    : equations_(equations), starts_{0} {
  std::vector<HostMatrix<double>> Q;
  run_bases(g, equations, Q, R_);
  own_instruments_ = std::any_of(own.begin(), own.end(), [](const OwnBasis* basis) { return basis != nullptr; });
  for (const PickedEquation& e : equations) starts_.push_back(starts_.back() + e.size());
  Q_ = HostMatrix<double>::zeros(own_instruments_ ? model.A.rows() : model.rows, unknowns());
  for (std::size_t i = 0; i < equations.size(); ++i) {
    if (own[i] != nullptr) Q[i] = in_model_basis(g, *own[i], Q[i]);
    for (index_t j = 0; j < Q[i].cols(); ++j) std::copy_n(&Q[i](0, j), Q[i].rows(), &Q_(0, starts_[i] + j));
    Q[i] = HostMatrix<double>();
  }
  H_ = product(g, Op::transpose, Op::none, Q_, Q_);
}

HostMatrix<double> ThirdStage::of_fitted(const Variables& model, const std::vector<PickedEquation>& in_model,
                                         const std::vector<std::vector<double>>& coefficients) const {
  HostMatrix<double> E(Q_.rows(), static_cast<index_t>(in_model.size()));
  for (std::size_t i = 0; i < in_model.size(); ++i) {
    double* out = &E(0, static_cast<index_t>(i));
    std::copy_n(&model.A(0, in_model[i].dependent), Q_.rows(), out);
    const PickedEquation& e = equations_[i];
    std::vector<double> ordered;
    for (const index_t c : e.order)
      ordered.push_back(coefficients[i][static_cast<std::size_t>(
          std::find(e.regressors.begin(), e.regressors.end(), c) - e.regressors.begin())]);
    for (index_t p = 0; p < e.size(); ++p) {
      double along = 0;
      for (index_t l = p; l < e.size(); ++l) along += R_[i](p, l) * ordered[static_cast<std::size_t>(l)];
      for (index_t k = 0; k < Q_.rows(); ++k) out[k] -= along * Q_(k, starts_[i] + p);
    }
  }
  return E;
}

std::vector<std::vector<double>> ThirdStage::correction(Graph& g, const HostMatrix<double>& E, const Weights& weights) {
  const index_t n = unknowns(), N = static_cast<index_t>(equations_.size());
  HostMatrix<double> first(Q_.rows(), N);
  for (index_t j = 0; j < N; ++j)
    for (index_t i = 0; i < Q_.rows(); ++i) first(i, j) = E(i, j) / weights.sigmas[static_cast<std::size_t>(j)];
  const HostMatrix<double> C = product(g, Op::transpose, Op::none, Q_, first);
  HostMatrix<double> x(n, 1);
  factor_ = H_.clone();
  for (std::size_t i = 0; i < equations_.size(); ++i)
    for (index_t k = starts_[i]; k < starts_[i + 1]; ++k) {
      double sum = 0;
      for (index_t j = 0; j < N; ++j) sum += weights.inverse(static_cast<index_t>(i), j) * C(k, j);
      x(k, 0) = sum;
      for (std::size_t j = 0; j < equations_.size(); ++j)
        for (index_t l = starts_[j]; l < starts_[j + 1]; ++l)
          factor_(l, k) *= weights.inverse(static_cast<index_t>(j), static_cast<index_t>(i));
    }
  {
    TileShape tile = suitable_cholesky_tile(g.runtime(), n);
    const auto A = TileMatrix<double>::map(g.runtime(), factor_.data(), n, n, factor_.ld(), tile, "G");
    const auto X = TileMatrix<double>::map(g.runtime(), x.data(), n, 1, x.ld(), {tile.mb, 1}, "x");
    const auto factors = cholesky(g, A);
    if (factors.minor() != 0) return g.wait(), std::vector<std::vector<double>>{};
    factors.solve(g, X);
    g.wait();
    A.bring_home();
    X.bring_home();
  }
  std::vector<std::vector<double>> changes;
  for (std::size_t i = 0; i < equations_.size(); ++i) {
    const index_t r = equations_[i].size();
    HostMatrix<double> b(r, 1);
    for (index_t p = 0; p < r; ++p) b(p, 0) = x(starts_[i] + p, 0) * weights.sigmas[i];
    triangular_solve(g, Op::none, R_[i], b);
    changes.emplace_back(b.data(), b.data() + r);
  }
  return changes;
}

std::vector<std::vector<double>> ThirdStage::errors(Graph& g, const Weights& weights) const {
  const index_t n = unknowns();
  HostMatrix<double> inverse = identity(n);
  HostMatrix<double> upper = HostMatrix<double>::zeros(n, n);
  for (index_t j = 0; j < n; ++j) std::copy_n(&factor_(0, j), j + 1, &upper(0, j));
  triangular_solve(g, Op::none, upper, inverse);
  std::vector<std::vector<double>> all;
  for (std::size_t i = 0; i < equations_.size(); ++i) {
    const index_t r = equations_[i].size();
    HostMatrix<double> block(r, n);
    for (index_t j = 0; j < n; ++j)
      for (index_t p = 0; p < r; ++p) block(p, j) = inverse(starts_[i] + p, j) * weights.sigmas[i];
    triangular_solve(g, Op::none, R_[i], block);
    std::vector<double> errors(static_cast<std::size_t>(r));
    for (index_t j = 0; j < n; ++j)
      for (index_t p = 0; p < r; ++p) {
        double& e = errors[static_cast<std::size_t>(p)];
        e = std::hypot(e, block(p, j));
      }
    all.push_back(std::move(errors));
  }
  return all;
}

}  // namespace tesela::detail
