#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/codelets/support/lacpy.hpp>

#include <algorithm>

namespace tesela::kernels {
namespace {

constexpr int threads = 256;

/// Computes b(i, j) = f(i, j); neighbouring threads write neighbouring rows.
template <class T, class F>
__global__ void write_elements(Block<T> b, F f) {
  for (index_t j = blockIdx.y; j < b.cols; j += gridDim.y)
    for (index_t i = blockIdx.x * index_t{threads} + threadIdx.x; i < b.rows; i += gridDim.x * index_t{threads})
      b.data[i + j * b.ld] = f(i, j);
}

template <class T, class F>
int launch(CUstream_st* stream, const Block<T>& of, F f) {
  const Block<device_t<T>> b{device_pointer(of.data), of.rows, of.cols, of.ld};
  if (b.rows == 0 || b.cols == 0) return 0;
  const dim3 grid(static_cast<unsigned>(std::min<index_t>(ceil_div(b.rows, threads), 1024)),
                  static_cast<unsigned>(std::min<index_t>(b.cols, 4096)));
  write_elements<<<grid, threads, 0, stream>>>(b, f);
  return static_cast<int>(cudaGetLastError());
}

template <class T>
struct Copy {
  const T* a;
  index_t ld, below;
  Part part;
  __device__ T operator()(index_t i, index_t j) const {
    const index_t d = i + below - j;  // below the diagonal when positive
    if (part == Part::upper && d > 0) return T(0);
    if (part == Part::unit_lower && d <= 0) return T(d == 0 ? 1 : 0);
    return a[i + j * ld];
  }
};

template <class T>
struct Difference {
  const T* a;
  index_t lda;
  const T* b;
  index_t ldb;
  __device__ T operator()(index_t i, index_t j) const { return a[i + j * lda] - b[i + j * ldb]; }
};

template <class T>
struct Diagonal {
  T value;
  index_t below;
  __device__ T operator()(index_t i, index_t j) const { return i + below == j ? value : T(0); }
};

}  // namespace

template <class T>
int lacpy(CUstream_st* stream, Part part, index_t below, const Block<const T>& a, const Block<T>& b) {
  return launch(stream, b, Copy<device_t<T>>{device_pointer(a.data), a.ld, below, part});
}

template <class T>
int subtract(CUstream_st* stream, const Block<T>& a, const T* b, index_t ldb) {
  return launch(stream, a, Difference<device_t<T>>{device_pointer(a.data), a.ld, device_pointer(b), ldb});
}

template <class T>
void Lacpy<T>::cuda(CudaContext& context, const Args& args, In<T> a, Out<T> b) {
  const Block<const T> from{a.data + args.column * a.ld, a.rows, a.cols - args.column, a.ld};
  context.check(lacpy<T>(context.stream(), args.part, args.below, from, b), "lacpy");
}

template <class T>
void Laset<T>::cuda(CudaContext& context, const Args& args, Out<T> a) {
  context.check(launch<T>(context.stream(), a, Diagonal<device_t<T>>{device_number(args.diagonal), args.below}),
                "laset");
}

TESELA_CUDA_FOR_NUMBERS(Lacpy, Laset)
TESELA_FUNCTIONS_FOR_NUMBERS(lacpy, subtract)

}  // namespace tesela::kernels
