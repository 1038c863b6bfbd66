#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/econometrics/internal/data_rows.hpp>
#include <tesela/algorithms/econometrics/internal/equation_tasks.hpp>
#include <tesela/host/minimum_norm.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tesela::detail {

using namespace kernels;
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

index_t position(const std::vector<index_t>& columns, index_t c) {
  return std::find(columns.begin(), columns.end(), c) - columns.begin();
}

/// Returns the last column of the upper triangle R, columns scaled to size 1, whose distance from the span of the
/// others is within a factor of two of the smallest distance. Among mutually dependent columns it is the last one.
index_t most_dependent_column(Graph& g, const HostMatrix<double>& R, const std::vector<double>& norms) {
  const index_t n = R.cols();
  auto inverse = HostMatrix<double>::zeros(n, n);
  for (index_t p = 0; p < n; ++p) inverse(p, p) = 1;
  triangular_solve(g, Op::none, R, inverse);
  std::vector<double> lengths(norms.size());  // norms of the rows of the inverse: reciprocals of the distances
  for (index_t k = 0; k < n; ++k)
    for (index_t p = 0; p <= k; ++p) {
      const auto row = static_cast<std::size_t>(p);
      lengths[row] = std::hypot(lengths[row], inverse(p, k) * norms[row]);
    }
  const double most = *std::max_element(lengths.begin(), lengths.end());
  const auto last = std::find_if(lengths.rbegin(), lengths.rend(), [&](double x) { return !(x < most / 2); });
  return lengths.rend() - last - 1;
}

/// Determines the regressors that make the equation's columns dependent, in all coordinates or after projection on the
/// instruments.
void find_dependent_regressors(Graph& g, const PickedEquation& equation, const EquationResults& facts,
                               EquationEstimate& e) {
  const Variables& v = *equation.variables;
  HostMatrix<double> R = triangle_of(g, columns_of(v.A, equation.regressors));
  std::vector<double> norms;
  for (const index_t c : equation.regressors) norms.push_back(v.norms[static_cast<std::size_t>(c)]);
  const HostMatrix<double> whole = R.clone();
  const bool ill = R.rows() < R.cols() || !(triangle_condition(R, true) * v.tolerance <= 1);
  std::vector<int> heights(norms.size());
  for (const index_t j : drop_dependent(R, R.cols(), norms, v.tolerance, heights))
    e.dependent_regressors.push_back(equation.regressors[static_cast<std::size_t>(j)]);
  if (ill || !e.dependent_regressors.empty()) {
    e.status = EquationStatus::collinear;
    if (e.dependent_regressors.empty())
      e.dependent_regressors.push_back(
          equation.regressors[static_cast<std::size_t>(most_dependent_column(g, whole, norms))]);
    return;
  }
  if (equation.size() > v.rows) {
    e.status = EquationStatus::not_identified_order;
    e.excluded = v.rows - equation.exogenous;
    e.endogenous = equation.size() - equation.exogenous;
    return;
  }
  e.status = EquationStatus::not_identified_rank;
  index_t smallest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (index_t p = 0; p < equation.size(); ++p) {
    const index_t c = equation.order[static_cast<std::size_t>(p)];
    const double part = facts.facts(p, 2) / v.norms[static_cast<std::size_t>(c)];
    if (part <= v.tolerance) e.dependent_regressors.push_back(c);
    if (part < least) least = part, smallest = c;
  }
  if (e.dependent_regressors.empty()) e.dependent_regressors.push_back(smallest);
}

bool deficient(const PickedEquation& equation, const EquationResults& facts) {
  const Variables& v = *equation.variables;
  const index_t r = equation.size();
  if (r > v.rows || !(facts.facts(r, 0) * v.tolerance <= 1)) return true;
  for (index_t p = 0; p < r; ++p) {
    const index_t c = equation.order[static_cast<std::size_t>(p)];
    if (!(facts.facts(p, 2) > v.tolerance * v.norms[static_cast<std::size_t>(c)])) return true;
  }
  return false;
}

/// Returns the norm of y about its mean, or about the origin without a constant.
double total(const PickedEquation& equation) {
  const HostMatrix<double>& A = equation.variables->A;
  const index_t m = A.rows(), y = equation.dependent;
  std::vector<double> centred(&A(0, y), &A(0, y) + m);
  if (equation.constant >= 0) {
    const index_t c = equation.regressors[static_cast<std::size_t>(equation.constant)];
    const double along = dot(A, c, A, y, m) / dot(A, c, A, c, m);
    for (index_t i = 0; i < m; ++i) centred[static_cast<std::size_t>(i)] -= along * A(i, c);
  }
  return norm(m, centred.data());
}

