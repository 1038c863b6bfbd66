#include "tests/support/four_types.hpp"
#include "tests/support/givens_problem.hpp"
#include "tests/support/vector_targets.hpp"
#include "tools/checks/qr_error.hpp"
#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/support/schedule.hpp>

using namespace tesela::test;

namespace {

struct Outcome {
  Errors errors;
  double carried_q = 0;  // ||A - Q R|| with the Q that was updated during the factorization
  double qtb = 0;        // ||Q^H B - (updated B)||, largest element
  double r_to_lapack = 0;
  index_t rotations = 0;
  bool padding = true;
};

template <class T>
double largest_difference(const Padded<T>& a, const Padded<T>& b) {
  double worst = 0;
  for (index_t j = 0; j < a.n; ++j)
    for (index_t i = 0; i < a.m; ++i) {
      const double difference = static_cast<double>(std::abs(a(i, j) - b(i, j)));
      worst = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(worst, difference);
    }
  return worst;
}

template <class T>
Padded<T> padded_identity(index_t m, index_t n) {
  Padded<T> q(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) q(i, j) = i == j ? T(1) : T(0);
  return q;
}

/// Factors A with all options: updates a right-hand side and Q, forms Q from the rotations, extracts R, and applies Q^H
/// afterwards.
template <class T>
Outcome factor(Runtime& runtime, const Padded<T>& a, index_t nb, const GivensOptions& options) {
  const index_t m = a.m, n = a.n, k = std::min(m, n), mb = std::max<index_t>(m, 1);
  Padded<T> f = a, q(m, k), r(k, n), carried = padded_identity<T>(m, m), b = make_matrix<T>("uniform", m, 3), later = b;
  Outcome outcome;
  {
    const auto A = f.map(runtime, {mb, nb}), Q = q.map(runtime, {mb, nb}, "Q"),
               R = r.map(runtime, {std::max<index_t>(k, 1), nb}, "R"), C = carried.map(runtime, {nb, mb}, "C"),
               B = b.map(runtime, {mb, 2}, "B"), L = later.map(runtime, {mb, 2}, "L");
    Graph g(runtime);
    const auto qr = givens_qr(g, A, options, &B, &C);
    qr.form_q(g, Q);
    qr.extract_r(g, R);
    qr.apply(g, Side::left, adjoint<T>, L);
    CHECK(g.wait().ok());
    outcome.rotations = qr.rotations();
  }
  outcome.errors = measure(a, q, r);
  Padded<T> economy(m, k);
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < m; ++i) economy(i, j) = carried(i, j);
  outcome.carried_q = measure(a, economy, r).backward;
  outcome.qtb = largest_difference(b, later);
  outcome.r_to_lapack = r_difference(r, lapack_r(a));
  for (const Padded<T>* x : {&f, &q, &r, &carried, &b, &later}) outcome.padding &= x->intact();
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j + 1; i < k; ++i) outcome.padding &= r(i, j) == T(0);
  return outcome;
}

template <class T>
void check(Runtime& runtime, const std::string& kind, index_t m, index_t n, index_t nb, const GivensOptions& options,
           bool unique_r = true) {
  CAPTURE(kind, m, n, nb, options.window, options.block, options.order, static_cast<int>(options.method));
  const Padded<T> a = make_matrix<T>(kind, m, n);
  const Outcome x = factor(runtime, a, nb, options);
  const QrBounds bound = qr_bounds<T>(m, n);
  CHECK(x.errors.backward <= bound.backward);
  CHECK(x.errors.orthogonality <= bound.orthogonality);
  CHECK(x.carried_q <= bound.backward);
  CHECK(x.qtb <= 10 * bound.backward);
  if (unique_r) CHECK(x.r_to_lapack <= 1e3 * bound.backward);
  CHECK(x.padding);
  const index_t k = std::min(m - 1, n);
  const index_t all = m > 0 ? m * k - k * (k + 1) / 2 : 0;
  const bool skips =
      options.method != GivensMethod::stages || (options.order != "diagonal" && closed_form(options.order, m));
  if (kind == "uniform") CHECK(x.rotations == all);
  if (skips) CHECK(x.rotations <= all);
  if (kind == "zero" && options.method == GivensMethod::chain) CHECK(x.rotations == 0);
}

const std::vector<std::pair<index_t, index_t>> shapes{{0, 0},   {0, 3},   {3, 0},  {1, 1},   {1, 4},   {2, 1},
                                                      {5, 1},   {7, 7},   {8, 7},  {16, 16}, {33, 20}, {20, 33},
                                                      {40, 39}, {64, 32}, {96, 3}, {150, 67}};

