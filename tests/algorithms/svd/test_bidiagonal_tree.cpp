#include "tests/support/shared_runtime.hpp"
#include "tests/support/test.hpp"
#include "tools/checks/svd_error.hpp"
#include <tesela/algorithms/eigen/bidiagonal/bidiagonal_tree.hpp>
#include <tesela/algorithms/svd/bidiagonal_svd.hpp>
#include <tesela/tiles/filled.hpp>

#include <random>

using namespace tesela::test;

namespace {

constexpr index_t leaf = 8;

struct Bidiagonal {
  std::vector<double> d, e;
  index_t n() const { return static_cast<index_t>(d.size()); }
  HostMatrix<double> dense() const {
    return filled<double>({n(), n()}, [&](index_t i, index_t j) {
      return i == j ? d[static_cast<std::size_t>(i)] : i + 1 == j ? e[static_cast<std::size_t>(i)] : 0;
    });
  }
};

/// Returns B with elements d(i) and e(i).
Bidiagonal bidiagonal(index_t n, const std::function<double(index_t)>& d, const std::function<double(index_t)>& e) {
  Bidiagonal b;
  for (index_t i = 0; i < n; ++i) b.d.push_back(d(i));
  for (index_t i = 0; i + 1 < n; ++i) b.e.push_back(e(i));
  return b;
}

Bidiagonal random_bidiagonal(index_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto normal = [&](index_t) { return std::normal_distribution<double>()(random); };
  return bidiagonal(n, normal, normal);
}

struct Triples {
  HostMatrix<double> u, v;
  std::vector<double> values = {};
};

Triples solve(Runtime& runtime, const Bidiagonal& b, const detail::BidiagonalTreeOptions& options) {
  const index_t n = b.n();
  Triples found{{n, n}, {n, n}};
  {
    const auto U = TileMatrix<double>::map(runtime, found.u.data(), n, n, found.u.ld(), {70, 40}, "U"),
               V = TileMatrix<double>::map(runtime, found.v.data(), n, n, found.v.ld(), {50, 90}, "V");
    detail::BidiagonalTriples triples = detail::bidiagonal_tree(runtime, b.d, b.e, U, V, options);
    REQUIRE(triples.info == 0);
    found.values = std::move(triples.values);
  }
  return found;
}

/// Checks the values, and residual and orthogonality with them.
void check(const Bidiagonal& b, const Triples& found) {
  const BidiagonalSvd<double> reference = bidiagonal_svd<double>(b.d, b.e, false);
  REQUIRE(reference.ok());
  CHECK(found.values == reference.values);
  const SvdBounds bounds = svd_bounds<double>(b.n(), b.n());
  const SvdError error = svd_error(b.dense(), found.values, found.u, found.v);
  CAPTURE(b.n(), error.residual, error.orthogonality_u, error.orthogonality_v, bounds.value, bounds.orthogonality);
  CHECK(error.residual <= bounds.value);
  CHECK(error.orthogonality_u <= bounds.orthogonality);
  CHECK(error.orthogonality_v <= bounds.orthogonality);
}

void solve_and_check(Runtime& runtime, const Bidiagonal& b,
                     const detail::BidiagonalTreeOptions& options = {leaf, 40, 20}) {
  check(b, solve(runtime, b, options));
}

double one(index_t) { return 1; }

void check_special_kinds(Runtime& runtime, const detail::BidiagonalTreeOptions& options) {
  const double pi = std::acos(-1.0);
  for (const index_t n : {2, 9, 60, 150}) {
    const auto check_kind = [&](const char* kind, const Bidiagonal& b) {
      CAPTURE(kind);
      solve_and_check(runtime, b, options);
    };
    const auto zero = [](index_t) { return 0.0; };
    const auto power = [](double ratio) {
      return [ratio](index_t i) { return std::pow(ratio, static_cast<double>(i)); };
    };
    check_kind("ones", bidiagonal(n, one, one));
    check_kind("one and minus one", bidiagonal(n, one, [](index_t) { return -1.0; }));
    check_kind("identity", bidiagonal(n, one, zero));
    check_kind("nearly the identity", bidiagonal(n, one, [](index_t i) { return 1e-14 * static_cast<double>(i % 3); }));
    check_kind("weakly coupled ones", bidiagonal(n, one, [](index_t) { return 1e-9; }));
    check_kind("zero", bidiagonal(n, zero, zero));
    check_kind("super-diagonal alone", bidiagonal(n, zero, one));
    check_kind("graded downwards", bidiagonal(n, power(0.01), power(0.01)));
    check_kind("graded upwards", bidiagonal(n, power(100), power(100)));
    check_kind("graded slowly", bidiagonal(n, power(0.8), power(0.8)));
    check_kind("graded slowly upwards", bidiagonal(n, power(1.25), power(1.25)));
    check_kind("Kahan", bidiagonal(n, power(std::sin(1.2)), [&](index_t i) {
                 return -std::cos(1.2) * std::pow(std::sin(1.2), static_cast<double>(i));
               }));
    check_kind("two clusters", bidiagonal(
                                   n, [](index_t i) { return i % 2 == 0 ? 1.0 : 2.0; }, [](index_t) { return 1e-12; }));
    check_kind("repeated blocks", bidiagonal(
                                      n, [](index_t i) { return 1.0 + static_cast<double>(i % 5); },
                                      [](index_t i) { return i % 5 == 4 ? 1e-13 : 0.5; }));
    check_kind("Clement-like", bidiagonal(
                                   n, [&](index_t i) { return std::sqrt(static_cast<double>(n - i)); },
                                   [](index_t i) { return std::sqrt(static_cast<double>(i + 1)); }));
    check_kind("Chebyshev", bidiagonal(
                                n, [&](index_t i) { return std::cos(pi * static_cast<double>(i) / 500); },
                                [&](index_t i) { return std::sin(pi * static_cast<double>(i) / 500); }));
    for (const double tiny : {0.0, 1e-300, 1e-17, 1e-8})
      for (const index_t at : {index_t{0}, n / 4, n / 2, n - 2, n - 1}) {
        CAPTURE(tiny, at);
        Bidiagonal b = random_bidiagonal(n, 4);
        b.d[static_cast<std::size_t>(at)] = tiny;
        check_kind("one small diagonal element", b);
        if (at < n - 1) b.e[static_cast<std::size_t>(at)] = tiny;
        check_kind("and super-diagonal element", b);
        for (index_t i = at; i < n; i += 3) b.d[static_cast<std::size_t>(i)] = tiny;
        check_kind("small diagonal elements", b);
        for (index_t i = at; i + 1 < n; i += 7) b.e[static_cast<std::size_t>(i)] = tiny;
        check_kind("and super-diagonal elements", b);
      }
  }
}

}  // namespace

