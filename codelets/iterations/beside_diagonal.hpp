#pragma once

#include <tesela/codelets/iterations/iteration_steps.hpp>

namespace tesela::kernels {

/// The largest magnitude beside the diagonal in a tile of a matrix, or with StopTest::subdiagonal next to it; NaN where
/// there is one. `found` is 1 x 1.
template <class T>
struct BesideDiagonal {
  static constexpr auto name = "beside_diagonal";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    StopTest stop = StopTest::off_diagonal;
    index_t first_row = 0, first_column = 0;  ///< of the tile, in the matrix
  };
  static void cpu(const Args& args, In<T> a, Out<double> found);
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<double> found);
};

}  // namespace tesela::kernels
