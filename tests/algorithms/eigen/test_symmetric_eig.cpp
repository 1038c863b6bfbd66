#include "tests/support/four_types.hpp"
#include "tests/support/symmetric_eig.hpp"
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/errors.hpp>

using namespace tesela::test;

namespace {

/// Solves by the call for a matrix in memory, or in tiles of this width.
template <class T>
Solved<T> solve(const HostMatrix<T>& a, const SymmetricEigOptions& options, index_t tile = 0) {
  const index_t n = a.rows(), ld = std::max<index_t>(n, 1);
  HostMatrix<T> lost = a.clone();
  if (tile == 0) return symmetric_eig(runtime(), MatrixView(lost), options);
  Graph g(runtime());
  const auto A = TileMatrix<T>::map(runtime(), lost.data(), n, n, ld, {ld, tile});
  SymmetricEig<T> eig = symmetric_eig(g, A, options);
  REQUIRE(g.wait().ok());
  return eig;
}

template <class T>
void check(const HostMatrix<T>& a, const Solved<T>& s, const std::vector<double>& reference) {
  check_pairs(a, s, reference, eig_bounds<T>(a.rows()));
  check_order_and_signs(s);
}

constexpr const char* all_kinds[] = {
    "uniform",   "normal",     "band:5",        "graded",      "rank:7",    "diagonal",        "identity",
    "zero",      "arithmetic", "geometric:1e6", "clustered:5", "wilkinson", "glued-wilkinson", "second-difference",
    "laplacian", "exchange",   "nbody"};

}  // namespace

TEMPLATE_TEST_CASE("symmetric_eig finds all pairs of every kind", "[gpu]", FOUR_TYPES) {
  for (const char* kind : all_kinds)
    for (const index_t n : {0, 1, 2, 3, 33, 64, 150}) {
      const HostMatrix<TestType> a = lower<TestType>(kind, n);
      const std::vector<double> reference = reference_eigenvalues(a);
      for (const EigMethod method :
           {EigMethod::automatic, EigMethod::two_stage, EigMethod::one_stage, EigMethod::lapack, EigMethod::one_task}) {
        CAPTURE(kind, n, method);
        const Solved<TestType> all = solve(a, {.method = method});
        check(a, all, reference);
        CHECK(static_cast<index_t>(all.eig.values.size()) == n);
        const Solved<TestType> values = solve(a, {.method = method, .vectors = false});
        const double norm = symmetric_norm(a, values.eig.norm);
        CHECK(eigenvalue_error(values.eig.values, reference, 0, norm) <= eig_bounds<TestType>(n).value);
      }
    }
}

TEMPLATE_TEST_CASE("symmetric_eig accepts bandwidths that do not divide the order", "[gpu]", FOUR_TYPES) {
  for (const index_t n : {100, 201}) {
    const HostMatrix<TestType> a = lower<TestType>("uniform", n);
    const std::vector<double> reference = reference_eigenvalues(a);
    for (const index_t band : {1, 2, 8, 24, 32, 64, 300}) {
      CAPTURE(band, n);
      check(a, solve(a, {.method = EigMethod::two_stage, .band = band}), reference);
    }
  }
}

TEMPLATE_TEST_CASE("symmetric_eig runs as one task with tiles of any width", "[gpu][sanitize]", FOUR_TYPES) {
  for (const index_t tile : {7, 40, 100})
    for (const bool vectors : {true, false}) {
      const HostMatrix<TestType> a = lower<TestType>("normal", 40);
      const Solved<TestType> s = solve(a, {.method = EigMethod::one_task, .vectors = vectors}, tile);
      CHECK(s.x.cols() == (vectors ? 40 : 0));
      check(a, s, reference_eigenvalues(a));
    }
}

