#pragma once

#include <tesela/runtime/types.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace tesela::bench {

/// A line of published_rotations.csv.
struct PublishedFigure {
  std::string_view job, matrix;
  index_t n = 0;
  std::string_view precision, device, quantity;
  double value = 0;
};

inline const std::vector<PublishedFigure>& published_rotations() {
  static constexpr std::string_view text =
#include "tools/bench/harness/published_rotations.csv"
      ;
  static const std::vector<PublishedFigure> all = [] {
    std::vector<PublishedFigure> figures;
    for (std::string_view rest = text; !rest.empty();) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.empty() || line.front() == '#') continue;
      const auto field = [&line] {
        const std::string_view one = line.substr(0, line.find(','));
        line.remove_prefix(std::min(line.size(), one.size() + 1));
        return one;
      };
      const auto number = [&](auto& value) {
        const std::string_view one = field();
        std::from_chars(one.data(), one.data() + one.size(), value);
      };
      PublishedFigure f;
      f.job = field(), f.matrix = field();
      number(f.n);
      f.precision = field(), f.device = field(), f.quantity = field();
      number(f.value);
      figures.push_back(f);
    }
    return figures;
  }();
  return all;
}

/// Returns the matching value; 0 without one. An empty device matches any.
inline double published_rotation_figure(std::string_view job, std::string_view matrix, index_t n,
                                        std::string_view precision, std::string_view device,
                                        std::string_view quantity) {
  for (const PublishedFigure& f : published_rotations())
    if (f.job == job && (matrix.empty() || f.matrix == matrix) && f.n == n && f.precision == precision &&
        (device.empty() || f.device == device) && f.quantity == quantity)
      return f.value;
  return 0;
}

}  // namespace tesela::bench
