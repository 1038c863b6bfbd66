#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Copies the part below the diagonal to the part above it, in a tile with a square of the diagonal that begins in row
/// `row`.
template <class T>
struct MirrorTile {
  static constexpr auto name = "mirror_tile";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    index_t row = 0;
  };
  static void cpu(const Args& args, InOut<T> a);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a);
};

}  // namespace tesela::kernels
