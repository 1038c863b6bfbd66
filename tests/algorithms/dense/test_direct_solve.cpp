#include "tests/support/shared_runtime.hpp"
#include "tests/support/test.hpp"
#include <tesela/algorithms/dense/band_solve.hpp>
#include <tesela/algorithms/dense/direct_solve.hpp>
#include <tesela/algorithms/dense/internal/direct_estimates.hpp>
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <array>
#include <utility>

using namespace tesela;

namespace {

/// Hilbert's matrix, 1 / (i + j + 1), whose condition in the 2-norm is known.
template <class T>
HostMatrix<T> hilbert(index_t n) {
  HostMatrix<T> a(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) a(i, j) = static_cast<T>(1.0 / static_cast<double>(i + j + 1));
  return a;
}

/// Wilkinson's matrix, whose last column doubles in each step of elimination.
template <class T>
HostMatrix<T> growth(index_t n) {
  HostMatrix<T> a(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) a(i, j) = i == j || j == n - 1 ? T(1) : i > j ? T(-1) : T(0);
  return a;
}

/// Returns uniform numbers plus `shift` on the diagonal, symmetric on request.
template <class T>
HostMatrix<T> uniform(index_t n, double shift, bool symmetric = false) {
  HostMatrix<T> a(n, n);
  const Generator<T> element{.pattern = Pattern::uniform, .seed = 3};
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i)
      a(i, j) =
          (symmetric ? element(std::min(i, j), std::max(i, j)) : element(i, j)) + static_cast<T>(i == j ? shift : 0);
  return a;
}

/// Scales row i by 2^rows(i) and column j by 2^columns(j).
template <class T, class R, class C>
HostMatrix<T> scaled(HostMatrix<T> a, const R& rows, const C& columns) {
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) a(i, j) = std::ldexp(a(i, j), rows(i) + columns(j));
  return a;
}

template <class T>
struct Solved {
  DirectSolve how;
  HostMatrix<T> x;
};

/// Solves A x = b with tiles of order nb.
template <class T>
Solved<T> solve(Runtime& runtime, const HostMatrix<T>& a, const HostMatrix<T>& b, bool positive, index_t nb) {
  const index_t n = a.rows(), height = std::max<index_t>(n, 1);
  HostMatrix<T> factors = a.clone();
  Solved<T> result{{}, b.clone()};
  std::vector<T> diagonal;
  for (index_t i = 0; i < n; ++i) diagonal.push_back(a(i, i));
  const auto A = TileMatrix<T>::map(runtime, factors.data(), n, n, factors.ld(), {positive ? nb : height, nb}, "A");
  const auto X = TileMatrix<T>::map(runtime, result.x.data(), n, b.cols(), result.x.ld(), {positive ? nb : height, 2});
  Graph g(runtime);
  result.how = positive ? cholesky_solve<T>(g, A, diagonal, X) : lu_solve(g, A, X);
  X.bring_home();
  return result;
}

template <class T>
HostMatrix<T> row_sums(const HostMatrix<T>& a) {
  HostMatrix<T> b(a.rows(), 1);
  for (index_t i = 0; i < a.rows(); ++i) {
    b(i, 0) = 0;
    for (index_t j = 0; j < a.cols(); ++j) b(i, 0) += a(i, j);
  }
  return b;
}

