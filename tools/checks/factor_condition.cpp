#include "tools/checks/factor_error.hpp"
#include <tesela/algorithms/dense/range_scaling.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tesela {
namespace {

template <class T>
int exponent(T x) {
  return x != 0 && std::isfinite(x) ? std::ilogb(x) : 0;
}

/// Returns ||2^-row_i A 2^-column_j||_F.
template <class T>
double scaled_norm(const HostMatrix<T>& a, const std::vector<int>& row, const std::vector<int>& column) {
  double squares = 0;
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) {
      squares += std::norm(times_power_of_two(with_parts<T, double>(a(i, j)), -row[at(i)] - column[at(j)]));
    }
  return std::sqrt(squares);
}

/// Runs steps of the power method: solve(x, op) makes x op(B)^-1 x.
template <class Wide, class Solve>
double inverse_norm(index_t n, const Solve& solve) {
  const Generator<double> random{Pattern::uniform, 0, 1, 4712};
  std::vector<Wide> x(at(n));
  for (index_t i = 0; i < n; ++i) x[at(i)] = random(i, 0) < 0 ? -1 : 1;
  double norm = 0, length = std::sqrt(static_cast<double>(n));
  for (int step = 0; step < 5; ++step)
    for (const Op op : {Op::none, adjoint<Wide>}) {
      for (Wide& value : x) value /= length;
      solve(x, op);
      length = blas::nrm2<Wide>(n, x.data());
      if (!std::isfinite(length)) return std::numeric_limits<double>::infinity();
      norm = std::max(norm, length);
    }
  return norm;
}

}  // namespace

template <class T>
double lu_condition(const HostMatrix<T>& a, const HostMatrix<T>& factors, std::span<const index_t> rows) {
  const index_t n = a.rows();
  if (n == 0) return 0;
  const auto [row, column] = units_of(n, n, [&](const auto& f) {
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) f(i, j, largest_part(a(i, j)));
  });
  std::vector<int> pivot(at(n));
  for (index_t i = 0; i < n; ++i) pivot[at(i)] = row[at(rows.empty() ? i : rows[at(i)])];
  // P D A E = (D' L D'^-1) (D' U E), where D' = P D P^T.
  using Wide = with_parts<T, double>;
  HostMatrix<Wide> lu(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i)
      lu(i, j) = times_power_of_two(Wide(factors(i, j)), (i > j ? pivot[at(j)] : -column[at(j)]) - pivot[at(i)]);
  return scaled_norm(a, row, column) * inverse_norm<Wide>(n, [&](std::vector<Wide>& x, Op op) {
           if (op != Op::none) blas::trsm<Wide>(op, n, 1, lu.data(), n, x.data(), n);
           blas::solve_unit_lower<Wide>(op, n, 1, lu.data(), n, x.data(), n);
           if (op == Op::none) blas::trsm<Wide>(op, n, 1, lu.data(), n, x.data(), n);
         });
}

template <class T>
double cholesky_condition(const HostMatrix<T>& a, const HostMatrix<T>& factors) {
  const index_t n = a.rows();
  if (n == 0) return 0;
  std::vector<int> unit(at(n));
  for (index_t i = 0; i < n; ++i) unit[at(i)] = exponent(real_part(a(i, i))) / 2;
  using Wide = with_parts<T, double>;
  HostMatrix<Wide> r(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) r(i, j) = times_power_of_two(Wide(factors(i, j)), -unit[at(j)]);
  return scaled_norm(a, unit, unit) * inverse_norm<Wide>(n, [&](std::vector<Wide>& x, Op) {
           for (const Op op : {adjoint<T>, Op::none}) blas::trsm<Wide>(op, n, 1, r.data(), n, x.data(), n);
         });
}

TESELA_FUNCTIONS_FOR_NUMBERS(lu_condition, cholesky_condition)

}  // namespace tesela
