#include "tests/support/machine.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_matrices.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>
#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/codelets/libraries/lapack.hpp>
#include <tesela/codelets/toeplitz/toeplitz_dense.hpp>
#include <tesela/codelets/toeplitz/toeplitz_error.hpp>
#include <tesela/tiles/generator.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace tesela;
using namespace tesela::kernels;

namespace {

template <class T>
std::span<const T> column(const HostMatrix<T>& t) {
  return {t.data(), static_cast<std::size_t>(t.rows())};
}

/// By LAPACK, in double precision.
template <class T>
std::vector<double> dense_values(const HostMatrix<T>& t) {
  const index_t n = t.rows();
  HostMatrix<double> a(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) a(i, j) = static_cast<double>(t(std::abs(i - j), 0));
  std::vector<double> values(static_cast<std::size_t>(n));
  REQUIRE(lapack::syevd(n, a.data(), n, values.data(), false) == 0);
  return values;
}

const std::vector<ToeplitzGenerator> all_kinds{{ToeplitzKind::random, 0, 1},
                                               {ToeplitzKind::spd, 0, 2},
                                               {ToeplitzKind::prolate, 0.3, 1},
                                               {ToeplitzKind::kms, 0.9, 1},
                                               {ToeplitzKind::second_difference, 0, 1},
                                               {ToeplitzKind::singular_minors, 0, 1}};

/// All is found, and right to `bound` relative to the largest eigenvalue.
template <class T>
Spectrum<T> check_spectrum(Runtime& runtime, const HostMatrix<T>& t, const SpectrumOptions& options, double bound) {
  Graph g(runtime);
  const Spectrum<T> s = toeplitz_spectrum<T>(g, column(t), options);
  std::vector<double> right = dense_values(t);
  const double norm = std::max(std::abs(right.front()), std::abs(right.back()));
  std::erase_if(right, [&](double v) { return v < options.low || v >= options.high; });
  REQUIRE(s.values.size() == right.size());
  CHECK(s.expected == static_cast<index_t>(right.size()));
  CHECK(s.shortages.empty());
  for (std::size_t i = 0; i < right.size(); ++i) REQUIRE(std::abs(s.values[i] - right[i]) <= bound * norm);
  return s;
}

/// Residuals, orthogonality and symmetry of all vectors.
template <class T>
void check_vectors(const HostMatrix<T>& t, const Spectrum<T>& s, double residual, double orthogonality) {
  const index_t n = t.rows(), k = static_cast<index_t>(s.values.size());
  REQUIRE(s.vectors);
  REQUIRE((s.vectors->m() == n && s.vectors->n() == k));
  HostMatrix<T> vectors(n, k);
  s.vectors->copy_to(vectors.data(), vectors.ld());
  double norm = 0;
  for (const double v : s.values) norm = std::max(norm, std::abs(v));
  HostMatrix<T> y(n, 1), gram(k, k);
  for (index_t j = 0; j < k; ++j) {
    const T* const x = &vectors(0, j);
    toeplitz_product(n, t.data(), s.values[static_cast<std::size_t>(j)], 1, x, y.data());
    REQUIRE(static_cast<double>(blas::nrm2(n, y.data())) <= residual * norm);
    for (index_t i = 0; i < n; ++i)
      REQUIRE(std::abs(static_cast<double>(x[n - 1 - i]) -
                       s.symmetry[static_cast<std::size_t>(j)] * static_cast<double>(x[i])) <= residual * 10);
  }
  if (k == 0) return;
  blas::gemm<T>(Op::transpose, Op::none, k, k, n, 1, vectors.data(), n, vectors.data(), n, 0, gram.data(), gram.ld());
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < k; ++i)
      REQUIRE(std::abs(static_cast<double>(gram(i, j)) - (i == j ? 1.0 : 0.0)) <= orthogonality);
}

constexpr SpectrumMethod methods[] = {SpectrumMethod::lanczos, SpectrumMethod::dense};

