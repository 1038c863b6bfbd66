#include "tests/support/shared_runtime.hpp"
#include "tests/support/symmetric_eig.hpp"
#include <tesela/algorithms/eigen/eig_iteration.hpp>
#include <tesela/algorithms/eigen/internal/iteration_loop.hpp>

using namespace tesela::test;
using Verdict = SymmetricEigStatus::Verdict;

namespace {

template <class T>
using Found = Solved<T, EigIterationResult<T>>;

template <class T>
Found<T> iterate(const HostMatrix<T>& a, const EigIterationOptions& o, index_t tile = 7, Runtime& where = runtime()) {
  const index_t n = a.rows(), rows = std::max<index_t>(n, 1);
  const HostMatrix<T> lost = a.clone();
  Graph g(where);
  return eig_iteration(g, TileMatrix<T>::map(where, lost.data(), n, n, rows, {rows, tile}), o);
}

template <class T>
void check(const HostMatrix<T>& a, const Found<T>& f, double bound) {
  check_pairs(a, f, reference_eigenvalues(a), {bound, bound});
}

}  // namespace

TEMPLATE_TEST_CASE("QR, LR and Cholesky LR find a spectrum with separated values", "", float, double) {
  using T = TestType;
  const double bound = sizeof(T) == 8 ? 1e-10 : 2e-3;
  for (const index_t n : {1, 2, 3, 7, 8, 20, 50}) {
    const HostMatrix<T> a = lower<T>("geometric:100", n);
    for (const EigIteration method : {EigIteration::qr, EigIteration::lr, EigIteration::cholesky_lr})
      check(a, iterate(a, {.method = method}), bound);
  }
  CHECK(iterate(lower<T>("uniform", 0), {}).eig.values.empty());
}

TEST_CASE("eig_iteration gives the same unique Q R with every factorization") {
  const HostMatrix<double> a = lower<double>("geometric:100", 21);
  for (const Named<QrFactor>& factor : qr_factors())
    for (const bool positive : {false, true}) {
      CAPTURE(factor.name);
      check(a, iterate(a, {.factor = factor.value, .positive_diagonal = positive}), 1e-11);
    }
}

TEMPLATE_TEST_CASE("eig_iteration by tiles works with rotations, reflectors and Cholesky's factor", "", float, double) {
  using T = TestType;
  const double bound = sizeof(T) == 8 ? 1e-11 : 2e-3;
  for (const index_t n : {1, 15, 16, 17, 40, 130}) {
    const HostMatrix<T> a = lower<T>(sizeof(T) == 8 ? "geometric:1e30" : "geometric:1e12", n);
    const double tolerance = 0.1 * bound;
    check(a, iterate(a, {.factor = QrFactor::tiles, .tolerance = tolerance}), bound);
    if (n <= 128) continue;
    check(a, iterate(a, {.tolerance = tolerance}), bound);
    const HostMatrix<T> definite = lower<T>(sizeof(T) == 8 ? "geometric:1e12" : "geometric:1e5", n);
    check(definite, iterate(definite, {.method = EigIteration::cholesky_lr, .tolerance = tolerance}), bound);
  }
  const HostMatrix<double> indefinite = lower<double>("arithmetic", 130, -1);
  const Found<double> shifted = iterate(indefinite, {.method = EigIteration::cholesky_lr, .max_iterations = 9});
  CHECK((shifted.eig.shift > 0 && shifted.eig.iterations == 9));
  CHECK(shifted.eig.status.verdict == Verdict::entry_remains);
  const Found<double> never = iterate(lower<double>("exchange", 4), {.factor = QrFactor::tiles});
  CHECK((never.eig.status.verdict == Verdict::entry_remains && never.eig.iterations == 6000));
  const EigIterationOptions published{.factor = QrFactor::tiles, .stop = StopTest::subdiagonal};
  CHECK(iterate(lower<double>("exchange", 131), published).eig.iterations == 0);
}

