#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// All eigenpairs of a small symmetric tridiagonal matrix, its entries at most 2 in size, by implicit QL steps (LAPACK
/// steqr): `t` (n x 2) has its diagonal and, from row 0 on, its off-diagonal; values (n x 1) come in no order, and
/// column j of `vectors` (n x n) belongs to value j. `sweeps` is how many it took. info is 1 + the row where it did not
/// converge.
template <class T>
struct Steqr {
  static constexpr auto name = "steqr";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {};
  static double flops(const Args&, Shape t, Shape, Shape, Shape, Shape) {
    const auto n = static_cast<double>(t.rows);
    return 6 * n * n * n;
  }
  static void cpu(const Args& args, In<T> t, Out<T> values, Out<T> vectors, Out<index_t> sweeps, InOut<int> info);
  static void cuda(CudaContext& context, const Args& args, In<T> t, Out<T> values, Out<T> vectors, Out<index_t> sweeps,
                   InOut<int> info);
};
/// The largest order that a GPU takes.
inline constexpr index_t most_gpu_steqr = 64;

/// The same by LAPACK's divide and conquer, for orders where it is the faster one. Cores only.
template <class T>
struct Stedc {
  static constexpr auto name = "stedc";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {};
  static double flops(const Args&, Shape t, Shape, Shape, Shape) {
    const auto n = static_cast<double>(t.rows);
    return 4.0 / 3 * n * n * n;
  }
  static void cpu(const Args& args, In<T> t, Out<T> values, Out<T> vectors, InOut<int> info);
};

}  // namespace tesela::kernels