/// Factors every shape with every method; `few` limits orders and tilings for emulated devices.
template <class T>
void check_methods(Runtime& runtime) {
  const std::vector<GivensOptions> options{
      {GivensMethod::sequential, "diagonal", 8},   {GivensMethod::stages, "diagonal", 32},
      {GivensMethod::stages, "sameh-kuck", 5, 32}, {GivensMethod::stages, "greedy", 16, 64},
      {GivensMethod::chain, "diagonal", 32, 96},   {GivensMethod::chain, "diagonal", 7}};
  for (const auto& [m, n] : shapes)
    for (const GivensOptions& o : options)
      for (const index_t nb : {10, 64}) check<T>(runtime, "uniform", m, n, nb, o);
}

template <class T>
void check_kinds(Runtime& runtime) {
  for (const char* kind : {"graded", "low-rank", "kappa", "zero", "ones", "band:1", "band:4"})
    for (const GivensMethod method : {GivensMethod::sequential, GivensMethod::stages, GivensMethod::chain})
      for (const auto& [m, n] : {std::pair<index_t, index_t>{70, 41}, {41, 41}, {42, 41}, {25, 60}})
        check<T>(runtime, kind, m, n, 16, {method, "diagonal", 8}, false);
}

/// Returns the number of rotations for a square band of half-width b: b for each column, fewer in the corner.
index_t band_rotations(index_t n, index_t b) {
  index_t sum = 0;
  for (index_t j = 0; j < n; ++j) sum += std::min(b, n - 1 - j);
  return sum;
}

/// A NaN in a part of an element of A must appear in R.
template <class T>
void check_nan(Runtime& runtime) {
  for (const GivensMethod method : {GivensMethod::sequential, GivensMethod::stages, GivensMethod::chain})
    for (const auto& [row, column] : {std::pair<index_t, index_t>{0, 0}, {29, 0}, {12, 19}, {29, 19}, {3, 11}}) {
      CAPTURE(static_cast<int>(method), row, column);
      Padded<T> a = make_matrix<T>("uniform", 30, 20);
      a(row, column) = is_complex<T> ? number<T>(0.5, std::numeric_limits<double>::quiet_NaN()) : nan_of<T>;
      {
        const auto A = a.map(runtime, {30, 8});
        Graph g(runtime);
        givens_qr(g, A, {method, "diagonal", 8});
        CHECK(g.wait().ok());
      }
      bool seen = false;
      for (index_t j = 0; j < 20; ++j)
        for (index_t i = 0; i <= j; ++i) seen |= a(i, j) != a(i, j);
      CHECK(seen);
    }
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("QR by rotations is backward stable for every shape, method and window", "", FOUR_TYPES) {
  check_methods<TestType>(runtime);
}

WORKERS_TEMPLATE_TEST_CASE(
    "QR by rotations is backward stable for graded, deficient, ill-conditioned, zero and band matrices", "",
    FOUR_TYPES) {
  check_kinds<TestType>(runtime);
}

WORKERS_TEMPLATE_TEST_CASE("QR by rotations is backward stable in the stages of every order", "", FOUR_TYPES) {
  for (std::string order : schedule_orders()) {
    if (order == "domain") order = "domain:3";
    for (const auto& [m, n] : {std::pair<index_t, index_t>{37, 21}, {21, 21}, {12, 30}})
      for (const index_t window : {4, 32})
        check<TestType>(runtime, "uniform", m, n, 9, {GivensMethod::stages, order, window});
  }
}

WORKERS_TEMPLATE_TEST_CASE("rotation chains skip the zeros below a band", "", FOUR_TYPES) {
  using T = TestType;
  for (const index_t n : {1, 2, 3, 10, 75})
    for (const index_t b : {1, 2, 3, 7}) {
      CAPTURE(n, b);
      const Padded<T> a = make_matrix<T>("band:" + std::to_string(b), n, n);
      const Outcome x = factor(runtime, a, 20, {GivensMethod::chain, "diagonal", 16});
      CHECK(x.rotations == band_rotations(n, b));
      CHECK(x.errors.backward <= qr_bounds<T>(n, n).backward);
      CHECK(x.carried_q <= qr_bounds<T>(n, n).backward);
    }
  CHECK(band_rotations(75, 1) == 74);
  CHECK(band_rotations(75, 2) == 2 * 75 - 3);
  CHECK(band_rotations(75, 3) == 3 * 75 - 6);
  CHECK(band_rotations(75, 74) == 75 * 74 / 2);
}

WORKERS_TEMPLATE_TEST_CASE("QR by rotations factors bands in band storage", "", FOUR_TYPES) {
  using T = TestType;
  for (const auto& [m, n] :
       {std::pair<index_t, index_t>{1, 1}, {2, 2}, {1, 3}, {3, 1}, {40, 40}, {75, 75}, {43, 40}, {40, 55}, {60, 20}})
    for (const auto& [kl, ku] : {std::pair<index_t, index_t>{1, 1}, {2, 2}, {3, 3}, {0, 2}, {4, 0}, {2, 5}, {90, 90}}) {
      CAPTURE(m, n, kl, ku);
      Padded<T> a = make_matrix<T>("uniform", m, n), band(2 * kl + ku + 1, n);
      for (index_t j = 0; j < n; ++j)
        for (index_t d = 0; d < band.m; ++d) {
          const index_t i = j + d - (kl + ku);
          if (d < kl)
            band(d, j) = nan_of<T>;  // room for fill; must not be read
          else
            band(d, j) = i >= 0 && i < m ? a(i, j) : T(0);
        }
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < m; ++i)
          if (i - j > kl || j - i > ku) a(i, j) = 0;
      const index_t k = std::min(m, n);
      Padded<T> q(m, k), carried = padded_identity<T>(m, m), b = make_matrix<T>("uniform", m, 3);
      index_t rotations = 0;
      {
        const auto AB = band.map(runtime, {band.m, n}), Q = q.map(runtime, {m, 16}), C = carried.map(runtime, {16, m});
        Graph g(runtime);
        const auto qr = givens_band_qr(g, AB, m, kl, ku, {GivensMethod::chain, "diagonal", 8});
        qr.form_q(g, Q);
        qr.apply(g, Side::right, Op::none, C);
        CHECK(g.wait().ok());
        rotations = qr.rotations();
      }
      Padded<T> r(k, n), economy(m, k);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i <= std::min(j, k - 1); ++i) r(i, j) = j - i <= kl + ku ? band(kl + ku + i - j, j) : T(0);
      for (index_t j = 0; j < k; ++j)
        for (index_t i = 0; i < m; ++i) economy(i, j) = carried(i, j);
      CHECK(measure(a, q, r).backward <= qr_bounds<T>(m, n).backward);
      CHECK(measure(a, q, r).orthogonality <= qr_bounds<T>(m, n).orthogonality);
      CHECK(measure(a, economy, r).backward <= qr_bounds<T>(m, n).backward);
      if (m == n && kl <= 4) CHECK(rotations == band_rotations(n, kl));
      CHECK(band.intact());
    }
}

