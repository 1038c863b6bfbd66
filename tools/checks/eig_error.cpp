#include "tools/checks/eig_error.hpp"

#include "tools/checks/worse.hpp"
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <type_traits>

namespace tesela {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Multiplies by a power of two with at most one rounding; uses ldexp if the power is not a normal number.
class PowerOfTwo {
 public:
  explicit PowerOfTwo(int exponent)
      : exponent_(exponent), factor_(std::ldexp(1.0, exponent)), normal_(std::isnormal(factor_)) {}
  double operator()(double x) const { return normal_ ? x * factor_ : std::ldexp(x, exponent_); }
  std::complex<double> operator()(std::complex<double> x) const { return {(*this)(x.real()), (*this)(x.imag())}; }

 private:
  int exponent_;
  double factor_;
  bool normal_;
};

/// Returns columns [begin, begin + width) in double precision: X's memory, or a copy in `room`.
template <class T>
const with_parts<T, double>* in_double(const HostMatrix<T>& x, index_t begin, index_t width,
                                       HostMatrix<with_parts<T, double>>& room) {
  if constexpr (std::is_same_v<T, with_parts<T, double>>) {
    return x.data() + begin * x.ld();
  } else {
    std::copy_n(x.data() + begin * x.ld(), x.rows() * width, room.data());
    return room.data();
  }
}

double square(double x) { return x * x; }
double square(std::complex<double> x) { return std::norm(x); }

/// Returns the sum of all (2^-exponent a(i, j))^2, from the lower triangle.
template <class T>
double sum_of_squares(const HostMatrix<T>& a, int exponent) {
  const PowerOfTwo scaled(-exponent);
  std::vector<double> sums(static_cast<std::size_t>(a.cols()));
  parallel_for(a.cols(), 32, [&](index_t first, index_t end) {
    for (index_t j = first; j < end; ++j) {
      double sum = 0;
      for (index_t i = j + 1; i < a.rows(); ++i) sum += square(scaled(with_parts<T, double>(a(i, j))));
      sums[static_cast<std::size_t>(j)] = 2 * sum + square(scaled(static_cast<double>(real_part(a(j, j)))));
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

template <class T>
double residual(const HostMatrix<T>& a, const std::vector<double>& values, const HostMatrix<T>& x, double norm,
                const std::vector<index_t>& columns) {
  using Wide = with_parts<T, double>;
  const index_t n = a.rows();
  const int exponent = lower_exponent(a);
  const HostMatrix<Wide> whole = scaled_whole(a, exponent);
  constexpr index_t at_once = 256;
  double largest = 0;
  HostMatrix<Wide> y(n, at_once), product(n, at_once);
  for (std::size_t begin = 0; begin < columns.size(); begin += at_once) {
    const std::size_t end = std::min(columns.size(), begin + at_once);
    const auto k = static_cast<index_t>(end - begin);
    for (index_t j = 0; j < k; ++j)
      for (index_t i = 0; i < n; ++i) y(i, j) = Wide(x(i, columns[begin + static_cast<std::size_t>(j)]));
    blas::symm<Wide>(n, k, 1, whole.data(), whole.ld(), y.data(), y.ld(), 0, product.data(), product.ld());
    for (index_t j = 0; j < k; ++j) {
      const double value =
          std::ldexp(values[static_cast<std::size_t>(columns[begin + static_cast<std::size_t>(j)])], -exponent);
      double squares = 0;
      for (index_t i = 0; i < n; ++i) {
        squares += square(product(i, j) - value * y(i, j));
      }
      largest = worse(largest, std::sqrt(squares));
    }
  }
  const double size = std::ldexp(norm, -exponent);
  return size > 0 ? largest / size : largest;
}

template <class T>
double orthogonality(const HostMatrix<T>& x) {
  using Wide = with_parts<T, double>;
  const index_t n = x.rows(), k = x.cols();
  HostMatrix<Wide> room(n, std::is_same_v<T, Wide> ? 0 : k), gram(k, k);
  const Wide* const y = in_double(x, 0, k, room);
  blas::gemm<Wide>(adjoint<T>, Op::none, k, k, n, 1, y, n, y, n, 0, gram.data(), gram.ld());
  double squares = 0;
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < k; ++i) squares += square(gram(i, j) - (i == j ? 1.0 : 0.0));
  return std::sqrt(squares);
}

/// Estimates ||I - X^T X||_F with random sign vectors.
template <class T>
double sampled_orthogonality(const HostMatrix<T>& x, index_t samples, std::uint64_t seed) {
  using Wide = with_parts<T, double>;
  const index_t n = x.rows(), k = x.cols();
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  HostMatrix<Wide> signs(k, samples), y = HostMatrix<Wide>::zeros(n, samples), back(k, samples);
  for (index_t s = 0; s < samples; ++s)
    for (index_t i = 0; i < k; ++i) signs(i, s) = random(i, s) < 0 ? -1 : 1;
  constexpr index_t at_once = 1024;
  HostMatrix<Wide> room(n, std::is_same_v<T, Wide> ? 0 : std::min(at_once, k));
  for (const bool forth : {true, false})
    for (index_t begin = 0; begin < k; begin += at_once) {
      const index_t width = std::min(at_once, k - begin);
      const Wide* const part = in_double(x, begin, width, room);
      if (forth)
        blas::gemm<Wide>(Op::none, Op::none, n, samples, width, 1, part, n, &signs(begin, 0), signs.ld(), 1, y.data(),
                         y.ld());
      else
        blas::gemm<Wide>(adjoint<T>, Op::none, width, samples, n, 1, part, n, y.data(), y.ld(), 0, &back(begin, 0),
                         back.ld());
    }
  double squares = 0;
  for (index_t s = 0; s < samples; ++s)
    for (index_t i = 0; i < k; ++i) squares += square(back(i, s) - signs(i, s));
  return std::sqrt(squares / static_cast<double>(samples));
}

}  // namespace

std::vector<index_t> sample_indices(index_t n, index_t count, std::uint64_t seed) {
  std::vector<index_t> chosen;
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  for (index_t i = 0; i < n; ++i) {
    const auto wanted = static_cast<double>(count - static_cast<index_t>(chosen.size())),
               left = static_cast<double>(n - i);
    if (wanted > 0 && 0.5 * (random(i, 0) + 1) * left < wanted) chosen.push_back(i);
  }
  return chosen;
}

template <class T>
int lower_exponent(const HostMatrix<T>& a) {
  std::vector<double> of_column(static_cast<std::size_t>(a.cols()));
  parallel_for(a.cols(), 32, [&](index_t first, index_t end) {
    for (index_t j = first; j < end; ++j) {
      double most = 0;
      for (index_t i = j; i < a.rows(); ++i) most = std::max(most, static_cast<double>(largest_part(a(i, j))));
      of_column[static_cast<std::size_t>(j)] = most;
    }
  });
  const double largest = of_column.empty() ? 0 : *std::max_element(of_column.begin(), of_column.end());
  return largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
}

template <class T>
HostMatrix<with_parts<T, double>> scaled_whole(const HostMatrix<T>& a, int exponent) {
  using Wide = with_parts<T, double>;
  const index_t n = a.rows();
  constexpr index_t edge = 64;  // a block and its mirror image stay in the cache
  HostMatrix<Wide> b(n, n);
  const PowerOfTwo scaled(-exponent);
  parallel_for(n, edge, [&](index_t first, index_t end) {
    for (index_t top = first; top < n; top += edge) {
      const index_t bottom = std::min(top + edge, n);
      for (index_t j = first; j < end; ++j)
        for (index_t i = std::max(top, j); i < bottom; ++i) b(i, j) = scaled(Wide(a(i, j)));
      for (index_t i = top; i < bottom; ++i)
        for (index_t j = first; j < std::min(end, i); ++j) b(j, i) = conj(b(i, j));
    }
  });
  return b;
}

template <class T>
EigBounds eig_bounds(index_t n) {
  const double root = std::sqrt(static_cast<double>(std::max<index_t>(n, 1)));
  if constexpr (std::is_same_v<real_t<T>, float>)
    return {std::min(1e-6 * root, useful_bound), std::min(2e-5 * root, useful_bound)};
  else
    return {std::min(5e-15 * root, useful_bound), std::min(1e-13 * root, useful_bound)};
}

template <class T>
double eigenvector_orthogonality(const HostMatrix<T>& x, index_t sampled, std::uint64_t seed) {
  return sampled >= x.cols() ? orthogonality(x) : sampled_orthogonality(x, sampled, seed);
}

template <class T>
EigError eig_error(const HostMatrix<T>& a, const std::vector<double>& values, const HostMatrix<T>& x, double norm,
                   index_t sampled, std::uint64_t seed) {
  if (x.size() == 0) return {};
  const blas::Threads threads(blas::threads_for(a.rows()));
  return {residual(a, values, x, norm, sample_indices(x.cols(), sampled, seed)),
          eigenvector_orthogonality(x, sampled, seed)};
}

template <class T>
std::vector<double> reference_eigenvalues(const HostMatrix<T>& a) {
  const blas::Threads threads(blas::threads_for(a.rows()));
  const int exponent = lower_exponent(a);
  auto whole = scaled_whole(a, exponent);
  std::vector<double> w(static_cast<std::size_t>(a.rows()));
  if (lapack::syevd<with_parts<T, double>>(a.rows(), whole.data(), whole.ld(), w.data(), false) != 0) return {};
  for (double& value : w) value = std::ldexp(value, exponent);
  return w;
}

double eigenvalue_error(const std::vector<double>& values, const std::vector<double>& reference, index_t first,
                        double norm) {
  if (static_cast<std::size_t>(first) + values.size() > reference.size()) return not_a_number;
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double known = reference[static_cast<std::size_t>(first) + i];
    largest = worse(largest, values[i] == known ? 0 : std::abs(values[i] / norm - known / norm));
  }
  return largest;
}

template <class T>
Moments moments_of(const HostMatrix<T>& a) {
  const int exponent = lower_exponent(a);
  long double trace = 0;
  for (index_t i = 0; i < a.rows(); ++i) trace += static_cast<long double>(real_part(a(i, i)));
  return {static_cast<double>(trace), std::ldexp(std::sqrt(sum_of_squares(a, exponent)), exponent)};
}

double trace_drift(long double trace, const std::vector<double>& values, double norm) {
  for (const double value : values) trace -= static_cast<long double>(value);
  return static_cast<double>(std::abs(trace) / static_cast<long double>(norm));
}

template <class T>
double trace_drift(const HostMatrix<T>& a, const std::vector<double>& values, double norm) {
  long double trace = 0;
  for (index_t i = 0; i < a.rows(); ++i) trace += static_cast<long double>(real_part(a(i, i)));
  return trace_drift(trace, values, norm);
}

double trace_bound(const EigBounds& bounds, index_t n) {
  return std::min(bounds.value * std::sqrt(static_cast<double>(std::max<index_t>(n, 1))), useful_bound);
}

template <class T>
double symmetric_norm(const HostMatrix<T>& a, double largest_value) {
  const int exponent = lower_exponent(a);
  const double squares = sum_of_squares(a, exponent);
  const double most = std::ldexp(std::sqrt(squares), exponent), norm = std::min(largest_value, most);
  return norm > 0 ? norm : most > 0 ? most : 1;
}

TESELA_FUNCTIONS_FOR_NUMBERS(lower_exponent, scaled_whole, eig_bounds, eigenvector_orthogonality, eig_error,
                             reference_eigenvalues)
TESELA_FUNCTIONS_FOR_NUMBERS(moments_of, trace_drift, symmetric_norm)

}  // namespace tesela
