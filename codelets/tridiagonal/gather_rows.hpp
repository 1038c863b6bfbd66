#pragma once

#include <tesela/runtime/codelet.hpp>

#include <span>

namespace tesela::kernels {

/// A = tiles that stand one below the other, as many rows as A in sum.
template <class T>
struct GatherRows {
  static constexpr auto name = "gather_rows";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {};
  static void cpu(const Args& args, Out<T> a, std::span<const In<T>> tiles);
  static void cuda(CudaContext& context, const Args& args, Out<T> a, std::span<const In<T>> tiles);
};

/// tile = rows first, first + 1, … of A.
template <class T>
struct ScatterRows {
  static constexpr auto name = "scatter_rows";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    index_t first = 0;
  };
  static void cpu(const Args& args, In<T> a, Out<T> tile);
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<T> tile);
};

}  // namespace tesela::kernels
