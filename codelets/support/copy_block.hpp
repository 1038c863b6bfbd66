#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// The rows x columns block of B from (b_row, b_column) on becomes that of op(A) from (a_row, a_column) on, with its
/// rows or columns in reverse order if asked for. CopyBlock<T, Out> is the same for a B without contents, of which the
/// block is all.
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
