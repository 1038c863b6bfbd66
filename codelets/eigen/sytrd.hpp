#pragma once

#include <tesela/runtime/codelet.hpp>

#include <algorithm>
#include <span>

namespace tesela::kernels {

/// Reduces A = Q T Q^H to a real tridiagonal T, column by column (LAPACK sytrd or hetrd, lower), for matrices that fit
/// on the device: every column needs a product with A. On a GPU it is one launch, whose thread blocks distribute A
/// among them and exchange one column of the product per step.
///
/// A        n x n; only the lower triangle is read.
/// band     rows 0 and 1 become T's diagonal and off-diagonal.
/// list     V and tau by turns, for each `block` columns. Q is the product of H_j = I - tau_j v_j v_j^T, j = 0 … n - 2,
///          and v_j begins with a one in row j + 1. V is stored from row (first column) + 1 on, without its zeros; tau
///          is a row.
/// Scratch  sytrd_work().
template <class T>
struct Sytrd {
  static constexpr auto name = "sytrd";
  static constexpr std::uint32_t color = 0xccb974;
  static constexpr bool cores_only = is_complex<T>;
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

/// The largest order that Sytrd accepts.
inline constexpr index_t largest_sytrd = 2048;

/// Returns the shape of Sytrd's Scratch.
inline Shape sytrd_work(index_t n, bool gpu) { return {n, gpu ? 2 * n + std::max<index_t>(512, 2 * n) : n + 1}; }

}  // namespace tesela::kernels