template <class T>
void check_verdicts(Runtime& runtime) {
  const auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  const auto none = [](index_t) { return 0; };
  for (const index_t n : {0, 1, 2, 31, 33, 150})
    for (const bool positive : {false, true})
      for (const int far : {0, sizeof(T) == 8 ? 400 : 40}) {
        // Row sizes are spread less for LU, whose pivots depend on them.
        const auto rows = [&](index_t i) {
          return (static_cast<int>(i * 7919 % (far + 1)) - far / 2) / (positive ? 1 : 8);
        };
        const auto columns = [&](index_t j) {
          return positive ? rows(j) : static_cast<int>(j * 104729 % (far + 1)) - far / 2;
        };
        const HostMatrix<T> plain = uniform<T>(n, static_cast<double>(n) + 1, positive);
        const HostMatrix<T> b = scaled(row_sums(plain), rows, none);
        const Solved<T> solved = solve(runtime, scaled(plain.clone(), rows, columns), b, positive, 32);
        CAPTURE(n, positive, far, solved.how.condition, solved.how.error);
        REQUIRE(solved.how.status == DirectStatus::ok);
        CHECK(solved.how.condition <= 20.0 * static_cast<double>(n + 1));
        // LU's pivots depend on the row sizes, which increases the error.
        CHECK(solved.how.error <= (far > 0 ? std::sqrt(eps) : 200 * eps));
        const double bound = (500 + solved.how.condition) * eps + solved.how.error;  // b is rounded too
        double square = 0;  // of the error of E^-1 x = (1 ... 1)
        for (index_t j = 0; j < n; ++j)
          square += std::pow(std::ldexp(static_cast<double>(solved.x(j, 0)), columns(j)) - 1, 2);
        CHECK(std::sqrt(square) <= bound * std::sqrt(static_cast<double>(n)));
      }
}

}  // namespace

CORES_TEMPLATE_TEST_CASE("a well-conditioned system has status ok at any scaling of rows and columns", "[direct]",
                         float, double) {
  check_verdicts<TestType>(runtime);
}

TEMPLATE_TEST_CASE("a well-conditioned system has status ok at any scaling on a GPU", "[direct][gpu]", float, double) {
  test::require_gpu();
  Runtime runtime;
  check_verdicts<TestType>(runtime);
}

CORES_TEMPLATE_TEST_CASE("rows, columns and right-hand sides may have any size in the type's range", "[direct]", float,
                         double) {
  using T = TestType;
  constexpr int most = std::numeric_limits<T>::max_exponent;
  const auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const index_t n : {1, 3, 40})
    for (const int kind : {0, 1, 2, 3}) {
      CAPTURE(n, kind);
      const auto spread = [n](index_t i, int reach) {  // from reach down to -reach
        return n > 1 ? reach - static_cast<int>(2 * reach * i / (n - 1)) : reach;
      };
      const auto rows = [&](index_t i) { return kind == 1 ? 0 : spread(i, kind == 3 ? most / 2 - 16 : most - 16); };
      const auto columns = [&](index_t j) { return kind == 0 || kind == 2 ? 0 : -spread(j, most / 2 - 16); };
      const HostMatrix<T> plain = uniform<T>(n, static_cast<double>(n) + 1);
      const auto of_b = [&](index_t i) { return kind == 2 ? 0 : rows(i); };
      HostMatrix<T> ones(n, 1);
      for (index_t i = 0; i < n; ++i) ones(i, 0) = 1;

      const HostMatrix<T> b = kind == 2 ? std::move(ones) : scaled(row_sums(plain), of_b, [](index_t) { return 0; });
      const Solved<T> solved = solve(runtime, scaled(plain.clone(), rows, columns), b, false, 16);
      CAPTURE(solved.how.condition, solved.how.error);
      REQUIRE(solved.how.status == DirectStatus::ok);
      CHECK(solved.how.condition <= 20.0 * static_cast<double>(n + 1));
      CHECK(solved.how.rows.size() == static_cast<std::size_t>(n));
      if (kind != 2) {
        for (index_t j = 0; j < n; ++j)
          CHECK(std::abs(std::ldexp(static_cast<double>(solved.x(j, 0)), columns(j)) - 1) <= 200 * eps);
        continue;
      }
      for (index_t i = 0; i < n; ++i) {  // each equation divided by the scale of its row
        double sum = -std::ldexp(1.0, -rows(i)), size = -sum;
        for (index_t j = 0; j < n; ++j) {
          sum += static_cast<double>(plain(i, j)) * static_cast<double>(solved.x(j, 0));
          size += std::abs(static_cast<double>(plain(i, j)) * static_cast<double>(solved.x(j, 0)));
        }
        CHECK(std::abs(sum) <= 50 * eps * size);
      }
    }
  // A is regular, but X overflows.
  HostMatrix<T> small(1, 1), large(1, 2);
  small(0, 0) = large(0, 0) = std::ldexp(T(1), 20 - most);
  large(0, 1) = std::ldexp(T(1), most - 2);
  const Solved<T> over = solve(runtime, small, large, false, 1);
  CHECK(over.how.status == DirectStatus::not_finite);
  CHECK(over.how.place == 2);
  CHECK(over.x(0, 0) == 1);
}

