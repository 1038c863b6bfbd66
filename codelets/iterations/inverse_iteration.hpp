#pragma once

#include <tesela/runtime/codelet.hpp>

#include <cstdint>

namespace tesela::kernels {

/// Computes eigenvectors of a symmetric n x n matrix A by inverse iteration. Only on cores.
///
/// x        n x k; column j becomes a unit eigenvector for the eigenvalue values(j).
/// Method   two steps of (A - l I) x = x from a random vector, by elimination with partial pivoting. If a pivot is
///          zero, l moves by a rounding error of `norm`.
struct InverseIteration {
  static constexpr auto name = "inverse_iteration";
  static constexpr std::uint32_t color = 0x64b5cd;
  struct Args {
    double norm = 1;
    index_t first = 0;  ///< index of the first value; it selects the random vectors
  };
  static double flops(const Args&, Shape a, Shape values, Shape, Shape) {
    const auto n = static_cast<double>(a.rows);
    return 4.0 / 3 * n * n * n * static_cast<double>(values.rows);
  }
  static void cpu(const Args& args, In<double> a, In<double> values, Out<double> x, Scratch<double> work);
};

}  // namespace tesela::kernels
