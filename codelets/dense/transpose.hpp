#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Transposes: B = A^T, A m x n and B n x m.
template <class T>
struct Transpose {
  static constexpr auto name = "transpose";
  static constexpr std::uint32_t color = 0xb0b0b0;
  struct Args {};
  static void cpu(const Args& args, In<T> a, Out<T> b);
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<T> b);
};

}  // namespace tesela::kernels
