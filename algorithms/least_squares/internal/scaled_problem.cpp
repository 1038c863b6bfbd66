#include <tesela/algorithms/least_squares/internal/scaled_problem.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tesela::detail {
namespace {

constexpr int none = std::numeric_limits<int>::min() / 4;  // exponent of zero

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

template <class T>
int exponent_of(T value) {
  return value != T(0) ? std::ilogb(value) : none;
}

template <class T>
int exponent_of_column(const HostMatrix<T>& a, index_t j) {
  int most = none;
  for (index_t i = 0; i < a.rows(); ++i) most = std::max(most, exponent_of(a(i, j)));
  return most;
}

/// Returns the exponent of the size of each row of C, its columns divided by 2^units; 0 for zero rows.
template <class T>
std::vector<int> row_sizes(const HostMatrix<T>& C, const std::vector<int>& units) {
  std::vector<int> sizes(at(C.rows()), none);
  for (index_t j = 0; j < C.cols(); ++j)
    for (index_t i = 0; i < C.rows(); ++i)
      if (C(i, j) != T(0)) sizes[at(i)] = std::max(sizes[at(i)], exponent_of(C(i, j)) - units[at(j)]);
  for (int& size : sizes) size = size == none ? 0 : size;
  return sizes;
}

/// Returns the exponent of the size of column j of C, its rows divided by 2^of_rows.
template <class T>
int column_size(const HostMatrix<T>& C, index_t j, const std::vector<int>& of_rows) {
  int size = none;
  for (index_t i = 0; i < C.rows(); ++i)
    if (C(i, j) != T(0)) size = std::max(size, exponent_of(C(i, j)) - of_rows[at(i)]);
  return size;
}

}  // namespace

template <class T>
std::vector<int> unknown_units(const HostMatrix<T>& R, const HostMatrix<T>& C) {
  std::vector<int> units(at(R.cols()), 0);
  int most = none;
  for (index_t j = 0; j < R.cols(); ++j) {
    units[at(j)] = exponent_of_column(R, j);
    most = std::max(most, units[at(j)]);
  }
  const std::vector<int> of_rows = row_sizes(C, std::vector<int>(units.size(), 0));
  most = most == none ? 0 : most;
  for (index_t j = 0; j < R.cols(); ++j)
    if (units[at(j)] == none) {
      const int size = column_size(C, j, of_rows);
      units[at(j)] = most + (size == none ? 0 : std::max(size, -1000));
    }
  return units;
}

template <class T>
HostMatrix<T> equilibrated(const HostMatrix<T>& C) {
  std::vector<int> columns(at(C.cols()), 0), rows;
  for (int sweep = 0; sweep < 4; ++sweep) {
    rows = row_sizes(C, columns);
    for (index_t j = 0; j < C.cols(); ++j) {
      const int size = column_size(C, j, rows);
      columns[at(j)] = size == none ? 0 : size;
    }
  }
  rows = row_sizes(C, columns);
  HostMatrix<T> result(C.rows(), C.cols());
  for (index_t j = 0; j < C.cols(); ++j)
    for (index_t i = 0; i < C.rows(); ++i) result(i, j) = std::ldexp(C(i, j), -rows[at(i)] - columns[at(j)]);
  return result;
}

template <class T>
ScaledProblem<T> scaled_problem(const ExtendedQr<T>& e, const HostMatrix<T>& C, const HostMatrix<T>& D,
                                std::vector<int> units) {
  const index_t n = e.R.cols(), r = e.C.cols(), p = C.rows();
  ScaledProblem<T> s{HostMatrix<T>(e.R.rows(), n), HostMatrix<T>(p, n), HostMatrix<T>(e.C.rows(), r),
                     HostMatrix<T>(p, r)};
  s.of_rows = row_sizes(C, units);
  s.order.resize(at(n));
  std::iota(s.order.begin(), s.order.end(), index_t{0});
  std::vector<int> sizes(at(n));
  for (index_t j = 0; j < n; ++j) sizes[at(j)] = column_size(C, j, s.of_rows) - units[at(j)];
  // QR of C^T keeps the digits of small rows below large ones. If the sizes differ little, the order does not change.
  constexpr int little = 10;
  if (n > 0 && *std::max_element(sizes.begin(), sizes.end()) > *std::min_element(sizes.begin(), sizes.end()) + little)
    std::stable_sort(s.order.begin(), s.order.end(), [&](index_t a, index_t b) { return sizes[at(a)] > sizes[at(b)]; });
  for (index_t j = 0; j < n; ++j) {
    const index_t from = s.order[at(j)];
    const int unit = units[at(from)];
    s.units.push_back(unit);
    for (index_t i = 0; i < e.R.rows(); ++i) s.M(i, j) = std::ldexp(e.R(i, from), -unit);
    for (index_t i = 0; i < p; ++i) s.C(i, j) = std::ldexp(C(i, from), -unit - s.of_rows[at(i)]);
  }
  for (index_t k = 0; k < r; ++k) {
    int size = exponent_of_column(e.C, k);
    for (index_t i = 0; i < p; ++i)
      if (D(i, k) != T(0)) size = std::max(size, exponent_of(D(i, k)) - s.of_rows[at(i)]);
    s.of_x.push_back(size == none ? 0 : size);
    for (index_t i = 0; i < e.C.rows(); ++i) s.b(i, k) = std::ldexp(e.C(i, k), -s.of_x.back());
    for (index_t i = 0; i < p; ++i) s.d(i, k) = std::ldexp(D(i, k), -s.of_rows[at(i)] - s.of_x.back());
  }
  return s;
}

template ScaledProblem<float> scaled_problem(const ExtendedQr<float>&, const HostMatrix<float>&,
                                             const HostMatrix<float>&, std::vector<int>);
template ScaledProblem<double> scaled_problem(const ExtendedQr<double>&, const HostMatrix<double>&,
                                              const HostMatrix<double>&, std::vector<int>);
template std::vector<int> unknown_units(const HostMatrix<float>&, const HostMatrix<float>&);
template std::vector<int> unknown_units(const HostMatrix<double>&, const HostMatrix<double>&);
template HostMatrix<float> equilibrated(const HostMatrix<float>&);
template HostMatrix<double> equilibrated(const HostMatrix<double>&);

}  // namespace tesela::detail
