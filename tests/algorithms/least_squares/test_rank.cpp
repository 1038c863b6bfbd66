#include "tests/support/test.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/codelets/dense/product_form.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/normal_residual.hpp>
#include <tesela/tiles/generator.hpp>

#include <functional>
#include <numeric>

// The numerical rank is the number of singular values above rcond times the largest, with A's columns scaled to unit
// norm. The tests compare it with LAPACK's singular values.

using namespace tesela;
using namespace tesela::kernels;

namespace {

using Element = std::function<double(index_t, index_t)>;

/// Returns the matrix; for complex numbers its rows and columns times numbers of magnitude 1, which change neither its
/// singular values nor the norms of its columns.
template <class T>
HostMatrix<T> made(Shape shape, const Element& element) {
  HostMatrix<T> a(shape.rows, shape.cols);
  for (index_t j = 0; j < shape.cols; ++j)
    for (index_t i = 0; i < shape.rows; ++i)
      if constexpr (is_complex<T>)
        a(i, j) =
            T(std::polar(1.0, 7.0 * static_cast<double>(i * i) + 3.0 * static_cast<double>(j * j)) * element(i, j));
      else
        a(i, j) = static_cast<T>(element(i, j));
  return a;
}

struct Kind {
  std::string name;
  Element element;
  index_t rank = -1;  ///< -1 if unknown
};

/// Kahan's triangle: its smallest diagonal element is far above its smallest singular value.
Element kahan(double c) {
  return [c](index_t i, index_t j) {
    return i > j ? 0.0 : std::pow(std::sqrt(1 - c * c), static_cast<double>(i)) * (i == j ? 1.0 : -c);
  };
}

std::vector<Kind> kinds(Shape a, std::uint64_t seed) {
  const index_t m = a.rows, n = a.cols, k = std::min(m, n);
  const Generator<double> u{Pattern::uniform, 0, n, seed}, normal{Pattern::normal, 0, n, seed},
      v{Pattern::uniform, 0, n, seed + 77};
  const auto with = [&](const std::vector<double>& s) -> Element { return ProductForm<double>(m, n, s, seed); };
  const auto stairs = [&](double step, index_t width) {
    std::vector<double> s;
    for (index_t i = 0; i < k; ++i) s.push_back(std::pow(step, static_cast<double>(i / width)));
    return s;
  };
  std::vector<double> broken(static_cast<std::size_t>(k), 1.0), half(static_cast<std::size_t>(k), 1.0);
  broken.back() = 1e-9;
  for (index_t i = k / 2; i < k; ++i) half[static_cast<std::size_t>(i)] = 1e-9;
  const index_t low = std::max<index_t>(k / 3, 1);
  const auto real = [](index_t i) { return static_cast<double>(i); };
  return {
      {"uniform", u},
      {"normal", normal},
      {"low rank", with(spectrum(low, 1)), low},
      {"low rank, graded", with(spectrum(low, 1e6)), low},
      {"kappa 1e4", with(spectrum(k, 1e4)), k},
      {"kappa 1e12", with(spectrum(k, 1e12))},
      {"kappa 1e20", with(spectrum(k, 1e20))},
      {"stairs", with(stairs(1e-3, 4))},
      {"one small", with(broken)},
      {"half of them small", with(half)},
      {"Kahan 0.1", kahan(0.1)},
      {"Kahan 0.3", kahan(0.3)},
      {"Kahan 0.5", kahan(0.5)},
      {"Kahan 0.9", kahan(0.9)},
      {"Kahan-like",
       [](index_t i, index_t j) {
         return (i == j ? 1.0 : i < j ? -0.3 : 0.0) * std::pow(0.95, static_cast<double>(i));
       }},
      {"Wilkinson", [](index_t i, index_t j) { return i == j  ? 1.0
                                                      : i < j ? -1.0
                                                              : 0.0; }},
      {"Hilbert", [=](index_t i, index_t j) { return 1 / (real(i) + real(j) + 1); }},
      {"Vandermonde", [=](index_t i, index_t j) { return std::pow(real(i) / real(m), real(j)); }},
      {"ones", [](index_t, index_t) { return 1.0; }, 1},
      {"equal columns", [=](index_t i, index_t j) { return u(i, j / 2); }, std::min(m, (n + 1) / 2)},
      {"zero columns", [=](index_t i, index_t j) { return j % 3 == 1 ? 0.0 : u(i, j); }},
      {"zero rows", [=](index_t i, index_t j) { return i % 3 == 1 ? 0.0 : u(i, j); }},
      {"columns of all sizes", [=](index_t i, index_t j) { return u(i, j) * std::pow(10.0, 12 * v(0, j)); }},
      {"rows of all sizes", [=](index_t i, index_t j) { return u(i, j) * std::pow(10.0, 12 * v(i, 0)); }},
      {"second difference", [](index_t i, index_t j) { return i == j                 ? 2.0
                                                              : std::abs(i - j) == 1 ? -1.0
                                                                                     : 0.0; }},
      {"small integers of rank 2",
       [=](index_t i, index_t j) {
         return std::round(3 * u(i, 0)) * std::round(3 * v(0, j)) + std::round(3 * u(i, 1)) * std::round(3 * v(1, j));
       }},
  };
}

/// A, R of its QR factorization by LAPACK, and Q^T B above the norms of the remaining rows.
template <class T>
struct Reduced {
  HostMatrix<T> r, c;
};
template <class T>
Reduced<T> reduce(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  const index_t m = a.rows(), n = a.cols(), k = std::min(m, n);
  HostMatrix<T> factors = a.clone(), rotated = b.clone();
  std::vector<T> tau(static_cast<std::size_t>(k));
  lapack::geqrf(m, n, factors.data(), factors.ld(), tau.data());
  lapack::ormqr(adjoint<T>, m, b.cols(), k, factors.data(), factors.ld(), tau.data(), rotated.data(), rotated.ld());
  Reduced<T> x{HostMatrix<T>::zeros(k, n), HostMatrix<T>(k, b.cols())};
  for (index_t i = 0; i < k; ++i) {
    for (index_t j = i; j < n; ++j) x.r(i, j) = factors(i, j);
    for (index_t j = 0; j < b.cols(); ++j) x.c(i, j) = rotated(i, j);
  }
  return x;
}

/// Returns the singular values of A with its columns scaled.
template <class T>
std::vector<double> reference(const HostMatrix<T>& a) {
  using Wide = with_parts<T, double>;
  HostMatrix<Wide> s(a.rows(), a.cols());
  for (index_t j = 0; j < a.cols(); ++j) {
    long double norm = 0;
    for (index_t i = 0; i < a.rows(); ++i) norm += std::norm(with_parts<T, long double>(a(i, j)));
    for (index_t i = 0; i < a.rows(); ++i)
      s(i, j) = norm > 0 ? Wide(with_parts<T, long double>(a(i, j)) / std::sqrt(norm)) : Wide(0);
  }
  return lapack::gesvd(a.rows(), a.cols(), s.data(), s.ld());
}

double tail(const std::vector<double>& s, index_t rank) {
  double sum = 0;
  for (auto i = static_cast<std::size_t>(rank); i < s.size(); ++i) sum += s[i] * s[i];
  return std::sqrt(sum);
}

}  // namespace