/// Stores sigma, R2 and whether the fit is perfect, for coefficients b of A's columns and the length of their
/// residuals. Returns sigma in the units of A.
double store_fit(const PickedEquation& equation, const std::vector<double>& b, double length, SemDivisor divisor,
                 EquationEstimate& e) {
  const Variables& v = *equation.variables;
  const index_t df = e.degrees_of_freedom, constants = equation.constant >= 0 ? 1 : 0;
  const double rounding = rounding_of(equation, b.data());
  e.perfect_fit = !(length > rounding);
  if (e.perfect_fit) length = 0;
  const double s = length / std::sqrt(static_cast<double>(divisor == SemDivisor::small ? df : v.observations));
  e.sigma = std::ldexp(s, v.exponents[static_cast<std::size_t>(equation.dependent)]);
  const double all = total(equation);
  const double unexplained = all > rounding ? length / all * (length / all) : std::numeric_limits<double>::quiet_NaN();
  e.r2 = 1 - unexplained;
  e.adjusted_r2 = 1 - unexplained * static_cast<double>(v.observations - constants) / static_cast<double>(df);
  return s;
}

EquationEstimate without_estimates(EquationStatus status, const EquationEstimate& e) {
  return {.status = status, .degrees_of_freedom = e.degrees_of_freedom};
}

/// Stores the coefficients of least norm, without standard errors, if the rank of the regressors is deficient.
void estimate_least_norm(Graph& g, const PickedEquation& equation, SemDivisor divisor, EquationEstimate& e) {
  constexpr int far = 600;  // columns that differ more are not comparable in any case
  const Variables& v = *equation.variables;
  const index_t r = equation.size();
  std::vector<index_t> columns = equation.regressors;
  columns.push_back(equation.dependent);
  const HostMatrix<double> triangle = triangle_of(g, columns_of(v.A, columns));
  std::vector<int> units = units_of(equation);
  const int least = *std::min_element(units.begin(), units.end());
  HostMatrix<double> R(r, r), c(r, 1);
  for (index_t j = 0; j < r; ++j) {
    const int unit = std::min(units[static_cast<std::size_t>(j)] - least, far);
    for (index_t i = 0; i < r; ++i) R(i, j) = i <= j ? std::ldexp(triangle(i, j), -unit) : 0;
    c(j, 0) = triangle(j, r);
  }
  const MinimumNorm<double> found = minimum_norm(std::move(R), std::move(c), v.tolerance);
  if (found.rank == r || !all_finite(found.X)) return;
  double largest = 0;
  for (index_t j = 0; j < r; ++j) largest = std::max(largest, std::abs(found.X(j, 0)));
  const double rounding = 4 * static_cast<double>(r) * std::numeric_limits<double>::epsilon() * largest;
  std::vector<double> b;
  for (index_t j = 0; j < r; ++j) {
    const int unit = units[static_cast<std::size_t>(j)];
    // The unit of a column beyond `far` would enlarge a rounding error, whose share of A x is less than an eps.
    const double x = unit - least > far && std::abs(found.X(j, 0)) <= rounding ? 0 : found.X(j, 0);
    b.push_back(std::ldexp(x, -std::min(unit - least, far)));
    e.coefficients.push_back(std::ldexp(b.back(), unit));
    if (!std::isfinite(e.coefficients.back())) return e.coefficients.clear();
  }
  e.standard_errors.assign(b.size(), std::numeric_limits<double>::quiet_NaN());
  e.first_stage.resize(b.size());
  e.degrees_of_freedom = v.observations - found.rank;
  e.condition = std::numeric_limits<double>::infinity();
  store_fit(equation, b, std::hypot(found.residual_norms[0], triangle(r, r)), divisor, e);
}

}  // namespace

