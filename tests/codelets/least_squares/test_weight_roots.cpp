#include "tests/support/shared_runtime.hpp"
#include <tesela/codelets/least_squares/weight_roots.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

using namespace tesela;
using namespace tesela::kernels;

namespace {

struct Seen {
  double largest = 0, smallest = std::numeric_limits<double>::infinity(), counted = 0;
  bool good = true;
};

template <class T>
Seen look(Runtime& runtime, const std::vector<T>& w, index_t parts) {
  const auto m = static_cast<index_t>(w.size());
  const TileMatrix<T> W(runtime, m, 1, {m, 1}), D(runtime, m, 1, {m, 1});
  const TileMatrix<double> ranges(runtime, 3, parts, {3, parts});
  W.copy_from(w.data(), m);
  Graph g(runtime);
  g.insert<WeightRoots<T>>({}, W(0, 0), D(0, 0), ranges(0, 0));
  REQUIRE(g.wait().ok());
  HostMatrix<T> d(m, 1);
  D.copy_to(d.data(), m);
  bool same = true;
  for (index_t i = 0; i < m; ++i) {
    const T root = std::sqrt(w[static_cast<std::size_t>(i)]);
    same = same && (d(i, 0) == root || (std::isnan(d(i, 0)) && std::isnan(root)));
  }
  CHECK(same);
  Seen seen;
  const auto columns = ranges(0, 0).read();
  for (index_t k = 0; k < parts; ++k) {
    seen.good = seen.good && !std::isnan(columns(0, k));
    seen.largest = std::max(seen.largest, columns(0, k));
    seen.smallest = std::min(seen.smallest, columns(1, k));
    seen.counted += columns(2, k);
  }
  return seen;
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("roots of weights and their ratio are correct", "[sanitize]", float, double) {
  using T = TestType;
  for (const std::size_t m : {1, 7, 256, 257, 70001})
    for (const index_t parts : {1, 3, 128}) {
      CAPTURE(m, parts);
      std::vector<T> w(m);
      for (std::size_t i = 0; i < m; ++i) w[i] = i % 5 == 3 ? T(0) : static_cast<T>(1 + i % 97);
      w[m / 2] = std::numeric_limits<T>::max();
      const Seen seen = look(runtime, w, parts);
      double smallest = std::numeric_limits<double>::infinity(), counted = 0;
      for (const T weight : w)
        if (weight > T(0)) smallest = std::min(smallest, static_cast<double>(weight)), ++counted;
      CHECK(seen.good);
      CHECK(seen.largest == static_cast<double>(std::numeric_limits<T>::max()));
      CHECK(seen.smallest == smallest);
      CHECK(seen.counted == counted);
      for (const T wrong : {T(-1), std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
        w[m - 1] = wrong;
        CHECK_FALSE(look(runtime, w, parts).good);
      }
      const Seen none = look(runtime, std::vector<T>(m, T(0)), parts);
      CHECK((none.good && none.counted == 0 && std::isinf(none.smallest)));
    }
}
