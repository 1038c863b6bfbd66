#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz_spectrum.hpp"
#include <tesela/tiles/generator.hpp>

using namespace tesela::test;

// Options of the spectrum search, including the options of Graciá Gil 2010.

CORES_TEST_CASE("every choice of the search gives the same spectrum") {
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 5}, 150);
  const auto with = [](auto change) {
    SpectrumOptions o;
    change(o);
    return o;
  };
  for (const SpectrumOptions& o :
       {with([](auto& s) { s.per_interval = 1; }), with([](auto& s) { s.per_interval = 7, s.dk = 1; }),
        with([](auto& s) { s.dk = 64; }), with([](auto& s) { s.midpoint = false; }),
        with([](auto& s) { s.fixed_start = true; }), with([](auto& s) { s.gershgorin = true; }),
        with([](auto& s) { s.window = 1; }), with([](auto& s) { s.window = 5, s.group = 2; }),
        // Too few steps: intervals are divided until they hold one or two eigenvalues.
        with([](auto& s) { s.per_interval = 10, s.krylov_factor = 1, s.krylov_more = 4, s.max_attempts = 2; })})
    check_spectrum(runtime, t, o, 1e-13);
}

TEMPLATE_TEST_CASE("spectra of degenerate and graded matrices are correct at any scale with any method", "", float,
                   double) {
  using T = TestType;
  Runtime runtime({.cpus = 2, .gpus = 0});
  const auto make = [](index_t n, auto entry) {
    HostMatrix<T> t(n, 1);
    for (index_t k = 0; k < n; ++k) t(k, 0) = static_cast<T>(entry(k));
    return t;
  };
  const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const index_t n : {1, 2, 3, 40, 101})
    for (const int scale : {0, 60, -60})
      for (const auto& t :
           {make(n, [](index_t) { return 1; }), make(n, [](index_t) { return 0; }),
            make(n, [](index_t k) { return k == 0 ? 1 : 0; }), make(n, [n](index_t k) { return k == n - 1 ? 1 : 0; }),
            make(n, [](index_t k) { return std::pow(10.0, -0.3 * static_cast<double>(k)); }),
            make(n, [](index_t k) { return k == 0 ? 1e6 : std::cos(static_cast<double>(k)); })})
        for (const SpectrumMethod method : {SpectrumMethod::automatic, SpectrumMethod::dense, SpectrumMethod::lanczos})
          for (const bool vectors : {false, true}) {
            CAPTURE(n, scale, static_cast<int>(method), vectors, t(0, 0), t(n - 1, 0));
            HostMatrix<T> scaled(n, 1);
            for (index_t k = 0; k < n; ++k) scaled(k, 0) = std::ldexp(t(k, 0), scale);
            SpectrumOptions options;
            options.method = method;
            options.vectors = vectors;
            Graph g(runtime);
            const Spectrum<T> s = toeplitz_spectrum<T>(g, column(scaled), options);
            if (method != SpectrumMethod::lanczos) CHECK(s.good());
            if (!s.good()) continue;
            const std::vector<double> right = dense_eigenvalues(t);  // within double precision's range at any scale
            double largest = 0, error = 0;
            for (const double value : right) largest = std::max(largest, std::abs(value));
            for (std::size_t i = 0; i < right.size(); ++i)
              error = std::max(error, std::abs(std::ldexp(s.values[i], -scale) - right[i]));
            CHECK(error <= 200 * epsilon * largest);
            if (vectors && n > 1) check_vectors(scaled, s, 1e4 * epsilon, 1e6 * epsilon);
          }
}

CORES_TEST_CASE("the choices of Graciá Gil 2010 find nearly all eigenvalues in double precision, by either solver") {
  CHECK(SpectrumOptions::published().tolerance == 0.1);
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, 600);
  const std::vector<double> right = dense_eigenvalues(t);
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

CORES_TEST_CASE("Levinson's recursion inside Lanczos finds the same spectrum") {
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

CORES_TEST_CASE("an interval whose recursion breaks down is searched again at another shift") {
  // One interval around t_0 = 0 contains all eigenvalues; at its middle the first leading minor is zero.
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
  SECTION("without further attempts the interval is reported as a shortage") {
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

CORES_TEST_CASE("a tolerance bounds the errors of the accepted values") {
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, 120);
  const std::vector<double> right = dense_eigenvalues(t);
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
    if (tolerance >= 1e-3) CHECK(residual > 1e-7 * norm);  // this tolerance was used, not the default
  }
}

TEST_CASE("Levinson's recursion inside Lanczos finds the spectrum on a GPU", "[gpu]") {
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

CORES_TEST_CASE("the choices of Graciá Gil 2010 miss eigenvalues and report which") {
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
  const std::vector<double> right = dense_eigenvalues(t);
  for (const double value : s.values) {
    const auto next = std::lower_bound(right.begin(), right.end(), value - 1e-9);
    REQUIRE((next != right.end() && std::abs(*next - value) < 1e-9));
  }
}

CORES_TEST_CASE("missing eigenvalues among the smallest or largest are reported") {
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, 300);
  const std::vector<double> right = dense_eigenvalues(t);
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
      for (const double value : s.values) {  // each is a requested eigenvalue
        const auto next = std::lower_bound(right.begin(), right.end(), value - 1e-9);
        REQUIRE((next != right.end() && std::abs(*next - value) < 1e-9));
        CHECK((smallest ? next - right.begin() < 200 : next - right.begin() >= 100));
      }
    }
}
