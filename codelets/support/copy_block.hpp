#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Copies a block of op(A), from (a_row, a_column) on, to the rows x columns block of B from (b_row, b_column) on; on
/// request with rows or columns in reverse order. CopyBlock<T, Out> does not read B, and the block must be all of it.
template <class T, template <class> class B = InOut>
struct CopyBlock {
  static constexpr auto name = "copy_block";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    index_t a_row = 0, a_column = 0, b_row = 0, b_column = 0, rows = 0, columns = 0;
    Op op = Op::none;
    bool reverse_rows = false, reverse_columns = false;
  };
  static void cpu(const Args& args, In<T> a, B<T> b);
  static void cuda(CudaContext& context, const Args& args, In<T> a, B<T> b);
};

}  // namespace tesela::kernels