void check_all(Runtime& runtime, const std::vector<index_t>& sizes) {
  for (const SpectrumMethod method : methods)
    for (const ToeplitzGenerator& kind : all_kinds)
      for (const index_t n : sizes) {
        INFO("method " << static_cast<int>(method) << ", kind " << static_cast<int>(kind.kind) << ", n " << n);
        SpectrumOptions options;
        options.method = method;
        const HostMatrix<double> t = toeplitz_column<double>(kind, n);
        check_spectrum(runtime, t, options, 1e-13);
        options.vectors = true;
        check_vectors(t, check_spectrum(runtime, t, options, 1e-13), 1e-12, 1e-10);
      }
}

}  // namespace

TEST_CASE("spectra of every kind of matrix, with and without vectors") {
  Runtime runtime({.gpus = 0});
  check_all(runtime, {1, 2, 3, 4, 64, 301});
}

TEST_CASE("spectra on a GPU", "[gpu]") {
  test::require_gpu();
  SECTION("with cores") {
    Runtime runtime({.cpus = 2});
    check_all(runtime, {1, 2, 3, 64, 301, 1000});
  }
  SECTION("without cores") {
    Runtime runtime({.cpus = 0});
    check_all(runtime, {1, 3, 301});
  }
}

TEST_CASE("a spectrum on a GPU, small enough for a sanitizer", "[gpu][sanitize]") {
  test::require_gpu();
  Runtime runtime({.cpus = 1, .gpus = 1});
  SpectrumOptions options;
  options.per_interval = 20;
  options.vectors = true;
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, 70);
  check_vectors(t, check_spectrum(runtime, t, options, 1e-13), 1e-12, 1e-10);
}

TEST_CASE("single precision finds every eigenvalue that it can tell apart", "[single]") {
  Runtime runtime({.gpus = 0});
  SpectrumOptions options;
  for (const SpectrumMethod method : methods)
    for (const index_t n : {1, 3, 64, 500}) {
      options.method = method;
      CHECK(check_spectrum(runtime, toeplitz_column<float>({ToeplitzKind::random, 0, 1}, n), options, 2e-5).good());
    }
}

TEST_CASE("every choice of the search gives the same spectrum") {
  Runtime runtime({.gpus = 0});
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 5}, 150);
  const auto with = [](auto change) {
    SpectrumOptions o;
    change(o);
    return o;
  };
  for (const SpectrumOptions& o :
       {with([](auto& s) { s.per_interval = 1; }), with([](auto& s) { s.per_interval = 7, s.dk = 1; }),
        with([](auto& s) { s.dk = 64; }), with([](auto& s) { s.midpoint = false; }),
        with([](auto& s) { s.fixed_start = true; }), with([](auto& s) { s.window = 1; }),
        with([](auto& s) { s.window = 5, s.group = 2; }),
        // Too few steps: intervals must be divided until they have one or two eigenvalues each.
        with([](auto& s) { s.per_interval = 10, s.krylov_factor = 1, s.krylov_more = 4, s.max_attempts = 2; })})
    check_spectrum(runtime, t, o, 1e-13);
}

TEST_CASE("the published choices find nearly all eigenvalues in double precision, by either solver") {
  Runtime runtime({.gpus = 0});
  CHECK(SpectrumOptions::published().tolerance == 0.1);
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, 600);
  const std::vector<double> right = dense_values(t);
  for (const ToeplitzSolver solver : {ToeplitzSolver::cauchy, ToeplitzSolver::levinson}) {
    SpectrumOptions options = SpectrumOptions::published();
    options.solver = options.counter = solver;
    Graph g(runtime);
    const Spectrum<double> s = toeplitz_spectrum<double>(g, column(t), options);
    INFO("solver " << static_cast<int>(solver) << " found " << s.values.size());
    CHECK(s.expected == 600);
    CHECK(s.values.size() >= 595);
    CHECK(s.tolerance == 0.1);
    for (const double value : s.values) {
      const auto above = std::lower_bound(right.begin(), right.end(), value);
      const double up = above == right.end() ? 1e300 : *above - value,
                   down = above == right.begin() ? 1e300 : value - *std::prev(above);
      REQUIRE(std::min(up, down) <= 0.01 * right.back());
    }
  }
}

