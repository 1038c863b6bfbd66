#include "tests/support/four_types.hpp"
#include "tests/support/vector_targets.hpp"
#include "tools/checks/eig_error.hpp"
#include <tesela/algorithms/eigen/eig_batch.hpp>
#include <tesela/algorithms/eigen/eigen_matrices.hpp>

#include <cstring>

using namespace tesela;
using Catch::Matchers::ContainsSubstring;
using tesela::test::runtime;

namespace {

constexpr const char* kinds[] = {"uniform", "zero", "identity", "graded", "clustered:2", "wilkinson"};

/// Returns `count` matrices with different seeds, cycling through kinds and scales; NaN above the diagonals.
template <class T>
HostMatrix<T> batch_of(index_t n, index_t count, const std::vector<const char*>& which,
                       const std::vector<real_t<T>>& scales) {
  HostMatrix<T> a(n, n * count);
  for (index_t k = 0; n > 0 && k < count; ++k) {
    const SymmetricChoice choice = parse_symmetric_kind(which[static_cast<std::size_t>(k) % which.size()]);
    const SymmetricMatrix matrix(choice.kind, n, choice.parameter, static_cast<std::uint64_t>(k) + 1);
    const real_t<T> scale = scales[static_cast<std::size_t>(k) % scales.size()];
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i)
        a(i, k * n + j) = i >= j ? scale * matrix.element<T>(i, j) : T(std::numeric_limits<real_t<T>>::quiet_NaN());
  }
  return a;
}

template <class T>
struct Solved {
  EigBatchResult result;
  HostMatrix<real_t<T>> values;
  HostMatrix<T> x;
};

template <class T>
Solved<T> solve(const HostMatrix<T>& a, index_t count, bool vectors = true, index_t at_once = 0,
                Runtime& where = runtime()) {
  const index_t n = a.rows(), rows = std::max<index_t>(n, 1), kb = at_once > 0 ? at_once : eig_batch_size<T>(where, n);
  Solved<T> s{{}, HostMatrix<real_t<T>>(n, count), a.clone()};
  const auto A = TileMatrix<T>::map(where, s.x.data(), n, n * count, rows, {rows, rows * kb});
  const auto W = TileMatrix<real_t<T>>::map(where, s.values.data(), n, count, rows, {rows, kb});
  Graph g(where);
  s.result = eig_batch(g, A, W, {vectors});
  return s;
}

template <class T>
HostMatrix<T> matrix_of(const HostMatrix<T>& batch, index_t k) {
  const index_t n = batch.rows();
  HostMatrix<T> one(n, n);
  std::copy_n(&batch(0, k * n), n * n, one.data());
  return one;
}

