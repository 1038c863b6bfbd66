#include "tools/checks/generalized_eig_error.hpp"

#include "tools/checks/eig_error.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <tuple>
#include <utility>

namespace tesela {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

// Wide is double or std::complex<double>.

/// Returns A X for a full symmetric or Hermitian A.
template <class Wide>
HostMatrix<Wide> times(const HostMatrix<Wide>& a, const HostMatrix<Wide>& x) {
  HostMatrix<Wide> y(x.rows(), x.cols());
  if (x.size() > 0) blas::symm<Wide>(x.rows(), x.cols(), 1, a.data(), a.ld(), x.data(), x.ld(), 0, y.data(), y.ld());
  return y;
}

/// Returns B^-1 X with B = R^H R.
template <class Wide>
HostMatrix<Wide> divided(const HostMatrix<Wide>& r, const HostMatrix<Wide>& x) {
  HostMatrix<Wide> y = x.clone();
  for (const Op op : {adjoint<Wide>, Op::none})
    if (x.size() > 0) blas::trsm(op, x.rows(), x.cols(), r.data(), r.ld(), y.data(), y.ld());
  return y;
}

template <class Wide>
double norm(const HostMatrix<Wide>& x, index_t column) {
  return blas::nrm2(x.rows(), &x(0, column));
}

/// Returns a lower estimate of the 2-norm of a symmetric operator, so errors relative to it are not too small. Ends
/// when a step adds less than 1 %.
template <class Wide, class Apply>
double power_norm(index_t n, const Apply& apply) {
  const Generator<Wide> random{Pattern::uniform, 0, 0, 77};
  HostMatrix<Wide> x(n, 1);
  for (index_t i = 0; i < n; ++i) x(i, 0) = random(i, 0);
  double found = 0;
  for (int step = 0; n > 0 && step < 30; ++step) {
    const double length = norm(x, 0);
    if (!(length > 0)) return 0;
    for (index_t i = 0; i < n; ++i) x(i, 0) /= length;
    x = apply(x);
    const double before = found;
    found = std::max(found, norm(x, 0));
    if (found < 1.01 * before) break;
  }
  return found;
}

template <class Wide>
struct Pair {
  GeneralizedKind kind;
  HostMatrix<Wide> a, b, r;  // B = R^H R
  bool definite = false;     // whether R exists
  double norm_a = 0, norm_b = 0;

  HostMatrix<Wide> in_norm(const HostMatrix<Wide>& x) const {
    return kind == GeneralizedKind::bax_lambda_x ? divided(r, x) : times(b, x);
  }
};

template <class Wide>
double residual(const Pair<Wide>& p, const std::vector<double>& values, const HostMatrix<Wide>& x) {
  double largest = 0;
  const bool quotient = p.kind == GeneralizedKind::ax_lambda_bx;
  const HostMatrix<Wide> right = quotient ? times(p.b, x) : x.clone(), left = quotient ? times(p.a, x)
                                                                              : p.kind == GeneralizedKind::abx_lambda_x
                                                                                  ? times(p.a, times(p.b, x))
                                                                                  : times(p.b, times(p.a, x));
  for (index_t j = 0; j < x.cols(); ++j) {
    const double value = values[static_cast<std::size_t>(j)];
    double squares = 0;
    for (index_t i = 0; i < x.rows(); ++i) squares += std::norm(left(i, j) - value * right(i, j));
    const double size = quotient ? p.norm_a + std::abs(value) * p.norm_b : p.norm_a * p.norm_b + std::abs(value),
                 error = squares > 0 ? std::sqrt(squares) / (size * norm(x, j)) : squares;
    largest = std::isnan(error) ? not_a_number : std::max(largest, error);
    if (std::isnan(largest)) break;
  }
  return largest;
}

template <class Wide>
double orthogonality(const Pair<Wide>& p, const HostMatrix<Wide>& x, index_t sampled, std::uint64_t seed) {
  const index_t n = x.rows(), k = x.cols();
  const bool all = sampled >= k;
  HostMatrix<Wide> s = HostMatrix<Wide>::zeros(k, all ? k : sampled), y(n, s.cols()), back(k, s.cols());
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  for (index_t j = 0; j < s.cols(); ++j)
    for (index_t i = 0; i < k; ++i) s(i, j) = all ? (i == j ? 1 : 0) : random(i, j) < 0 ? -1 : 1;
  if (!all)
    blas::gemm<Wide>(Op::none, Op::none, n, s.cols(), k, 1, x.data(), x.ld(), s.data(), s.ld(), 0, y.data(), y.ld());
  const HostMatrix<Wide> dual = p.in_norm(all ? x : y);
  blas::gemm<Wide>(adjoint<Wide>, Op::none, k, s.cols(), n, 1, x.data(), x.ld(), dual.data(), dual.ld(), 0, back.data(),
                   back.ld());
  double squares = 0;
  for (index_t j = 0; j < s.cols(); ++j)
    for (index_t i = 0; i < k; ++i) squares += std::norm(back(i, j) - s(i, j));
  return std::sqrt(all ? squares : squares / static_cast<double>(sampled));
}

/// Returns the error, and LAPACK's largest |lambda|, or 1 if all are 0.
template <class Wide>
std::pair<double, double> value_error(const Pair<Wide>& p, const std::vector<double>& values, index_t first) {
  const index_t n = p.a.rows();
  HostMatrix<Wide> a = p.a.clone(), b = p.b.clone();
  std::vector<double> known(static_cast<std::size_t>(n));
  if (lapack::sygvd(static_cast<int>(p.kind) + 1, n, a.data(), a.ld(), b.data(), b.ld(), known.data(), false) != 0)
    return {not_a_number, 1};
  const double largest = known.empty() ? 0 : std::max(std::abs(known.front()), std::abs(known.back()));
  const double size = largest > 0 ? largest : 1;
  return {eigenvalue_error(values, known, first, size), size};
}

}  // namespace