TEMPLATE_TEST_CASE("symmetric_eig: a power of two scales only the values", "", FOUR_TYPES) {
  using T = TestType;
  const EigMethod method = GENERATE(EigMethod::automatic, EigMethod::two_stage, EigMethod::one_stage, EigMethod::lapack,
                                    EigMethod::one_task);
  const int most = std::numeric_limits<real_t<T>>::max_exponent - 8;
  const HostMatrix<T> a = lower<T>("uniform", 70);
  const Solved<T> one = solve(a, {.method = method});
  for (const int power : {-most / 2, -3, 40, most}) {
    CAPTURE(power);
    const Solved<T> other = solve(lower<T>("uniform", 70, std::ldexp(real_t<T>(1), power)), {.method = method});
    for (std::size_t i = 0; i < 70; ++i) CHECK(other.eig.values[i] == std::ldexp(one.eig.values[i], power));
    CHECK(std::equal(one.x.data(), one.x.data() + one.x.size(), other.x.data()));
  }
}

TEMPLATE_TEST_CASE("symmetric_eig finds the requested part of the spectrum", "", FOUR_TYPES) {
  using T = TestType;
  const EigMethod method = GENERATE(EigMethod::automatic, EigMethod::two_stage, EigMethod::one_stage, EigMethod::lapack,
                                    EigMethod::one_task);
  for (const char* kind : {"uniform", "clustered:3", "laplacian", "exchange"}) {
    const index_t n = 90;
    CAPTURE(kind, method);
    const HostMatrix<T> a = lower<T>(kind, n);
    const std::vector<double> reference = reference_eigenvalues(a);
    const Solved<T> all = solve(a, {.method = method, .vectors = false});
    for (const IndexRange range : {IndexRange{0, 1}, {10, 41}, {89, 90}, {5, 5}, {0, 90}}) {
      const Solved<T> part = solve(a, {.method = method, .positions = range});
      REQUIRE(static_cast<index_t>(part.eig.values.size()) == range.size());
      CHECK(part.eig.first == range.begin);
      check(a, part, reference);
    }
    // [a, b) and [b, c) together contain each value once, even if b is an eigenvalue.
    for (const std::size_t cut : {std::size_t{0}, std::size_t{30}, std::size_t{89}}) {
      const double at = all.eig.values[cut];
      const Solved<T> low = solve(a, {.method = method, .high = at}), high = solve(a, {.method = method, .low = at});
      CHECK(low.eig.values.size() + high.eig.values.size() == 90);
      CHECK(high.eig.first == static_cast<index_t>(low.eig.values.size()));
      check(a, low, reference);
      check(a, high, reference);
    }
  }
}

TEMPLATE_TEST_CASE("symmetric_eig reports an eigenvalue beyond the largest number as a verdict", "", FOUR_TYPES) {
  using T = TestType;
  const EigMethod method = GENERATE(EigMethod::automatic, EigMethod::two_stage, EigMethod::one_stage, EigMethod::lapack,
                                    EigMethod::one_task);
  HostMatrix<T> a(40, 40);
  for (index_t j = 0; j < 40; ++j)
    // One eigenvalue is 40 times as large.
    for (index_t i = 0; i < 40; ++i) a(i, j) = std::numeric_limits<real_t<T>>::max() / 2;
  for (const bool vectors : {false, true}) {
    CAPTURE(method, vectors);
    const Solved<T> all = solve(a, {.method = method, .vectors = vectors});
    CHECK(all.eig.status.verdict == SymmetricEigStatus::Verdict::overflow);
    CHECK(all.eig.values.size() == 40);
    CHECK(solve(a, {.method = method, .vectors = vectors, .positions = IndexRange{0, 39}}).eig.status.ok());
  }
}

TEST_CASE("symmetric_eig reports the place of an element that is not finite and refuses invalid arguments") {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (const auto& [row, column] : {std::pair<index_t, index_t>{0, 0}, {299, 3}, {299, 299}, {200, 150}}) {
      HostMatrix<double> a = lower<double>("uniform", 300);
      a(row, column) = bad;
      const Solved<double> s = solve(a, {});
      CHECK(s.eig.status.verdict == SymmetricEigStatus::Verdict::not_finite);
      CHECK(s.eig.status.row == row);
      CHECK(s.eig.status.column == column);
      CHECK(s.eig.values.empty());
    }
  const HostMatrix<double> a = lower<double>("uniform", 10);
  CHECK_THROWS_AS(solve(a, {.positions = IndexRange{0, 11}}), ArgumentError);
  CHECK_THROWS_AS(solve(a, {.positions = IndexRange{-1, 3}}), ArgumentError);
  CHECK_THROWS_AS(solve(a, {.low = 1, .high = 0}), ArgumentError);
  CHECK_THROWS_AS(solve(a, {.low = std::nan("")}), ArgumentError);
  CHECK_THROWS_AS(solve(a, {.band = -1}), ArgumentError);
}

