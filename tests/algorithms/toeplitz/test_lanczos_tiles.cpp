#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz_spectrum.hpp"
#include <tesela/algorithms/toeplitz/internal/lanczos_tiles.hpp>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

template <class T>
constexpr double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());

/// A run of one shift: its basis, the parts one above the other, and its coefficients.
template <class T>
struct Run {
  HostMatrix<T> basis;
  HostMatrix<double> coefficients;
};

struct Steps {
  double shift = 0;
  index_t first = 3, more = 3;  ///< steps of two batches
  index_t segments = 1;         ///< 0: the fused kernel
  bool refine = false, spoiled = false;
  index_t all() const { return first + more; }
};

/// Returns a start vector whose parts have unit norm.
template <class T>
TileMatrix<T> start_vector(Runtime& runtime, index_t n) {
  HostMatrix<T> x(n, 1);
  for (int part = 0; part < 2; ++part) {
    const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
    double squares = 0;
    const auto number = [](index_t a) { return std::cos(1.7 * static_cast<double>(a * a) + 0.3); };
    for (index_t a = first; a < first + rows; ++a) squares += number(a) * number(a);
    for (index_t a = first; a < first + rows; ++a) x(a, 0) = static_cast<T>(number(a) / std::sqrt(squares));
  }
  TileMatrix<T> tile(runtime, n, 1, {n, 1}, "start");
  tile.copy_from(x.data(), n);
  return tile;
}

template <class T>
Run<T> run(Runtime& runtime, const HostMatrix<T>& t, const Steps& how) {
  const index_t n = t.rows();
  Graph g(runtime);
  const SineToeplitz<T> A(g, column(t));
  const auto number = [&](double value) {
    TileMatrix<double> one(runtime, 1, 1, {1, 1}, "sigma");
    one.copy_from(&value, 1);
    return one;
  };
  const double shift = std::ldexp(how.shift, -A.exponent());
  const TileMatrix<double> sigma = number(shift), report(runtime, CauchyReport::rows, 2, {CauchyReport::rows, 2});
  const TileMatrix<T> inverse(runtime, n, 3, {n, 3}, "inverse"), start = start_vector<T>(runtime, n);
  g.insert<CauchyInvert<T>>(on_gpu, {}, A.blocks(), sigma(0, 0), inverse(0, 0), report(0, 0),
                            g.scratch<T>(cauchy_table(n), 1));
  if (how.spoiled) inverse(0, 0).update()(n - 1, 2) = std::numeric_limits<T>::quiet_NaN();
  SpectrumOptions options;
  options.vectors = how.refine;
  options.per_interval = 1;
  options.krylov_factor = static_cast<double>(how.all());
  options.krylov_more = 0;
  options.group = options.window = 1;
  const TileMatrix<double> coefficients[]{{runtime, 4, how.first, {4, how.first}},
                                          {runtime, 4, how.more, {4, how.more}}};
  Run<T> result{HostMatrix<T>(n, how.all()), HostMatrix<double>(4, how.all())};
  if (how.segments > 0) {
    detail::LanczosTiles<T> tiles(g, A, options, how.segments);
    detail::SearchJob job;
    job.shift = shift;
    tiles.begin({job, true, inverse, 0, start(0, 0), 0});
    tiles.steps(0, how.first, coefficients[0](0, 0));
    tiles.steps(how.first, how.more, coefficients[1](0, 0));
    index_t row = 0;
    for (const int part : {0, 1})
      for (const Tile<T>& piece : tiles.basis(part)) {
        const auto v = piece.read();
        for (index_t j = 0; j < std::min(v.cols, how.all()); ++j) std::copy_n(&v(0, j), v.rows, &result.basis(row, j));
        row += v.rows;
      }
    REQUIRE(row == n);
  } else {
    const TileMatrix<T> slot(runtime, n, how.all() + 4, {n, how.all() + 4}, "slot");
    const Shape work = lanczos_work(n, how.all(), 1);
    g.insert<LanczosStart<T>>(on_gpu, {}, inverse(0, 0), start(0, 0), slot(0, 0));
    for (const index_t batch : {0, 1}) {
      const index_t done = batch * how.first;
      g.insert<LanczosSteps<T>>(
          on_gpu,
          {static_cast<int>(batch == 0 ? how.first : how.more), 1, how.refine, {static_cast<int>(done)}, {shift}},
          A.blocks(), A.tables(), coefficients[batch](0, 0), g.scratch<T>(work.rows, work.cols),
          std::vector{slot(0, 0)});
    }
    const auto v = slot(0, 0).read();
    for (index_t j = 0; j < how.all(); ++j) std::copy_n(&v(0, 3 + j), n, &result.basis(0, j));
  }
  REQUIRE(g.wait().ok());
  coefficients[0].copy_to(result.coefficients.data(), 4);
  coefficients[1].copy_to(&result.coefficients(0, how.first), 4);
  return result;
}