PickedEquation pick(const Variables& variables, const Equation& equation, const std::vector<index_t>& columns,
                    index_t constant) {
  const auto own = [&](index_t c) { return columns.empty() ? c : position(columns, c); };
  PickedEquation e;
  e.variables = &variables;
  e.dependent = own(equation.dependent);
  for (const index_t c : equation.regressors) e.regressors.push_back(own(c));
  const auto height = [&](index_t c) {
    return std::min<index_t>(variables.heights[static_cast<std::size_t>(c)], variables.rows);
  };
  const auto endogenous = [&](index_t c) { return c >= variables.instruments; };
  const auto before = [&](index_t a, index_t b) {
    return std::pair(endogenous(a), height(a)) < std::pair(endogenous(b), height(b));
  };
  std::vector<std::size_t> sorted(e.regressors.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  if (!std::is_sorted(e.regressors.begin(), e.regressors.end(), before))
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::size_t a, std::size_t b) { return before(e.regressors[a], e.regressors[b]); });
  e.places.resize(sorted.size());
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    e.order.push_back(e.regressors[sorted[k]]);
    e.places[sorted[k]] = static_cast<index_t>(k);
  }
  e.exogenous = std::count_if(e.order.begin(), e.order.end(), [&](index_t c) { return !endogenous(c); });
  const auto at = std::find(equation.regressors.begin(), equation.regressors.end(), constant);
  if (constant >= 0 && at != equation.regressors.end()) e.constant = at - equation.regressors.begin();
  e.picks = HostMatrix<int>(2, e.size() + 2);
  for (index_t p = 0; p <= e.size(); ++p) {
    const index_t c = p < e.size() ? e.order[static_cast<std::size_t>(p)] : e.dependent;
    e.picks(0, p) = static_cast<int>(c);
    e.picks(1, p) = static_cast<int>(height(c));
  }
  e.picks(0, e.size() + 1) = static_cast<int>(e.exogenous);
  e.picks(1, e.size() + 1) = e.constant < 0 ? -1 : static_cast<int>(e.places[static_cast<std::size_t>(e.constant)]);
  return e;
}

OwnBasis own_basis(Graph& g, const Variables& model, const Equation& equation) {
  OwnBasis own;
  std::vector<index_t> instruments = equation.instruments, dropped;
  for (bool again = true; again;) {
    own.columns = instruments;
    const auto add = [&](index_t c) {
      if (position(own.columns, c) == static_cast<index_t>(own.columns.size())) own.columns.push_back(c);
    };
    for (const index_t c : equation.regressors) add(c);
    add(equation.dependent);
    const index_t m = model.A.rows(), n = static_cast<index_t>(own.columns.size()), k = std::min(m, n);
    own.factors.reset();
    own.copy = columns_of(model.A, own.columns);
    const TileShape tile = qr_tile(g.runtime(), m, n);
    const auto A = TileMatrix<double>::map(g.runtime(), own.copy.data(), m, n, own.copy.ld(), tile, "A");
    own.factors.emplace(qr(g, A));
    Variables& v = own.variables;
    v.A = HostMatrix<double>::zeros(k, n);
    const auto R = TileMatrix<double>::map(g.runtime(), v.A.data(), k, n, v.A.ld(), tile, "R");
    own.factors->extract_r(g, R);
    g.wait();
    R.bring_home();
    v.norms = column_norms(v.A);
    v.tolerance = model.tolerance;
    v.observations = model.observations;
    v.exponents.clear(), v.heights.clear();
    for (index_t j = 0; j < n; ++j) {
      v.exponents.push_back(model.exponents[static_cast<std::size_t>(own.columns[static_cast<std::size_t>(j)])]);
      v.heights.push_back(static_cast<int>(std::min(j + 1, k)));
    }
    v.rows = v.instruments = static_cast<index_t>(instruments.size());
    HostMatrix<double> tried = v.A.clone();
    const auto out = drop_dependent(tried, v.rows, v.norms, v.tolerance, v.heights);
    again = !out.empty();
    for (auto j = out.rbegin(); j != out.rend(); ++j) {
      dropped.insert(dropped.begin(), instruments[static_cast<std::size_t>(*j)]);
      instruments.erase(instruments.begin() + *j);
    }
  }
  own.variables.dropped = dropped;
  own.variables.tails = orthogonal_norms(own.variables);
  return own;
}

double rounding_of(const PickedEquation& equation, const double* b) {
  const Variables& v = *equation.variables;
  double size = v.norms[static_cast<std::size_t>(equation.dependent)];
  for (index_t p = 0; p < equation.size(); ++p)
    size += std::abs(b[p]) * v.norms[static_cast<std::size_t>(equation.regressors[static_cast<std::size_t>(p)])];
  return 10 * std::sqrt(static_cast<double>(std::max(v.observations, v.count()))) * eps * size;
}