// Applies Q and Q^H from both sides: each undoes the other, and the two sides are adjoints of each other.
WORKERS_TEMPLATE_TEST_CASE("Q in packed rotations multiplies from both sides", "", FOUR_TYPES) {
  TESELA_ON_EACH_VECTOR_TARGET(runtime);
  using T = TestType;
  for (const GivensOptions& o :
       {GivensOptions{GivensMethod::stages, "diagonal", 8}, GivensOptions{GivensMethod::chain, "diagonal", 8},
        GivensOptions{GivensMethod::stages, "binary", 8}}) {
    CAPTURE(o.order, static_cast<int>(o.method));
    const index_t m = 61, n = 30;
    const double tolerance = 100 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
    Padded<T> a = make_matrix<T>("uniform", m, n);
    const Padded<T> c = make_matrix<T>("uniform", m, 13);
    Padded<T> left = c, right(13, m), back(0, 0);
    for (index_t j = 0; j < m; ++j)
      for (index_t i = 0; i < 13; ++i) right(i, j) = conj(c(j, i));
    {
      const auto A = a.map(runtime, {m, 16}), L = left.map(runtime, {m, 5}), R = right.map(runtime, {4, m});
      Graph g(runtime);
      const auto qr = givens_qr(g, A, o);
      qr.apply(g, Side::left, Op::none, L);
      qr.apply(g, Side::right, adjoint<T>, R);
      CHECK(g.wait().ok());
      L.bring_home();
      R.bring_home();
      double difference = 0;
      for (index_t j = 0; j < m; ++j)
        for (index_t i = 0; i < 13; ++i)
          difference = std::max(difference, static_cast<double>(std::abs(right(i, j) - conj(left(j, i)))));
      CHECK(difference <= tolerance);
      CHECK(largest_difference(left, c) >= 0.1);
      back = left;
      const auto K = back.map(runtime, {m, 5});
      qr.apply(g, Side::left, Op::conjugate, K);
      CHECK(g.wait().ok());
      K.bring_home();
      CHECK(largest_difference(back, c) <= tolerance);
      if (is_complex<T>) CHECK_THROWS_WITH(qr.apply(g, Side::left, Op::transpose, K), ContainsSubstring("adjoint"));
    }
  }
}

