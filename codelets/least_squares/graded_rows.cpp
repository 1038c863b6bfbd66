#include <tesela/codelets/least_squares/graded_rows.hpp>
#include <tesela/codelets/least_squares/minimum_norm.hpp>
#include <tesela/codelets/least_squares/rank_revealing.hpp>
#include <tesela/codelets/libraries/lapack.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tesela::kernels {
namespace {

/// The largest exponents of the columns of all classes: what they are divided by.
template <class T>
std::vector<int> units(const std::vector<RowClass<T>>& classes, HostMatrix<T> RowClass<T>::*part) {
  constexpr int none = std::numeric_limits<int>::min();
  std::vector<int> result(static_cast<std::size_t>((classes.front().*part).cols()), none);
  for (const RowClass<T>& rows : classes) {
    const HostMatrix<T>& a = rows.*part;
    for (index_t j = 0; j < a.cols(); ++j) {
      const T* const column = a.data() + j * a.ld();
      if (std::any_of(column, column + a.rows(), [](T x) { return x != T(0); }))
        result[static_cast<std::size_t>(j)] =
            std::max(result[static_cast<std::size_t>(j)], largest_exponent(a.rows(), column));
    }
  }
  for (int& unit : result) unit = unit == none ? 0 : unit;
  return result;
}

template <class T>
void divide_columns(HostMatrix<T>& a, const std::vector<int>& units) {
  for (index_t j = 0; j < a.cols(); ++j)
    scale_by_power_of_two(std::span(a.data() + j * a.ld(), static_cast<std::size_t>(a.rows())),
                          -units[static_cast<std::size_t>(j)]);
}

template <class T>
HostMatrix<T> first_rows_of(const HostMatrix<T>& a, index_t count) {
  HostMatrix<T> top(count, a.cols());
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < count; ++i) top(i, j) = a(i, j);
  return top;
}

/// Cuts a class whose rank is in doubt to the rows of its rank; answers the norms of what C loses.
template <class T>
std::vector<T> cut_to_rank(RowClass<T>& rows, double rcond) {
  const index_t k = rows.R.rows(), n = rows.R.cols();
  std::vector<T> lost(static_cast<std::size_t>(rows.C.cols()), T(0));
  if (rows.R.size() == 0 || (k == n && 10 * rcond * triangle_condition(rows.R, true) < 1)) return lost;
  HostMatrix<T> R = rows.R.clone(), C = rows.C.clone();
  const std::vector<int> exponents = scale_columns(R);
  for (index_t j = 0; j < n; ++j)  // what stands below the diagonal was never read
    for (index_t i = j + 1; i < k; ++i) R(i, j) = T(0);
  const RankRevealed revealed = reveal_rank(R, C, rcond);
  if (revealed.rank == k) return lost;
  rows.R = HostMatrix<T>(revealed.rank, n);
  for (index_t j = 0; j < n; ++j) {
    const auto to = static_cast<std::size_t>(revealed.pivots[static_cast<std::size_t>(j)]);
    for (index_t i = 0; i < revealed.rank; ++i)
      rows.R(i, static_cast<index_t>(to)) = std::ldexp(R(i, j), exponents[to]);
  }
  for (index_t j = 0; j < C.cols(); ++j)
    lost[static_cast<std::size_t>(j)] = euclidean_norm(k - revealed.rank, &C(revealed.rank, j));
  rows.C = first_rows_of(C, revealed.rank);
  return lost;
}

struct Place {
  std::size_t in = 0;  // which class
  index_t row = 0;
  double size = 0;
};

/// All rows in the order of their sizes.
template <class T>
std::vector<Place> sorted_rows(const std::vector<RowClass<T>>& classes, int most) {
  std::vector<Place> all;
  for (std::size_t in = 0; in < classes.size(); ++in)
    for (index_t i = 0; i < classes[in].R.rows(); ++i) {
      T size = 0;
      for (index_t j = 0; j < classes[in].R.cols(); ++j) size = std::max(size, std::abs(classes[in].R(i, j)));
      all.push_back({in, i, std::ldexp(static_cast<double>(size), classes[in].exponent - most)});
    }
  std::stable_sort(all.begin(), all.end(), [](const Place& a, const Place& b) { return a.size > b.size; });
  return all;
}

/// What errors in the rows, `sizes` at most, may leave in the pivots from step k on: with the first k columns R11, and
/// rows E of errors, Q2' (E2 - E1 R11^-1 R12) in place of R22. Q2 is small where rows are heavy, and how small is known
/// to the last digit, since reflectors of sorted rows begin at unit vectors of light ones.
template <class T>
std::vector<double> errors_from(index_t k, const HostMatrix<T>& S, const std::vector<T>& tau,
                                const std::vector<double>& sizes) {
  const index_t count = S.rows(), n = S.cols(), left = count - k;
  HostMatrix<T> Q = HostMatrix<T>::zeros(count, left);
  for (index_t l = 0; l < left; ++l) Q(k + l, l) = T(1);
  lapack::ormqr(Op::none, count, left, static_cast<index_t>(tau.size()), S.data(), S.ld(), tau.data(), Q.data(),
                Q.ld());
  double factor = 1;
  std::vector<double> x(static_cast<std::size_t>(k));
  for (index_t j = k; j < n; ++j) {
    double sum = 1;
    for (index_t i = k - 1; i >= 0; --i) {
      double value = static_cast<double>(S(i, j));
      for (index_t p = i + 1; p < k; ++p) value -= static_cast<double>(S(i, p)) * x[static_cast<std::size_t>(p)];
      x[static_cast<std::size_t>(i)] = value / static_cast<double>(S(i, i));
      sum += std::abs(x[static_cast<std::size_t>(i)]);
    }
    factor = std::max(factor, sum);
  }
  std::vector<double> errors(static_cast<std::size_t>(left));
  double together = 0;
  for (index_t l = left - 1; l >= 0; --l) {
    double one = 0;
    for (index_t i = 0; i < count; ++i)
      one += std::abs(static_cast<double>(Q(i, l))) * sizes[static_cast<std::size_t>(i)];
    together = std::hypot(together, one);
    errors[static_cast<std::size_t>(l)] = factor * together;
  }
  return errors;
}

