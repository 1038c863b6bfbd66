#include <tesela/algorithms/support/wavefront.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <tuple>

namespace tesela {

const std::vector<std::string>& wavefront_orders() {
  static const std::vector<std::string> names{"lu-wavefront", "cholesky-wavefront"};
  return names;
}

bool is_wavefront_order(std::string_view order) {
  const auto& names = wavefront_orders();
  return std::find(names.begin(), names.end(), order) != names.end();
}

Schedule make_wavefront(std::string_view order, index_t n) {
  require(is_wavefront_order(order), "make_wavefront", "order", "'", std::string(order),
          "' is neither lu-wavefront nor cholesky-wavefront");
  require(n >= 0, "make_wavefront", "n", n, " is negative");
  const bool lu = order == wavefront_orders().front();
  Schedule schedule{
      std::string(order), n, n, std::vector<index_t>(static_cast<std::size_t>(n)), {}, lu ? Sums::lu : Sums::cholesky};
  for (index_t j = 0; j < n; ++j)
    for (index_t i = lu ? 0 : j; i < n; ++i)
      schedule.eliminations.push_back({i, j, std::min(i, j), lu ? i + j + 1 : i == j ? 2 * i + 1 : 2 * j + 2});
  std::sort(schedule.eliminations.begin(), schedule.eliminations.end(), [](const auto& a, const auto& b) {
    return std::tie(a.stage, a.column, a.row) < std::tie(b.stage, b.column, b.row);
  });
  return schedule;
}

}  // namespace tesela
