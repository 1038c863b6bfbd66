#pragma once

#include <tesela/runtime/codelet.hpp>

#include <span>

namespace tesela::kernels {

/// Concatenates tiles one below the other into A, which has as many rows as all of them.
template <class T>
struct GatherRows {
  static constexpr auto name = "gather_rows";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {};
  static void cpu(const Args& args, Out<T> a, std::span<const In<T>> tiles);
  static void cuda(CudaContext& context, const Args& args, Out<T> a, std::span<const In<T>> tiles);
};

/// Copies rows first, first + 1, … of A to a tile.
template <class T>
struct ExtractRows {
  static constexpr auto name = "extract_rows";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    index_t first = 0;
  };
  static void cpu(const Args& args, In<T> a, Out<T> tile);
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<T> tile);
};

}  // namespace tesela::kernels
