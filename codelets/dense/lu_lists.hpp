#pragma once

#include <tesela/codelets/dense/getrf.hpp>

#include <span>

// Steps of LU factorizations on GPUs for many tiles C_1, C_2, … of whole columns at once.

namespace tesela::kernels {

/// Exchanges the rows of C_i as Laswp.
template <class T>
struct LaswpList {
  static constexpr auto name = "laswp_list";
  static constexpr std::uint32_t color = 0x8c8c8c;
  using Args = typename Laswp<T>::Args;
  static void cuda(CudaContext& context, const Args& args, In<int> swaps, std::span<const InOut<T>> c);
};

/// Updates C_i as LuUpdate, without exchanges.
template <class T>
struct LuUpdateList {
  static constexpr auto name = "lu_update_list";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    index_t row = 0, end = 0;  ///< as in LuUpdate
  };
  static double flops(const Args& args, std::span<const Shape> all) {
    double sum = 0;
    for (const Shape& c : all.subspan(3))
      sum += LuUpdate<T>::flops({args.row, Pivoting::none, args.end}, all[0], all[1], {}, c, all[2]);
    return sum;
  }
  static void cuda(CudaContext& context, const Args& args, In<T> a, In<T> v, Scratch<T> work,
                   std::span<const InOut<T>> c);
};

}  // namespace tesela::kernels
