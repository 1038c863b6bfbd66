#include "tests/support/files.hpp"
#include "tests/support/four_types.hpp"
#include "tests/support/machine.hpp"
#include <tesela/algorithms/mimo/mimo_channel.hpp>
#include <tesela/algorithms/mimo/qr_batch.hpp>
#include <tesela/codelets/givens/rotation.hpp>

using namespace tesela::test;
using Number = std::complex<double>;

namespace {

template <class F>
struct RealPart {
  using type = F;
};
template <class T>
struct RealPart<std::complex<T>> {
  using type = T;
};
template <class F>
constexpr double eps = std::numeric_limits<typename RealPart<F>::type>::epsilon();

template <class F>
F as(Number x, double scale) {
  if constexpr (std::is_floating_point_v<F>)
    return static_cast<F>(x.real() * scale);
  else
    return F(x * scale);
}

template <class F>
struct Batch {
  index_t m, n, count, right, extra;  // extra: rows of sqrt(N0) I
  HostMatrix<F> a, b, packed, transformed, tau;
  HostMatrix<int> order;
  std::vector<QrBatchFailure> failures;
  bool rotations;
};

/// Factors `count` matrices of h rows of this kind, with right-hand sides.
template <class F>
Batch<F> factor(index_t h, index_t n, index_t count, index_t right, const QrBatchOptions& options,
                const char* kind = "rayleigh", double scale = 1, index_t together = 7, Runtime& where = runtime(),
                index_t poisoned = -1) {
  const bool mmse = options.order == ColumnOrder::mmse_sqrd || options.order == ColumnOrder::mmse_vblast;
  const index_t extra = mmse ? n : 0, m = h + extra, k = std::min(m, n);
  Batch<F> p{m,
             n,
             count,
             right,
             extra,
             HostMatrix<F>(m, n * count),
             HostMatrix<F>(m, right * count),
             {},
             {},
             HostMatrix<F>(k, count),
             HostMatrix<int>(n, count),
             {},
             options.rotations};
  const auto from = random_channels<double>({n, h, count, 1}, parse_channel("test", kind), 4);
  for (index_t j = 0; j < p.a.cols(); ++j)
    for (index_t i = 0; i < m; ++i)
      p.a(i, j) = as<F>(i < h ? from(i, j) : i - h == j % n ? Number(std::sqrt(options.n0) / scale) : Number(0), scale);
  for (index_t j = 0; j < p.b.cols(); ++j)
    for (index_t i = 0; i < m; ++i) p.b(i, j) = i < h ? as<F>(Number(std::sin(double(i + 3 * j)), 0.5), 1) : F(0);
  if (poisoned >= 0) p.a(1, poisoned * n + 1) = as<F>(Number(std::nan(""), 0), 1);
  p.packed = p.a.clone(), p.transformed = p.b.clone();
  for (index_t j = 0; j < p.a.cols(); ++j)
    for (index_t i = h; i < m; ++i) p.packed(i, j) = F(99);  // must be overwritten
  for (index_t j = 0; j < p.b.cols(); ++j)
    for (index_t i = h; i < m; ++i) p.transformed(i, j) = F(99);
  const auto map = [&](auto& x, index_t cols) {
    using E = std::remove_reference_t<decltype(*x.data())>;
    return TileMatrix<E>::map(where, x.data(), x.rows(), x.cols(), x.ld(), {x.rows(), cols * together});
  };
  const auto A = map(p.packed, n), Tau = map(p.tau, 1), B = map(p.transformed, std::max<index_t>(right, 1));
  const auto Order = map(p.order, 1);
  Graph g(where);
  p.failures = qr_batch(g, A, Tau, Order, right > 0 ? &B : nullptr, options);
  return p;
}

/// Returns c and s in double of a stored rotation, as documented for QrBatchOptions::rotations.
template <class F>
std::pair<double, Number> unpacked(F stored) {
  const Number rho(stored);
  const double size = std::abs(rho);
  if (size > 0.9 && size < 1.1) return {0, rho / size};
  if (size < 1) return {std::sqrt(1 - 4 * size * size), 2.0 * rho};
  if (std::is_floating_point_v<F>) return {2 / rho.real(), std::sqrt(1 - 4 / (size * size))};
  return {2 / size, rho / size * std::sqrt(1 - 4 / (size * size))};
}

/// Returns the relative errors ||A P - Q R|| and ||b - Q (Q^H b)|| of matrix k, with Q in double from reflectors or
/// rotations.
template <class F>
void check(const Batch<F>& p, index_t k) {
  const index_t m = p.m, n = p.n, steps = std::min(m, n);
  const auto back = [&](std::vector<Number> y) {
    for (index_t s = steps - 1; p.rotations && s >= 0; --s)
      for (index_t i = m - 1; i > s; --i) {
        const auto [c, sine] = unpacked(p.packed(i, k * n + s));
        Number &upper = y[std::size_t(s)], &lower = y[std::size_t(i)];
        const Number above = c * upper - sine * lower;
        lower = std::conj(sine) * upper + c * lower;
        upper = above;
      }
    if (p.rotations) return y;
    for (index_t s = steps - 1; s >= 0; --s) {
      Number sum = y[std::size_t(s)];
      for (index_t i = s + 1; i < m; ++i) sum += std::conj(Number(p.packed(i, k * n + s))) * y[std::size_t(i)];
      sum *= Number(p.tau(s, k));
      y[std::size_t(s)] -= sum;
      for (index_t i = s + 1; i < m; ++i) y[std::size_t(i)] -= Number(p.packed(i, k * n + s)) * sum;
    }
    return y;
  };
  std::vector<int> seen(static_cast<std::size_t>(n));
  double norm = 0, worst = 0;
  for (index_t j = 0; j < n; ++j) {
    const int from = p.order(j, k);
    REQUIRE((from >= 0 && from < n));
    ++seen[std::size_t(from)];
    std::vector<Number> column(static_cast<std::size_t>(m));
    for (index_t i = 0; i <= j && i < m; ++i) column[std::size_t(i)] = Number(p.packed(i, k * n + j));
    column = back(column);
    for (index_t i = 0; i < m; ++i) {
      norm = std::max(norm, double(std::abs(p.a(i, k * n + from))));
      worst = std::max(worst, std::abs(column[std::size_t(i)] - Number(p.a(i, k * n + from))));
    }
  }
  for (const int times : seen) CHECK(times == 1);
  CHECK(worst <= 20 * double(n + 2) * eps<F> * norm);
  for (index_t j = 0; j < p.right; ++j) {
    std::vector<Number> y(static_cast<std::size_t>(m));
    for (index_t i = 0; i < m; ++i) y[std::size_t(i)] = Number(p.transformed(i, k * p.right + j));
    y = back(y);
    for (index_t i = 0; i < m; ++i)
      CHECK(std::abs(y[std::size_t(i)] - Number(p.b(i, k * p.right + j))) <= 40 * double(n + 2) * eps<F>);
  }
}

template <class F>
void check(const Batch<F>& p) {
  REQUIRE(p.failures.empty());
  for (index_t k = 0; k < p.count; ++k) check(p, k);
}

std::vector<QrBatchOptions> every_order() {
  std::vector<QrBatchOptions> all;
  for (const bool rotations : {false, true})
    for (const ColumnOrder order : {ColumnOrder::natural, ColumnOrder::norm, ColumnOrder::sqrd, ColumnOrder::vblast})
      all.push_back({order, 0, rotations});
  for (const bool rotations : {false, true})
    for (const ColumnOrder order : {ColumnOrder::mmse_sqrd, ColumnOrder::mmse_vblast})
      all.push_back({order, 0.1, rotations});
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("qr_batch factors every shape and order with right-hand sides", "", FOUR_TYPES) {
  using F = TestType;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{1, 1}, {4, 4}, {5, 2}, {2, 5}, {3, 1}, {1, 3}, {16, 8}})
    for (const QrBatchOptions& options : every_order())
      for (const index_t right : {0, 2}) {
        CAPTURE(m, n, right, int(options.order), options.rotations);
        check(factor<F>(m, n, 15, right, options));
      }
  for (const bool rotations : {false, true})
    check(factor<F>(128, 32, 2, 1, {ColumnOrder::mmse_vblast, 0.01, rotations}));
  for (const char* const kind : {"zero", "rank:1", "kappa:1e8"})
    for (const QrBatchOptions& options : every_order()) check(factor<F>(6, 4, 3, 1, options, kind));
  const double high = sizeof(F) % 16 != 0 && eps<F> > 1e-10 ? 1e36 : 1e300;
  const double fits = eps<F> > 1e-10 ? 1e36 : high;
  for (const double scale : {fits, 1 / fits})
    for (const ColumnOrder order : {ColumnOrder::natural, ColumnOrder::sqrd, ColumnOrder::vblast})
      for (const bool rotations : {false, true}) check(factor<F>(5, 3, 4, 1, {order, 0, rotations}, "rayleigh", scale));
}