EquationEstimate equation_estimate(Graph& g, const PickedEquation& equation, const EquationResults& facts,
                                   SemDivisor divisor, bool instrumental, bool least_norm) {
  const Variables& v = *equation.variables;
  const index_t r = equation.size(), D = v.observations;
  EquationEstimate e;
  e.degrees_of_freedom = D - r;
  if (D <= r) return e.status = EquationStatus::too_few_observations, std::move(e);
  if (deficient(equation, facts)) {
    find_dependent_regressors(g, equation, facts, e);
    if (e.status == EquationStatus::collinear && least_norm) estimate_least_norm(g, equation, divisor, e);
    return e;
  }

  // Reorder to the equation's own order.
  std::vector<double> b, inverse, beside;
  for (const index_t p : equation.places) {
    b.push_back(facts.facts(p, 0)), inverse.push_back(facts.facts(p, 1)), beside.push_back(facts.facts(p, 3));
  }
  const double length = norm(facts.residual.rows, facts.residual.data), s = store_fit(equation, b, length, divisor, e);
  const int unit = v.exponents[static_cast<std::size_t>(equation.dependent)];
  for (std::size_t p = 0; p < b.size(); ++p) {
    const int exponent = unit - v.exponents[static_cast<std::size_t>(equation.regressors[p])];
    e.coefficients.push_back(std::ldexp(b[p], exponent));
    e.standard_errors.push_back(std::ldexp(s * inverse[p], exponent));
    if (!std::isfinite(e.coefficients.back() + e.standard_errors.back()))
      return without_estimates(EquationStatus::not_finite, e);
  }
  e.condition = facts.facts(r, 0);
  const index_t constants = equation.constant >= 0 ? 1 : 0;
  if (!e.perfect_fit && r > constants) {
    const double f = facts.facts(r, 1) / s;
    e.f = {f * f / static_cast<double>(r - constants), r - constants, D - r};
  }
  e.first_stage.resize(b.size());
  if (!instrumental) return e;
  if (!e.perfect_fit && v.rows > r && v.rows < D) {  // not if the instruments fit every row
    const double part = norm(v.rows, facts.residual.data) / length;
    e.sargan = {static_cast<double>(D) * part * part, v.rows - r, 0};
  }
  const index_t excluded = v.rows - equation.exogenous, left = D - v.rows;
  for (std::size_t p = 0; p < b.size(); ++p) {
    const index_t c = equation.regressors[p];
    if (c < v.instruments || left <= 0) continue;
    const double ratio = beside[p] / v.tails[static_cast<std::size_t>(c - v.instruments)];
    e.first_stage[p] = {ratio * ratio * static_cast<double>(left) / static_cast<double>(excluded), excluded, left};
  }
  return e;
}

std::vector<std::vector<std::size_t>> equation_groups(const Runtime& runtime,
                                                      const std::vector<PickedEquation>& equations,
                                                      std::vector<std::size_t> which) {
  constexpr index_t most_elements = index_t{1} << 26;  // elements of the columns of a group
  std::stable_sort(which.begin(), which.end(),
                   [&](std::size_t a, std::size_t b) { return equations[a].size() > equations[b].size(); });
  const index_t share = static_cast<index_t>(which.size()) / std::max<index_t>(4 * runtime.gpus(), 1);
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t i : which) {
    const PickedEquation& largest = equations[groups.empty() ? i : groups.back().front()];
    const index_t r = largest.size(), elements = std::max<index_t>(largest.variables->rows * r, 1),
                  most = runtime.gpus() == 0 ? 1 : std::clamp<index_t>(share, 1, most_elements / elements + 1);
    if (groups.empty() || static_cast<index_t>(groups.back().size()) >= most ||
        4 * equations[i].size() < 3 * r)  // otherwise much of the storage would be padding
      groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

HostMatrix<int> group_picks(const std::vector<PickedEquation>& equations, const std::vector<std::size_t>& group) {
  const index_t r = equations[group.front()].size(), count = static_cast<index_t>(group.size());
  HostMatrix<int> picks(2, count * (r + 2));
  for (index_t i = 0; i < count; ++i) {
    const PickedEquation& e = equations[group[static_cast<std::size_t>(i)]];
    for (index_t p = 0; p < r + 2; ++p) {
      const index_t from = p < e.size() ? p : p < r ? -1 : p - r + e.size();
      picks(0, i * (r + 2) + p) = from < 0 ? -1 : e.picks(0, from);
      picks(1, i * (r + 2) + p) = from < 0 ? 0 : e.picks(1, from);
    }
  }
  return picks;
}

}  // namespace tesela::detail
