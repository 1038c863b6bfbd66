#pragma once

#include <tesela/runtime/codelet.hpp>

#include <cstdint>

namespace tesela::kernels {

/// Elements of a matrix that count.
enum class Counted : std::uint8_t { all, beside_diagonal, next_to_diagonal };

/// Finds the largest magnitude of a tile's elements that count; NaN if one is NaN. `found` is 1 x 1.
template <class T>
struct LargestElement {
  static constexpr auto name = "largest_element";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    Counted counted = Counted::all;
    index_t first_row = 0, first_column = 0;  ///< of the tile, in the matrix
  };
  static void cpu(const Args& args, In<T> a, Out<double> found);
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<double> found);
};

}  // namespace tesela::kernels