CORES_TEST_CASE("bidiagonal_tree decomposes random matrices of all small orders") {
  for (index_t n = 1; n <= 3 * leaf + 3; ++n) solve_and_check(runtime, random_bidiagonal(n, 1));
  for (const index_t n : {31, 32, 33, 64, 65, 66, 200}) solve_and_check(runtime, random_bidiagonal(n, 2), {});
}

CORES_TEST_CASE("bidiagonal_tree decomposes large matrices") {
  for (const index_t n : {1000, 2000}) solve_and_check(runtime, random_bidiagonal(n, 3), {});
}

CORES_TEST_CASE("bidiagonal_tree decomposes matrices of special kinds") {
  check_special_kinds(runtime, {leaf, 40, 20});
  check_special_kinds(runtime, {});  // in one leaf
}

TEST_CASE("bidiagonal_tree merges on GPUs", "[gpu]") {
  require_gpu();
  Runtime& workers = test::runtime();
  for (const index_t n : {50, 65, 200, 333}) solve_and_check(workers, random_bidiagonal(n, 2), {leaf, 0, 0, 1});
  solve_and_check(workers, random_bidiagonal(150, 2), {leaf, 40, 20, 1});
  for (const index_t n : {1000, 2000}) solve_and_check(workers, random_bidiagonal(n, 3), {});
  check_special_kinds(workers, {leaf, 0, 0, 1});
}