template <class T>
void check(const HostMatrix<T>& a, const Solved<T>& s, index_t k, bool vectors = true) {
  const index_t n = a.rows();
  CAPTURE(n, k);
  const HostMatrix<T> one = matrix_of(a, k);
  const std::vector<double> values(&s.values(0, k), &s.values(0, k) + n);
  const EigBounds bounds = eig_bounds<T>(n);
  const double norm = symmetric_norm(one, std::max(std::abs(values.front()), std::abs(values.back()))),
               rounding = static_cast<double>(std::numeric_limits<real_t<T>>::denorm_min()) / norm;
  CHECK(std::is_sorted(values.begin(), values.end()));
  const double off = eigenvalue_error(values, reference_eigenvalues(one), 0, norm);
  CAPTURE(off, bounds.value);
  CHECK(off <= bounds.value + rounding);
  if (!vectors) return;
  const HostMatrix<T> x = matrix_of(s.x, k);
  const EigError error = eig_error(one, values, x, norm, n, 1);
  CAPTURE(error.residual, error.orthogonality, bounds.orthogonality);
  CHECK(error.residual <= bounds.value + rounding);
  CHECK(error.orthogonality <= bounds.orthogonality);
  for (index_t j = 0; j < n; ++j) {  // several components may be the largest, and one is real and positive
    const auto size = [](T p) { return std::abs(p); };
    const real_t<T> most = size(*std::max_element(&x(0, j), &x(0, j) + n, [&](T p, T q) { return size(p) < size(q); }));
    CHECK(std::any_of(&x(0, j), &x(0, j) + n, [&](T p) {
      return real_part(p) >= most * (1 - (is_complex<T> ? 8 : 0) * std::numeric_limits<real_t<T>>::epsilon());
    }));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("eig_batch finds all pairs for every kind, order and number of matrices", "", FOUR_TYPES) {
  using T = TestType;
  for (const index_t n : {0, 1, 2, 3, 8, 16, 31, 32, 33, 64, 127, 128})
    for (const index_t count : {0, 1, 2, 7, 1000}) {
      if (count == 1000 && n > 8) continue;
      CAPTURE(n, count);
      const HostMatrix<T> a = batch_of<T>(n, count, {std::begin(kinds), std::end(kinds)}, {1});
      const Solved<T> s = solve(a, count);
      REQUIRE(s.result.ok());
      for (index_t k = 0; n > 0 && k < count; ++k) check(a, s, k);
    }
}

TEMPLATE_TEST_CASE("eig_batch finds all pairs of many matrices of larger orders", "", FOUR_TYPES) {
  using T = TestType;
  for (const index_t n : {16, 33, 64}) {
    const index_t count = n > 40 ? 200 : 1000;
    const HostMatrix<T> a = batch_of<T>(n, count, {"uniform", "wilkinson", "graded"}, {1});
    const Solved<T> s = solve(a, count, true, 7);  // tiles that do not divide into groups
    REQUIRE(s.result.ok());
    for (index_t k = 0; k < count; k += 9) check(a, s, k);
    check(a, s, count - 1);
  }
}

TEMPLATE_TEST_CASE("eig_batch without vectors finds the values and leaves A unchanged", "", FOUR_TYPES) {
  TESELA_ON_EACH_VECTOR_TARGET();
  using T = TestType;
  for (const index_t n : {1, 2, 5, 32, 65}) {
    const HostMatrix<T> a = batch_of<T>(n, 21, {std::begin(kinds), std::end(kinds)}, {1});
    const Solved<T> s = solve(a, 21, false);
    REQUIRE(s.result.ok());
    for (index_t k = 0; k < 21; ++k) check(a, s, k, false);
    CHECK(std::memcmp(a.data(), s.x.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0);
  }
}

TEMPLATE_TEST_CASE("eig_batch accepts scales from both ends of the range in one batch", "", FOUR_TYPES) {
  TESELA_ON_EACH_VECTOR_TARGET();
  using T = TestType;
  using Real = real_t<T>;
  constexpr bool single = sizeof(Real) == 4;
  const Real high = single ? Real(1e36) : Real(1e300), low = single ? Real(1e-36) : Real(1e-300);
  for (const index_t n : {1, 2, 8, 40}) {
    const HostMatrix<T> a = batch_of<T>(n, 40, {"uniform", "clustered:2"}, {high, Real(1), low});
    const Solved<T> s = solve(a, 40);
    REQUIRE(s.result.ok());
    for (index_t k = 0; k < 40; ++k) check(a, s, k);
  }
  // A power of two scales the values exactly and leaves the vectors unchanged, whatever the other matrices are.
  const HostMatrix<T> one = batch_of<T>(20, 3, {"uniform"}, {1});
  HostMatrix<T> other = one.clone();
  for (index_t j = 20; j < 40; ++j)
    for (index_t i = 0; i < 20; ++i) other(i, j) = times_power_of_two(other(i, j), -90);
  const Solved<T> p = solve(one, 3), q = solve(other, 3);
  CHECK(std::equal(p.x.data(), p.x.data() + p.x.size(), q.x.data()));
  for (index_t i = 0; i < 20; ++i) CHECK(q.values(i, 1) == std::ldexp(p.values(i, 1), -90));
}

TEMPLATE_TEST_CASE("eig_batch names a matrix that is not finite and solves the others", "", FOUR_TYPES) {
  using T = TestType;
  using Limits = std::numeric_limits<real_t<T>>;
  for (const real_t<T> bad : {Limits::quiet_NaN(), Limits::infinity()})
    for (const index_t n : {6, 33}) {
      const HostMatrix<T> good = batch_of<T>(n, 10, {"uniform"}, {1});
      HostMatrix<T> a = good.clone();
      if constexpr (is_complex<T>)
        a(4, 5 * n + 2) = T(1, bad);
      else
        a(4, 5 * n + 2) = bad;
      const Solved<T> s = solve(a, 10), whole = solve(good, 10);
      REQUIRE(s.result.failures.size() == 1);
      const EigBatchFailure failure = s.result.failures.front();
      CHECK(failure.matrix == 5);
      CHECK(failure.status.verdict == SymmetricEigStatus::Verdict::not_finite);
      CHECK((failure.status.row == 4 && failure.status.column == 2));
      CHECK_THAT(to_string(failure), ContainsSubstring("not finite: A(5, 3) of matrix 6"));
      for (index_t k = 0; k < 10; ++k)
        if (k == 5)
          CHECK(std::isnan(s.values(0, k)));
        else
          CHECK((std::equal(&s.x(0, k * n), &s.x(0, k * n) + n * n, &whole.x(0, k * n)) &&
                 std::equal(&s.values(0, k), &s.values(0, k) + n, &whole.values(0, k))));
    }
}

TEST_CASE("eig_batch refuses invalid shapes") {
  Graph g(runtime());
  const auto refused = [&](Shape a, TileShape a_tile, Shape w, TileShape w_tile) {
    const TileMatrix<double> A(runtime(), a.rows, a.cols, a_tile), W(runtime(), w.rows, w.cols, w_tile);
    CHECK_THROWS_AS(eig_batch(g, A, W), ArgumentError);
  };
  refused({129, 129}, {129, 129}, {129, 1}, {129, 1});
  refused({4, 9}, {4, 4}, {4, 2}, {4, 1});
  refused({4, 8}, {4, 4}, {3, 2}, {4, 1});
  refused({4, 8}, {4, 8}, {4, 2}, {4, 1});
  refused({4, 8}, {2, 4}, {4, 2}, {4, 1});
}

namespace {

/// Solves batches of every order on a GPU, with matrices of every kind and size in one batch.
template <class T>
void check_on(Runtime& gpu, const std::vector<index_t>& orders, index_t count) {
  const std::vector<const char*> all{"uniform", "zero",        "identity", "diagonal", "rank:1",
                                     "graded",  "clustered:2", "normal",   "wilkinson"};
  const T high = sizeof(T) == 4 ? T(1e18) : T(1e150), low = 1 / high;
  for (const index_t n : orders) {
    const HostMatrix<T> a = batch_of<T>(n, count, all, {T(1), high, low, T(1)});
    const Solved<T> s = solve(a, count, true, 0, gpu), values = solve(a, count, false, 5, gpu);
    REQUIRE((s.result.ok() && values.result.ok()));
    for (index_t k = 0; k < count; ++k) check(a, s, k), check(a, values, k, false);
    CHECK(std::memcmp(a.data(), values.x.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0);
  }
}

template <class T>
void check_not_finite(Runtime& gpu, index_t n) {
  const HostMatrix<T> good = batch_of<T>(n, 10, {"uniform"}, {1});
  const Solved<T> whole = solve(good, 10, true, 0, gpu);
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), -std::numeric_limits<T>::infinity()}) {
    HostMatrix<T> a = good.clone();
    a(n - 1, 3 * n + 2) = a(n - 2, 3 * n + 2) = bad;
    const Solved<T> s = solve(a, 10, true, 0, gpu);
    REQUIRE(s.result.failures.size() == 1);
    const auto [verdict, row, column] = s.result.failures.front().status;
    CHECK((verdict == SymmetricEigStatus::Verdict::not_finite && row == n - 2 && column == 2));
    CHECK(std::memcmp(&a(0, 3 * n), &s.x(0, 3 * n), static_cast<std::size_t>(n * n) * sizeof(T)) == 0);
    for (index_t k = 0; k < 10; ++k)
      if (k == 3)
        CHECK((std::isnan(s.values(0, k)) && std::isnan(s.values(n - 1, k))));
      else
        CHECK((std::equal(&s.x(0, k * n), &s.x(0, k * n) + n * n, &whole.x(0, k * n)) &&
               std::equal(&s.values(0, k), &s.values(0, k) + n, &whole.values(0, k))));
  }
}

}  // namespace

GPU_TEMPLATE_TEST_CASE("eig_batch on a GPU finds all pairs for every order, kind and size", "", float, double) {
  std::vector<index_t> orders{64, 65, 100, 127, 128};
  for (index_t n = 1; n <= 33; ++n) orders.push_back(n);
  check_on<TestType>(runtime, orders, 27);
  for (const index_t n : {6, 16, 32, 33, 70}) check_not_finite<TestType>(runtime, n);
}

GPU_TEMPLATE_TEST_CASE("eig_batch on a GPU accepts more than 65536 matrices", "", float, double) {
  constexpr index_t count = 70000;
  const HostMatrix<TestType> a = batch_of<TestType>(3, count, {"uniform", "graded"}, {TestType(1)});
  for (const index_t at_once : {0, 70000}) {
    const Solved<TestType> s = solve(a, count, true, at_once, runtime);
    REQUIRE(s.result.ok());
    for (index_t k = 0; k < count; k += 97) check(a, s, k);
    check(a, s, count - 1);
  }
}

GPU_TEMPLATE_TEST_CASE("eig_batch finds all pairs under a sanitizer", "[sanitize]", float, double) {
  check_on<TestType>(runtime, {1, 2, 7, 11, 19, 35, 67}, 3);
  check_not_finite<TestType>(runtime, 12);
}
