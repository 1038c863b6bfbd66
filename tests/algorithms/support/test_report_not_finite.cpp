#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/support/matrix_tasks.hpp>

using namespace tesela;

namespace {

template <class T>
void first_of_several(Runtime& runtime) {
  const index_t m = 900, n = 700;
  std::vector<T> a(static_cast<std::size_t>(m * n), T(1));
  for (const index_t j : {690, 450, 333, 332, 600})
    a[static_cast<std::size_t>(m - 1 - j + j * m)] = std::numeric_limits<T>::quiet_NaN();
  const auto A = TileMatrix<T>::map(runtime, a.data(), m, n, m, {400, 512});
  Graph g(runtime);
  report_not_finite(g, A);
  CHECK(g.wait().info == 333);
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("the first column with an element that is not finite is reported", "[sanitize]", float,
                           double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  for (const Shape shape : {Shape{1, 1}, {7, 5}, {5, 7}, {12, 3}})
    for (const TileShape tile : {TileShape{20, 20}, {3, 2}, {2, 3}, {20, 2}})
      for (const T value : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::max()})
        for (index_t j = 0; j < shape.cols; ++j)
          for (index_t i = 0; i < shape.rows; ++i) {
            const index_t ld = shape.rows + 2;  // with padding
            std::vector<T> a(static_cast<std::size_t>(ld * shape.cols), Limits::quiet_NaN());
            for (index_t c = 0; c < shape.cols; ++c) std::fill_n(a.data() + c * ld, shape.rows, T(-1));
            a[static_cast<std::size_t>(i + j * ld)] = value;
            for (const FinitePart part : {FinitePart::all, FinitePart::upper, FinitePart::lower}) {
              const auto A = TileMatrix<T>::map(runtime, a.data(), shape.rows, shape.cols, ld, tile);
              Graph g(runtime);
              report_not_finite(g, A, part);
              const bool seen =
                  value != Limits::max() && (part == FinitePart::all || (part == FinitePart::upper ? i <= j : i >= j));
              CAPTURE(shape.rows, shape.cols, tile.mb, tile.nb, value, i, j);
              REQUIRE(g.wait().info == (seen ? j + 1 : 0));
            }
          }
  TileMatrix<T> none(runtime, 0, 3, {2, 2});
  Graph g(runtime);
  report_not_finite(g, none);
  CHECK(g.wait().ok());
  first_of_several<TestType>(runtime);
}
