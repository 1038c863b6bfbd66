#pragma once

#include <tesela/runtime/codelet.hpp>

#include <algorithm>
#include <span>

namespace tesela::kernels {

/// A = Q T Q^T with T tridiagonal, a column at a time (LAPACK sytrd, lower). A is n x n, of which the lower triangle is
/// read; T's diagonal and off-diagonal become rows 0 and 1 of `band`. Q is the product of H_j = I - tau_j v_j v_j^T, j
/// = 0 … n - 2; v_j begins with a one in row j + 1. The list has V and tau by turns, for each `block` columns: V from
/// row (first column) + 1 on, whose zeros are not written, and tau as a row.
///
/// A product with A a column cannot be avoided, so this is for matrices that a device keeps: on a GPU one launch, whose
/// blocks of threads keep A among them and exchange a column of the product a step. Scratch: sytrd_work().
template <class T>
struct Sytrd {
  static constexpr auto name = "sytrd";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    index_t block = 0;
  };
  static double flops(const Args&, std::span<const Shape> shapes) {
    const auto n = static_cast<double>(shapes[0].rows);
    return 4.0 / 3 * n * n * n;
  }
  static void cpu(const Args& args, In<T> a, InOut<T> band, Scratch<T> work, std::span<const InOut<T>> reflectors);
  static void cuda(CudaContext& context, const Args& args, In<T> a, InOut<T> band, Scratch<T> work,
                   std::span<const InOut<T>> reflectors);
};

/// The largest order that Sytrd takes.
inline constexpr index_t largest_sytrd = 2048;

/// The Scratch of Sytrd.
inline Shape sytrd_work(index_t n, bool gpu) { return {n, gpu ? 2 * n + std::max<index_t>(512, 2 * n) : n + 3}; }

}  // namespace tesela::kernels