template <class T>
double distance(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  double most = 0;
  for (index_t e = 0; e < a.size(); ++e)
    most = std::max(most, std::abs(static_cast<double>(a.data()[e]) - static_cast<double>(b.data()[e])));
  return most;
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("steps on tiles equal the fused steps", "[toeplitz]", float, double) {
  using T = TestType;
  for (const index_t n : {2, 3, 20, 33, 64, 301})
    for (const double shift : {-0.5, 4.0})
      for (const bool refine : {false, true}) {
        const HostMatrix<T> t = toeplitz_column<T>({ToeplitzKind::kms, 0.5, 1}, n);  // eigenvalues 1/3 ... 3
        Steps how{.shift = shift, .segments = 0, .refine = refine};
        if (n < 4) how.first = how.more = 1;  // then the spaces are whole
        const Run<T> fused = run<T>(runtime, t, how);
        for (how.segments = 1; how.segments < 5; ++how.segments) {
          CAPTURE(n, shift, refine, how.segments);
          const Run<T> tiles = run<T>(runtime, t, how);
          CHECK(distance(tiles.coefficients, fused.coefficients) <= 500 * epsilon<T>);
          if (n > 3) CHECK(distance(tiles.basis, fused.basis) <= 1e4 * epsilon<T>);
        }
      }
}

WORKERS_TEST_CASE("a run of all steps on tiles has the eigenvalues of LAPACK", "[toeplitz]") {
  constexpr index_t n = 24;
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 3}, n);
  const std::vector<double> right = dense_eigenvalues(t);
  const double shift = (right[11] + right[12]) / 2;
  const Run<double> tiles = run<double>(runtime, t, {.shift = shift, .first = 5, .more = 7, .segments = 3});
  const int exponent = [&] {
    Graph g(runtime);
    return SineToeplitz<double>(g, column(t)).exponent();
  }();
  std::vector<double> found;
  for (index_t part = 0; part < 2; ++part) {
    std::vector<double> d, e, last(n / 2);
    for (index_t k = 0; k < n / 2; ++k) {
      d.push_back(tiles.coefficients(2 * part, k));
      e.push_back(tiles.coefficients(2 * part + 1, k));
    }
    CHECK(e.back() <= 1e-9 * std::abs(d.front()));  // the space is invariant
    REQUIRE(lanczos::ritz_values(n / 2, d.data(), e.data(), last.data()));
    for (const double theta : d) found.push_back(shift + std::ldexp(1 / theta, exponent));
  }
  std::sort(found.begin(), found.end());
  for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(found[i] - right[i]) <= 1e-11 * right.back());
}

WORKERS_TEMPLATE_TEST_CASE("the basis of many steps on tiles is orthonormal", "[toeplitz]", float, double) {
  using T = TestType;
  constexpr index_t n = 601, steps = 120;
  const HostMatrix<T> t = toeplitz_column<T>({ToeplitzKind::random, 0, 1}, n);
  const std::vector<double> right = dense_eigenvalues(t);
  // Near an eigenvalue one vector dominates each product.
  const double shift = right[300] + 1e-4 * (right[301] - right[300]);
  const Run<T> tiles = run<T>(runtime, t, {.shift = shift, .first = 50, .more = steps - 50, .segments = 2});
  HostMatrix<T> gram(steps, steps);
  for (int part = 0; part < 2; ++part) {
    const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
    blas::gemm<T>(Op::transpose, Op::none, steps, steps, rows, 1, &tiles.basis(first, 0), n, &tiles.basis(first, 0), n,
                  0, gram.data(), steps);
    double most = 0;
    for (index_t j = 0; j < steps; ++j)
      for (index_t i = 0; i < steps; ++i)
        most = std::max(most, std::abs(static_cast<double>(gram(i, j)) - (i == j ? 1.0 : 0.0)));
    CHECK(most <= 2000 * epsilon<T>);
  }
}

WORKERS_TEST_CASE("a number that is not finite reaches the coefficients of its part", "[toeplitz][sanitize]") {
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::kms, 0.5, 1}, 40);
  const Run<double> tiles = run<double>(runtime, t, {.shift = 4, .segments = 2, .spoiled = true});
  CHECK(std::isnan(tiles.coefficients(2, 0)));
  CHECK(std::isfinite(tiles.coefficients(0, 5)));
}