TEMPLATE_TEST_CASE("LR steps by tiles find the spectrum, nearly singular and indefinite matrices included", "", float,
                   double) {
  using T = TestType;
  const bool twice = sizeof(T) == 8;
  const double bound = twice ? 1e-11 : 2e-3;
  for (const index_t n : {129, 130, 144, 160, 257}) {
    CAPTURE(n);
    const HostMatrix<T> a = lower<T>(twice ? "geometric:1e30" : "geometric:1e12", n);
    const Found<T> found = iterate(a, {.method = EigIteration::lr, .tolerance = 0.1 * bound}, n);
    check(a, found, bound);
    CHECK(found.eig.trace_drift <= bound);
    CHECK(found.eig.kernels > 8 * found.eig.iterations);  // tiles
  }
  for (const double scale : twice ? std::vector{0x1p1000, 0x1p-1000} : std::vector{0x1p100, 0x1p-100}) {
    const HostMatrix<T> a = lower<T>(twice ? "geometric:1e30" : "geometric:1e12", 150, scale);
    check(a, iterate(a, {.method = EigIteration::lr, .tolerance = 0.1 * bound}), bound);
  }
  // A definite dense block, whose edge lies inside a tile, and values of both signs next to it.
  const HostMatrix<T> small = lower<T>("geometric:1e5", 40),
                      mixed = filled<T>({140, 140}, [&](index_t i, index_t j) {
                        const index_t low = std::min(i, j), high = std::max(i, j);
                        if (low >= 40)
                          return i == j ? static_cast<T>((i % 2 == 0 ? 1 : -1) * static_cast<double>(i)) : T(0);
                        return high < 40 ? small(high, low) : T(0);
                      });
  check(mixed, iterate(mixed, {.method = EigIteration::lr, .tolerance = 0.1 * bound}), bound);
}

TEST_CASE("LR steps by tiles report the row and the iteration of a zero pivot as one task does") {
  // (A^3)(1, 1) = 0 for the block, so its third factorization breaks down.
  for (const index_t n : {100, 131})
    for (const index_t at : {0, 15, 16, 63, 98}) {
      CAPTURE(n, at);
      const HostMatrix<double> a = filled<double>({n, n}, [&](index_t i, index_t j) {
        if (i == at && j == at) return 1.0;
        if (i == at + 1 && j == at + 1) return -3.0;
        if (i + j == 2 * at + 1 && std::min(i, j) == at) return 1.0;
        return i == j ? 1.0 + static_cast<double>(i) : 0.0;
      });
      const EigIterationResult<double> found = iterate(a, {.method = EigIteration::lr}).eig;
      CHECK(to_string(found.status) == "zero pivot: row " + std::to_string(at + 1) + " of iteration 3");
      CHECK(found.iterations == 2);
      CHECK(found.values.empty());
    }
  // Values of equal magnitude never separate; elements that grow beyond the range end as a pivot.
  const Found<double> pairs = iterate(lower<double>("exchange", 131), {.method = EigIteration::lr});
  CHECK(pairs.eig.status.verdict == Verdict::zero_pivot);
  const Found<double> slow = iterate(lower<double>("uniform", 131), {.method = EigIteration::lr, .max_iterations = 11});
  CHECK((slow.eig.status.verdict == Verdict::entry_remains && slow.eig.iterations == 11));
}

TEST_CASE("eig_iteration with shifts, deflation and bands converges on kinds that do not converge without a shift") {
  for (const char* const kind :
       {"uniform", "band:3", "second-difference", "wilkinson", "nbody", "identity", "zero", "diagonal"})
    for (const index_t n : {1, 2, 3, 33}) {
      CAPTURE(kind);
      const HostMatrix<double> a = lower<double>(kind, n);
      check(a, iterate(a, {.shift = QrShift::wilkinson, .deflate = true}), 1e-11);
    }
  const Found<double> band = iterate(lower<double>("band:3", 33), {.shift = QrShift::wilkinson, .deflate = true});
  CHECK(band.eig.half_width == 3);
  CHECK(band.eig.deflated == 32);
  CHECK(band.eig.iterations < 100);
  // A step takes 3 rotations for each column, fewer at the end.
  const Found<double> one = iterate(lower<double>("band:3", 33), {.max_iterations = 1});
  CHECK(one.eig.rotations == 3 * 32 - 3);
}

