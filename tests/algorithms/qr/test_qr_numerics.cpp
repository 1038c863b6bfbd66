#include "tests/support/qr_tiles.hpp"

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

/// Errors of a factorization of a dense matrix, in units of rounding.
struct Quality {
  double backward = 0;       ///< largest |A(:, j) - Q R(:, j)|_2 / |A(:, j)|_2 over all columns
  double orthogonality = 0;  ///< |I - Q^T Q|_F
};

/// Compares Q (m x m) and R (m x n, with zeros below its triangle) with A in long double, where 1e±300 does not
/// overflow.
template <class T>
Quality quality(Padded<T>& a, Padded<T>& q, Padded<T>& r) {
  using Real = long double;
  const auto worse = [](double worst, Real x) {
    return x <= std::numeric_limits<double>::max() ? std::max(worst, static_cast<double>(x))
                                                   : std::numeric_limits<double>::infinity();
  };
  Quality result;
  Real squares = 0;
  for (index_t j = 0; j < a.m; ++j)
    for (index_t i = 0; i < a.m; ++i) {
      Real sum = i == j ? -1 : 0;
      for (index_t k = 0; k < a.m; ++k) sum += static_cast<Real>(q(k, i)) * static_cast<Real>(q(k, j));
      squares += sum * sum;
    }
  const Real eps = std::numeric_limits<T>::epsilon();
  result.orthogonality = worse(0, std::sqrt(squares) / eps);
  for (index_t j = 0; j < a.n; ++j) {
    Real error = 0, size = 0;
    for (index_t i = 0; i < a.m; ++i) {
      Real d = a(i, j);
      size += d * d;
      for (index_t k = 0; k < a.m; ++k) d -= static_cast<Real>(q(i, k)) * static_cast<Real>(r(k, j));
      error += d * d;
    }
    result.backward = worse(result.backward, error == 0 ? 0 : std::sqrt(error / size) / eps);
  }
  return result;
}

template <class T>
Padded<T> identity(index_t n) {
  Padded<T> q(n, n, 0);
  for (index_t i = 0; i < n; ++i) q(i, i) = 1;
  return q;
}

/// Factors A by our geqrt and forms Q by LAPACK from V and T.
template <class T>
Quality geqrt_quality(Padded<T> a, index_t ib) {
  Padded<T> f = a, t(ib, a.n), work = work_for<T>(a.n, a.n), q = identity<T>(a.m), r(a.m, a.n, 0);
  Geqrt<T>::cpu({0, 0, a.n, ib, a.m}, f.template as<InOut>(), t.template as<Out>(), work.template as<Scratch>());
  gemqrt(Side::left, Op::none, a.m, a.m, std::min(a.m, a.n), ib, f.at(0, 0), f.ld, t.at(0, 0), t.ld, q.at(0, 0), q.ld);
  for (index_t j = 0; j < a.n; ++j)
    for (index_t i = 0; i <= std::min(j, a.m - 1); ++i) r(i, j) = f(i, j);
  return quality(a, q, r);
}

/// Factors [R; B] by our tpqrt: R is the upper triangle of A's first n rows, and B the remaining rows or their upper
/// triangle.
template <class T>
Quality tpqrt_quality(Padded<T> a, index_t ib, bool triangle) {
  const index_t n = a.n, h = triangle ? std::min(a.m - n, n) : a.m - n;
  Padded<T> r(n, n), b(h, n), t(ib, n), work = work_for<T>(n, n), stacked(n + h, n, 0), R(n + h, n, 0);
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = 0; i <= j; ++i) r(i, j) = stacked(i, j) = a(i, j);
    for (index_t i = 0; i < (triangle ? std::min(j + 1, h) : h); ++i) b(i, j) = stacked(n + i, j) = a(n + i, j);
  }
  Tpqrt<T>::cpu({0, 0, n, ib, triangle}, r.template as<InOut>(), b.template as<InOut>(), t.template as<Out>(),
                work.template as<Scratch>());
  Padded<T> q = identity<T>(n + h);
  tpmqrt(Side::left, Op::none, h, n + h, n, triangle ? h : 0, ib, b.at(0, 0), b.ld, t.at(0, 0), t.ld, q.at(0, 0), q.ld,
         q.at(n, 0), q.ld);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i) R(i, j) = r(i, j);
  return quality(stacked, q, R);
}