TEST_CASE("qr_batch: sqrd selects the column with the least residual, vblast leaves the best column to the end") {
  const Batch<Number> sorted = factor<Number>(6, 4, 20, 0, {ColumnOrder::sqrd, 0}),
                      best = factor<Number>(6, 4, 20, 0, {ColumnOrder::vblast, 0});
  // Returns |R(k, k)| for a column at place k after the columns `before`.
  const auto left_of = [](const Batch<Number>& p, index_t k, const std::vector<int>& before, int column) {
    std::vector<std::vector<Number>> basis;
    std::vector<int> all = before;
    all.push_back(column);
    double rest = 0;
    for (const int j : all) {
      std::vector<Number> v(&p.a(0, k * 4 + j), &p.a(0, k * 4 + j) + 6);
      for (const auto& q : basis) {
        Number dot = 0;
        for (std::size_t i = 0; i < 6; ++i) dot += std::conj(q[i]) * v[i];
        for (std::size_t i = 0; i < 6; ++i) v[i] -= dot * q[i];
      }
      rest = 0;
      for (const Number& x : v) rest += std::norm(x);
      rest = std::sqrt(rest);
      for (Number& x : v) x /= rest;
      basis.push_back(v);
    }
    return rest;
  };
  for (index_t k = 0; k < 20; ++k) {
    std::vector<int> before;
    for (index_t i = 0; i < 4; ++i) {
      const double taken = std::abs(sorted.packed(i, 4 * k + i));
      for (index_t j = i; j < 4; ++j) CHECK(left_of(sorted, k, before, sorted.order(j, k)) >= taken * (1 - 1e-12));
      before.push_back(sorted.order(i, k));
    }
    for (index_t i = 3; i > 0; --i) {
      const double taken = std::abs(best.packed(i, 4 * k + i));
      for (index_t j = 0; j < i; ++j) {
        std::vector<int> others;
        for (index_t q = 0; q <= i; ++q)
          if (q != j) others.push_back(best.order(q, k));
        CHECK(left_of(best, k, others, best.order(j, k)) <= taken * (1 + 1e-10));
      }
    }
  }
}

