#include <tesela/codelets/toeplitz/toeplitz_dense.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace tesela::kernels {

template <class T>
void toeplitz_half(index_t n, const T* t, int part, T* a, index_t lda) {
  const index_t half = n / 2, rows = cauchy_rows(n, part);
  for (index_t j = 0; j < half; ++j)
    for (index_t i = 0; i < half; ++i) {
      const T mirrored = t[n - 1 - i - j];
      a[i + j * lda] = t[std::abs(i - j)] + (part == 0 ? mirrored : -mirrored);
    }
  if (rows == half) return;
  for (index_t i = 0; i < half; ++i) a[i + half * lda] = a[half + i * lda] = std::sqrt(T(2)) * t[half - i];
  a[half + half * lda] = t[0];
}

template <class T>
void toeplitz_expand(index_t n, int part, const T* half, T* x) {
  const T scale = 1 / std::sqrt(T(2));
  for (index_t i = 0; i < n / 2; ++i) {
    x[i] = scale * half[i];
    x[n - 1 - i] = part == 0 ? x[i] : -x[i];
  }
  if (n % 2 == 1) x[n / 2] = part == 0 ? half[n / 2] : T(0);
}

template <class T>
void ToeplitzHalfPairs<T>::cpu(const Args& args, In<T> t, Out<T> half, Out<T> vectors, Out<double> pairs) {
  const index_t n = t.rows, m = cauchy_rows(n, args.part);
  toeplitz_half(n, t.data, args.part, vectors.data, vectors.ld);
  std::vector<T> w(static_cast<std::size_t>(m));
  const bool good = lapack::syevd(m, vectors.data, vectors.ld, w.data()) == 0;
  toeplitz_half(n, t.data, args.part, half.data, half.ld);
  constexpr index_t at_a_time = 64;
  std::vector<T> products(static_cast<std::size_t>(m * std::min(m, at_a_time)));
  for (index_t first = 0; good && first < m; first += at_a_time) {
    const index_t count = std::min(at_a_time, m - first);
    blas::gemm<T>(Op::none, Op::none, m, count, m, 1, half.data, half.ld, &vectors(0, first), vectors.ld, 0,
                  products.data(), m);
    for (index_t j = first; j < first + count; ++j) {
      const auto value = static_cast<double>(w[static_cast<std::size_t>(j)]);
      double squares = 0;
      for (index_t i = 0; i < m; ++i) {
        const double r = static_cast<double>(products[static_cast<std::size_t>(i + (j - first) * m)]) -
                         value * static_cast<double>(vectors(i, j));
        squares += r * r;
      }
      pairs(j, 0) = value;
      pairs(j, 1) = std::sqrt(squares);
    }
  }
  for (index_t j = 0; !good && j < m; ++j) pairs(j, 0) = pairs(j, 1) = std::numeric_limits<double>::quiet_NaN();
}

