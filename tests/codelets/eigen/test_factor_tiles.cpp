#include "tests/support/padded.hpp"
#include "tests/support/run_kernel.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/codelets/eigen/ldlt.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/generator.hpp>

using namespace tesela;
using namespace tesela::kernels;
using test::Padded;
using test::run_kernel;

namespace {

template <class T>
constexpr auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
template <class T>
constexpr T nan = std::numeric_limits<T>::quiet_NaN();

/// Returns a random symmetric matrix with `shift` added to the diagonal, times 2^power.
template <class T>
Padded<T> symmetric(index_t n, double shift, int power = 0) {
  const Generator<T> random{Pattern::uniform, 7, -1, 1};
  Padded<T> a(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j; i < n; ++i)
      a(i, j) = a(j, i) = std::ldexp(random(i, j) + (i == j ? static_cast<T>(shift) : T(0)), power);
  return a;
}

template <class T>
void check_potrf(Runtime* runtime, index_t n) {
  CAPTURE(n);
  Padded<T> a = symmetric<T>(n, 2 * std::sqrt(static_cast<double>(n)) + 2);
  std::vector<double> known(at(n * n));
  double largest = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      known[at(i + j * n)] = static_cast<double>(a(i, j));
      largest = std::max(largest, std::abs(known[at(i + j * n)]));
    }
  REQUIRE(lapack::potrf<double>(n, known.data(), n) == 0);
  for (index_t j = 0; j < n; ++j)  // must not be read
    for (index_t i = j + 1; i < n; ++i) a(i, j) = nan<T>;
  Padded<double> minor(1, 1, 0);
  run_kernel<Potrf<T>>(runtime, {5}, a.template as<InOut>(), minor.as<InOut>());
  CHECK(minor(0, 0) == 0);
  double apart = 0;
  bool zeros = true;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i)
      if (i > j)
        zeros = zeros && a(i, j) == 0;
      else
        apart = std::max(apart, std::abs(static_cast<double>(a(i, j)) - known[at(i + j * n)]));
  CHECK(zeros);
  // The condition is below 4.
  CHECK(apart <= 4 * static_cast<double>(n) * eps<T> * std::sqrt(largest));
  CHECK(a.intact());
}

template <class T>
void check_minor(Runtime* runtime, index_t n, index_t order, T bad) {
  CAPTURE(n, order, bad);
  Padded<T> a = symmetric<T>(n, 2 * std::sqrt(static_cast<double>(n)) + 2);
  a(order - 1, order - 1) = bad;
  Padded<double> minor(1, 1, 0);
  run_kernel<Potrf<T>>(runtime, {1000}, a.template as<InOut>(), minor.as<InOut>());
  CHECK(minor(0, 0) == static_cast<double>(1000 + order));
  // The first failure stays reported.
  Padded<T> next = symmetric<T>(n, -1);
  run_kernel<Potrf<T>>(runtime, {5000}, next.template as<InOut>(), minor.as<InOut>());
  CHECK(minor(0, 0) == static_cast<double>(1000 + order));
}

/// Checks A = L D L^T to n eps times the largest mass, the number of negative pivots, and the masses of L and D.
template <class T>
void check_ldlt(Runtime* runtime, index_t n, double shift, int power) {
  CAPTURE(n, shift, power);
  const Padded<T> original = symmetric<T>(n, shift, power);
  Padded<T> a = original;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < j; ++i) a(i, j) = nan<T>;
  Padded<double> mass(n, 1, 0), negative(1, 1);
  run_kernel<Ldlt<T>>(runtime, {}, a.template as<InOut>(), mass.as<InOut>(), negative.as<Out>());
  double below = 0, largest = 0, worst = 0;
  std::vector<double> scaled(at(n * n)), masses(at(n));  // L D
  for (index_t k = 0; k < n; ++k) {
    const auto d = std::ldexp(static_cast<double>(a(k, k)), -power);
    below += d < 0 ? 1 : 0;
    masses[at(k)] += std::abs(d);
    scaled[at(k + k * n)] = d;
    for (index_t i = k + 1; i < n; ++i) {
      const auto l = static_cast<double>(a(i, k));
      scaled[at(i + k * n)] = l * d;
      masses[at(i)] += l * l * std::abs(d);
    }
  }
  CHECK(negative(0, 0) == below);
  for (index_t i = 0; i < n; ++i) {
    largest = std::max(largest, masses[at(i)]);
    CHECK(std::abs(std::ldexp(mass(i, 0), -power) - masses[at(i)]) <= 1e2 * eps<T> * masses[at(i)]);
  }
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j; i < n; ++i) {
      double sum = -std::ldexp(static_cast<double>(original(i, j)), -power);
      for (index_t k = 0; k <= j; ++k) sum += scaled[at(i + k * n)] * (k == j ? 1 : static_cast<double>(a(j, k)));
      worst = !(std::abs(sum) <= worst) ? std::abs(sum) : worst;
    }
  CHECK(worst <= static_cast<double>(n) * eps<T> * largest);
  CHECK(a.intact());
}