TEST_CASE("qr_batch names a matrix that is not finite and factors the others") {
  for (const bool rotations : {false, true}) {
    const auto p = factor<double>(4, 3, 20, 1, {ColumnOrder::sqrd, 0, rotations}, "rayleigh", 1, 7, runtime(), 9);
    REQUIRE(p.failures.size() == 1);
    CHECK((p.failures[0].matrix == 9 && p.failures[0].row == 1 && p.failures[0].column == 1));
    for (index_t k = 0; k < 20; ++k)
      if (k != 9) check(p, k);
  }
}

TEST_CASE("qr_batch: real rotations equal the Givens kernels, and R equals that of reflectors up to signs") {
  const auto turned = factor<double>(5, 3, 4, 0, {ColumnOrder::natural, 0, true}),
             reflected = factor<double>(5, 3, 4, 0, {ColumnOrder::natural, 0});
  for (index_t k = 0; k < 4; ++k) {
    const auto first = kernels::givens(turned.a(0, 3 * k), turned.a(1, 3 * k));
    CHECK(turned.packed(1, 3 * k) == first.rho);
    for (index_t j = 0; j < 3; ++j) {
      CHECK(turned.tau(j, k) == 0);
      for (index_t i = 0; i <= j; ++i)
        CHECK(std::abs(std::abs(turned.packed(i, 3 * k + j)) - std::abs(reflected.packed(i, 3 * k + j))) < 1e-13);
    }
  }
}