TEMPLATE_TEST_CASE("the rank is the number of singular values above the threshold, and the condition agrees", "", float,
                   double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  const double eps = std::numeric_limits<real_t<T>>::epsilon();
  index_t cases = 0, decided = 0;
  for (const Shape shape :
       {Shape{1, 1}, {2, 2}, {3, 2}, {2, 3}, {7, 5}, {5, 7}, {20, 20}, {31, 12}, {12, 31}, {60, 60}})
    for (std::uint64_t seed = 1; seed <= (shape.rows < 20 ? 12 : 3); ++seed)
      for (const Kind& kind : kinds(shape, seed))
        for (const double rcond : {0.0, 1e-2, 1e-4, 1e-6, 1e-10}) {
          const auto a = made<T>(shape, kind.element),
                     b = made<T>({shape.rows, 2}, [&](index_t i, index_t j) {
                       return Generator<double>{Pattern::uniform, 0, 2, seed + 5}(i, j);
                     });
          const index_t full = std::min(shape.rows, shape.cols);
          const double cutoff = rcond > 0 ? rcond : static_cast<double>(std::max(shape.rows, shape.cols)) * eps;
          if (cutoff < 2 * static_cast<double>(full) * eps && rcond > 0) continue;
          const std::vector<double> s = reference(a);
          const auto reduced = reduce(a, b);
          const MinimumNorm<T> x = minimum_norm(reduced.r.clone(), reduced.c.clone(), cutoff);
          CAPTURE(kind.name, shape.rows, shape.cols, seed, rcond, x.rank, s, x.cut);
          ++cases;
          // A singular value within rounding of the threshold may count or not.
          const double noise = 20 * eps * std::sqrt(static_cast<double>(full));
          const bool doubtful = std::any_of(s.begin(), s.end(), [&](double value) {
            return std::abs(value - cutoff * s[0]) <= (noise + 1e-9 * cutoff) * s[0];
          });
          if (!doubtful) {
            ++decided;
            CHECK(x.rank == std::count_if(s.begin(), s.end(), [&](double value) { return value > cutoff * s[0]; }));
          }
          if (kind.rank >= 0 && rcond == 0 && std::is_same_v<real_t<T>, double>) CHECK(x.rank == kind.rank);
          REQUIRE(x.singular_values.size() == static_cast<std::size_t>(full));
          CHECK((x.rank == full) == (x.singular_values.back() > cutoff * x.singular_values[0]));
          // The part cut off is at most the threshold.
          CHECK(x.cut <= std::max(10 * tail(s, x.rank), cutoff * s[0]) + noise);
          // X solves the problem without that part.
          NormalResidual<T> sums(x.X);
          sums.add(a.rows(), a.data(), a.ld(), b.data(), b.ld());
          const Measured error = ols_error<T>(sums.result(), shape, x.rank, x.rank < full ? x.cut : 0);
          CAPTURE(error.error, error.bound);
          CHECK(error.good());
        }
  CHECK(decided > cases / 2);
}

