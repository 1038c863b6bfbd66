#include "codelets/triangle.hpp"

#include <algorithm>

namespace tesela {
namespace {

constexpr int threads = 256;

template <class T, class F>
__global__ void write_elements(T* a, index_t rows, index_t cols, index_t ld, F f) {
  for (index_t j = blockIdx.y; j < cols; j += gridDim.y)
    for (index_t i = blockIdx.x * index_t{threads} + threadIdx.x; i < rows; i += gridDim.x * index_t{threads})
      a[i + j * ld] = f(i, j);
}

template <class T, class F>
void launch(CudaContext& context, const Block<T>& a, F f) {
  const dim3 grid(static_cast<unsigned>(std::min<index_t>(ceil_div(a.rows, threads), 1024)),
                  static_cast<unsigned>(std::min<index_t>(a.cols, 4096)));
  write_elements<<<grid, threads, 0, context.stream()>>>(a.data, a.rows, a.cols, a.ld, f);
}

template <class T>
struct IdentityElement {
  index_t row, column;
  __device__ T operator()(index_t i, index_t j) const { return row + i == column + j ? T(1) : T(0); }
};

template <class T>
struct UpperElement {
  const T* a;
  index_t ld, column, diagonal;
  __device__ T operator()(index_t i, index_t j) const { return detail::upper_element(a, ld, column, diagonal, i, j); }
};

}  // namespace

template <class T>
void Identity<T>::cuda(CudaContext& context, const Args& args, Out<T> a) noexcept {
  launch<T>(context, a, IdentityElement<T>{args.row, args.column});
}

template <class T>
void UpperTrapezoid<T>::cuda(CudaContext& context, const Args& args, In<T> a, Out<T> r) noexcept {
  launch<T>(context, r, UpperElement<T>{a.data, a.ld, args.column, args.diagonal});
}

template struct Identity<float>;
template struct Identity<double>;
template struct UpperTrapezoid<float>;
template struct UpperTrapezoid<double>;

}  // namespace tesela