CORES_TEST_CASE("the condition of Hilbert matrices is estimated within a factor of 20 n", "[direct]") {
  // 2-norm conditions by mpmath. Scaling by powers of two, the other norm and the estimate account for the factors
  // below.
  const std::vector<double> known{0, 1, 19.28, 524.1, 15513.7, 476607.3, 1.4951e7, 4.7537e8, 1.5258e10, 4.9315e11};
  for (index_t n = 1; n < 10; ++n)
    for (const bool positive : {false, true}) {
      const HostMatrix<double> a = hilbert<double>(n);
      const Solved<double> solved = solve(runtime, a, row_sums(a), positive, 4);
      CAPTURE(n, positive, solved.how.condition, known[static_cast<std::size_t>(n)]);
      CHECK(solved.how.status == DirectStatus::ok);
      CHECK(solved.how.condition <= 10 * static_cast<double>(n) * known[static_cast<std::size_t>(n)]);
      CHECK(solved.how.condition >= known[static_cast<std::size_t>(n)] / (20 * static_cast<double>(n)));
    }
}

CORES_TEMPLATE_TEST_CASE("units of rows or columns change no verdict on matrices with zeros", "[direct]", float,
                         double) {
  using T = TestType;
  for (const index_t n : {5, 40, 300})
    for (const int reach : {0, 3, sizeof(T) == 8 ? 50 : 10, sizeof(T) == 8 ? 460 : 55})
      for (const bool of_rows : {false, true})
        for (const bool singular : {false, true}) {
          const auto unit = [&](index_t i) { return static_cast<int>(i * 7919 % (2 * reach + 1)) - reach; };
          const auto rows = [&](index_t i) { return of_rows ? unit(i) : 0; };
          const auto columns = [&](index_t j) { return of_rows ? 0 : unit(j); };
          HostMatrix<T> a = HostMatrix<T>::zeros(n, n), ab = HostMatrix<T>::zeros(4, n);
          for (index_t i = 0; i < n; ++i) {
            const bool end = i == 0 || i == n - 1;
            a(i, i) = T(singular ? (end ? 1 : 2) : 4);  // if singular, each row has the sum zero
            for (const index_t j : {i - 1, i + 1})
              if (j >= 0 && j < n) a(i, j) = T(-1);
          }
          HostMatrix<T> b = row_sums(a);
          for (index_t i = 0; i < n; ++i) b(i, 0) = std::ldexp(b(i, 0) + T(singular), rows(i));
          a = scaled(std::move(a), rows, columns);
          for (index_t j = 0; j < n; ++j)
            for (index_t i = std::max<index_t>(j - 1, 0); i < std::min(j + 2, n); ++i) ab(2 + i - j, j) = a(i, j);
          const Solved<T> tiles = solve(runtime, a, b, false, 32);
          Solved<T> here{{}, b.clone()}, band{{}, b.clone()};
          HostMatrix<T> factors = a.clone();
          here.how = lu_solve<T>(runtime, factors, here.x);
          band.how = band_solve<T>(1, 1, ab, band.x);
          for (const Solved<T>* solved : std::array{&tiles, &std::as_const(here), &std::as_const(band)}) {
            // With tiles, pivots depend on rows whose sizes hardly differ, and on GPUs on all.
            const bool scales = solved == &band || (solved != &tiles && n <= 256) ||
                                (runtime.gpus() == 0 && 2 * reach > std::numeric_limits<T>::digits / 2);
            if (of_rows && !scales) continue;
            CAPTURE(n, reach, of_rows, singular, solved == &band, solved->how.condition, solved->how.error);
            const DirectStatus status = solved->how.status;
            if (singular) {
              CHECK((status == DirectStatus::singular || status == DirectStatus::zero_pivot));
              continue;
            }
            CHECK(status == DirectStatus::ok);
            for (index_t i = 0; i < n; ++i)
              CHECK(std::abs(std::ldexp(static_cast<double>(solved->x(i, 0)), columns(i)) - 1) <=
                    50 * static_cast<double>(std::numeric_limits<T>::epsilon()));
          }
        }
}

