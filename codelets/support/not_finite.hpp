#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Finds NaN and infinities at the speed of memory: `status` becomes 1 + the first column of the tile that has one, if
/// it is 0 or larger.
template <class T>
struct NotFinite {
  static constexpr auto name = "not_finite";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    bool upper = false;                       ///< ignores elements below the matrix's diagonal
    bool lower = false;                       ///< ignores elements above it
    index_t first_row = 0, first_column = 0;  ///< of the tile, in the matrix
    std::uint64_t cost_key() const { return upper || lower ? 1 : 0; }
  };
  static void cpu(const Args& args, In<T> a, InOut<int> status);
  static void cuda(CudaContext& context, const Args& args, In<T> a, InOut<int> status);
};

}  // namespace tesela::kernels
