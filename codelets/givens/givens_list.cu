#include <tesela/codelets/givens/givens_list.hpp>
#include <tesela/codelets/givens/givens_window.hpp>
#include <tesela/codelets/givens/rotation.hpp>
#include <tesela/codelets/support/internal/device_scalar.cuh>

#include <cuda_runtime.h>

namespace tesela::kernels {
namespace {

constexpr index_t columns_of_block = 32;

/// Applies stage after stage; the rotations of a stage are independent, and one thread applies each to all columns.
template <class T>
__global__ void list_panel_kernel(T* a, index_t ld, index_t width, const std::int32_t* data) {
  const internal::RotationList list{data};
  for (std::int32_t s = 0; s < list.stages(); ++s) {
    for (std::int32_t e = list.begin(s) + static_cast<std::int32_t>(threadIdx.x); e < list.end(s);
         e += static_cast<std::int32_t>(blockDim.x)) {
      const std::int32_t* const x = list.entry(e);
      const index_t row = x[0], pivot = x[1];
      T* const column = a + x[2] * ld;
      const Annihilation<T> annihilation = givens(column[pivot], column[row]);
      column[pivot] = annihilation.r;
      column[row] = annihilation.rho;
      for (index_t u = x[2] + 1; u < width; ++u) rotate(annihilation.rotation, a[pivot + u * ld], a[row + u * ld]);
    }
    __syncthreads();
  }
}

template <class T>
__global__ void list_apply_kernel(const T* v, index_t ldv, Strided<T> c, index_t columns, Side side, bool forward,
                                  const std::int32_t* data) {
  const internal::RotationList list{data};
  const index_t first = static_cast<index_t>(blockIdx.x) * columns_of_block,
                end = first + columns_of_block < columns ? first + columns_of_block : columns;
  for (std::int32_t n = 0; n < list.stages(); ++n) {
    const std::int32_t s = forward ? n : list.stages() - 1 - n;
    for (std::int32_t e = list.begin(s) + static_cast<std::int32_t>(threadIdx.x); e < list.end(s);
         e += static_cast<std::int32_t>(blockDim.x)) {
      const std::int32_t* const x = list.entry(e);
      const index_t row = x[0], pivot = x[1];
      const Rotation<T> rotation = for_side(side, unpack(v[row + x[2] * ldv]));
      for (index_t u = first; u < end; ++u)
        if (forward)
          rotate(rotation, c(pivot, u), c(row, u));
        else
          rotate_back(rotation, c(pivot, u), c(row, u));
    }
    __syncthreads();
  }
}

template <class T>
void apply_list(CudaContext& context, int block, const std::int32_t* list, Side side, bool forward, const T* v,
                index_t ldv, const Strided<T>& c, index_t columns) {
  if (columns == 0) return;
  const auto blocks = static_cast<unsigned>(ceil_div(columns, columns_of_block));
  const Strided<device_t<T>> on_device{device_pointer(c.data), c.row_stride, c.column_stride};
  list_apply_kernel<device_t<T>><<<blocks, static_cast<unsigned>(block), 0, context.stream()>>>(
      device_pointer(v), ldv, on_device, columns, side, forward, list);
}

}  // namespace

template <class T>
void GivensListPanel<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, In<std::int32_t> list) {
  T* const panel = a.data + args.col * a.ld;
  list_panel_kernel<device_t<T>><<<1, 512, 0, context.stream()>>>(device_pointer(panel), a.ld, args.width, list.data);
  const index_t next = args.col + args.width;
  apply_list<T>(context, args.block, list.data, Side::left, true, panel, a.ld,
                Strided<T>{a.data + next * a.ld, 1, a.ld}, a.cols - next);
}

template <class T>
void GivensListApply<T>::cuda(CudaContext& context, const Args& args, In<T> v, In<std::int32_t> list, InOut<T> c) {
  const bool left = args.side == Side::left;
  apply_list<T>(context, args.block, list.data, args.side, args.forward(), v.data + args.col * v.ld, v.ld,
                left ? Strided<T>{c.data, 1, c.ld} : Strided<T>{c.data, c.ld, 1}, left ? c.cols : c.rows);
}

TESELA_CUDA_FOR_NUMBERS(GivensListPanel, GivensListApply)

}  // namespace tesela::kernels