TEST_CASE("eig_iteration: a power of two leaves the vectors unchanged, and indefinite matrices are shifted") {
  const HostMatrix<double> a = lower<double>("geometric:100", 12), high = lower<double>("geometric:100", 12, 0x1p1000),
                           low = lower<double>("geometric:100", 12, 0x1p-1000);
  const Found<double> one = iterate(a, {}), large = iterate(high, {}), small = iterate(low, {});
  CHECK(std::equal(one.x.data(), one.x.data() + one.x.size(), large.x.data()));
  CHECK(std::equal(one.x.data(), one.x.data() + one.x.size(), small.x.data()));
  for (std::size_t i = 0; i < 12; ++i) CHECK(large.eig.values[i] == std::ldexp(one.eig.values[i], 1000));
  const HostMatrix<double> indefinite = lower<double>("uniform", 12);
  const Found<double> shifted = iterate(indefinite, {.method = EigIteration::cholesky_lr});
  check(indefinite, shifted, 1e-10);
  CHECK(shifted.eig.shift > 0);
  CHECK(iterate(a, {.method = EigIteration::cholesky_lr}).eig.shift == 0);
}

TEST_CASE("eig_iteration finds a part of the spectrum") {
  const HostMatrix<double> a = lower<double>("geometric:100", 20);
  for (const EigIteration method : {EigIteration::qr, EigIteration::lr}) {
    const Found<double> part = iterate(a, {.method = method, .positions = IndexRange{3, 8}});
    CHECK(part.eig.values.size() == 5);
    CHECK(part.eig.first == 3);
    check(a, part, 1e-10);
    CHECK(iterate(a, {.method = method, .vectors = false}).x.size() == 0);
  }
}

TEST_CASE("the eight largest remaining elements are kept, the earlier of two equal ones first") {
  detail::Remaining all;
  all.negligible = 1;
  const std::vector<double> values{1, -3, 5, 0.5, 2, -5, 8, 3, 9, -7, 4, 6, 1.5};
  for (std::size_t i = 0; i < values.size(); ++i) all.add({static_cast<index_t>(i), 0, values[i]});
  CHECK(all.count == 11);
  CHECK(all.squares == 2 * (9 + 25 + 4 + 25 + 64 + 9 + 81 + 49 + 16 + 36 + 2.25));
  std::vector<double> kept;
  for (const RemainingEntry& entry : all.largest) kept.push_back(entry.value);
  CHECK(kept == std::vector<double>{9, 8, -7, 6, 5, -5, 4, -3});
  CHECK(all.largest.back().row == 1);
}

TEST_CASE("eig_iteration reports remaining entries, breakdowns and the expected number of steps") {
  // +1 and -1 have equal magnitude, and the Cinvestav thesis's test does not check the entry that couples them.
  const HostMatrix<double> corner =
      filled<double>({3, 3}, [](index_t i, index_t j) { return i + j == 2 && i != j ? 1.0 : 0.0; });
  const EigIterationResult<double> stuck = iterate(corner, {}).eig;
  CHECK(stuck.status.verdict == Verdict::entry_remains);
  CHECK(stuck.remain == 1);
  CHECK(std::abs(stuck.remaining.at(0).value) == 1);
  CHECK(stuck.iterations == 6000);
  CHECK(stuck.ratio == 0);  // the ratio follows from the diagonal of D
  const EigIterationResult<double> fooled = iterate(corner, {.stop = StopTest::subdiagonal}).eig;
  CHECK(fooled.status.ok());
  CHECK(fooled.iterations == 0);
  CHECK(fooled.remain == 1);
  CHECK(std::abs(fooled.remaining_norm - 1) <= 1e-15);
  CHECK(fooled.frobenius_drift == 1);
  const Found<double> shifted = iterate(corner, {.shift = QrShift::wilkinson, .deflate = true});
  check(corner, shifted, 1e-15);
  for (const EigIterationOptions& never :
       {EigIterationOptions{.shift = QrShift::wilkinson},
        EigIterationOptions{.factor = QrFactor::householder, .shift = QrShift::wilkinson, .deflate = true}})
    CHECK(iterate(corner, never).eig.status.verdict == Verdict::entry_remains);

  const EigIterationResult<double> zero = iterate(corner, {.method = EigIteration::lr}).eig;
  CHECK(zero.status.verdict == Verdict::zero_pivot);
  CHECK(to_string(zero.status) == "zero pivot: row 1 of iteration 1");

  const EigIterationResult<double> geometric = iterate(lower<double>("geometric:100", 50), {}).eig;
  CHECK(std::abs(geometric.ratio - std::pow(100, -1.0 / 49)) <= 1e-9);
  CHECK(std::abs(geometric.predicted - std::log(1e-13) / std::log(geometric.ratio)) <= 1e-6);
  CAPTURE(geometric.trace_drift, geometric.frobenius_drift);
  // After 318 steps of 50 rotations. On a GPU, rotations by 1 / sqrt(x) moved the trace by 4e-13.
  const double most = runtime().gpus() == 0 ? 1e-13 : 1e-12;
  CHECK((geometric.trace_drift <= most && geometric.frobenius_drift <= most));

  HostMatrix<double> bad = lower<double>("uniform", 5);
  bad(3, 1) = std::numeric_limits<double>::infinity();
  const SymmetricEigStatus status = iterate(bad, {}).eig.status;
  CHECK((status.verdict == Verdict::not_finite && status.row == 3 && status.column == 1));
}

