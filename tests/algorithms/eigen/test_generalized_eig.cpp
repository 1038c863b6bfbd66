#include "tests/support/four_types.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/symmetric_eig.hpp"
#include "tools/checks/generalized_eig_error.hpp"
#include <tesela/algorithms/eigen/generalized_eig.hpp>

#include <catch2/matchers/catch_matchers.hpp>

using namespace tesela::test;

namespace {

using Verdict = SymmetricEigStatus::Verdict;
constexpr GeneralizedKind all_kinds[] = {GeneralizedKind::ax_lambda_bx, GeneralizedKind::abx_lambda_x,
                                         GeneralizedKind::bax_lambda_x};

/// Solves by the call for matrices in memory, or in tiles of this edge.
template <class T>
Solved<T> solve(const HostMatrix<T>& a, const HostMatrix<T>& b, const GeneralizedEigOptions& options, index_t tile) {
  HostMatrix<T> lost = a.clone(), lost_b = b.clone();
  const MatrixView view_a(lost), view_b(lost_b);
  if (tile == 0) return generalized_eig(runtime(), view_a, view_b, options);
  const auto A = view_a.in_tiles(runtime(), {tile, tile}), B = view_b.in_tiles(runtime(), {tile, tile});
  Graph g(runtime());
  SymmetricEig<T> eig = generalized_eig(g, A, B, options);
  REQUIRE(g.wait().ok());
  return eig;
}

/// Checks the errors against the bound of a backward stable solver times B's condition, which is at most `condition`.
template <class T>
void check(GeneralizedKind kind, const HostMatrix<T>& a, const HostMatrix<T>& b, const Solved<T>& s, double condition) {
  REQUIRE(s.eig.status.ok());
  const index_t n = a.rows();
  const EigBounds bounds = eig_bounds<T>(n);
  const GeneralizedEigError error =
      generalized_eig_error(kind, a, b, s.eig.values, s.x, s.eig.first, true, s.x.cols(), 1);
  CAPTURE(n, kind, error.residual, error.orthogonality, *error.value, error.condition);
  CHECK(error.condition <= 1.01 * condition);
  CHECK(error.residual <= bounds.value * error.residual_growth);
  CHECK(*error.value <= bounds.value * error.value_growth);
  CHECK(error.orthogonality <= bounds.orthogonality * error.condition);
  check_order_and_signs(s);
}

}  // namespace

TEMPLATE_TEST_CASE("generalized_eig agrees with sygvd on all pairs", "[gpu]", FOUR_TYPES) {
  using T = TestType;
  for (const index_t n : {0, 1, 2, 3, 33, 64, 150}) {
    const HostMatrix<T> a = lower<T>("uniform", n), b = lower<T>("geometric:20", n, 1, 9);
    for (const GeneralizedKind kind : all_kinds)
      for (const index_t tile : {0, 7, 32, 200}) {
        if (tile == 7 && n > 64) continue;
        for (const EigMethod method : {EigMethod::two_stage, EigMethod::lapack}) {
          if (method == EigMethod::lapack && tile != 32) continue;
          const Solved<T> all = solve(a, b, {kind, {.method = method}}, tile);
          CHECK(static_cast<index_t>(all.eig.values.size()) == n);
          check(kind, a, b, all, 20);
          const Solved<T> values = solve(a, b, {kind, {.method = method, .vectors = false}}, tile);
          check(kind, a, b, values, 20);
        }
      }
  }
}

TEST_CASE("generalized_eig agrees with closed forms") {
  // A = diag(1 … n) and B = diag(4), so lambda = i / 4 or 4 i, and x is a multiple of a unit vector.
  const index_t n = 40;
  HostMatrix<double> a = HostMatrix<double>::zeros(n, n), b = HostMatrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) a(i, i) = static_cast<double>(i + 1), b(i, i) = 4;
  for (const GeneralizedKind kind : all_kinds) {
    const Solved<double> s = solve(a, b, {kind, {}}, 16);
    const double factor = kind == GeneralizedKind::ax_lambda_bx ? 0.25 : 4;
    const double component = kind == GeneralizedKind::bax_lambda_x ? 2 : 0.5;
    for (index_t i = 0; i < n; ++i) {
      CHECK(std::abs(s.eig.values[static_cast<std::size_t>(i)] - factor * static_cast<double>(i + 1)) <= 1e-12);
      CHECK(std::abs(s.x(i, i) - component) <= 1e-13);
    }
  }
}