TEMPLATE_TEST_CASE("symmetric_eig finds NaN in an imaginary part and refuses a diagonal that is not real", "",
                   COMPLEX_TYPES) {
  using T = TestType;
  HostMatrix<T> a = lower<T>("uniform", 200);
  a(120, 7) = T(0, std::numeric_limits<real_t<T>>::infinity());
  const Solved<T> s = solve(a, {.method = EigMethod::two_stage});
  CHECK(s.eig.status.verdict == SymmetricEigStatus::Verdict::not_finite);
  CHECK((s.eig.status.row == 120 && s.eig.status.column == 7));
  a = lower<T>("uniform", 9);
  a(4, 4) += T(0, 1);
  CHECK_THROWS_WITH(solve(a, {}), ContainsSubstring("[4, 4]"));
  a(4, 4) = T(3, 4 * std::numeric_limits<real_t<T>>::epsilon());  // as of a product X X^H
  CHECK(solve(a, {}).eig.status.ok());
}

TEMPLATE_TEST_CASE("symmetric test matrices have the stated eigenvalues", "", float, double) {
  using T = TestType;
  for (const char* kind :
       {"rank:0", "rank:7", "rank:1000", "diagonal", "identity", "zero", "arithmetic", "geometric:1e6", "geometric:1",
        "clustered:1", "clustered:5", "second-difference", "laplacian", "exchange"})
    for (const index_t n : {0, 1, 2, 3, 12, 35, 64}) {
      CAPTURE(kind, n);
      const SymmetricChoice choice = parse_symmetric_kind(kind);
      const SymmetricMatrix matrix(choice.kind, n, choice.parameter, 3);
      REQUIRE(matrix.eigenvalues());
      std::vector<T> a(static_cast<std::size_t>(n * n)), w(static_cast<std::size_t>(n));
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < n; ++i) {
          a[static_cast<std::size_t>(i + j * n)] = matrix.element<T>(i, j);
          REQUIRE(matrix.element<T>(i, j) == matrix.element<T>(j, i));
        }
      if (n == 0) continue;
      REQUIRE(lapack::syevd(n, a.data(), n, w.data(), false) == 0);
      const double bound = 30 * static_cast<double>(std::numeric_limits<T>::epsilon()) * 8;
      for (std::size_t i = 0; i < w.size(); ++i) CHECK(std::abs(w[i] - (*matrix.eigenvalues())[i]) <= bound);
    }
}

TEST_CASE("names of symmetric kinds are parsed, and unknown names refused") {
  CHECK(parse_symmetric_kind("band:3").parameter == 3);
  CHECK(parse_symmetric_kind("spectrum:a:b.npy").file == "a:b.npy");
  for (const char* wrong : {"", "unifrom", "band", "band:-1", "band:x", "band:1.5", "uniform:2", "geometric:0.5",
                            "clustered:0", "rank:nan", "rank:1e400", "geometric:inf"})
    CHECK_THROWS_AS(parse_symmetric_kind(wrong), ArgumentError);
  CHECK_THROWS_AS(SymmetricMatrix(SymmetricKind::spectrum, 3, 0, 1, {1, 2}), ArgumentError);
  CHECK_THROWS_AS(SymmetricMatrix(SymmetricKind::uniform, -1), ArgumentError);
  const SymmetricMatrix given(SymmetricKind::spectrum, 3, 0, 1, {5, -2, 1});
  CHECK(given.eigenvalues() == std::vector<double>{-2, 1, 5});
}