CORES_TEMPLATE_TEST_CASE("two tasks for an inverse compute the same as one", "[toeplitz]", float, double) {
  using T = TestType;
  for (const index_t n : {2, 3, 64, 65, 501}) {
    const HostMatrix<T> t = toeplitz_column<T>({ToeplitzKind::random, 0, 4}, n);
    Graph g(runtime);
    const SineToeplitz<T> A(g, column(t));
    const double shift = 0.3;
    const TileMatrix<double> sigma(runtime, 1, 1, {1, 1}, "sigma");
    sigma.copy_from(&shift, 1);
    const index_t half = cauchy_rows(n, 0);
    const TileMatrix<T> whole(runtime, n, 3, {n, 3}), parts(runtime, n, 3, {half, 3}),
        start = start_vector<T>(runtime, n);
    const TileMatrix<double> report(runtime, CauchyReport::rows, 2, {CauchyReport::rows, 2}),
        reports(runtime, CauchyReport::rows, 2, {CauchyReport::rows, 1}),
        counts(runtime, CauchyReport::rows, 2, {CauchyReport::rows, 1}), quality(runtime, 2, 1, {2, 1}),
        qualities(runtime, 2, 1, {1, 1});
    const Shape work = lanczos_work(n, 2, 1);
    g.insert<CauchyInvert<T>>({}, A.blocks(), sigma(0, 0), whole(0, 0), report(0, 0), g.scratch<T>(cauchy_table(n), 1));
    g.insert<CauchyInverseError<T>>({}, A.blocks(), A.tables(), sigma(0, 0), whole(0, 0), start(0, 0), quality(0, 0),
                                    g.scratch<T>(work.rows, work.cols));
    for (int part = 0; part < 2; ++part) {
      g.insert<CauchyInvertPart<T>>({part}, A.blocks(), A.tables(), sigma(0, 0), start(0, 0), parts(part, 0),
                                    reports(0, part), qualities(part, 0), g.scratch<T>(cauchy_invert_part_rows(n), 1));
      g.insert<CauchyCountPart<T>>({part}, A.blocks(), sigma(0, 0), counts(0, part));
    }
    REQUIRE(g.wait().ok());
    CAPTURE(n);
    CHECK(distance(whole.to_host(), parts.to_host()) == 0);
    CHECK(distance(report.to_host(), reports.to_host()) == 0);
    CHECK(distance(report.to_host(), counts.to_host()) == 0);
    CHECK(distance(quality.to_host(), qualities.to_host()) <= 1e3 * static_cast<double>(n) * epsilon<T>);
  }
}

CORES_TEST_CASE("spectra by steps on tiles are correct") {
  SpectrumOptions options;
  options.tasks = LanczosTasks::tiles;
  for (const ToeplitzGenerator& kind : all_kinds)
    for (const index_t n : {1, 2, 3, 64, 201})
      for (const index_t most : {7, 200})
        for (const bool vectors : {false, true}) {
          INFO("kind " << static_cast<int>(kind.kind) << ", n " << n << ", " << most << " an interval");
          options.per_interval = most;
          options.vectors = vectors;
          const HostMatrix<double> t = toeplitz_column<double>(kind, n);
          const Spectrum<double> s = check_spectrum(runtime, t, options, 1e-13);
          CHECK(s.good());
          if (vectors) check_vectors(t, s, 1e-11, 1e-10);
        }
}

CORES_TEST_CASE("spectra by steps on tiles are correct at any scale") {
  SpectrumOptions options;
  options.tasks = LanczosTasks::tiles;
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, 90);
  Graph g(runtime);
  const Spectrum<double> s = toeplitz_spectrum<double>(g, column(t), options);
  for (const int scale : {990, -990}) {
    HostMatrix<double> scaled(90, 1);
    for (index_t k = 0; k < 90; ++k) scaled(k, 0) = std::ldexp(t(k, 0), scale);
    const Spectrum<double> same = toeplitz_spectrum<double>(g, column(scaled), options);
    CHECK(same.good());
    REQUIRE(same.values.size() == 90);
    for (std::size_t i = 0; i < 90; ++i) CHECK(std::ldexp(same.values[i], -scale) == s.values[i]);
  }
}

WORKERS_TEST_CASE("some eigenvalues by steps on tiles", "[toeplitz]") {
  constexpr index_t n = 700;
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, n);
  const std::vector<double> right = dense_eigenvalues(t);
  SpectrumOptions options;
  options.tasks = LanczosTasks::tiles;
  options.smallest = 20;
  Graph g(runtime);
  const Spectrum<double> s = toeplitz_spectrum<double>(g, column(t), options);
  CHECK((s.good() && s.tasks == LanczosTasks::tiles));
  REQUIRE(s.values.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) CHECK(std::abs(s.values[i] - right[i]) <= 1e-13 * right.back());
}

CORES_TEST_CASE("tiles refuse Levinson's recursion, and few or short vectors are fused") {
  SpectrumOptions options;
  options.tasks = LanczosTasks::tiles;
  options.solver = ToeplitzSolver::levinson;
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::kms, 0.5, 1}, 8);
  Graph g(runtime);
  CHECK_THROWS_AS(toeplitz_spectrum<double>(g, column(t), options), ArgumentError);
  const SpectrumOptions usual;
  const auto intervals = static_cast<std::size_t>(runtime.cpus());
  CHECK_FALSE(detail::steps_on_tiles(runtime, 1000, usual, 1));
  CHECK_FALSE(detail::steps_on_tiles(runtime, 100000, usual, intervals));
  CHECK(detail::steps_on_tiles(runtime, 100000, usual, 1) == (runtime.cpus() >= 2));
}
