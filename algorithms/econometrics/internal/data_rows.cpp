#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/econometrics/internal/data_rows.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace tesela::detail {

Clusters::Clusters(const std::vector<index_t>& of_rows) {
  std::map<index_t, index_t> numbers;
  for (const index_t c : of_rows)
    rows_.push_back(numbers.emplace(c, static_cast<index_t>(numbers.size())).first->second);
  count_ = static_cast<index_t>(numbers.size());
}

HostMatrix<double> Clusters::sums(HostMatrix<double> a) const {
  if (none()) return a;
  auto s = HostMatrix<double>::zeros(count_, a.cols());
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t t = 0; t < a.rows(); ++t) s(rows_[static_cast<std::size_t>(t)], j) += a(t, j);
  return s;
}

double Clusters::correction(SemDivisor divisor, index_t D, index_t r) const {
  if (divisor != SemDivisor::small) return 1;
  const auto rows = static_cast<double>(D), count = static_cast<double>(count_);
  return (none() ? rows : count / (count - 1) * (rows - 1)) / (rows - static_cast<double>(r));
}

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

void times_rows(HostMatrix<double>& a, const HostMatrix<double>& u, index_t column) {
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t t = 0; t < a.rows(); ++t) a(t, j) *= u(t, column);
}

HostMatrix<double> inverse_of(Graph& g, const HostMatrix<double>& R) {
  auto inverse = HostMatrix<double>::zeros(R.cols(), R.cols());
  for (index_t k = 0; k < R.cols(); ++k) inverse(k, k) = 1;
  triangular_solve(g, Op::none, R, inverse);
  return inverse;
}

std::vector<int> units_of(const PickedEquation& e) {
  std::vector<int> units;
  for (const index_t c : e.regressors)
    units.push_back(e.variables->exponents[static_cast<std::size_t>(e.dependent)] -
                    e.variables->exponents[static_cast<std::size_t>(c)]);
  return units;
}

HostMatrix<double> in_units(HostMatrix<double> V, const std::vector<int>& units) {
  for (index_t j = 0; j < V.cols(); ++j)
    for (index_t i = 0; i < V.rows(); ++i)
      V(i, j) = std::ldexp(V(i, j), units[static_cast<std::size_t>(i)] + units[static_cast<std::size_t>(j)]);
  return V;
}

HostMatrix<double> instrument_basis(Graph& g, const HostMatrix<double>& data, const Variables& v,
                                    const std::vector<index_t>& own) {
  std::vector<index_t> kept;
  for (index_t c = 0; c < v.instruments; ++c)
    if (!own.empty() || std::find(v.dropped.begin(), v.dropped.end(), c) == v.dropped.end()) kept.push_back(c);
  return product(g, Op::none, Op::none, scaled_columns(data, v, own, kept), inverse_of(g, first_rows_of(v, kept)));
}

}  // namespace tesela::detail
