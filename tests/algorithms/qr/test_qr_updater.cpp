#include "tests/support/shared_runtime.hpp"
#include "tests/support/tall_skinny.hpp"
#include "tests/support/toy_kernels.hpp"

using namespace tesela::test;

namespace {

template <class T>
void check_updater(Runtime& runtime, index_t m, index_t n, index_t nrhs, index_t block) {
  const auto ab = Padded<T>::random(m, n + nrhs, 9);
  QrUpdater<T> updater(runtime, n, nrhs);
  REQUIRE(updater.solve().status.info == 1);
  std::vector<TileMatrix<T>> kept;
  Graph g(runtime);
  for (index_t row = 0; row < m; row += block) {
    const index_t rows = std::min(block, m - row);
    // Copied, since a GPU cannot use matrices mapped from overlapping parts of one array.
    const auto keep = [&](const T* from, index_t cols, TileShape tile) {
      kept.emplace_back(runtime, rows, cols, tile);
      kept.back().copy_from(from, ab.ld);
    };
    keep(ab.a.data() + row, n, {100, 6});
    if (nrhs > 0) {
      keep(ab.a.data() + row + n * ab.ld, nrhs, {100, nrhs});
      updater.append(g, kept[kept.size() - 2], kept.back());
    } else {
      updater.append(g, kept.back());
    }
  }
  REQUIRE(g.wait().ok());
  CAPTURE(m, n, nrhs, block);
  CHECK(updater.rows() == m);
  Padded<T> r(n + nrhs, n + nrhs);
  updater.triangle().copy_to(r.a.data(), r.ld);
  CHECK(gram_error(ab, r) <= 60);
  if (m > 2 * (n + nrhs)) CHECK(lapack_error(ab, r) <= 300);

  const auto solution = updater.solve();
  const auto norms = updater.residual_norms();
  REQUIRE(norms.size() == static_cast<std::size_t>(nrhs));
  if (m < n) {
    CHECK(solution.status.info == m + 1);
    return;
  }
  REQUIRE(solution.status.ok());
  REQUIRE(solution.x.shape() == Shape{n, nrhs});
  using Wide = with_parts<T, double>;
  using Sum = with_parts<T, long double>;
  const double bound = 2e3 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  for (index_t k = 0; k < nrhs; ++k) {
    std::vector<Wide> residual;
    double norm = 0, size = 0;
    for (index_t i = 0; i < m; ++i) {
      Sum sum = -converted<Sum>(ab(i, n + k));
      for (index_t j = 0; j < n; ++j) sum += converted<Sum>(ab(i, j)) * converted<Sum>(solution.x(j, k));
      residual.push_back(converted<Wide>(sum));
      norm = std::hypot(norm, std::abs(residual.back()));
      size = std::hypot(size, static_cast<double>(std::abs(ab(i, n + k))));
    }
    CHECK(std::abs(norm - static_cast<double>(norms[static_cast<std::size_t>(k)])) <= bound * size);
    for (index_t j = 0; j < n; ++j) {  // A^H r = 0
      Wide dot = 0;
      double column = 0;
      for (index_t i = 0; i < m; ++i) {
        dot += conj(converted<Wide>(ab(i, j))) * residual[static_cast<std::size_t>(i)];
        column = std::hypot(column, static_cast<double>(std::abs(ab(i, j))));
      }
      CHECK(std::abs(dot) <= bound * column * size);
    }
  }
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("rows appended in steps give the solution of all rows at once", "", FOUR_TYPES) {
  using T = TestType;
  check_updater<T>(runtime, 60, 5, 2, 1);
  check_updater<T>(runtime, 60, 5, 0, 7);
  check_updater<T>(runtime, 3, 5, 1, 1);
  check_updater<T>(runtime, 5, 5, 1, 5);
  check_updater<T>(runtime, 1000, 16, 1, 330);
  check_updater<T>(runtime, 1000, 40, 3, 1000);
  check_updater<T>(runtime, 1000, 200, 2, 400);
  check_updater<T>(runtime, 1000, 1, 1, 400);
}

TEST_CASE("rows lost by a cancellation are reported by later calls") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const auto a = Padded<double>::random(50, 4), b = Padded<double>::random(50, 1, 2);
  const auto A = a.map(runtime, {50, 4});
  const auto B = b.map(runtime, {50, 1});
  QrUpdater<double> updater(runtime, 4, 1);
  Graph g(runtime);
  updater.append(g, A, B);
  REQUIRE(g.wait().ok());
  CHECK(updater.solve().status.ok());
  const TileMatrix<int> gate(runtime, 1, 1, {1, 1});
  gate(0, 0).write().data[0] = 0;
  std::atomic<bool> open{false};
  g.insert<Gate>({&open}, gate(0, 0));
  updater.append(g, A, B);
  Runtime::cancel();
  open = true;
  CHECK_THROWS_AS(g.wait(), Cancelled);
  CHECK_THROWS_AS(updater.solve(), ArgumentError);
  CHECK_THROWS_AS(updater.append(g, A, B), ArgumentError);
}

TEST_CASE("a rank-deficient system is a status") {
  Runtime runtime({.gpus = 0});
  auto a = Padded<double>::random(50, 4);
  const auto b = Padded<double>::random(50, 1, 2);
  for (index_t i = 0; i < 50; ++i) a(i, 2) = 0;
  for (const double value : {0.0, nan_of<double>}) {
    for (index_t i = 0; i < 50; ++i) a(i, 2) = value;
    QrUpdater<double> updater(runtime, 4, 1);
    const auto A = a.map(runtime, {50, 4});
    const auto B = b.map(runtime, {50, 1});
    Graph g(runtime);
    updater.append(g, A, B);
    CHECK(updater.solve().status.info == 3);
  }
}
