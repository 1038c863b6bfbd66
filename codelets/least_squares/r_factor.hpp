#pragma once

#include <tesela/runtime/codelet.hpp>

#include <span>

namespace tesela::kernels {

// Properties of the R of a factorization that a solver needs, computed without a copy to the host.

/// Sets R to the upper triangle of tiles that stand side by side, zeros below. The tiles together have R's columns, and
/// R's rows or more.
template <class T>
struct GatherUpper {
  static constexpr auto name = "gather_upper";
  static constexpr std::uint32_t color = 0x17becf;
  struct Args {};
  static void cpu(const Args& args, Out<T> r, std::span<const In<T>> tiles);
  static void cuda(CudaContext& context, const Args& args, Out<T> r, std::span<const In<T>> tiles);
};

/// Computes condition = ||S||_1 ||S^-1||_1, where S is R (n x n) with its columns scaled to unit norm; infinite or NaN
/// if R is singular or not finite. A GPU uses the inverse itself, a core LAPACK's estimate. `work` is n x (2 n + 2).
template <class T>
struct UnitCondition {
  static constexpr auto name = "unit_condition";
  static constexpr std::uint32_t color = 0xbcbd22;
  struct Args {};
  static double flops(const Args&, Shape r, Shape, Shape) {
    const auto n = static_cast<double>(r.rows);
    return flops_each<T> * n * n * n / 3;
  }
  static void cpu(const Args& args, In<T> r, Out<double> condition, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> r, Out<double> condition, Scratch<T> work);
};

/// Computes norms(j) = ||B(first:, j)||_2, real numbers, without overflow; zero if B has no such rows.
template <class T>
struct ColumnNorms {
  static constexpr auto name = "column_norms";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    index_t first = 0;
  };
  static void cpu(const Args& args, In<T> b, Out<real_t<T>> norms);
  static void cuda(CudaContext& context, const Args& args, In<T> b, Out<real_t<T>> norms);
};

}  // namespace tesela::kernels
