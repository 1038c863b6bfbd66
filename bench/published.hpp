#pragma once

#include "runtime/types.hpp"

#include <array>
#include <string_view>

namespace tesela::bench {

/// The study's seconds on a GeForce 930MX (single precision), 0 where it gives none.
inline double published_gemm_seconds(std::string_view kernel_and_tile, index_t n) {
  struct Published {
    std::string_view peer;
    index_t n;
    double seconds;
  };
  constexpr std::array table{
      Published{"naive 16", 8000, 42.6},   Published{"naive 16", 10000, 66.6},  Published{"naive 16", 12000, 113.9},
      Published{"shared 16", 8000, 13.8},  Published{"shared 16", 10000, 25.7}, Published{"shared 16", 12000, 44.4},
      Published{"shared 32", 8000, 11.6},  Published{"shared 32", 12000, 39.6}, Published{"coarse 32", 8000, 8.9},
      Published{"coarse 32", 10000, 17.4}, Published{"coarse 32", 12000, 30.2}};
  for (const Published& p : table)
    if (p.peer == kernel_and_tile && p.n == n) return p.seconds;
  return 0;
}

/// The same for the matrix sums: by element, by row, by column.
inline double published_sum_seconds(std::string_view pattern, index_t n) {
  constexpr std::array<index_t, 3> sizes{2000, 6000, 11000};
  constexpr std::array<std::array<double, 3>, 3> ms{{{21.3, 590.7, 2207}, {21.5, 591.2, 2221}, {3.7, 33.0, 111.6}}};
  for (std::size_t s = 0; s < sizes.size(); ++s)
    if (sizes[s] == n) return ms[pattern == "element" ? 0 : pattern == "row" ? 1 : 2][s] * 1e-3;
  return 0;
}

}  // namespace tesela::bench