/// Returns the hard cases, each m x n.
template <class T>
std::vector<std::pair<const char*, Padded<T>>> hard_matrices(index_t m, index_t n) {
  // Exponent of ten that leaves room for rounding errors within the type's range.
  const double reach = std::is_same_v<T, double> ? 290 : 30;
  std::mt19937_64 engine(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<std::pair<const char*, Padded<T>>> all;
  const auto add = [&](const char* name, const auto& element) {
    Padded<T> a(m, n);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) a(i, j) = static_cast<T>(element(static_cast<double>(i), static_cast<double>(j)));
    all.emplace_back(name, std::move(a));
  };
  const double last = static_cast<double>(std::max<index_t>(n - 1, 1)), below = static_cast<double>(m);
  add("uniform", [&](double, double) { return uniform(engine); });
  add("zero", [](double, double) { return 0.0; });
  add("identity", [](double i, double j) { return i == j ? 1.0 : 0.0; });
  add("ones", [](double, double) { return 1.0; });
  add("0, 1, -1", [&](double, double) { return std::round(1.5 * uniform(engine)); });
  add("upper triangular", [&](double i, double j) { return i <= j ? uniform(engine) : 0.0; });
  add("zero columns", [&](double, double j) { return std::fmod(j, 3) == 1 ? 0.0 : uniform(engine); });
  add("huge", [&](double, double) { return uniform(engine) * std::pow(10, reach); });
  add("tiny", [&](double, double) { return uniform(engine) * std::pow(10, -reach); });
  add("columns from huge to tiny",
      [&](double, double j) { return uniform(engine) * std::pow(10, reach * (1 - 2 * j / last)); });
  add("columns from tiny to huge",
      [&](double, double j) { return uniform(engine) * std::pow(10, reach * (2 * j / last - 1)); });
  add("rows from huge to tiny",
      [&](double i, double) { return uniform(engine) * std::pow(10, reach * (1 - 2 * i / below)); });
  add("huge above tiny", [&](double i, double j) { return i <= j ? 1.0 : uniform(engine) * std::pow(10, -reach); });
  add("condition 1e15", [&](double i, double j) { return 1 / (i + j + 1); });
  add("nearly equal columns", [&](double i, double j) { return std::sin(i) + 1e-15 * uniform(engine) + 0 * j; });
  add("rank 2", [&](double i, double j) { return std::sin(i) * (j + 1) + std::cos(3 * i) * std::sin(j); });
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("geqrt is backward stable column by column", "", float, double) {
  using T = TestType;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{1, 1}, {1, 5}, {7, 7}, {60, 40}, {45, 44}, {40, 60}, {90, 9}})
    for (auto& [name, a] : hard_matrices<T>(m, n))
      for (const index_t ib : {5, 32}) {
        const Quality q = geqrt_quality(a, ib);
        CAPTURE(m, n, name, ib, q.backward, q.orthogonality);
        CHECK(q.backward <= 40);
        CHECK(q.orthogonality <= 150);
      }
}

TEMPLATE_TEST_CASE("tpqrt is backward stable column by column", "", float, double) {
  using T = TestType;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{2, 1}, {13, 7}, {80, 40}, {60, 44}, {99, 9}})
    for (auto& [name, a] : hard_matrices<T>(m, n))
      for (const bool triangle : {false, true})
        for (const index_t ib : {5, 32}) {
          const Quality q = tpqrt_quality(a, ib, triangle);
          CAPTURE(m, n, name, triangle, ib, q.backward, q.orthogonality);
          CHECK(q.backward <= 40);
          CHECK(q.orthogonality <= 150);
        }
}

TEMPLATE_TEST_CASE("a NaN or an infinity appears in R", "", float, double) {
  using T = TestType;
  const index_t m = 40, n = 30;
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()})
    for (const auto& [row, column] : {std::pair<index_t, index_t>{0, 0}, {39, 0}, {20, 11}, {3, 29}}) {
      CAPTURE(bad, row, column);
      Padded<T> a = random<T>(
                    m, n, [](index_t, index_t) { return true; }, 12),
                t(8, n), work = work_for<T>(n, n);
      a(row, column) = bad;
      Padded<T> r = a, b = a, t2 = t;
      Geqrt<T>::cpu({0, 0, n, 8, m}, a.template as<InOut>(), t.template as<Out>(), work.template as<Scratch>());
      Tpqrt<T>::cpu({0, 0, n, 8, false}, r.template as<InOut>(), b.template as<InOut>(), t2.template as<Out>(),
                    work.template as<Scratch>());
      for (Padded<T>* f : {&a, &r})
        for (index_t j = 0; j < n; ++j) {
          bool finite = true;
          for (index_t i = 0; i <= j; ++i) finite = finite && std::isfinite((*f)(i, j));
          CHECK(finite == (j < column));
        }
    }
}
