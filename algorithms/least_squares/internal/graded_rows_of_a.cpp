#include <tesela/algorithms/least_squares/internal/graded_rows_of_a.hpp>
#include <tesela/algorithms/least_squares/internal/row_classes.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tesela::detail {

using namespace kernels;
namespace {

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

std::vector<index_t> large_first(const std::vector<int>& exponents) {
  std::vector<index_t> order(exponents.size());
  std::iota(order.begin(), order.end(), index_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](index_t a, index_t b) { return exponents[at(a)] > exponents[at(b)]; });
  return order;
}

template <class T>
std::vector<RowsOfSize<T>> classes_of(const HostMatrix<T>& A, const std::vector<index_t>& order,
                                      const std::vector<int>& exponents) {
  std::vector<RowsOfSize<T>> classes;
  for (auto first = order.begin(); first != order.end();) {
    const int e = exponents[at(*first)];
    const auto end = std::find_if(first, order.end(), [&](index_t i) {  // zero rows are in the last class
      return exponents[at(i)] != std::numeric_limits<int>::min() && exponents[at(i)] <= e - class_width<T>;
    });
    HostMatrix<T> rows(end - first, A.cols());
    for (index_t i = 0; i < rows.rows(); ++i)
      for (index_t j = 0; j < A.cols(); ++j) rows(i, j) = std::ldexp(A(*(first + i), j), -e);
    classes.push_back({e, std::move(rows)});
    first = end;
  }
  return classes;
}

template <class T>
HostMatrix<T> rows_in_order(const HostMatrix<T>& X, const std::vector<index_t>& order, bool back) {
  HostMatrix<T> result(X.rows(), X.cols());
  for (index_t j = 0; j < X.cols(); ++j)
    for (index_t i = 0; i < X.rows(); ++i)
      if (back)
        result(order[at(i)], j) = X(i, j);
      else
        result(i, j) = X(order[at(i)], j);
  return result;
}

}  // namespace

template <class T>
GradedRowsOfA<T>::GradedRowsOfA(HostMatrix<T> A, const std::vector<int>& exponents, double rcond)
    : order_(large_first(exponents)), qr_(classes_of(A, order_, exponents), rcond) {}

template <class T>
void GradedRowsOfA<T>::apply(Op op, HostMatrix<T>& X) const {
  if (op == Op::transpose) X = rows_in_order(X, order_, false);
  qr_.apply(op, X);
  if (op == Op::none) X = rows_in_order(X, order_, true);
}

template class GradedRowsOfA<float>;
template class GradedRowsOfA<double>;

}  // namespace tesela::detail
