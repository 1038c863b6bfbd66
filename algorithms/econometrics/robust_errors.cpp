#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/econometrics/internal/equation_tasks.hpp>
#include <tesela/host/minimum_norm.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

using detail::PickedEquation;
using detail::Variables;

/// Sums rows over clusters.
class Clusters {
 public:
  explicit Clusters(const std::vector<index_t>& of_rows) {
    std::map<index_t, index_t> numbers;
    for (const index_t c : of_rows)
      rows_.push_back(numbers.emplace(c, static_cast<index_t>(numbers.size())).first->second);
    count_ = static_cast<index_t>(numbers.size());
  }
  bool none() const { return rows_.empty(); }
  index_t count() const { return count_; }
  HostMatrix<double> sums(HostMatrix<double> a) const {
    if (none()) return a;
    auto s = HostMatrix<double>::zeros(count_, a.cols());
    for (index_t j = 0; j < a.cols(); ++j)
      for (index_t t = 0; t < a.rows(); ++t) s(rows_[static_cast<std::size_t>(t)], j) += a(t, j);
    return s;
  }

 private:
  std::vector<index_t> rows_;
  index_t count_ = 0;
};

/// Returns columns of the data in the variables' units; `which` selects variables, `own` their columns in the data.
HostMatrix<double> scaled_columns(const HostMatrix<double>& data, const Variables& v, const std::vector<index_t>& own,
                                  const std::vector<index_t>& which) {
  HostMatrix<double> a(data.rows(), static_cast<index_t>(which.size()));
  for (index_t j = 0; j < a.cols(); ++j) {
    const index_t c = which[static_cast<std::size_t>(j)];
    const index_t from = own.empty() ? c : own[static_cast<std::size_t>(c)];
    for (index_t t = 0; t < a.rows(); ++t)
      a(t, j) = std::ldexp(data(t, from), -v.exponents[static_cast<std::size_t>(c)]);
  }
  return a;
}

HostMatrix<double> first_rows_of(const Variables& v, const std::vector<index_t>& columns) {
  HostMatrix<double> a(v.rows, static_cast<index_t>(columns.size()));
  for (index_t j = 0; j < a.cols() && v.rows > 0; ++j)
    std::copy_n(&v.A(0, columns[static_cast<std::size_t>(j)]), v.rows, &a(0, j));
  return a;
}

void times_rows(HostMatrix<double>& a, const HostMatrix<double>& u) {
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t t = 0; t < a.rows(); ++t) a(t, j) *= u(t, 0);
}

/// Returns X R1^-1 of the independent instruments: an orthonormal basis of their span.
HostMatrix<double> basis(Graph& g, const HostMatrix<double>& data, const Variables& v,
                         const std::vector<index_t>& own) {
  std::vector<index_t> kept;
  for (index_t c = 0; c < v.instruments; ++c)
    if (!own.empty() || std::find(v.dropped.begin(), v.dropped.end(), c) == v.dropped.end()) kept.push_back(c);
  auto inverse = HostMatrix<double>::zeros(v.rows, v.rows);
  for (index_t k = 0; k < v.rows; ++k) inverse(k, k) = 1;
  triangular_solve(g, Op::none, first_rows_of(v, kept), inverse);
  return detail::product(g, Op::none, Op::none, scaled_columns(data, v, own, kept), inverse);
}

/// Returns Hansen's J: the least g(b)^T S^-1 g(b), where g(b) = y - Z b in the basis, S = B^T B and B = diag(u) basis.
TestStatistic hansen(Graph& g, const PickedEquation& e, HostMatrix<double> B, const HostMatrix<double>& u,
                     const Clusters& clusters) {
  const Variables& v = *e.variables;
  const index_t r = e.size();
  if (v.rows <= r) return {};
  times_rows(B, u);
  B = clusters.sums(std::move(B));
  if (B.rows() < v.rows) return {};
  const HostMatrix<double> T = detail::triangle_of(g, B);
  if (!(triangle_condition(T, true) * v.tolerance <= 1)) return {};
  std::vector<index_t> columns = e.regressors;
  columns.push_back(e.dependent);
  HostMatrix<double> P = first_rows_of(v, columns);
  triangular_solve(g, Op::transpose, T, P);
  const HostMatrix<double> R = detail::triangle_of(g, P);
  return {R(r, r) * R(r, r), v.rows - r, 0};
}