/// The rank of S, factored with pivoting: a pivot that errors of rcond in the rows may have left ends it. sizes: of the
/// rows' classes.
template <class T>
index_t rank_of(const HostMatrix<T>& S, const std::vector<T>& tau, const std::vector<double>& sizes, double rcond) {
  const auto steps = static_cast<index_t>(tau.size());
  std::vector<double> largest(sizes.size() + 1, 0.0);  // of the rows from here on
  for (std::size_t i = sizes.size(); i-- > 0;) largest[i] = std::max(largest[i + 1], sizes[i]);
  const double doubt = 1 / std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));
  std::vector<double> errors;
  index_t rank = 0, known_from = 0;
  for (; rank < steps; ++rank) {
    const double pivot = std::abs(static_cast<double>(S(rank, rank))),
                 least = rcond * largest[static_cast<std::size_t>(rank)];
    if (!(pivot > least)) break;
    if (pivot > doubt * least) continue;
    if (errors.empty()) {
      errors = errors_from(rank, S, tau, sizes);
      known_from = rank;
    }
    if (!(pivot > rcond * errors[static_cast<std::size_t>(rank - known_from)])) break;
  }
  return rank;
}

}  // namespace

template <class T>
GradedTriangle<T> join_graded_rows(std::vector<RowClass<T>> classes, double rcond) {
  const index_t n = classes.front().R.cols(), r = classes.front().C.cols();
  int most = classes.front().exponent;
  for (const RowClass<T>& rows : classes) most = std::max(most, rows.exponent);
  const std::vector<int> of_a = units(classes, &RowClass<T>::R), of_c = units(classes, &RowClass<T>::C);
  std::vector<T> left(static_cast<std::size_t>(r), T(0));
  for (RowClass<T>& rows : classes) {
    divide_columns(rows.R, of_a);
    divide_columns(rows.C, of_c);
    const std::vector<T> lost = cut_to_rank(rows, rcond);
    for (std::size_t j = 0; j < left.size(); ++j)
      left[j] = std::hypot(left[j], std::ldexp(lost[j], rows.exponent - most));
  }

  const std::vector<Place> order = sorted_rows(classes, most);
  const auto count = static_cast<index_t>(order.size()), steps = std::min(count, n);
  HostMatrix<T> S(count, n), Y(count, r);
  std::vector<double> sizes(order.size());
  for (index_t i = 0; i < count; ++i) {
    const Place& place = order[static_cast<std::size_t>(i)];
    const RowClass<T>& rows = classes[place.in];
    const int e = rows.exponent - most;
    for (index_t j = 0; j < n; ++j) S(i, j) = std::ldexp(rows.R(place.row, j), e);
    for (index_t j = 0; j < r; ++j) Y(i, j) = std::ldexp(rows.C(place.row, j), e);
    sizes[static_cast<std::size_t>(i)] = std::ldexp(1.0, e);
  }
  std::vector<T> tau(static_cast<std::size_t>(steps));
  GradedTriangle<T> result{HostMatrix<T>::zeros(n, n), HostMatrix<T>::zeros(n, r), {}, {}, {}};
  result.pivots.resize(static_cast<std::size_t>(n));
  std::iota(result.pivots.begin(), result.pivots.end(), index_t{0});
  result.row_exponents.assign(static_cast<std::size_t>(n), 0);
  index_t rank = 0;
  if (steps > 0) {
    lapack::geqp3(count, n, S.data(), S.ld(), result.pivots, tau.data());
    lapack::ormqr(Op::transpose, count, r, steps, S.data(), S.ld(), tau.data(), Y.data(), Y.ld());
    rank = rank_of(S, tau, sizes, rcond);
  }
  for (index_t i = 0; i < rank; ++i) {
    const int e = std::ilogb(S(i, i));
    result.row_exponents[static_cast<std::size_t>(i)] = e + most;
    for (index_t j = i; j < n; ++j)
      result.R(i, j) =
          std::ldexp(S(i, j), of_a[static_cast<std::size_t>(result.pivots[static_cast<std::size_t>(j)])] - e);
    for (index_t j = 0; j < r; ++j) result.C(i, j) = std::ldexp(Y(i, j), of_c[static_cast<std::size_t>(j)] - e);
  }
  for (index_t j = 0; j < r; ++j) {
    T& norm = left[static_cast<std::size_t>(j)];
    if (rank < count) norm = std::hypot(norm, euclidean_norm(count - rank, &Y(rank, j)));
    norm = std::ldexp(norm, of_c[static_cast<std::size_t>(j)] + most);
  }
  result.residual_norms = std::move(left);
  return result;
}

template GradedTriangle<float> join_graded_rows(std::vector<RowClass<float>>, double);
template GradedTriangle<double> join_graded_rows(std::vector<RowClass<double>>, double);

}  // namespace tesela::kernels