TEMPLATE_TEST_CASE("units of rows and columns change no solution of a band system", "[direct]", float, double) {
  using T = TestType;
  constexpr double eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const index_t n : {30, 64, 257})
    for (const auto& [kl, ku] :
         std::array<std::pair<index_t, index_t>, 6>{{{3, 0}, {5, 0}, {4, 1}, {2, 3}, {5, 2}, {0, 4}}})
      for (const int reach : {5, sizeof(T) == 8 ? 100 : 20, sizeof(T) == 8 ? 480 : 50})
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
          const Generator<T> element{.pattern = Pattern::uniform, .seed = seed};
          const auto unit = [&](index_t i, index_t k) {
            return static_cast<int>(std::lround(static_cast<double>(element(i, n + k)) * reach));
          };
          const auto rows = [&](index_t i) { return unit(i, 0); };
          const auto columns = [&](index_t j) { return unit(j, 1); };
          HostMatrix<T> a = HostMatrix<T>::zeros(n, n), ab = HostMatrix<T>::zeros(2 * kl + ku + 1, n);
          for (index_t j = 0; j < n; ++j)
            for (index_t i = std::max<index_t>(j - ku, 0); i < std::min(j + kl + 1, n); ++i)
              if (i == j || (3 * i + 5 * j) % 7 != 0)
                a(i, j) = element(i, j) + static_cast<T>(i == j ? kl + ku + 1 : 0);
          HostMatrix<T> x = scaled(row_sums(a), rows, [](index_t) { return 0; });
          a = scaled(std::move(a), rows, columns);
          for (index_t j = 0; j < n; ++j)
            for (index_t i = std::max<index_t>(j - ku, 0); i < std::min(j + kl + 1, n); ++i)
              ab(kl + ku + i - j, j) = a(i, j);
          const DirectSolve how = band_solve<T>(kl, ku, ab, x);
          CAPTURE(n, kl, ku, reach, seed, how.condition, how.error);
          CHECK(how.status == DirectStatus::ok);
          double worst = 0;
          for (index_t i = 0; i < n; ++i)
            worst = std::max(worst, std::abs(std::ldexp(static_cast<double>(x(i, 0)), columns(i)) - 1));
          CHECK(worst <= 100 * eps);
        }
}