TEST_CASE("Levinson's recursion inside Lanczos finds the same spectrum") {
  Runtime runtime({.gpus = 0});
  for (const ToeplitzGenerator& kind :
       {ToeplitzGenerator{ToeplitzKind::random, 0, 1}, ToeplitzGenerator{ToeplitzKind::spd, 0, 2},
        ToeplitzGenerator{ToeplitzKind::kms, 0.5, 1}})
    for (const index_t n : {1, 2, 3, 4, 5, 64, 201}) {
      INFO("kind " << static_cast<int>(kind.kind) << ", n " << n);
      SpectrumOptions options;
      options.solver = options.counter = ToeplitzSolver::levinson;
      const HostMatrix<double> t = toeplitz_column<double>(kind, n);
      check_spectrum(runtime, t, options, 1e-12);
      options.per_interval = 5;
      check_spectrum(runtime, t, options, 1e-12);
    }
}

TEST_CASE("a run whose recursion breaks down is launched again at another shift") {
  Runtime runtime({.gpus = 0});
  // All eigenvalues in one interval around t_0 = 0, whose middle makes the first leading minor vanish.
  HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 2}, 12);
  t(0, 0) = 0;
  SpectrumOptions options;
  options.per_interval = 12;
  const Spectrum<double> smooth = check_spectrum(runtime, t, options, 1e-13);
  options.solver = ToeplitzSolver::levinson;
  const Spectrum<double> s = check_spectrum(runtime, t, options, 1e-12);
  CHECK(smooth.relaunched == 0);
  CHECK(s.intervals == 1);
  CHECK(s.relaunched == 1);
  CHECK(s.inversions >= 2);
  SECTION("or is given up, when it may not") {
    options.max_attempts = 1;
    options.divide = false;
    Graph g(runtime);
    const Spectrum<double> none = toeplitz_spectrum<double>(g, column(t), options);
    CHECK(none.values.empty());
    REQUIRE(none.shortages.size() == 1);
    CHECK(none.shortages[0].expected == 12);
    CHECK(none.relaunched == 0);
  }
}

TEST_CASE("a tolerance bounds the errors of what it lets pass") {
  Runtime runtime({.gpus = 0});
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, 120);
  const std::vector<double> right = dense_values(t);
  const double norm = std::max(-right.front(), right.back());
  for (const double tolerance : {1e-1, 1e-3, 1e-5}) {
    SpectrumOptions options;
    options.per_interval = options.dk = 1;
    options.tolerance = tolerance;
    Graph g(runtime);
    const Spectrum<double> s = toeplitz_spectrum<double>(g, column(t), options);
    REQUIRE(s.values.size() == 120);
    CHECK(s.tolerance == tolerance);
    double error = 0, residual = 0;
    for (std::size_t i = 0; i < 120; ++i) {
      error = std::max(error, std::abs(s.values[i] - right[i]));
      residual = std::max(residual, s.residuals[i]);
    }
    CAPTURE(tolerance, error / norm, residual / norm);
    CHECK(residual <= 2 * tolerance * norm);
    CHECK(error <= 2 * tolerance * tolerance * norm + 1e-12 * norm);
    if (tolerance >= 1e-3) CHECK(residual > 1e-7 * norm);  // this tolerance was used, not the usual one
  }
}

TEST_CASE("Levinson's recursion inside Lanczos on a GPU: as on cores", "[gpu]") {
  test::require_gpu();
  for (const index_t n : {1, 2, 3, 64, 301}) {
    const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, n);
    SpectrumOptions options;
    options.solver = options.counter = ToeplitzSolver::levinson;
    options.per_interval = 7;
    Runtime runtime({.cpus = 1, .gpus = 1});
    INFO("n " << n);
    check_spectrum(runtime, t, options, 1e-12);
  }
}

TEST_CASE("the published choices lose eigenvalues, and say which") {
  Runtime runtime({.gpus = 0});
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, 300);
  SpectrumOptions options = SpectrumOptions::published();
  options.tolerance = 1e-10;
  options.solver = options.counter = ToeplitzSolver::cauchy;
  options.krylov_factor = 2;
  Graph g(runtime);
  const Spectrum<double> s = toeplitz_spectrum<double>(g, column(t), options);
  CHECK(s.expected == 300);
  REQUIRE(s.values.size() < 300);
  index_t missing = 0;
  for (const SpectrumShortage& shortage : s.shortages) missing += shortage.expected - shortage.found;
  CHECK(static_cast<index_t>(s.values.size()) + missing == 300);
  const std::vector<double> right = dense_values(t);
  for (const double value : s.values) {
    const auto next = std::lower_bound(right.begin(), right.end(), value - 1e-9);
    REQUIRE((next != right.end() && std::abs(*next - value) < 1e-9));
  }
}

