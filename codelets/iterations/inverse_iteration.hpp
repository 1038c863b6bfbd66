#pragma once

#include <tesela/runtime/codelet.hpp>

#include <cstdint>

namespace tesela::kernels {

/// Column j of x, n x k, becomes a unit vector of the symmetric matrix A, n x n, whose eigenvalue is values(j): two
/// steps of (A - l I) x = x from a random vector, by elimination with partial pivoting. Where a pivot is zero, l moves
/// by a rounding error of `norm`. Cores only.
struct InverseIteration {
  static constexpr auto name = "inverse_iteration";
  static constexpr std::uint32_t color = 0x64b5cd;
  struct Args {
    double norm = 1;
    index_t first = 0;  ///< number of the first value: the random vectors differ
  };
  static double flops(const Args&, Shape a, Shape values, Shape, Shape) {
    const auto n = static_cast<double>(a.rows);
    return 4.0 / 3 * n * n * n * static_cast<double>(values.rows);
  }
  static void cpu(const Args& args, In<double> a, In<double> values, Out<double> x, Scratch<double> work);
};

}  // namespace tesela::kernels