CORES_TEMPLATE_TEST_CASE("units of rows and columns together change no verdict on matrices with zeros", "[direct]",
                         float, double) {
  using T = TestType;
  for (const index_t n : {5, 40, 300})
    for (const int reach : {4, sizeof(T) == 8 ? 50 : 8, sizeof(T) == 8 ? 400 : 50})
      for (const bool scattered : {false, true}) {
        const auto rows = [&](index_t i) { return static_cast<int>(i * 7919 % (2 * reach + 1)) - reach; };
        const auto columns = [&](index_t j) { return static_cast<int>(j * 104729 % (2 * reach + 1)) - reach; };
        HostMatrix<T> a = HostMatrix<T>::zeros(n, n), ab = HostMatrix<T>::zeros(4, n);
        for (index_t i = 0; i < n; ++i) {
          const auto place = [&](index_t j) { return scattered ? (7 * j + 3 * i / 2) % n : j; };
          a(i, place(i)) = T(4);
          for (const index_t j : {i - 1, i + 1})
            if (j >= 0 && j < n && a(i, place(j)) == 0) a(i, place(j)) = T(-1);
        }
        const HostMatrix<T> b = scaled(row_sums(a), rows, [](index_t) { return 0; });
        a = scaled(std::move(a), rows, columns);
        const Solved<T> tiles = solve(runtime, a, b, false, 32);
        Solved<T> here{{}, b.clone()};
        HostMatrix<T> factors = a.clone();
        here.how = lu_solve<T>(runtime, factors, here.x);
        CAPTURE(n, reach, scattered, tiles.how.condition, tiles.how.error, here.how.condition, here.how.error);
        if (scattered && here.how.status == DirectStatus::zero_pivot) continue;  // the places of a row may coincide
        CHECK(tiles.how.condition <= 100.0 * static_cast<double>(n));
        CHECK(here.how.condition <= 100.0 * static_cast<double>(n));
        if (n <= 256 || (runtime.gpus() == 0 && 2 * reach > std::numeric_limits<T>::digits / 2)) {
          CHECK(here.how.status == DirectStatus::ok);
          for (index_t i = 0; i < n; ++i)
            CHECK(std::abs(std::ldexp(static_cast<double>(here.x(i, 0)), columns(i)) - 1) <=
                  1e3 * static_cast<double>(std::numeric_limits<T>::epsilon()));
        }
        if (scattered) continue;
        for (index_t j = 0; j < n; ++j)
          for (index_t i = std::max<index_t>(j - 1, 0); i < std::min(j + 2, n); ++i) ab(2 + i - j, j) = a(i, j);
        Solved<T> band{{}, b.clone()};
        band.how = band_solve<T>(1, 1, ab, band.x);
        CHECK(band.how.status == DirectStatus::ok);
        CHECK(band.how.condition <= 100.0 * static_cast<double>(n));
      }
}

CORES_TEST_CASE("a large condition is doubtful unless the estimated error is small", "[direct]") {
  DirectSolve solve{.condition = 0.1 / static_cast<double>(std::numeric_limits<float>::epsilon())};
  CHECK(detail::status_of<float>(solve) == DirectStatus::ok);
  CHECK(detail::status_of<float>(solve, false) == DirectStatus::doubtful);
  solve.status = DirectStatus::doubtful;
  CHECK(description(solve).find("elimination") == std::string::npos);  // no estimate
  solve.error = 0.005;
  CHECK(detail::status_of<float>(solve) == DirectStatus::doubtful);
  CHECK(description(solve).find("elimination may be 0.005 of x") != std::string::npos);
}

CORES_TEST_CASE("a solution without a correct digit is never ok", "[direct]") {
  for (const index_t n : {14, 16, 20})
    CHECK(solve(runtime, hilbert<double>(n), row_sums(hilbert<double>(n)), false, 4).how.status ==
          DirectStatus::singular);
  for (const index_t n : {8, 10, 14})
    CHECK(solve(runtime, hilbert<float>(n), row_sums(hilbert<float>(n)), false, 4).how.status ==
          DirectStatus::singular);
  for (const index_t n : {60, 70, 100, 200}) {  // well conditioned
    const Solved<double> solved = solve(runtime, growth<double>(n), row_sums(growth<double>(n)), false, 32);
    CAPTURE(n, solved.how.condition, solved.how.error);
    CHECK(solved.how.status == DirectStatus::inaccurate);
    if (n < 80) CHECK(solved.how.condition < 1e6);  // for larger n the factors have lost A
    CHECK(description(solved.how).find("elements grew") != std::string::npos);
  }
}

