#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>

namespace tesela::kernels {
namespace {

constexpr index_t edge = 32;

/// Copies B(i, j) = A(row(i), column(j)), A(column(j), row(i)) or its conjugate; `back` selects the indices of B that
/// run backwards. Squares go through shared memory, so that both sides are read and written along columns.
template <class T>
__global__ void copy_reversed(const T* a, index_t lda, T* b, index_t ldb, index_t rows, index_t columns, Op op,
                              bool rows_back, bool columns_back) {
  const bool transposed = op != Op::none;
  __shared__ T square[edge][edge + 1];
  const index_t tile_rows = (rows + edge - 1) / edge;
  const index_t i0 = blockIdx.x % tile_rows * edge, j0 = blockIdx.x / tile_rows * edge;
  for (index_t k = threadIdx.y; k < edge; k += blockDim.y) {
    // Threads run along A's columns: along B's rows, or B's columns if A is transposed.
    const index_t i = i0 + (transposed ? k : threadIdx.x), j = j0 + (transposed ? threadIdx.x : k);
    if (i >= rows || j >= columns) continue;
    const index_t row = rows_back ? rows - 1 - i : i, column = columns_back ? columns - 1 - j : j;
    const T element = transposed ? a[column + row * lda] : a[row + column * lda];
    square[j - j0][i - i0] = op == Op::conjugate ? conj(element) : element;
  }
  __syncthreads();
  for (index_t k = threadIdx.y; k < edge; k += blockDim.y)
    if (const index_t i = i0 + threadIdx.x, j = j0 + k; i < rows && j < columns)
      b[i + j * ldb] = square[k][threadIdx.x];
}

}  // namespace

template <class T, template <class> class B>
void CopyBlock<T, B>::cuda(CudaContext& context, const Args& args, In<T> a, B<T> b) {
  if (args.rows == 0 || args.columns == 0) return;
  T* const to = &b(args.b_row, args.b_column);
  if (args.reverse_rows || args.reverse_columns) {
    const bool transposed = args.op != Op::none;
    const T* const from = transposed ? &a(args.a_column, args.a_row) : &a(args.a_row, args.a_column);
    const auto squares = static_cast<unsigned>(ceil_div(args.rows, edge) * ceil_div(args.columns, edge));
    copy_reversed<<<squares, dim3(edge, 8), 0, context.stream()>>>(device_pointer(from), a.ld, device_pointer(to), b.ld,
                                                                   args.rows, args.columns, args.op, args.reverse_rows,
                                                                   args.reverse_columns);
  } else if (args.op == Op::none)
    context.check(
        lacpy<T>(context.stream(), Part::all, 0, {&a(args.a_row, args.a_column), args.rows, args.columns, a.ld},
                 {to, args.rows, args.columns, b.ld}),
        "lacpy");
  else
    context.check(cublas::transpose(context.cublas(), args.rows, args.columns, &a(args.a_column, args.a_row), a.ld, to,
                                    b.ld, args.op),
                  "cublas geam");
}

#define TESELA_INSTANTIATE(T)                               \
  template decltype(CopyBlock<T>::cuda) CopyBlock<T>::cuda; \
  template decltype(CopyBlock<T, Out>::cuda) CopyBlock<T, Out>::cuda;
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::kernels
