#include <tesela/host/graded_qr.hpp>
#include <tesela/host/graded_rows.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela::kernels {

template <class T>
GradedTriangle<T> join_graded_rows(std::vector<RowClass<T>> classes, double rcond) {
  const index_t n = classes.front().R.cols(), r = classes.front().C.cols();
  int most = classes.front().exponent;
  index_t count = 0;
  std::vector<RowsOfSize<T>> rows;
  for (RowClass<T>& c : classes) {
    most = std::max(most, c.exponent);
    count += c.C.rows();
    for (index_t j = 0; j < n; ++j)  // elements below the diagonal are not read
      for (index_t i = j + 1; i < c.R.rows(); ++i) c.R(i, j) = T(0);
    rows.push_back({c.exponent, std::move(c.R)});
  }
  const GradedQr<T> qr(std::move(rows), rcond);
  HostMatrix<T> Y(count, r);
  index_t first = 0;
  std::vector<int> of_c;
  for (index_t j = 0; j < r; ++j) {
    real_t<T> largest = 0;  // the largest element of the column, independent of its row's size
    for (const RowClass<T>& c : classes)
      for (index_t i = 0; i < c.C.rows(); ++i) largest = std::max(largest, largest_part(c.C(i, j)));
    of_c.push_back(largest > 0 ? std::ilogb(largest) : 0);
  }
  for (const RowClass<T>& c : classes) {
    for (index_t j = 0; j < r; ++j)
      for (index_t i = 0; i < c.C.rows(); ++i)
        Y(first + i, j) = times_power_of_two(c.C(i, j), c.exponent - most - of_c[static_cast<std::size_t>(j)]);
    first += c.C.rows();
  }
  qr.apply(adjoint<T>, Y);

  const index_t rank = qr.rank();
  GradedTriangle<T> result{HostMatrix<T>::zeros(n, n), HostMatrix<T>::zeros(n, r), qr.pivots, qr.row_exponents, {}};
  result.row_exponents.resize(static_cast<std::size_t>(n), 0);
  for (index_t i = 0; i < rank; ++i) {
    const int e = qr.row_exponents[static_cast<std::size_t>(i)] - most;
    for (index_t j = i; j < n; ++j) result.R(i, j) = qr.R(i, j);
    for (index_t j = 0; j < r; ++j) result.C(i, j) = times_power_of_two(Y(i, j), of_c[static_cast<std::size_t>(j)] - e);
  }
  for (index_t j = 0; j < r; ++j)
    result.residual_norms.push_back(std::ldexp(rank < count ? euclidean_norm(count - rank, &Y(rank, j)) : 0,
                                               of_c[static_cast<std::size_t>(j)] + most));
  return result;
}

TESELA_FUNCTIONS_FOR_NUMBERS(join_graded_rows)

}  // namespace tesela::kernels
