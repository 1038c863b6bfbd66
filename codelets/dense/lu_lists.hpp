#pragma once

#include <tesela/codelets/dense/getrf.hpp>

#include <span>

// Steps of LU factorizations on GPUs for many tiles C_1, C_2, … of whole columns at once. Consecutive tiles that adjoin
// in memory are one matrix for the products.

namespace tesela::kernels {

/// Exchanges the rows of C_i as Laswp.
template <class T>
struct LaswpList {
  static constexpr auto name = "laswp_list";
  static constexpr std::uint32_t color = 0x8c8c8c;
  using Args = typename Laswp<T>::Args;
  static void cuda(CudaContext& context, const Args& args, In<int> swaps, std::span<const InOut<T>> c);
};

/// Updates C_i as LuUpdate. Joins adjoining tiles up to the number of columns of `work`, which has at least the columns
/// of a C_i.
template <class T>
struct LuUpdateList {
  static constexpr auto name = "lu_update_list";
  static constexpr std::uint32_t color = 0x4c72b0;
  using Args = typename LuUpdate<T>::Args;
  static double flops(const Args& args, std::span<const Shape> all) {
    double sum = 0;
    for (const Shape& c : all.subspan(4)) sum += LuUpdate<T>::flops(args, all[0], all[1], all[2], c, all[3]);
    return sum;
  }
  static void cuda(CudaContext& context, const Args& args, In<T> a, In<T> v, In<int> swaps, Scratch<T> work,
                   std::span<const InOut<T>> c);
};

}  // namespace tesela::kernels
