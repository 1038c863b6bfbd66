#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal.hpp>
#include <tesela/runtime/scalar.hpp>

namespace tesela::kernels {

/// Columns that TridiagonalFactor keeps of a matrix: L's multipliers, the inverse pivots, U's two off-diagonals, and
/// the power of two by which the row was multiplied, negative if row i was exchanged with row i + 1.
inline constexpr index_t tridiagonal_factor_columns = 5;

/// Factors P D A = L U (LAPACK gttrf) for one matrix of n equations, by elimination with scaled partial pivoting: D,
/// powers of two, scales all rows to one size.
///
/// dl, d, du  n x 1 or 1 x n; dl of the first row and du of the last are not read.
/// factors    n x 5.
/// kept, info 0, or i + 1 if pivot i is zero or not finite.
template <class T>
struct TridiagonalFactor {
  static constexpr auto name = "tridiagonal_factor";
  static constexpr std::uint32_t color = 0xc44e52;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {};
  static double flops(const Args&, Shape, Shape, Shape, Shape factors, Shape, Shape) {
    return 9 * static_cast<double>(factors.rows);
  }
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, Out<T> factors, Out<int> kept, InOut<int> info);
  static void cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, Out<T> factors, Out<int> kept,
                   InOut<int> info);
};

/// Solves B <- A^-1 B (LAPACK gttrs) for a tile of whole systems. `info` becomes `kept` if that is not 0 (B is invalid
/// then), else i + 1 + n s if unknown i of system s is not finite.
template <class T>
struct TridiagonalFactoredSolve {
  static constexpr auto name = "tridiagonal_factored_solve";
  static constexpr std::uint32_t color = 0x55a868;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {
    SystemsIn systems = SystemsIn::columns;
    auto cost_key() const { return static_cast<std::uint64_t>(systems); }
  };
  static double flops(const Args&, Shape, Shape, Shape b, Shape) {
    return 8 * static_cast<double>(b.rows) * static_cast<double>(b.cols);
  }
  static void cpu(const Args& args, In<T> factors, In<int> kept, InOut<T> b, InOut<int> info);
  static void cuda(CudaContext& context, const Args& args, In<T> factors, In<int> kept, InOut<T> b, InOut<int> info);
};

}  // namespace tesela::kernels
