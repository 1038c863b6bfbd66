#include "tools/checks/qr_error.hpp"

#include "tools/checks/qr_error_sums.hpp"
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {

using namespace qr_errors;
namespace {

/// Calls f(column) for the columns of a rows x count matrix, on all cores if it is large.
template <class F>
void for_each_column(index_t rows, index_t count, const F& f) {
  parallel_for(count, rows * count < (1 << 20) ? std::max<index_t>(count, 1) : 1, [&f](index_t first, index_t end) {
    for (index_t j = first; j < end; ++j) f(j);
  });
}

/// Properties of a column or a matrix that determine its scaling.
struct Extent {
  double largest = 0;  // largest absolute value, ignoring NaN
  bool finite = true;
  int exponent() const { return largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0; }
  void include(const Extent& other) {
    largest = std::max(largest, other.largest);
    finite &= other.finite;
  }
};

/// Returns the extent of the whole matrix, or of its upper trapezoid.
template <class T>
Extent extent(const HostMatrix<T>& a, bool triangle) {
  if (a.size() == 0) return {};
  std::vector<Extent> columns(static_cast<std::size_t>(a.cols()));
  for_each_column(a.rows(), a.cols(), [&](index_t j) {
    real_t<T> largest = 0;
    bool finite = true;
    for (index_t i = 0, end = triangle ? std::min(j + 1, a.rows()) : a.rows(); i < end; ++i) {
      const real_t<T> x = largest_part(a(i, j));
      largest = std::max(largest, x);
      finite &= x <= std::numeric_limits<real_t<T>>::max();
    }
    columns[static_cast<std::size_t>(j)] = {static_cast<double>(largest), finite};
  });
  Extent whole;
  for (const Extent& column : columns) whole.include(column);
  return whole;
}

/// Copies columns first … first + count - 1 in double precision, scaled, without gaps, to the caller's memory; for R
/// only the upper trapezoid of its `rows`.
template <class Wide, class T>
void copy_columns(std::vector<Wide>& out, const HostMatrix<T>& a, index_t first, index_t count, index_t rows,
                  bool triangle, Scaling scaled) {
  out.resize(std::max(out.size(), static_cast<std::size_t>(rows * count)));
  for_each_column(rows, count, [&](index_t j) {
    Wide* const column = out.data() + j * rows;
    const index_t end = triangle ? std::min(rows, first + j + 1) : rows;
    for (index_t i = 0; i < end; ++i) column[i] = scaled(Wide(a(i, first + j)));
    std::fill(column + end, column + rows, Wide(0));
  });
}
template <class T>
std::vector<with_parts<T, double>> columns(const HostMatrix<T>& a, index_t first, index_t count, index_t rows,
                                           bool triangle, Scaling scaled) {
  std::vector<with_parts<T, double>> out;
  copy_columns(out, a, first, count, rows, triangle, scaled);
  return out;
}

/// Returns a matrix of random signs.
template <class T>
HostMatrix<T> signs(index_t rows, index_t cols, std::uint64_t seed) {
  HostMatrix<T> x(rows, cols);
  for (index_t j = 0; j < cols; ++j)
    for (index_t i = 0; i < rows; ++i) x(i, j) = static_cast<real_t<T>>(sign(seed, i, j));
  return x;
}

/// Returns A X with random signs X, in double precision with A scaled: A's first `rows`, or the upper trapezoid in
/// them.
template <class T>
std::vector<with_parts<T, double>> times_signs(const HostMatrix<T>& a, index_t rows, bool triangle, Scaling scaled,
                                               index_t vectors, std::uint64_t seed) {
  using Wide = with_parts<T, double>;
  std::vector<Wide> y(static_cast<std::size_t>(rows * vectors));
  const HostMatrix<Wide> x = signs<Wide>(a.cols(), vectors, seed);
  constexpr index_t width = 256;
  std::vector<Wide> block;  // one for all: allocation costs more than the product
  for (index_t first = 0; first < a.cols() && rows > 0; first += width) {
    const index_t count = std::min(width, a.cols() - first);
    copy_columns(block, a, first, count, rows, triangle, scaled);
    blas::gemm<Wide>(Op::none, Op::none, rows, vectors, count, 1, block.data(), rows, x.data() + first, a.cols(), 1,
                     y.data(), rows);
  }
  return y;
}

}  // namespace

template <class T>
QrError qr_error(const HostMatrix<T>& a, const HostMatrix<T>& factors, const HostMatrix<T>& q) {
  using Wide = with_parts<T, double>;
  const index_t m = a.rows(), n = a.cols(), k = std::min(m, n), formed = q.cols();
  QrError result;
  result.finite = extent(q, false).finite && extent(factors, true).finite;
  if (m == 0) return result;
  const blas::Threads threads(blas::threads_for(std::max(m, n)));
  const std::vector<Wide> Q = columns(q, 0, formed, m, false, Scaling(0));
  constexpr index_t width = 512;  // columns at once: A and R in double need not fit in memory
  const int exponent = extent(a, false).exponent();
  long double distance = 0, norm = 0;
  for (index_t first = 0; first < n; first += width) {
    const index_t count = std::min(width, n - first);
    auto block = columns(a, first, count, m, false, Scaling(exponent));
    const auto r = columns(factors, first, count, k, true, Scaling(exponent));
    norm += sum_of_squares(block);
    blas::gemm<Wide>(Op::none, Op::none, m, count, k, -1, Q.data(), m, r.data(), k, 1, block.data(), m);
    distance += sum_of_squares(block);
  }
  set_backward<T>(result, distance, norm, exponent, lost<T>(m, n, exponent));
  long double defect = 0;
  for (index_t first = 0; first < formed; first += width) {
    const index_t count = std::min(width, formed - first);
    std::vector<Wide> block(static_cast<std::size_t>(formed * count));
    blas::gemm<Wide>(adjoint<T>, Op::none, formed, count, m, 1, Q.data(), m, Q.data() + first * m, m, 0, block.data(),
                     formed);
    for (index_t j = 0; j < count; ++j) block[static_cast<std::size_t>(first + j + j * formed)] -= 1;
    defect += sum_of_squares(block);
  }
  result.orthogonality = static_cast<double>(std::sqrt(defect));
  return result;
}

template <class T>
QrSample<T>::QrSample(const HostMatrix<T>& factors, index_t vectors, std::uint64_t seed)
    : n_(factors.cols()),
      k_(std::min(factors.rows(), factors.cols())),
      vectors_(vectors),
      columns_(vectors),
      seed_(seed) {
  const blas::Threads threads(blas::threads_for(std::max(factors.rows(), n_)));
  const Extent of_r = extent(factors, true);
  finite_ = of_r.finite;
  scale_ = of_r.exponent();
  set_block(factors.rows(), times_signs(factors, k_, true, Scaling(scale_), vectors, seed), seed);
}

template <class T>
QrSample<T>::QrSample(Shape a, const HostMatrix<T>& first, index_t vectors, std::uint64_t seed, bool whole)
    : n_(a.cols), k_(std::min(a.rows, a.cols)), vectors_(vectors), columns_(first.cols()), whole_(whole), seed_(seed) {
  const Extent of_first = extent(first, false);
  finite_ = of_first.finite;
  scale_ = of_first.exponent();
  set_block(a.rows, columns(first, 0, columns_, k_, false, Scaling(scale_)), seed);
}

template <class T>
QrSample<T>::QrSample(Shape a, index_t vectors, std::uint64_t seed,
                      const std::function<HostMatrix<T>(const HostMatrix<T>&)>& multiply_r)
    : QrSample(a, multiply_r(signs<T>(a.cols, vectors, seed)), vectors, seed, true) {}

template <class T>
QrSample<T>::QrSample(Shape a, const HostMatrix<T>& r, index_t vectors, std::uint64_t seed)
    : QrSample(a, r, vectors, seed, false) {}

/// Sets the block from its first part, k rows without gaps, and random signs.
template <class T>
void QrSample<T>::set_block(index_t rows, const std::vector<Wide>& first, std::uint64_t seed) {
  block_ = HostMatrix<T>::zeros(rows, columns_ + 2 * vectors_);
  for (index_t i = 0; i < k_; ++i) {
    for (index_t j = 0; j < columns_; ++j) block_(i, j) = T(first[static_cast<std::size_t>(i + j * k_)]);
    for (index_t j = 0; j < vectors_; ++j) {
      block_(i, columns_ + j) = static_cast<real_t<T>>(sign(seed + 1, i, j));
      block_(i, columns_ + vectors_ + j) = static_cast<real_t<T>>(sign(seed + 2, i, j));
    }
  }
}

template <class T>
QrError QrSample<T>::error(const HostMatrix<T>& a, const HostMatrix<T>& product) const {
  const index_t m = a.rows();
  QrError result;
  result.finite = finite_ && extent(product, false).finite;
  if (m == 0 || k_ == 0) return result;
  const blas::Threads threads(blas::threads_for(std::max(m, n_)));
  const auto q = columns(product, 0, product.cols(), m, false, Scaling(0));
  auto ax = whole_ ? times_signs(a, m, false, Scaling(scale_), vectors_, seed_)
                   : columns(a, 0, columns_, m, false, Scaling(scale_));
  const long double norm = sum_of_squares(ax);
  for (std::size_t e = 0; e < ax.size(); ++e) ax[e] -= q[e];
  const long double parts =
      whole_ ? static_cast<long double>(vectors_) : static_cast<long double>(columns_) / static_cast<long double>(n_);
  set_backward<T>(result, sum_of_squares(ax), norm, scale_, std::sqrt(parts) * lost<T>(m, n_, scale_));
  // Y^T (Q^H Q - I) Z; every entry is one sample.
  const auto y = signs<Wide>(k_, vectors_, seed_ + 1), z = signs<Wide>(k_, vectors_, seed_ + 2);
  std::vector<Wide> defect(static_cast<std::size_t>(vectors_ * vectors_));
  blas::gemm<Wide>(adjoint<T>, Op::none, vectors_, vectors_, k_, -1, y.data(), k_, z.data(), k_, 0, defect.data(),
                   vectors_);
  blas::gemm<Wide>(adjoint<T>, Op::none, vectors_, vectors_, m, 1, q.data() + columns_ * m, m,
                   q.data() + (columns_ + vectors_) * m, m, 1, defect.data(), vectors_);
  result.orthogonality = static_cast<double>(std::sqrt(sum_of_squares(defect))) / static_cast<double>(vectors_);
  return result;
}

template <class T>
QrBounds qr_bounds(index_t m, index_t n) {
  const double backward = rounding_bound<T>(std::max(m, n));
  return {backward,
          std::min(backward * std::sqrt(static_cast<double>(std::max<index_t>(std::min(m, n), 1))), useful_bound)};
}

template <class T>
double gram_error(const HostMatrix<T>& a, const HostMatrix<T>& factors, std::uint64_t seed) {
  const index_t m = a.rows(), n = a.cols();
  using Wide = with_parts<T, double>;
  const Generator<Wide> random{Pattern::uniform, 0, 1, seed};
  std::vector<Wide> x(static_cast<std::size_t>(n)), of_a(x.size()), of_r(x.size());
  const auto at = [](std::vector<Wide>& v, index_t i) -> Wide& { return v[static_cast<std::size_t>(i)]; };
  for (index_t j = 0; j < n; ++j) at(x, j) = random(j, 0);
  double squares = 0;
  // Returns M^H M x for the first end(j) entries of each column j of M.
  const auto gram = [&](const HostMatrix<T>& matrix, std::vector<Wide>& result, const auto& end) {
    std::vector<Wide> product(static_cast<std::size_t>(m), Wide(0));
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < end(j); ++i) at(product, i) += times(converted<Wide>(matrix(i, j)), at(x, j));
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < end(j); ++i) at(result, j) += times(conj(converted<Wide>(matrix(i, j))), at(product, i));
  };
  gram(a, of_a, [m](index_t) { return m; });
  gram(factors, of_r, [m](index_t j) { return std::min(m, j + 1); });
  for (index_t e = 0; e < a.size(); ++e) {
    const Wide element = converted<Wide>(a.data()[e]);
    squares += real_part(times(conj(element), element));
  }
  double distance = 0;
  for (index_t j = 0; j < n; ++j) distance = std::hypot(distance, std::abs(at(of_r, j) - at(of_a, j)));
  const double scale = squares * blas::nrm2(n, x.data());
  return scale > 0 ? distance / scale : distance;
}

template <class T>
HostMatrix<T> upper_trapezoid(const HostMatrix<T>& factors, index_t rows) {
  HostMatrix<T> r = HostMatrix<T>::zeros(rows, factors.cols());
  for (index_t j = 0; j < r.cols() && rows > 0; ++j)
    std::copy_n(factors.data() + j * factors.ld(), std::min(j + 1, rows), r.data() + j * r.ld());
  return r;
}

template <class T>
HostMatrix<T> identity(index_t m, index_t columns) {
  HostMatrix<T> q = HostMatrix<T>::zeros(m, columns);
  for (index_t j = 0; j < std::min(m, columns); ++j) q(j, j) = 1;
  return q;
}

TESELA_FUNCTIONS_FOR_NUMBERS(qr_bounds, qr_error, gram_error, upper_trapezoid, identity)
TESELA_CLASSES_FOR_NUMBERS(QrSample)

}  // namespace tesela