TEMPLATE_TEST_CASE("generalized_eig is accurate for an ill-conditioned B", "[gpu]", FOUR_TYPES) {
  using T = TestType;
  const char* const kind_of_b = std::is_same_v<real_t<T>, float> ? "geometric:1e3" : "geometric:1e8";
  const double condition = std::is_same_v<real_t<T>, float> ? 1e3 : 1e8;
  for (const GeneralizedKind kind : all_kinds) {
    const HostMatrix<T> a = lower<T>("uniform", 100), b = lower<T>(kind_of_b, 100, 1, 9);
    const Solved<T> s = solve(a, b, {kind, {.method = EigMethod::two_stage}}, 48);
    check(kind, a, b, s, condition);
  }
}

TEMPLATE_TEST_CASE("generalized_eig: powers of two scale the values, and powers of four in B scale X", "", float,
                   double) {
  using T = TestType;
  const int most = std::numeric_limits<real_t<T>>::max_exponent - 8;
  const index_t n = 50;
  for (const GeneralizedKind kind : all_kinds) {
    const GeneralizedEigOptions options{kind, {.method = EigMethod::two_stage}};
    const auto solved = [&](int of_a, int of_b) {
      return solve(lower<T>("uniform", n, std::ldexp(1.0, of_a)), lower<T>("geometric:20", n, std::ldexp(1.0, of_b), 9),
                   options, 32);
    };
    const Solved<T> one = solved(0, 0);
    for (const auto& [of_a, of_b] : {std::pair{most, 0}, {-most / 2, 40}, {3, -most / 4 * 2}, {most, -most / 4 * 2}}) {
      CAPTURE(kind, of_a, of_b);
      const Solved<T> other = solved(of_a, of_b);
      const int power = kind == GeneralizedKind::ax_lambda_bx ? of_a - of_b : of_a + of_b,
                half = kind == GeneralizedKind::bax_lambda_x ? of_b / 2 : -of_b / 2;
      const bool over = std::ldexp(one.eig.norm, power) > static_cast<double>(std::numeric_limits<real_t<T>>::max());
      CHECK(other.eig.status.verdict == (over ? Verdict::overflow : Verdict::ok));
      if (over) continue;
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        CHECK(other.eig.values[i] == std::ldexp(one.eig.values[i], power));
      bool same = true;
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < n; ++i) same = same && other.x(i, j) == times_power_of_two(one.x(i, j), half);
      CHECK(same);
    }
  }
}

TEST_CASE("generalized_eig reports values beyond the range as a verdict") {
  const Solved<double> s = solve(lower<double>("identity", 5, std::ldexp(1.0, 1000)),
                                 lower<double>("identity", 5, std::ldexp(1.0, -1000)), {}, 4);
  CHECK(s.eig.status.verdict == Verdict::overflow);
  CHECK(s.eig.values.size() == 5);
  for (const double value : s.eig.values) CHECK(std::isinf(value));
  // In single precision the size of A overflows an intermediate result, and the size of B brings it back into range.
  HostMatrix<float> ones(3, 3), large(3, 3);
  for (index_t j = 0; j < 3; ++j)
    for (index_t i = 0; i < 3; ++i) {
      ones(i, j) = std::numeric_limits<float>::max() / 2;
      large(i, j) = i == j ? 0x1p20F : 0;
    }
  CHECK(solve(ones, large, {}, 2).eig.status.ok());
}