WORKERS_TEMPLATE_TEST_CASE("a NaN in A appears in R", "", FOUR_TYPES) { check_nan<TestType>(runtime); }

GPU_TEST_CASE("every rotation kernel runs under a sanitizer", "[sanitize]") {
  for (const GivensOptions& o : std::vector<GivensOptions>{{GivensMethod::sequential, "diagonal", 8},
                                                           {GivensMethod::stages, "diagonal", 32},
                                                           {GivensMethod::stages, "greedy", 16, 64},
                                                           {GivensMethod::chain, "diagonal", 32, 96}})
    check<double>(runtime, "uniform", 41, 37, 16, o);
  check<double>(runtime, "band:2", 40, 40, 16, {GivensMethod::chain, "diagonal", 8});
  check_nan<double>(runtime);
}

TEMPLATE_TEST_CASE("QR by rotations is backward stable on cores and GPUs together", "[gpu]", FOUR_TYPES) {
  require_gpu();
  Runtime runtime({.cpus = 2});
  check_methods<TestType>(runtime);
  check_kinds<TestType>(runtime);
}

CORES_TEMPLATE_TEST_CASE("all orders of adjacent pivots, and the other two methods, give the same R bit for bit", "",
                         FOUR_TYPES) {
  TESELA_ON_EACH_VECTOR_TARGET();
  const Padded<TestType> a = make_matrix<TestType>("uniform", 50, 33);
  const auto factors = [&](const GivensOptions& o, index_t nb) {
    Padded<TestType> f = a;
    const auto A = f.map(runtime, {50, nb});
    Graph g(runtime);
    givens_qr(g, A, o);
    CHECK(g.wait().ok());
    A.bring_home();
    return f;
  };
  const auto reference = factors({GivensMethod::sequential}, 33);
  for (const char* order : {"sameh-kuck", "modified-sameh-kuck", "pgs1", "column"})
    CHECK(factors({GivensMethod::stages, order, 8}, 12) == reference);
  CHECK(factors({GivensMethod::chain, "diagonal", 8}, 12) == reference);
  CHECK(factors({GivensMethod::stages, "diagonal", 8}, 12) != reference);
  CHECK(factors({GivensMethod::stages, "diagonal", 8}, 12) == factors({GivensMethod::stages, "diagonal", 32}, 33));
}

CORES_TEST_CASE("a tall matrix of many chunks is factored") {
  for (const GivensMethod method : {GivensMethod::sequential, GivensMethod::stages, GivensMethod::chain})
    check<double>(runtime, "uniform", 700, 40, 24, {method, "diagonal", 32});
}

CORES_TEST_CASE("QR by rotations refuses invalid arguments and inserts no task") {
  Graph g(runtime);
  const TileMatrix<double> A(runtime, 20, 10, {20, 4}), cut(runtime, 20, 10, {10, 4}), B(runtime, 19, 2, {20, 2}),
      Q(runtime, 20, 20, {20, 10}), AB(runtime, 4, 20, {4, 20});
  CHECK_THROWS_WITH(givens_qr(g, cut), ContainsSubstring("one tile row"));
  CHECK_THROWS_WITH(givens_qr(g, A, {GivensMethod::stages, "nonsense"}), ContainsSubstring("nonsense"));
  CHECK_THROWS_AS(givens_qr(g, A, {}, &B), ArgumentError);
  CHECK_THROWS_WITH(givens_qr(g, A, {}, nullptr, &Q), ContainsSubstring("one tile column"));
  CHECK_THROWS_AS(givens_qr(g, A, {}, &A), ArgumentError);
  for (const index_t window : {0, -1, 33})
    CHECK_THROWS_AS(givens_qr(g, A, {GivensMethod::chain, "diagonal", window}), ArgumentError);
  for (const int block : {0, 31, 40, 544, 1024})
    CHECK_THROWS_AS(givens_qr(g, A, {GivensMethod::chain, "diagonal", 8, block}), ArgumentError);
  CHECK_THROWS_AS(givens_band_qr(g, AB, 20, 1, 2), ArgumentError);
  CHECK_THROWS_AS(givens_band_qr(g, AB, 20, -1, 5), ArgumentError);
  CHECK_THROWS_AS(givens_band_qr(g, AB, -20, 1, 1), ArgumentError);
  CHECK(g.tasks() == 0);
  CHECK(givens_method("givens-chain") == GivensMethod::chain);
  CHECK_FALSE(givens_method("chain"));
}