template <class T>
GeneralizedEigError generalized_eig_error(GeneralizedKind kind, const HostMatrix<T>& a, const HostMatrix<T>& b,
                                          const std::vector<double>& values, const HostMatrix<T>& x, index_t first,
                                          bool compare, index_t sampled, std::uint64_t seed) {
  using Wide = with_parts<T, double>;
  using Matrix = HostMatrix<Wide>;
  const index_t n = a.rows();
  if (n == 0) return {.value = compare ? std::optional(0.0) : std::nullopt};
  const blas::Threads threads(blas::threads_for(n));
  // X contains half of B's exponent.
  const int a_exponent = lower_exponent(a), b_exponent = lower_exponent(b) - (lower_exponent(b) & 1),
            exponent = kind == GeneralizedKind::ax_lambda_bx ? a_exponent - b_exponent : a_exponent + b_exponent,
            half = (kind == GeneralizedKind::bax_lambda_x ? -b_exponent : b_exponent) / 2;
  Pair<Wide> p{kind, scaled_whole(a, a_exponent), scaled_whole(b, b_exponent), {}};
  p.r = p.b.clone();
  p.definite = lapack::potrf(n, p.r.data(), p.r.ld()) == 0;
  p.norm_a = power_norm<Wide>(n, [&](const Matrix& v) { return times(p.a, v); });
  p.norm_b = power_norm<Wide>(n, [&](const Matrix& v) { return times(p.b, v); });
  GeneralizedEigError error;
  error.condition =
      p.definite ? std::max(1.0, p.norm_b * power_norm<Wide>(n, [&](const Matrix& v) { return divided(p.r, v); }))
                 : infinity;
  std::vector<double> scaled = values;
  for (double& value : scaled) value = std::ldexp(value, -exponent);
  const bool quotient = kind == GeneralizedKind::ax_lambda_bx;
  error.residual_growth = quotient ? error.condition : std::sqrt(error.condition);
  if (compare) {
    double largest = 1;
    std::tie(error.value, largest) = value_error(p, scaled, first);
    error.value_growth = quotient ? error.condition : std::max(1.0, p.norm_a * p.norm_b / largest);
  }
  if (x.size() == 0) return error;

  Matrix y(n, x.cols());
  parallel_for(x.cols(), 16, [&](index_t begin, index_t end) {
    for (index_t j = begin; j < end; ++j)
      for (index_t i = 0; i < n; ++i) y(i, j) = times_power_of_two(Wide(x(i, j)), half);
  });
  error.orthogonality = orthogonality(p, y, sampled, seed);
  const index_t some = std::min(sampled, x.cols());
  if (some == x.cols()) {
    error.residual = residual(p, scaled, y);
    return error;
  }
  Matrix part(n, some);
  std::vector<double> of_part;
  for (index_t j = 0; j < some; ++j) {
    const index_t from = j * x.cols() / some;
    std::copy_n(&y(0, from), n, &part(0, j));
    of_part.push_back(scaled[static_cast<std::size_t>(from)]);
  }
  error.residual = residual(p, of_part, part);
  return error;
}

TESELA_FUNCTIONS_FOR_NUMBERS(generalized_eig_error)

}  // namespace tesela