/// Checks the panel below L D L^T: W L^T = A, A = W D^-1, and the masses of its rows.
template <class T>
void check_panel(Runtime* runtime, index_t m, index_t n) {
  CAPTURE(m, n);
  Padded<T> diagonal = symmetric<T>(n, 3 * std::sqrt(static_cast<double>(n)) + 2), w(m, n);
  Padded<double> mass(n, 1, 0), negative(1, 1, 0), rows(m, 1, 0.25);
  Ldlt<T>::cpu({}, diagonal.template as<InOut>(), mass.as<InOut>(), negative.as<Out>());
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < j; ++i) diagonal(i, j) = nan<T>;
  const Generator<T> random{Pattern::uniform, 8, -1, 1};
  Padded<T> a(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) a(i, j) = random(i, j);
  const Padded<T> original = a;
  const In<T> factor{{diagonal.data(), n, n, diagonal.ld}};
  run_kernel<LdltPanel<T>>(runtime, {}, factor, a.template as<InOut>(), w.template as<Out>(), rows.as<InOut>());
  double worst = 0;
  for (index_t i = 0; i < m; ++i) {
    double sum = 0.25;
    for (index_t j = 0; j < n; ++j) {
      const auto l = static_cast<double>(a(i, j)), d = static_cast<double>(diagonal(j, j)),
                 whole = static_cast<double>(w(i, j));
      CHECK(std::abs(l * d - whole) <= 4 * eps<T> * std::abs(whole));
      sum += std::abs(whole * l);
      double product = whole - static_cast<double>(original(i, j));
      for (index_t k = 0; k < j; ++k) product += static_cast<double>(w(i, k)) * static_cast<double>(diagonal(j, k));
      worst = !(std::abs(product) <= worst) ? std::abs(product) : worst;
    }
    CHECK(std::abs(rows(i, 0) - sum) <= 1e2 * eps<T> * sum);
  }
  CHECK(worst <= 4 * static_cast<double>(n) * eps<T>);
  CHECK(a.intact());
}

template <class T>
void check_pair(Runtime* runtime, index_t n) {
  CAPTURE(n);
  Padded<T> a = symmetric<T>(n, 3), b = symmetric<T>(n, 0.1), s(n, n);
  const T sigma = T(0.7);
  run_kernel<ShiftedPair<T>>(runtime, {sigma}, In<T>{{a.data(), n, n, a.ld}}, In<T>{{b.data(), n, n, b.ld}},
                             s.template as<Out>());
  bool same = true;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) same = same && s(i, j) == std::fma(-sigma, b(i, j), a(i, j));
  CHECK(same);
  CHECK(s.intact());
}

template <class T>
void check_all(Runtime* runtime, std::vector<index_t> sizes) {
  for (const index_t n : sizes) {
    check_potrf<T>(runtime, n);
    for (const index_t order : {index_t{1}, (n + 1) / 2, n})
      for (const T bad : {T(-1), T(0), nan<T>}) check_minor<T>(runtime, n, order, bad);
    for (const double shift : {0.0, 0.3, 50.0}) check_ldlt<T>(runtime, n, shift, 0);
    for (const int power : {-100, 100}) check_ldlt<T>(runtime, n, 50, power);
    for (const index_t m : {1, 33, 70}) check_panel<T>(runtime, m, n);
    check_pair<T>(runtime, n);
  }
}

/// Returns the largest mass, or NaN, of a matrix of order 3 with this first column.
double largest_mass(Runtime* runtime, double pivot, double beside) {
  Padded<double> a(3, 3, 0), mass(3, 1, 0), negative(1, 1, 0);
  a(0, 0) = pivot, a(1, 0) = beside, a(1, 1) = a(2, 2) = 1;
  run_kernel<Ldlt<double>>(runtime, {}, a.as<InOut>(), mass.as<InOut>(), negative.as<Out>());
  double largest = 0;
  for (index_t i = 0; i < 3; ++i) largest = mass(i, 0) <= largest ? largest : mass(i, 0);
  return largest;
}

/// A zero pivot appears in the mass; a pivot with an overflowing reciprocal is valid.
void check_pivots(Runtime* runtime) {
  CHECK(!std::isfinite(largest_mass(runtime, 0, 1)));
  CHECK(!std::isfinite(largest_mass(runtime, 0, 0)));
  CHECK(largest_mass(runtime, std::ldexp(1.0, -1060), std::ldexp(1.0, -1060)) == 1);
  CHECK(largest_mass(runtime, 1, 0.5) == 1);
}

}  // namespace

KERNEL_TEMPLATE_TEST_CASE("Potrf, Ldlt and LdltPanel factor", "", float, double) {
  check_pivots(runtime);
  check_all<TestType>(runtime, {1, 2, 31, 33, 64, 65, 100, 257, 300});
  if (runtime != nullptr) check_all<TestType>(runtime, {513, 1300});
}

GPU_TEMPLATE_TEST_CASE("Potrf, Ldlt and LdltPanel factor under a sanitizer", "[sanitize]", float, double) {
  check_pivots(&runtime);
  check_potrf<TestType>(&runtime, 100);
  check_minor<TestType>(&runtime, 100, 70, TestType(-1));
  check_ldlt<TestType>(&runtime, 100, 0.3, 0);
  check_panel<TestType>(&runtime, 40, 70);
  check_pair<TestType>(&runtime, 33);
}