TEST_CASE("qr_batch: a rotation of zeros changes nothing") {
  constexpr index_t m = 40, count = 50;
  HostMatrix<Number> a = HostMatrix<Number>::zeros(m, count), tau(1, count);
  HostMatrix<int> order(1, count);
  for (index_t k = 0; k < count; ++k) a(0, k) = Number(std::sin(double(k + 1)), std::cos(double(3 * k)));
  const HostMatrix<Number> given = a.clone();
  {
    const auto A = TileMatrix<Number>::map(runtime(), a.data(), m, count, m, {m, count}),
               Tau = TileMatrix<Number>::map(runtime(), tau.data(), 1, count, 1, {1, count});
    const auto Order = TileMatrix<int>::map(runtime(), order.data(), 1, count, 1, {1, count});
    Graph g(runtime());
    CHECK(qr_batch(g, A, Tau, Order, nullptr, {.rotations = true}).empty());
  }
  for (index_t k = 0; k < count; ++k)
    for (index_t i = 0; i < m; ++i) CHECK(a(i, k) == given(i, k));
}

TEST_CASE("qr_batch refuses invalid shapes") {
  Graph g(runtime());
  const auto refused = [&](Shape a, Shape tau, Shape order, QrBatchOptions options = {}) {
    const TileMatrix<double> A(runtime(), a.rows, a.cols, {a.rows, a.cols}), Tau(runtime(), tau.rows, tau.cols, {4, 2});
    const TileMatrix<int> Order(runtime(), order.rows, order.cols, {40, 2});
    CHECK_THROWS_AS(qr_batch(g, A, Tau, Order, nullptr, options), ArgumentError);
  };
  refused({4, 7}, {3, 2}, {3, 2});
  refused({4, 6}, {4, 2}, {3, 2});
  refused({4, 66}, {4, 2}, {33, 2});
  refused({4, 6}, {3, 2}, {3, 2}, {ColumnOrder::gradient, 0});
  refused({4, 6}, {3, 2}, {3, 2}, {ColumnOrder::sqrd, -1});
  refused({3, 6}, {3, 2}, {3, 2}, {ColumnOrder::mmse_sqrd, 1});
}

TEMPLATE_TEST_CASE("qr_batch factors matrices on a GPU", "[gpu][sanitize]", float, COMPLEX_TYPES) {
  using F = TestType;
  require_gpu();
  shared_runtime.reset();
  Runtime gpu({.cpus = 0, .gpus = 1});
  for (const QrBatchOptions& options : every_order()) {
    check(factor<F>(6, 4, 70, 2, options, "rayleigh", 1, 32, gpu));
    for (const auto& [m, n] : {std::pair<index_t, index_t>{4, 4}, {3, 4}, {8, 8}, {10, 16}, {20, 3}})
      check(factor<F>(m, n, 37, n, options, "rayleigh", 1, 19, gpu));
    for (const char* const kind : {"zero", "rank:1", "kappa:1e8"})
      check(factor<F>(4, 4, 9, 1, options, kind, 1, 9, gpu));
  }
  const double high = std::numeric_limits<typename RealPart<F>::type>::max_exponent == 128 ? 1e36 : 1e300;
  for (const double scale : {high, 1 / high})
    check(factor<F>(4, 4, 9, 1, {ColumnOrder::sqrd, 0}, "rayleigh", scale, 9, gpu));
  const auto p = factor<F>(4, 3, 20, 1, {ColumnOrder::sqrd, 0}, "rayleigh", 1, 7, gpu, 9);
  REQUIRE(p.failures.size() == 1);
  CHECK((p.failures[0].matrix == 9 && p.failures[0].row == 1 && p.failures[0].column == 1));
  for (index_t k = 0; k < 20; ++k)
    if (k != 9) check(p, k);
}