TEMPLATE_TEST_CASE("generalized_eig finds the requested part of the spectrum", "", FOUR_TYPES) {
  using T = TestType;
  const index_t n = 90;
  // Powers of two show that the ends of a range are scaled like the values.
  const HostMatrix<T> a = lower<T>("uniform", n, std::ldexp(1.0, 7)),
                      b = lower<T>("geometric:20", n, std::ldexp(1.0, -5), 9);
  for (const GeneralizedKind kind : all_kinds) {
    const auto part = [&](const SymmetricEigOptions& options) { return solve(a, b, {kind, options}, 32); };
    const Solved<T> all = part({.method = EigMethod::two_stage, .vectors = false});
    for (const IndexRange range : {IndexRange{0, 1}, {10, 41}, {89, 90}, {5, 5}}) {
      const Solved<T> some = part({.method = EigMethod::two_stage, .positions = range});
      REQUIRE(static_cast<index_t>(some.eig.values.size()) == range.size());
      CHECK(some.eig.first == range.begin);
      check(kind, a, b, some, 20);
    }
    const double at = all.eig.values[30];
    const Solved<T> low = part({.method = EigMethod::two_stage, .high = at}),
                    high = part({.method = EigMethod::two_stage, .low = at});
    CHECK(low.eig.values.size() == 30);
    CHECK(high.eig.values.size() == 60);
    check(kind, a, b, low, 20);
    check(kind, a, b, high, 20);
  }
}

TEMPLATE_TEST_CASE("generalized_eig names the minor of B that is not positive", "[gpu]", FOUR_TYPES) {
  using T = TestType;
  using Minors = std::vector<index_t>;
  for (const auto& [n, tile, minors] :  // several tiles, and tiles of several panels
       {std::tuple<index_t, index_t, Minors>{60, 16, {1, 5, 32, 33, 60}},
        {620, 300, {1, 64, 65, 257, 300, 301, 555, 600, 601, 620}}}) {
    const HostMatrix<T> a = lower<T>("uniform", n);
    const auto row = [&, tile = tile](const HostMatrix<T>& b) {
      const Solved<T> s = solve(a, b, {}, tile);
      CHECK(s.eig.status.verdict == Verdict::b_not_positive_definite);
      CHECK(s.eig.values.empty());
      return s.eig.status.row;
    };
    for (const index_t minor : minors)
      for (const T bad : {T(-1), T(0)}) {
        HostMatrix<T> b = lower<T>("identity", n);
        b(n - 1, 0) = T(0.5);
        b(minor - 1, minor - 1) = bad;
        CHECK(row(b) == minor);
      }
    // The off-diagonal elements make a minor of order 2 negative.
    HostMatrix<T> b = lower<T>("identity", n);
    b(n - 1, 3) = 2;
    CHECK(row(b) == n);
  }
}

TEST_CASE("generalized_eig reports the place of an element that is not finite and refuses invalid arguments", "[gpu]") {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinite})
    for (const auto& [row, column] : {std::pair<index_t, index_t>{0, 0}, {49, 3}, {49, 49}, {30, 20}})
      for (const bool in_b : {false, true}) {
        HostMatrix<double> a = lower<double>("uniform", 50), b = lower<double>("identity", 50);
        (in_b ? b : a)(row, column) = bad;
        const Solved<double> s = solve(a, b, {}, 16);
        CHECK(s.eig.status.verdict == (in_b ? Verdict::b_not_finite : Verdict::not_finite));
        CHECK(s.eig.status.row == row);
        CHECK(s.eig.status.column == column);
      }
  Graph g(runtime());
  const auto square = [&](index_t m, index_t n, index_t mb, index_t nb) {
    return TileMatrix<double>(runtime(), m, n, {mb, nb});
  };
  const auto A = square(10, 10, 4, 4);
  for (const auto& B :
       {square(9, 9, 4, 4), square(10, 9, 4, 4), square(9, 10, 4, 4), square(10, 10, 5, 5), square(10, 10, 10, 4), A})
    CHECK_THROWS_WITH(generalized_eig(g, A, B), ContainsSubstring("generalized_eig"));
  CHECK_THROWS_AS(generalized_eig(g, square(10, 10, 4, 10), square(10, 10, 4, 4)), ArgumentError);
  const HostMatrix<double> a = lower<double>("uniform", 10), b = lower<double>("identity", 10);
  CHECK_THROWS_AS(solve(a, b, {.eig = {.positions = IndexRange{0, 11}}}, 4), ArgumentError);
  CHECK_THROWS_AS(solve(a, b, {.eig = {.low = 1, .high = 0}}, 4), ArgumentError);
}