CORES_TEST_CASE("bidiagonal_tree computes the vectors of selected values", "") {
  const Bidiagonal b = random_bidiagonal(120, 8);
  const Triples all = solve(runtime, b, {leaf, 40, 20});
  HostMatrix<double> u(120, 30), v(120, 30);
  {
    const auto U = TileMatrix<double>::map(runtime, u.data(), 120, 30, 120, {70, 40}, "U"),
               V = TileMatrix<double>::map(runtime, v.data(), 120, 30, 120, {120, 30}, "V");
    const detail::BidiagonalTriples part = detail::bidiagonal_tree(
        runtime, b.d, b.e, U, V, {.leaf = leaf, .rows = 40, .batch = 20, .first = 17, .values = false});
    REQUIRE((part.info == 0 && part.values.empty()));
  }
  CHECK(std::equal(u.data(), u.data() + u.size(), &all.u(0, 17)));
  CHECK(std::equal(v.data(), v.data() + v.size(), &all.v(0, 17)));
}

CORES_TEST_CASE("bidiagonal_tree: a power of two does not change the vectors") {
  const Bidiagonal b = random_bidiagonal(100, 5);
  const Triples one = solve(runtime, b, {leaf, 30, 20});
  for (const int power : {-1000, -60, 3, 1000}) {
    Bidiagonal other = b;
    for (auto* numbers : {&other.d, &other.e})
      for (double& number : *numbers) number = std::ldexp(number, power);
    const Triples found = solve(runtime, other, {leaf, 30, 20});
    CHECK(std::equal(one.u.data(), one.u.data() + one.u.size(), found.u.data()));
    CHECK(std::equal(one.v.data(), one.v.data() + one.v.size(), found.v.data()));
  }
}

TEST_CASE("bidiagonal_tree returns the same bits with any scheduler and any number of cores") {
  const Bidiagonal b = random_bidiagonal(150, 6);
  std::vector<Triples> all;
  for (const char* scheduler : {"eager", "lws", "eager", "lws"}) {
    shared_runtime.reset();
    Runtime runtime({.cpus = all.size() < 2 ? 1 : 2, .gpus = 0, .scheduler = scheduler});
    all.push_back(solve(runtime, b, {leaf, 30, 20}));
    check(b, all.back());
    const auto same = [&](HostMatrix<double> Triples::*x) {
      const HostMatrix<double>&first = all.front().*x, &last = all.back().*x;
      return std::equal(first.data(), first.data() + first.size(), last.data());
    };
    CHECK(same(&Triples::u));
    CHECK(same(&Triples::v));
  }
}

CORES_TEMPLATE_TEST_CASE("bidiagonal_svd decomposes large matrices on the runtime's cores", "", float, double) {
  using T = TestType;
  const Bidiagonal b = random_bidiagonal(450, 7);
  const std::vector<T> d(b.d.begin(), b.d.end()), e(b.e.begin(), b.e.end());
  const BidiagonalSvd<T> found = bidiagonal_svd<T>(runtime, d, e, true);
  REQUIRE(found.ok());
  CHECK(found.values == bidiagonal_svd<T>(d, e, false).values);
  const auto dense = filled<T>({450, 450}, [&](index_t i, index_t j) {
    return i == j ? d[static_cast<std::size_t>(i)] : i + 1 == j ? e[static_cast<std::size_t>(i)] : T(0);
  });
  const SvdBounds bounds = svd_bounds<T>(450, 450);
  const SvdError error =
      svd_error(dense, std::vector<double>(found.values.begin(), found.values.end()), *found.u, *found.v);
  CHECK(error.residual <= bounds.value);
  CHECK(error.orthogonality_u <= bounds.orthogonality);
  CHECK(error.orthogonality_v <= bounds.orthogonality);
}
