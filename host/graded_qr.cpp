#include <tesela/host/graded_qr.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace tesela::kernels {
namespace {

/// Returns the largest exponents of the columns of all classes, with rows of size 1. Errors are relative to the rows'
/// sizes, so a column that is large only in light rows stays small.
template <class T>
std::vector<int> column_units(const std::vector<RowsOfSize<T>>& classes, index_t n) {
  constexpr int none = std::numeric_limits<int>::min();
  std::vector<int> result(at(n), none);
  for (const RowsOfSize<T>& c : classes)
    for (index_t j = 0; j < n; ++j) {
      const T* const column = c.rows.data() + j * c.rows.ld();
      if (std::any_of(column, column + c.rows.rows(), [](T x) { return x != T(0); }))
        result[at(j)] = std::max(result[at(j)], largest_exponent(c.rows.rows(), column));
    }
  for (int& unit : result) unit = unit == none ? 0 : unit;
  return result;
}

template <class T>
void scale_columns_by(HostMatrix<T>& a, const std::vector<int>& exponents, int sign) {
  for (index_t j = 0; j < a.cols(); ++j)
    scale_by_power_of_two(std::span(a.data() + j * a.ld(), at(a.rows())), sign * exponents[at(j)]);
}

/// Returns bounds of the pivots from step k on that errors in the rows, at most `sizes`, would cause if R22 were zero:
/// with R11 in the first k columns and errors E, Q2' (E2 - E1 R11^-1 R12). Q2 is small in heavy rows and accurate to
/// the last digit, because reflectors of sorted rows begin at unit vectors of light rows.
template <class T>
std::vector<double> errors_from(index_t k, const HostMatrix<T>& S, const std::vector<T>& tau,
                                const std::vector<double>& sizes) {
  const index_t count = S.rows(), n = S.cols(), left = count - k;
  HostMatrix<T> Q = HostMatrix<T>::zeros(count, left);
  for (index_t l = 0; l < left; ++l) Q(k + l, l) = T(1);
  lapack::ormqr(Op::none, count, left, static_cast<index_t>(tau.size()), S.data(), S.ld(), tau.data(), Q.data(),
                Q.ld());
  using Wide = with_parts<T, double>;
  double factor = 1;
  std::vector<Wide> x(at(k));
  for (index_t j = k; j < n; ++j) {
    double sum = 1;
    for (index_t i = k - 1; i >= 0; --i) {
      Wide value = S(i, j);
      for (index_t p = i + 1; p < k; ++p) value -= times(Wide(S(i, p)), x[at(p)]);
      x[at(i)] = value / Wide(S(i, i));
      sum += std::abs(x[at(i)]);
    }
    factor = std::max(factor, sum);
  }
  std::vector<double> errors(at(left));
  double together = 0;
  for (index_t l = left - 1; l >= 0; --l) {
    double one = 0;
    for (index_t i = 0; i < count; ++i) one += magnitude(Q(i, l)) * sizes[at(i)];
    together = std::hypot(together, one);
    errors[at(l)] = factor * together;
  }
  return errors;
}

/// Returns the rank of S, factored with pivoting: the number of pivots before the first that errors of rcond in the
/// rows may have caused. `sizes` has the sizes of the rows' classes.
template <class T>
index_t rank_of(const HostMatrix<T>& S, const std::vector<T>& tau, const std::vector<double>& sizes, double rcond) {
  const auto steps = static_cast<index_t>(tau.size());
  std::vector<double> largest(sizes.size() + 1, 0.0);  // of the rows from this one on
  for (std::size_t i = sizes.size(); i-- > 0;) largest[i] = std::max(largest[i + 1], sizes[i]);
  const double doubt = 1 / std::sqrt(static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()));
  std::vector<double> errors;
  index_t rank = 0, known_from = 0;
  for (; rank < steps; ++rank) {
    const double pivot = magnitude(S(rank, rank)), least = rcond * largest[at(rank)];
    if (!(pivot > least)) break;
    if (pivot > doubt * least) continue;
    if (errors.empty()) {
      errors = errors_from(rank, S, tau, sizes);
      known_from = rank;
    }
    if (!(pivot > rcond * errors[at(rank - known_from)])) break;
  }
  return rank;
}

}  // namespace

template <class T>
void GradedQr<T>::sort(const std::vector<RowsOfSize<T>>& classes, int most) {
  for (std::size_t in = 0; in < bases_.size(); ++in) {
    const HostMatrix<T>& N = bases_[in].N;
    for (index_t i = 0; i < N.rows(); ++i) {
      real_t<T> size = 0;
      for (index_t j = 0; j < N.cols(); ++j) size = std::max(size, largest_part(N(i, j)));
      order_.push_back({in, i, std::ldexp(static_cast<double>(size), classes[in].exponent - most)});
    }
  }
  std::stable_sort(order_.begin(), order_.end(), [](const Place& a, const Place& b) { return a.size > b.size; });
}