TEST_CASE("the dense halves are taken where they are faster, and nobody has chosen anything of the search") {
  const auto dense = [](Runtime& runtime, index_t n, const SpectrumOptions& options) {
    Graph g(runtime);
    return toeplitz_spectrum<double>(g, column(toeplitz_column<double>({ToeplitzKind::random, 0, 1}, n)), options)
        .dense;
  };
  const auto with = [](auto change) {
    SpectrumOptions o;
    change(o);
    return o;
  };
  {
    Runtime runtime({.cpus = 2, .gpus = 0});
    CHECK(dense(runtime, 300, {}));
    CHECK_FALSE(dense(runtime, 300, with([](auto& o) { o.method = SpectrumMethod::lanczos; })));
    CHECK_FALSE(dense(runtime, 300, with([](auto& o) { o.dk = 4; })));
    CHECK_FALSE(dense(runtime, 300, with([](auto& o) { o.smallest = 5; })));
    CHECK_FALSE(dense(runtime, 300, with([](auto& o) { o.low = 0; })));
    CHECK_THROWS_AS(dense(runtime, 300, with([](auto& o) { o.method = SpectrumMethod::dense, o.dk = 4; })),
                    ArgumentError);
  }
}

TEST_CASE("parts of a spectrum, from dense halves") {
  Runtime runtime({.gpus = 0});
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 3}, 101);
  const std::vector<double> right = dense_values(t);
  SpectrumOptions options;
  options.method = SpectrumMethod::dense;
  for (const bool vectors : {false, true}) {
    options.vectors = vectors;
    SpectrumOptions range = options, smallest = options, largest = options;
    range.low = -3, range.high = 4;
    const Spectrum<double> inside = check_spectrum(runtime, t, range, 1e-13);
    CHECK((inside.good() && inside.dense));
    smallest.smallest = 7, largest.largest = 7;
    Graph g(runtime);
    const Spectrum<double> first = toeplitz_spectrum<double>(g, column(t), smallest),
                           last = toeplitz_spectrum<double>(g, column(t), largest);
    REQUIRE((first.values.size() == 7 && last.values.size() == 7));
    CHECK((first.first == 0 && last.first == 94));
    for (std::size_t i = 0; i < 7; ++i) {
      CHECK(std::abs(first.values[i] - right[i]) < 1e-12);
      CHECK(std::abs(last.values[i] - right[94 + i]) < 1e-12);
    }
    if (vectors) check_vectors(t, last, 1e-13, 1e-12);
  }
}

TEST_CASE("parts of a spectrum") {
  Runtime runtime({.gpus = 0});
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 3}, 400);
  const std::vector<double> right = dense_values(t);
  SpectrumOptions options;
  options.vectors = true;
  SECTION("a range") {
    options.low = -3, options.high = 4;
    check_vectors(t, check_spectrum(runtime, t, options, 1e-13), 1e-12, 1e-10);
  }
  SECTION("a range with nothing in it") {
    options.low = 1e3, options.high = 2e3;
    CHECK(check_spectrum(runtime, t, options, 1e-13).values.empty());
  }
  for (const index_t k : {index_t{1}, index_t{17}, index_t{399}, index_t{400}, index_t{1000}}) {
    const auto found = static_cast<std::size_t>(std::min<index_t>(k, 400));
    for (const bool smallest : {true, false}) {
      INFO(k << (smallest ? " smallest" : " largest"));
      SpectrumOptions some;
      some.vectors = true;
      (smallest ? some.smallest : some.largest) = k;
      Graph g(runtime);
      const Spectrum<double> s = toeplitz_spectrum<double>(g, column(t), some);
      REQUIRE(s.values.size() == found);
      CHECK(s.expected == static_cast<index_t>(found));
      for (std::size_t i = 0; i < found; ++i)
        REQUIRE(std::abs(s.values[i] - right[smallest ? i : 400 - found + i]) < 1e-11);
      check_vectors(t, s, 1e-12, 1e-10);
    }
  }
}