TEST_CASE("eig_iteration solves a tridiagonal matrix") {
  const index_t n = 300;
  std::vector<double> d(n, 2), e(n - 1, -1);
  Graph g(runtime());
  const EigIterationResult<double> found =
      eig_iteration<double>(g, d, e, {.shift = QrShift::wilkinson, .deflate = true, .vectors = false});
  REQUIRE(found.status.ok());
  for (index_t i = 0; i < n; ++i)
    CHECK(std::abs(found.values[static_cast<std::size_t>(i)] -
                   (2 - 2 * std::cos(static_cast<double>(i + 1) * M_PI / static_cast<double>(n + 1)))) <= 1e-12);
  CHECK_THROWS_AS(eig_iteration<double>(g, d, e, {.method = EigIteration::lr}), ArgumentError);
}

TEST_CASE("eig_iteration refuses invalid options") {
  Graph g(runtime());
  const TileMatrix<double> A(runtime(), 4, 4, {4, 2}), wide(runtime(), 4, 5, {4, 2}), cut(runtime(), 4, 4, {2, 2});
  A.copy_from(std::vector<double>(16, 1).data(), 4);
  const auto refused = [&](const TileMatrix<double>& a, const EigIterationOptions& o) {
    CHECK_THROWS_AS(eig_iteration(g, a, o), ArgumentError);
  };
  refused(wide, {});
  refused(cut, {});
  for (const double tolerance : {-1.0, 0.0011, HUGE_VAL, std::nan("")}) refused(A, {.tolerance = tolerance});
  refused(A, {.max_iterations = -1});
  refused(A, {.positions = IndexRange{3, 5}});
  refused(A, {.method = EigIteration::lr, .factor = QrFactor::mgs});
  refused(A, {.method = EigIteration::lr, .shift = QrShift::wilkinson});
  refused(A, {.method = EigIteration::cholesky_lr, .deflate = true});
}

GPU_TEMPLATE_TEST_CASE("eig_iteration finds the spectrum of small matrices on a GPU", "", float, double) {
  using T = TestType;
  const double bound = sizeof(T) == 8 ? 1e-10 : 2e-3;
  for (const index_t n : {1, 3, 50, 128}) {
    const HostMatrix<T> a = lower<T>("geometric:100", n);
    for (const EigIteration method : {EigIteration::qr, EigIteration::lr, EigIteration::cholesky_lr})
      check(a, iterate(a, {.method = method}, 64, runtime), bound);
    const HostMatrix<T> band = lower<T>("band:2", n);
    check(band, iterate(band, {.shift = QrShift::wilkinson, .deflate = true}, 64, runtime), bound);
  }
  const HostMatrix<T> a = lower<T>(sizeof(T) == 8 ? "geometric:1e12" : "geometric:1e4", 300);
  check(a, iterate(a, {}, 300, runtime), bound);
  for (const EigIteration method : {EigIteration::qr, EigIteration::lr, EigIteration::cholesky_lr})
    check(a,
          iterate(a, {.method = method, .factor = method == EigIteration::qr ? QrFactor::tiles : QrFactor::givens}, 300,
                  runtime),
          bound);
}