namespace {

constexpr index_t probes = 16;

/// Reduction of a half A = Q S Q^T, S tridiagonal.
template <class T>
struct Reduced {
  index_t m;
  std::vector<T> d, e, tau;
  explicit Reduced(index_t order) : m(order), d(static_cast<std::size_t>(order)), e(d), tau(d) {}
};

/// Returns columns of standard normal numbers, always the same.
template <class T>
std::vector<T> probe_vectors(index_t m) {
  std::vector<T> x(static_cast<std::size_t>(m * probes));
  const Generator<double> random{Pattern::normal, 0, 0, 1};
  for (index_t j = 0; j < probes; ++j)
    for (index_t i = 0; i < m; ++i) x[static_cast<std::size_t>(i + j * m)] = static_cast<T>(random.normal(i, j));
  return x;
}

/// Computes y = S x for each probe.
template <class T>
void multiply(const Reduced<T>& s, const T* x, T* y) {
  const auto m = static_cast<std::size_t>(s.m);
  for (std::size_t j = 0; j < static_cast<std::size_t>(probes); ++j)
    for (std::size_t i = 0; i < m; ++i) {
      T sum = s.d[i] * x[i + j * m];
      if (i > 0) sum += s.e[i - 1] * x[i - 1 + j * m];
      if (i + 1 < m) sum += s.e[i] * x[i + 1 + j * m];
      y[i + j * m] = sum;
    }
}

/// Returns a bound of ||E||_2 for E = (a - b) X^-1, with the probes X.
template <class T>
double norm_by_probes(index_t m, const T* a, const T* b) {
  double largest = 0;
  for (index_t j = 0; j < probes; ++j) {
    double squares = 0;
    for (index_t i = j * m; i < (j + 1) * m; ++i) {
      const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
      squares += difference * difference;
    }
    largest = squares <= largest ? largest : squares;  // NaN stays
  }
  return 3 * std::sqrt(2 / std::numbers::pi * largest);
}

/// Counts the eigenvalues of S below each shift (W. Givens: signs of the pivots), `lanes` shifts at a time.
constexpr std::size_t lanes = 8;
std::array<index_t, lanes> below(const std::vector<double>& d, const std::vector<double>& squares,
                                 const std::array<double, lanes>& shifts, double tiny) {
  std::array<double, lanes> pivot{};
  std::array<double, lanes> count{};
  for (std::size_t i = 0; i < d.size(); ++i)
    for (std::size_t k = 0; k < lanes; ++k) {
      const double next = d[i] - shifts[k] - (i > 0 ? squares[i - 1] / pivot[k] : 0.0);
      pivot[k] = std::abs(next) < tiny ? -tiny : next;
      count[k] += pivot[k] < 0 ? 1.0 : 0.0;
    }
  std::array<index_t, lanes> counts{};
  for (std::size_t k = 0; k < lanes; ++k) counts[k] = static_cast<index_t>(count[k]);
  return counts;
}

/// Returns whether value j is within `reach` of eigenvalue j of S, for every j.
bool all_within(double reach, const std::vector<double>& values, const std::vector<double>& d,
                const std::vector<double>& squares, double tiny) {
  for (std::size_t first = 0; first < values.size(); first += lanes / 2) {
    std::array<double, lanes> shifts{};
    const std::size_t some = std::min(lanes / 2, values.size() - first);
    for (std::size_t k = 0; k < some; ++k) {
      shifts[k] = values[first + k] - reach;
      shifts[k + lanes / 2] = values[first + k] + reach;
    }
    const std::array<index_t, lanes> counts = below(d, squares, shifts, tiny);
    for (std::size_t k = 0; k < some; ++k)
      if (const auto j = static_cast<index_t>(first + k); counts[k] > j || counts[k + lanes / 2] < j + 1) return false;
  }
  return true;
}

/// Returns the largest distance of the values of the tridiagonal matrix from its eigenvalues; NaN if the values are not
/// its eigenvalues.
double sturm_error(const std::vector<double>& values, const std::vector<double>& d, const std::vector<double>& e,
                   double norm) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  std::vector<double> squares;
  for (const double x : e) squares.push_back(x * x);
  const double rounding = 8 * eps * norm;  // of the counts
  for (double reach = rounding; reach < 1e6 * rounding; reach *= 2)
    if (all_within(reach, values, d, squares, eps * eps * norm)) return reach + rounding;
  return norm == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

template <class T>
void ToeplitzHalfValues<T>::cpu(const Args& args, In<T> t, Out<T> half, Out<double> values) {
  const index_t n = t.rows, m = cauchy_rows(n, args.part);
  toeplitz_half(n, t.data, args.part, half.data, half.ld);
  const std::vector<T> x = probe_vectors<T>(m);
  std::vector<T> ax(x), both(x);  // Q^T X, then S Q^T X to its right
  blas::gemm<T>(Op::none, Op::none, m, probes, m, 1, half.data, half.ld, x.data(), m, 0, ax.data(), m);
  Reduced<T> s(m);
  lapack::sytrd(m, half.data, half.ld, s.d.data(), s.e.data(), s.tau.data());
  lapack::ormtr(Op::transpose, m, probes, half.data, half.ld, s.tau.data(), both.data(), m);
  both.resize(2 * x.size());
  multiply(s, both.data(), both.data() + x.size());
  lapack::ormtr(Op::none, m, 2 * probes, half.data, half.ld, s.tau.data(), both.data(), m);

  const std::vector<double> d(s.d.begin(), s.d.end()), e(s.e.begin(), s.e.end());
  std::vector<double> found = d, lost = e;
  const bool good = lapack::sterf(m, found.data(), lost.data()) == 0;
  const double norm = m > 0 ? std::max(std::abs(found.front()), std::abs(found.back())) : 0,
               radius = good ? norm_by_probes(m, ax.data(), both.data() + x.size()) +
                                   norm * norm_by_probes(m, x.data(), both.data()) + sturm_error(found, d, e, norm)
                             : std::numeric_limits<double>::quiet_NaN();
  for (index_t j = 0; j < m; ++j) {
    values(j, 0) = std::isnan(radius) ? radius : found[static_cast<std::size_t>(j)];
    values(j, 1) = radius;
  }
}

TESELA_FUNCTIONS_FOR_REALS(toeplitz_half, toeplitz_expand)
TESELA_STRUCTS_FOR_REALS(ToeplitzHalfPairs, ToeplitzHalfValues)

}  // namespace tesela::kernels