/// Computes the robust errors of one equation.
TestStatistic robust_statistics(Graph& g, const HostMatrix<double>& data, const PickedEquation& e,
                                const std::vector<index_t>& own, bool instrumental, SemDivisor divisor,
                                const Clusters& clusters, EquationEstimate& estimate) {
  const Variables& v = *e.variables;
  const index_t r = e.size(), D = data.rows();
  HostMatrix<double> Z = scaled_columns(data, v, own, e.regressors), u = scaled_columns(data, v, own, {e.dependent});
  std::vector<int> units;
  for (index_t p = 0; p < r; ++p) {
    units.push_back(v.exponents[static_cast<std::size_t>(e.dependent)] -
                    v.exponents[static_cast<std::size_t>(e.regressors[static_cast<std::size_t>(p)])]);
    const double b = std::ldexp(estimate.coefficients[static_cast<std::size_t>(p)], -units.back());
    for (index_t t = 0; t < D; ++t) u(t, 0) -= b * Z(t, p);
  }
  TestStatistic j;
  if (instrumental) {
    HostMatrix<double> X = basis(g, data, v, own);
    Z = detail::product(g, Op::none, Op::none, X, first_rows_of(v, e.regressors));
    j = hansen(g, e, std::move(X), u, clusters);
  }
  // Z^ = Q R with the constant first: the last rows and columns of R then belong to the slopes.
  const index_t constants = e.constant >= 0 ? 1 : 0, slopes = r - constants;
  std::vector<index_t> order, places;  // column k of Z^ is regressor places[k]
  if (constants > 0) places.push_back(e.constant);
  for (index_t p = 0; p < r; ++p)
    if (p != e.constant) places.push_back(p);
  for (const index_t p : places) order.push_back(e.regressors[static_cast<std::size_t>(p)]);
  const HostMatrix<double> R = detail::triangle_of(g, first_rows_of(v, order));
  auto inverse = HostMatrix<double>::zeros(r, r);
  for (index_t p = 0; p < r; ++p) inverse(p, p) = 1;
  triangular_solve(g, Op::none, R, inverse);
  HostMatrix<double> G = detail::product(g, Op::none, Op::none, detail::columns_of(Z, places), inverse);
  times_rows(G, u);
  G = clusters.sums(std::move(G));
  double correction = 1;
  if (divisor == SemDivisor::small) {
    const auto rows = static_cast<double>(D), count = static_cast<double>(clusters.count());
    correction = (clusters.none() ? rows : count / (count - 1) * (rows - 1)) / (rows - static_cast<double>(r));
  }
  for (double* x = G.data(); x != G.data() + G.size(); ++x) *x *= std::sqrt(correction);
  const std::vector<double> norms = column_norms(detail::product(g, Op::none, Op::transpose, G, inverse));
  for (std::size_t k = 0; k < norms.size(); ++k) {
    const auto p = static_cast<std::size_t>(places[k]);
    estimate.standard_errors[p] = std::ldexp(norms[k], units[p]);
  }

  estimate.f = {};
  // Scores sum to zero; therefore at most n - 1 of n scores are independent.
  if (slopes == 0 || G.rows() - 1 < slopes) return j;
  std::vector<index_t> last;
  for (index_t k = constants; k < r; ++k) last.push_back(k);
  const HostMatrix<double> T = detail::triangle_of(g, detail::columns_of(G, last));
  if (!(triangle_condition(T, true) * v.tolerance <= 1)) return j;
  auto b = HostMatrix<double>::zeros(slopes, 1);  // slopes from R's last rows, independent of Z^'s condition
  for (index_t k = 0; k < slopes; ++k)
    for (index_t l = k; l < slopes; ++l) {
      const auto p = static_cast<std::size_t>(places[static_cast<std::size_t>(constants + l)]);
      b(k, 0) += R(constants + k, constants + l) * std::ldexp(estimate.coefficients[p], -units[p]);
    }
  triangular_solve(g, Op::transpose, T, b);
  const double norm = euclidean_norm(slopes, b.data());
  estimate.f = {norm * norm / static_cast<double>(slopes), slopes, D - r};
  return j;
}

}  // namespace

void detail::robust_errors(Graph& g, const HostMatrix<double>& data, const SimultaneousModel& model,
                           const SemOptions& options, const std::vector<index_t>& clusters,
                           SimultaneousEquations& answer) {
  const bool instrumental = options.method == SemMethod::two_stage;
  const Variables v = detail::model_variables(g, answer.triangle, model.instruments, !instrumental,
                                              detail::dependence_tolerance(answer.triangle, options));
  const Clusters groups(clusters);
  for (std::size_t i = 0; i < answer.equations.size(); ++i) {
    EquationEstimate& estimate = answer.equations[i];
    if (estimate.coefficients.empty() || estimate.perfect_fit) continue;
    const Equation& e = model.equations[i];
    if (instrumental && !e.instruments.empty()) {
      const detail::OwnBasis own = detail::own_basis(g, v, e);
      estimate.hansen = robust_statistics(g, data, detail::pick(own.variables, e, own.columns, model.constant),
                                          own.columns, true, options.divisor, groups, estimate);
    } else {
      estimate.hansen = robust_statistics(g, data, detail::pick(v, e, {}, model.constant), {}, instrumental,
                                          options.divisor, groups, estimate);
    }
  }
}

}  // namespace tesela