CORES_TEST_CASE("a system without a solution is reported with its place", "[direct]") {
  HostMatrix<double> a = uniform<double>(6, 7, true);
  const HostMatrix<double> b = row_sums(a);
  HostMatrix<double> strange = b.clone();
  strange(3, 0) = std::numeric_limits<double>::infinity();
  CHECK(solve(runtime, a, strange, false, 4).how.status == DirectStatus::not_finite);
  CHECK(solve(runtime, a, strange, true, 4).how.place == 1);
  a(3, 3) = -1;
  const DirectSolve minor = solve(runtime, a, b, true, 4).how;
  CHECK((minor.status == DirectStatus::not_positive && minor.place == 4 && !minor.has_solution()));
  for (index_t i = 0; i < 6; ++i) a(i, 2) = 0;
  const DirectSolve zero = solve(runtime, a, b, false, 4).how;
  CHECK((zero.status == DirectStatus::zero_pivot && zero.place == 3 && !zero.has_solution()));
}

TEMPLATE_TEST_CASE("a triangular solve recovers integers and does not read below the diagonal", "", float, double) {
  using T = TestType;
  const index_t n = GENERATE(0, 1, 2, 33), r = GENERATE(0, 1, 64, 65, 130);
  const Op op = GENERATE(Op::none, Op::transpose);
  CAPTURE(n, r, int(op));
  // R is 2 I plus a few ones and X holds small integers, so every product and quotient is exact.
  HostMatrix<T> R(n, n), X(n, r), known(n, r);
  const auto element = [&](index_t i, index_t j) { return i == j ? T(2) : (i + j) % 3 == 0 ? T(1) : T(0); };
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) R(i, j) = i <= j ? element(i, j) : std::numeric_limits<T>::quiet_NaN();
  for (index_t k = 0; k < r; ++k) {
    for (index_t i = 0; i < n; ++i) known(i, k) = static_cast<T>((i * 7 + k * 3) % 11 - 5);
    for (index_t i = 0; i < n; ++i) {
      X(i, k) = 0;
      for (index_t j = 0; j < n; ++j) {
        const bool upper = op == Op::none ? i <= j : j <= i;
        if (upper) X(i, k) += (op == Op::none ? element(i, j) : element(j, i)) * known(j, k);
      }
    }
  }
  Runtime runtime;
  Graph g(runtime);
  triangular_solve(g, op, R, X);
  for (index_t k = 0; k < r; ++k)
    for (index_t i = 0; i < n; ++i) REQUIRE(X(i, k) == known(i, k));
}

TEMPLATE_TEST_CASE("a triangular solve divides by subnormal diagonal elements", "", float, double) {
  using T = TestType;
  const T least = std::numeric_limits<T>::denorm_min();
  const Op op = GENERATE(Op::none, Op::transpose);
  const index_t r = GENERATE(1, 70);  // on the calling thread, and as tasks
  auto R = HostMatrix<T>::zeros(3, 3);
  R(0, 0) = 2 * least, R(1, 1) = 4, R(2, 2) = least, R(0, 1) = R(0, 2) = least;
  HostMatrix<T> X(3, r);
  for (index_t k = 0; k < r; ++k)  // op(R) (1, 0, 3)
    X(0, k) = op == Op::none ? 5 * least : 2 * least, X(1, k) = op == Op::none ? T(0) : least,
         X(2, k) = op == Op::none ? 3 * least : 4 * least;
  Runtime runtime;
  Graph g(runtime);
  triangular_solve(g, op, R, X);
  for (index_t k = 0; k < r; ++k) {
    CHECK(X(0, k) == 1);
    CHECK(X(1, k) == 0);
    CHECK(X(2, k) == 3);
  }
}

TEMPLATE_TEST_CASE("a triangular solve from the right divides by subnormal diagonal elements", "", float, double) {
  using T = TestType;
  const T least = std::numeric_limits<T>::denorm_min();
  const std::array<T, 4> R{2 * least, 0, least, 4};
  std::array<T, 4> X{6 * least, 2 * least, 8, least};  // (3 2; 1 0) R
  blas::trsm_right<T>(2, 2, R.data(), 2, X.data(), 2);
  CHECK(X == std::array<T, 4>{3, 1, 2, 0});
}
