#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz_spectrum.hpp"
#include "tools/checks/toeplitz_spectrum_error.hpp"
#include <tesela/tiles/generator.hpp>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

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

CORES_TEST_CASE("spectra of every kind of matrix are correct with and without vectors") {
  check_all(runtime, {1, 2, 3, 4, 64, 301});
}

TEST_CASE("spectra are correct on a GPU", "[gpu]") {
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

TEST_CASE("a spectrum is correct on a GPU under a sanitizer", "[gpu][sanitize]") {
  test::require_gpu();
  Runtime runtime({.cpus = 1, .gpus = 1});
  SpectrumOptions options;
  options.per_interval = 20;
  options.vectors = true;
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, 70);
  check_vectors(t, check_spectrum(runtime, t, options, 1e-13), 1e-12, 1e-10);
}

CORES_TEST_CASE("single precision finds every eigenvalue that it can separate", "[single]") {
  SpectrumOptions options;
  for (const SpectrumMethod method : methods)
    for (const index_t n : {1, 3, 64, 500}) {
      options.method = method;
      CHECK(check_spectrum(runtime, toeplitz_column<float>({ToeplitzKind::random, 0, 1}, n), options, 2e-5).good());
    }
}

TEST_CASE("dense halves are used if they are faster and no search option is set") {
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

CORES_TEST_CASE("dense halves find a part of the spectrum") {
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 3}, 101);
  const std::vector<double> right = dense_eigenvalues(t);
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

CORES_TEST_CASE("a search finds a part of the spectrum") {
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 3}, 400);
  const std::vector<double> right = dense_eigenvalues(t);
  SpectrumOptions options;
  options.vectors = true;
  SECTION("a range") {
    options.low = -3, options.high = 4;
    check_vectors(t, check_spectrum(runtime, t, options, 1e-13), 1e-12, 1e-10);
  }
  SECTION("an empty range") {
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

CORES_TEST_CASE("a multiple eigenvalue is one cluster") {
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

CORES_TEST_CASE("vectors of a multiple eigenvalue are orthonormal, by dense halves and by the search") {
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

CORES_TEST_CASE("vectors are orthogonal across the ends of intervals and divisions") {
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
    check_vectors(t, s, 1e-12, 2e-12);
  }
}

CORES_TEST_CASE("a pair that an interval's inverse cannot resolve is left to counts without a retry") {
  // Nearly of rank 2; the other eigenvalues are very close to each other.
  HostMatrix<double> t = HostMatrix<double>::zeros(250, 1);
  for (index_t k = 0; k < t.rows(); ++k) {
    const auto x = static_cast<double>(k);
    t(k, 0) = std::cos(0.3 * x) + 1e-4 * std::sin(1 + x * x);
  }
  SpectrumOptions options;
  options.method = SpectrumMethod::lanczos;
  const Spectrum<double> s = check_spectrum(runtime, t, options, 1e-12);
  CHECK(s.good());
  CHECK(s.relaunches == 0);
  CHECK(s.divisions == 0);
}

CORES_TEST_CASE("spectra of empty matrices, NaN and invalid options are refused") {
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

CORES_TEST_CASE("a wrong count by Levinson's recursion certifies no eigenvalue") {
  constexpr index_t n = 100;
  HostMatrix<double> t(n, 1);
  for (index_t k = 0; k < n; ++k) t(k, 0) = 1 / (1 + static_cast<double>(k));
  SpectrumOptions options;
  options.counter = ToeplitzSolver::levinson;
  Graph g(runtime);
  const auto s = toeplitz_spectrum<double>(g, std::span<const double>(t.data(), n), options);
  const std::vector<double> all = toeplitz_dense_values(n, t.data());
  REQUIRE(s.good());
  REQUIRE(s.values.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(std::abs(s.values[i] - all[i]) <= 1e-13 * all.back());
}

CORES_TEST_CASE("eigenvalues within rounding of an end of a range are doubtful") {
  const auto doubtful = [&](const std::vector<double>& t, double low, double high) {
    return toeplitz_spectrum<double>(runtime, t, {.low = low, .high = high}).doubtful;
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> ones(40, 1.0), zeros(40, 0.0);
  std::vector<double> second_difference(101, 0.0);  // 2 is the middle eigenvalue
  second_difference[0] = 2, second_difference[1] = -1;
  CHECK(doubtful(ones, 0, 40) == 40);
  CHECK(doubtful(ones, -1, 30) == 0);
  CHECK(doubtful(ones, 0, infinity) == 39);
  CHECK(doubtful(ones, 1e-13, infinity) == 39);
  CHECK(doubtful(second_difference, 2, 4) == 1);
  CHECK(doubtful(second_difference, -infinity, infinity) == 0);
  CHECK(doubtful(zeros, 0, 1) == 0);
}