template <class T>
GradedQr<T>::GradedQr(std::vector<RowsOfSize<T>> classes, double rcond) {
  const index_t n = classes.empty() ? 0 : classes.front().rows.cols();
  int most = std::numeric_limits<int>::min();
  for (const RowsOfSize<T>& c : classes) most = std::max(most, c.exponent);
  const std::vector<int> of_columns = column_units(classes, n);
  for (RowsOfSize<T>& c : classes) {
    first_.push_back(rows_);
    rows_ += c.rows.rows();
    scale_columns_by(c.rows, of_columns, -1);
    const std::vector<int> own = scale_columns(c.rows);
    bases_.emplace_back(std::move(c.rows), rcond);
    scale_columns_by(bases_.back().N, own, 1);
  }
  sort(classes, most);
  const auto count = static_cast<index_t>(order_.size()), steps = std::min(count, n);
  S_ = HostMatrix<T>(count, n);
  std::vector<double> sizes;
  for (index_t i = 0; i < count; ++i) {
    const Place& place = order_[at(i)];
    const int e = classes[place.in].exponent - most;
    for (index_t j = 0; j < n; ++j) S_(i, j) = times_power_of_two(bases_[place.in].N(place.row, j), e);
    sizes.push_back(std::ldexp(1.0, e));
  }
  pivots.resize(at(n));
  std::iota(pivots.begin(), pivots.end(), index_t{0});
  tau_.resize(at(steps));
  if (steps > 0) lapack::geqp3(count, n, S_.data(), S_.ld(), pivots, tau_.data());
  const index_t rank = steps > 0 ? rank_of(S_, tau_, sizes, rcond) : 0;
  R = HostMatrix<T>::zeros(rank, n);
  for (index_t i = 0; i < rank; ++i) {
    const int e = std::ilogb(largest_part(S_(i, i)));
    row_exponents.push_back(e + most);
    for (index_t j = i; j < n; ++j) R(i, j) = times_power_of_two(S_(i, j), of_columns[at(pivots[at(j)])] - e);
  }
  int below = std::numeric_limits<int>::min();
  for (index_t i = rank; i < count; ++i) below = std::max(below, classes[order_[at(i)].in].exponent);
  for (std::size_t in = 0; in < bases_.size(); ++in) {
    const index_t end = in + 1 < first_.size() ? first_[in + 1] : rows_;
    if (end - first_[in] > bases_[in].rank) below = std::max(below, classes[in].exponent);
  }
  exponent_below = below == std::numeric_limits<int>::min() ? 0 : below;
}

template <class T>
void GradedQr<T>::move(Op op, HostMatrix<T>& X) const {
  std::vector<index_t> places(at(rows_));  // by rows of [sorted; below]
  std::vector<bool> sorted(at(rows_), false);
  std::size_t next = 0;
  for (const Place& place : order_) {
    places[next] = first_[place.in] + place.row;
    sorted[at(places[next++])] = true;
  }
  for (index_t i = 0; i < rows_; ++i)
    if (!sorted[at(i)]) places[next++] = i;
  std::vector<T> column(at(rows_));
  for (index_t j = 0; j < X.cols(); ++j) {
    for (index_t i = 0; i < rows_; ++i)
      if (op != Op::none)
        column[at(i)] = X(places[at(i)], j);
      else
        column[at(places[at(i)])] = X(i, j);
    std::copy(column.begin(), column.end(), X.data() + j * X.ld());
  }
}

template <class T>
void GradedQr<T>::apply(Op op, HostMatrix<T>& X) const {
  if (X.size() == 0) return;
  const auto by_bases = [&] {
    for (std::size_t in = 0; in < bases_.size(); ++in) {
      const index_t first = first_[in], count = (in + 1 < first_.size() ? first_[in + 1] : rows_) - first;
      HostMatrix<T> part(count, X.cols());
      for (index_t j = 0; j < X.cols() && count > 0; ++j) std::copy_n(&X(first, j), count, &part(0, j));
      bases_[in].apply(op, part);
      for (index_t j = 0; j < X.cols() && count > 0; ++j) std::copy_n(&part(0, j), count, &X(first, j));
    }
  };
  const auto by_sorted = [&] {
    if (!tau_.empty())
      lapack::ormqr(op, S_.rows(), X.cols(), static_cast<index_t>(tau_.size()), S_.data(), S_.ld(), tau_.data(),
                    X.data(), X.ld());
  };
  if (op != Op::none) {
    by_bases();
    move(op, X);
    by_sorted();
  } else {
    by_sorted();
    move(op, X);
    by_bases();
  }
}

TESELA_CLASSES_FOR_NUMBERS(GradedQr)

}  // namespace tesela::kernels
