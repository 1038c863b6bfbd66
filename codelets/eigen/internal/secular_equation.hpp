#pragma once

#include <cstdint>

namespace tesela::kernels::secular {

/// The unknown x of a secular equation with poles d(i).
enum class Equation : std::uint8_t {
  eigenvalue,     ///< 1 / rho + sum z(i)^2 / (d(i) - x) = 0
  singular_value  ///< 1 / rho + sum z(i)^2 / (d(i)^2 - x^2) = 0, d(i) >= 0; distances are those of squares
};

}  // namespace tesela::kernels::secular