TEST_CASE("the rank of Kahan's matrices is the number of their singular values above the threshold") {
  const auto rank = [](Shape shape, const Element& element, double rcond) {
    const auto a = made<double>(shape, element);
    const auto reduced = reduce(a, HostMatrix<double>(shape.rows, 0));
    return minimum_norm(reduced.r.clone(), reduced.c.clone(), rcond).rank;
  };
  const double eps = std::numeric_limits<double>::epsilon();
  const Shape large{200, 150};
  // Its smallest singular value is 2e-21 of the largest, the next one 2e-4. Column pivoting gives rank 100.
  CHECK(rank(large, kinds(large, 1)[14].element, 200 * eps) == 149);
  CHECK(rank({60, 60}, kahan(0.5), 60 * eps) == 59);
}

TEST_CASE("the solution of least norm is that of truncated singular values if there is a gap") {
  // A = U S V^T with a known gap: x = V_1 S_1^-1 U_1^T b, up to the effect of the singular values cut off.
  const index_t m = 40, n = 25, rank = 17;
  std::vector<double> s(static_cast<std::size_t>(n), 1e-13);
  for (index_t i = 0; i < rank; ++i) s[static_cast<std::size_t>(i)] = 1 + static_cast<double>(i);
  const auto a = made<double>({m, n}, ProductForm<double>(m, n, s, 3));
  std::vector<double> kept(s.begin(), s.begin() + rank);
  const auto low = made<double>({m, n}, ProductForm<double>(m, n, kept, 3));
  const auto b = made<double>({m, 1}, [](index_t i, index_t) { return std::sin(static_cast<double>(i)); });
  const auto solve = [&](const HostMatrix<double>& matrix) {
    const auto reduced = reduce(matrix, b);
    return minimum_norm(reduced.r.clone(), reduced.c.clone(), 1e-10);
  };
  const auto x = solve(a), y = solve(low);
  REQUIRE(x.rank == rank);
  REQUIRE(y.rank == rank);
  double distance = 0, size = 0;
  for (index_t j = 0; j < n; ++j)
    distance = std::hypot(distance, x.X(j, 0) - y.X(j, 0)), size = std::hypot(size, x.X(j, 0));
  CHECK(distance <= 1e-11 * size);
}

TEMPLATE_TEST_CASE("the least norm does not depend on the sizes of columns if the rows are well conditioned", "", float,
                   double) {
  using T = TestType;
  const Shape shape{20, 60};
  const int digits = std::numeric_limits<T>::digits;
  const Generator<double> u{Pattern::uniform, 0, 60, 4};
  const auto a = made<T>(shape, [&](index_t i, index_t j) { return std::ldexp(u(i, j), j < 40 ? 0 : -digits); });
  const auto b = made<T>({20, 1}, [](index_t i, index_t) { return std::cos(static_cast<double>(i)); });
  const auto reduced = reduce(a, b);
  const double eps = std::numeric_limits<T>::epsilon();
  const auto x = minimum_norm(reduced.r.clone(), reduced.c.clone(), 60 * eps);
  HostMatrix<double> copy(20, 60), expected = HostMatrix<double>::zeros(60, 1);
  std::copy_n(a.data(), a.size(), copy.data());
  std::copy_n(b.data(), b.size(), expected.data());
  lapack::gels(20, 60, 1, copy.data(), copy.ld(), expected.data(), expected.ld());
  REQUIRE(x.rank == 20);
  CHECK(x.original_units);
  double distance = 0, size = 0;
  for (index_t j = 0; j < 60; ++j) {
    distance = std::hypot(distance, static_cast<double>(x.X(j, 0)) - expected(j, 0));
    size = std::hypot(size, expected(j, 0));
  }
  CHECK(distance <= 1000 * eps * size);
}
