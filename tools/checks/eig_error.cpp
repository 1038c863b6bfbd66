#include "tools/checks/eig_error.hpp"

#include <tesela/algorithms/support/measured.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
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

 private:
  int exponent_;
  double factor_;
  bool normal_;
};

/// Returns columns [begin, begin + width) in double precision: X's memory, or a copy in `room`.
template <class T>
const double* in_double(const HostMatrix<T>& x, index_t begin, index_t width, HostMatrix<double>& room) {
  if constexpr (std::is_same_v<T, double>) {
    return x.data() + begin * x.ld();
  } else {
    std::copy_n(x.data() + begin * x.ld(), x.rows() * width, room.data());
    return room.data();
  }
}

double square(double x) { return x * x; }

/// Returns the sum of all (2^-exponent a(i, j))^2, from the lower triangle.
template <class T>
double sum_of_squares(const HostMatrix<T>& a, int exponent) {
  const PowerOfTwo scaled(-exponent);
  std::vector<double> sums(static_cast<std::size_t>(a.cols()));
  parallel_for(a.cols(), 32, [&](index_t first, index_t end) {
    for (index_t j = first; j < end; ++j) {
      double sum = 0;
      for (index_t i = j + 1; i < a.rows(); ++i) sum += square(scaled(static_cast<double>(a(i, j))));
      sums[static_cast<std::size_t>(j)] = 2 * sum + square(scaled(static_cast<double>(a(j, j))));
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

double worst(double a, double b) { return std::isnan(a) || std::isnan(b) ? not_a_number : std::max(a, b); }

template <class T>
double residual(const HostMatrix<T>& a, const std::vector<double>& values, const HostMatrix<T>& x, double norm,
                const std::vector<index_t>& columns) {
  const index_t n = a.rows();
  const int exponent = lower_exponent(a);
  const HostMatrix<double> whole = scaled_whole(a, exponent);
  constexpr index_t at_once = 256;
  double largest = 0;
  HostMatrix<double> y(n, at_once), product(n, at_once);
  for (std::size_t begin = 0; begin < columns.size(); begin += at_once) {
    const std::size_t end = std::min(columns.size(), begin + at_once);
    const auto k = static_cast<index_t>(end - begin);
    for (index_t j = 0; j < k; ++j)
      for (index_t i = 0; i < n; ++i) y(i, j) = static_cast<double>(x(i, columns[begin + static_cast<std::size_t>(j)]));
    blas::symm<double>(n, k, 1, whole.data(), whole.ld(), y.data(), y.ld(), 0, product.data(), product.ld());
    for (index_t j = 0; j < k; ++j) {
      const double value =
          std::ldexp(values[static_cast<std::size_t>(columns[begin + static_cast<std::size_t>(j)])], -exponent);
      double squares = 0;
      for (index_t i = 0; i < n; ++i) {
        const double r = product(i, j) - value * y(i, j);
        squares += r * r;
      }
      largest = worst(largest, std::sqrt(squares));
    }
  }
  const double size = std::ldexp(norm, -exponent);
  return size > 0 ? largest / size : largest;
}

template <class T>
double orthogonality(const HostMatrix<T>& x) {
  const index_t n = x.rows(), k = x.cols();
  HostMatrix<double> room(n, std::is_same_v<T, double> ? 0 : k), gram(k, k);
  const double* const y = in_double(x, 0, k, room);
  blas::gemm<double>(Op::transpose, Op::none, k, k, n, 1, y, n, y, n, 0, gram.data(), gram.ld());
  double squares = 0;
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < k; ++i) squares += square(gram(i, j) - (i == j ? 1 : 0));
  return std::sqrt(squares);
}

/// Estimates ||I - X^T X||_F with random sign vectors.
template <class T>
double sampled_orthogonality(const HostMatrix<T>& x, index_t samples, std::uint64_t seed) {
  const index_t n = x.rows(), k = x.cols();
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  HostMatrix<double> signs(k, samples), y = HostMatrix<double>::zeros(n, samples), back(k, samples);
  for (index_t s = 0; s < samples; ++s)
    for (index_t i = 0; i < k; ++i) signs(i, s) = random(i, s) < 0 ? -1 : 1;
  constexpr index_t at_once = 1024;
  HostMatrix<double> room(n, std::is_same_v<T, double> ? 0 : std::min(at_once, k));
  for (const bool forth : {true, false})
    for (index_t begin = 0; begin < k; begin += at_once) {
      const index_t width = std::min(at_once, k - begin);
      const double* const part = in_double(x, begin, width, room);
      if (forth)
        blas::gemm<double>(Op::none, Op::none, n, samples, width, 1, part, n, &signs(begin, 0), signs.ld(), 1, y.data(),
                           y.ld());
      else
        blas::gemm<double>(Op::transpose, Op::none, width, samples, n, 1, part, n, y.data(), y.ld(), 0, &back(begin, 0),
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
      for (index_t i = j; i < a.rows(); ++i) most = std::max(most, std::abs(static_cast<double>(a(i, j))));
      of_column[static_cast<std::size_t>(j)] = most;
    }
  });
  const double largest = of_column.empty() ? 0 : *std::max_element(of_column.begin(), of_column.end());
  return largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
}

template <class T>
HostMatrix<double> scaled_whole(const HostMatrix<T>& a, int exponent) {
  const index_t n = a.rows();
  constexpr index_t edge = 64;  // a block and its mirror image stay in the cache
  HostMatrix<double> b(n, n);
  const PowerOfTwo scaled(-exponent);
  parallel_for(n, edge, [&](index_t first, index_t end) {
    for (index_t top = first; top < n; top += edge) {
      const index_t bottom = std::min(top + edge, n);
      for (index_t j = first; j < end; ++j)
        for (index_t i = std::max(top, j); i < bottom; ++i) b(i, j) = scaled(static_cast<double>(a(i, j)));
      for (index_t i = top; i < bottom; ++i)
        for (index_t j = first; j < std::min(end, i); ++j) b(j, i) = b(i, j);
    }
  });
  return b;
}

template <class T>
EigBounds eig_bounds(index_t n) {
  const double root = std::sqrt(static_cast<double>(std::max<index_t>(n, 1)));
  if constexpr (std::is_same_v<T, float>)
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
  HostMatrix<double> whole = scaled_whole(a, exponent);
  std::vector<double> w(static_cast<std::size_t>(a.rows()));
  if (lapack::syevd<double>(a.rows(), whole.data(), whole.ld(), w.data(), false) != 0) return {};
  for (double& value : w) value = std::ldexp(value, exponent);
  return w;
}

double eigenvalue_error(const std::vector<double>& values, const std::vector<double>& reference, index_t first,
                        double norm) {
  if (static_cast<std::size_t>(first) + values.size() > reference.size()) return not_a_number;
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double known = reference[static_cast<std::size_t>(first) + i];
    largest = worst(largest, values[i] == known ? 0 : std::abs(values[i] / norm - known / norm));
  }
  return largest;
}

template <class T>
Moments moments_of(const HostMatrix<T>& a) {
  const int exponent = lower_exponent(a);
  long double trace = 0;
  for (index_t i = 0; i < a.rows(); ++i) trace += static_cast<long double>(a(i, i));
  return {static_cast<double>(trace), std::ldexp(std::sqrt(sum_of_squares(a, exponent)), exponent)};
}

double trace_drift(long double trace, const std::vector<double>& values, double norm) {
  for (const double value : values) trace -= static_cast<long double>(value);
  return static_cast<double>(std::abs(trace) / static_cast<long double>(norm));
}

template <class T>
double trace_drift(const HostMatrix<T>& a, const std::vector<double>& values, double norm) {
  long double trace = 0;
  for (index_t i = 0; i < a.rows(); ++i) trace += static_cast<long double>(a(i, i));
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

template int lower_exponent(const HostMatrix<float>&);
template int lower_exponent(const HostMatrix<double>&);
template HostMatrix<double> scaled_whole(const HostMatrix<float>&, int);
template HostMatrix<double> scaled_whole(const HostMatrix<double>&, int);
template EigBounds eig_bounds<float>(index_t);
template EigBounds eig_bounds<double>(index_t);
template double eigenvector_orthogonality(const HostMatrix<float>&, index_t, std::uint64_t);
template double eigenvector_orthogonality(const HostMatrix<double>&, index_t, std::uint64_t);
template EigError eig_error(const HostMatrix<float>&, const std::vector<double>&, const HostMatrix<float>&, double,
                            index_t, std::uint64_t);
template EigError eig_error(const HostMatrix<double>&, const std::vector<double>&, const HostMatrix<double>&, double,
                            index_t, std::uint64_t);
template std::vector<double> reference_eigenvalues(const HostMatrix<float>&);
template std::vector<double> reference_eigenvalues(const HostMatrix<double>&);
template Moments moments_of(const HostMatrix<float>&);
template Moments moments_of(const HostMatrix<double>&);
template double trace_drift(const HostMatrix<float>&, const std::vector<double>&, double);
template double trace_drift(const HostMatrix<double>&, const std::vector<double>&, double);
template double symmetric_norm(const HostMatrix<float>&, double);
template double symmetric_norm(const HostMatrix<double>&, double);

}  // namespace tesela