TEMPLATE_TEST_CASE("generalized_eig finds NaN in an imaginary part and refuses a diagonal that is not real", "",
                   COMPLEX_TYPES) {
  using T = TestType;
  for (const bool in_b : {false, true}) {
    const auto pair = [&](index_t row, index_t column, T value) {
      HostMatrix<T> a = lower<T>("uniform", 50), b = lower<T>("identity", 50);
      (in_b ? b : a)(row, column) += value;
      return solve(a, b, {}, 0);
    };
    const Solved<T> s = pair(30, 20, T(0, std::numeric_limits<real_t<T>>::quiet_NaN()));
    CHECK(s.eig.status.verdict == (in_b ? Verdict::b_not_finite : Verdict::not_finite));
    CHECK((s.eig.status.row == 30 && s.eig.status.column == 20));
    CHECK_THROWS_WITH(pair(7, 7, T(0, 1)), ContainsSubstring(in_b ? "B: its element [7, 7]" : "A: its element [7, 7]"));
  }
}

TEST_CASE("generalized_eig reports a reduced matrix that overflows", "[gpu]") {
  const HostMatrix<double> a = lower<double>("identity", 20);
  HostMatrix<double> b = lower<double>("identity", 20);
  b(7, 7) = std::ldexp(1.0, -1060);
  const Solved<double> s = solve(a, b, {}, 8);
  CHECK(s.eig.status.verdict == Verdict::reduced_overflow);
}

TEMPLATE_TEST_CASE(
    "generalized_eig works with tiles of several panels, at any scale and with rows of B of different sizes", "[gpu]",
    FOUR_TYPES) {
  using T = TestType;
  const index_t n = 330;
  const int far = std::is_same_v<real_t<T>, float> ? 60 : 498;  // 1e150
  for (const GeneralizedKind kind : all_kinds) {
    const GeneralizedEigOptions options{kind, {.method = EigMethod::two_stage}};
    for (const int power : {0, -far, far}) {
      const HostMatrix<T> a = lower<T>("uniform", n), b = lower<T>("geometric:20", n, std::ldexp(1.0, power), 9);
      check(kind, a, b, solve(a, b, options, 300), 20);
    }
    if (std::is_same_v<real_t<T>, float>) continue;
    HostMatrix<T> b = lower<T>("geometric:20", n, 1, 9);
    const auto power = [&](index_t i) { return static_cast<int>(i % 13) - 6; };
    for (index_t j = 0; j < n; ++j)
      for (index_t i = j; i < n; ++i) b(i, j) = times_power_of_two(b(i, j), power(i) + power(j));
    const HostMatrix<T> a = lower<T>("uniform", n);
    check(kind, a, b, solve(a, b, options, 300), 20 * std::ldexp(1.0, 24));
  }
}

TEMPLATE_TEST_CASE("generalized_eig with a GPU agrees with cores", "[gpu]", float, double) {
  using T = TestType;
  require_gpu();
  const index_t n = 300;
  const HostMatrix<T> a = lower<T>("uniform", n), b = lower<T>("geometric:20", n, 1, 9);
  for (const GeneralizedKind kind : all_kinds) {
    const auto found = [&](RuntimeOptions where) {
      shared_runtime.reset();
      runtime(std::move(where));
      return solve(a, b, {kind, {.method = EigMethod::two_stage}}, 128);
    };
    const Solved<T> cores = found({.gpus = 0}), gpu = found({.gpus = 1});
    check(kind, a, b, gpu, 20);
    REQUIRE(cores.eig.values.size() == gpu.eig.values.size());
    for (std::size_t i = 0; i < cores.eig.values.size(); ++i)
      CHECK(std::abs(cores.eig.values[i] - gpu.eig.values[i]) <= 20 * eig_bounds<T>(n).value * cores.eig.norm);
  }
  shared_runtime.reset();
}