TEST_CASE("a multiple eigenvalue is one cluster") {
  Runtime runtime({.gpus = 0});
  HostMatrix<double> t = HostMatrix<double>::zeros(40, 1);
  t(0, 0) = 3;  // 3 I
  Graph g(runtime);
  SpectrumOptions options;
  options.per_interval = 4;
  const Spectrum<double> s = toeplitz_spectrum<double>(g, column(t), options);
  REQUIRE(s.values.size() == 40);
  REQUIRE(s.clusters.size() == 1);
  for (const double value : s.values) CHECK(std::abs(value - 3) < 1e-12);
}

TEST_CASE("vectors of a multiple eigenvalue, known from the counts or found out by the search") {
  Runtime runtime({.gpus = 0});
  HostMatrix<double> t = HostMatrix<double>::zeros(40, 1);
  t(0, 0) = 3;
  for (const index_t per_interval : {4, 40}) {
    SpectrumOptions options;
    options.vectors = true;
    options.per_interval = per_interval;
    const Spectrum<double> s = check_spectrum(runtime, t, options, 1e-14);
    CHECK((s.dense || per_interval == 40));
    check_vectors(t, s, 1e-14, 1e-13);
  }
}

TEST_CASE("vectors are orthogonal across the ends of intervals, those of the search's divisions too") {
  Runtime runtime({.gpus = 0});
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::kms, 0.9, 1}, 301);
  for (const index_t per_interval : {1, 3, 24}) {
    const bool divided = per_interval == 24;
    SpectrumOptions options;
    options.vectors = true;
    options.per_interval = per_interval;
    if (divided) options.krylov_factor = 0.1, options.max_attempts = 2;
    const Spectrum<double> s = check_spectrum(runtime, t, options, 1e-13);
    INFO("at most " << per_interval << " in an interval");
    CHECK((s.divisions > 5) == divided);
    CHECK(std::is_sorted(s.values.begin(), s.values.end()));
    check_vectors(t, s, 1e-12, 1e-12);
  }
}

TEST_CASE("the smallest of a spectrum with shortages are said to be missing") {
  Runtime runtime({.gpus = 0});
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, 300);
  const std::vector<double> right = dense_values(t);
  for (const bool vectors : {false, true})
    for (const bool smallest : {true, false}) {
      SpectrumOptions options = SpectrumOptions::published();
      options.tolerance = 1e-10;
      options.solver = options.counter = ToeplitzSolver::cauchy;
      options.krylov_factor = 4;
      options.vectors = vectors;
      (smallest ? options.smallest : options.largest) = 200;
      Graph g(runtime);
      const Spectrum<double> s = toeplitz_spectrum<double>(g, column(t), options);
      INFO("smallest " << smallest << " vectors " << vectors << " found " << s.values.size());
      CHECK(s.expected == 200);
      REQUIRE_FALSE(s.shortages.empty());
      REQUIRE(s.values.size() < 200);
      REQUIRE(s.values.size() > 20);
      if (vectors) CHECK(s.vectors->n() == static_cast<index_t>(s.values.size()));
      for (const double value : s.values) {  // each is one of the 200
        const auto next = std::lower_bound(right.begin(), right.end(), value - 1e-9);
        REQUIRE((next != right.end() && std::abs(*next - value) < 1e-9));
        CHECK((smallest ? next - right.begin() < 200 : next - right.begin() >= 100));
      }
    }
}

TEST_CASE("spectra of nothing and of what is no number are refused") {
  Runtime runtime({.gpus = 0});
  Graph g(runtime);
  const HostMatrix<double> none(0, 1);
  CHECK_THROWS_AS(toeplitz_spectrum<double>(g, column(none)), ArgumentError);
  HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, 5);
  SpectrumOptions options;
  options.smallest = options.largest = 2;
  CHECK_THROWS_AS(toeplitz_spectrum<double>(g, column(t), options), ArgumentError);
  options = {};
  options.low = 2, options.high = 1;
  CHECK_THROWS_AS(toeplitz_spectrum<double>(g, column(t), options), ArgumentError);
  options = {};
  options.tolerance = std::nan("");
  CHECK_THROWS_AS(toeplitz_spectrum<double>(g, column(t), options), ArgumentError);
  t(3, 0) = std::nan("");
  CHECK_THROWS_AS(toeplitz_spectrum<double>(g, column(t)), ArgumentError);
  CHECK(g.tasks() == 0);
}
