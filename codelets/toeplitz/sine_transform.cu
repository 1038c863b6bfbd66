#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/toeplitz/internal/sine_transform_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>
#include <tesela/codelets/toeplitz/sine_transform.hpp>

namespace tesela::kernels {
namespace {

/// Processes one column per block.
template <class T>
__global__ void normalise(index_t rows, T* x, index_t ld) {
  T* const v = x + blockIdx.x * ld;
  T squares = 0;
  for (index_t a = threadIdx.x; a < rows; a += toeplitz::each_threads) squares += v[a] * v[a];
  const T norm = sqrt(toeplitz::block_sum(squares));
  for (index_t a = threadIdx.x; norm > 0 && a < rows; a += toeplitz::each_threads) v[a] /= norm;
}

}  // namespace

template <class T>
void SineTransform<T>::cuda(CudaContext& context, const Args& args, In<T> x, Out<T> y, Scratch<T> work) {
  const toeplitz::Device machine{context};
  toeplitz::sine_transform(machine, args.back, x.rows, x.cols, x.data, x.ld, y.data, y.ld, work.data);
}

template <class T>
void FromSineBasis<T>::cuda(CudaContext& context, const Args& args, In<T> x, In<index_t> places, Scratch<T> work,
                            std::span<const InOut<T>> v) {
  toeplitz::pairs_from_sine_basis(toeplitz::Device{context}, x, places, args.first, v, work.data, work.cols);
  context.check(cudaGetLastError(), "from_sine_basis");
}

template <class T>
void OrthogonalizeAgainst<T>::cuda(CudaContext& context, const Args& args, In<T> y, InOut<T> x, Scratch<T> work) {
  for (std::size_t part = 0; part < 2; ++part) {
    const index_t columns = args.columns[part], others = args.others[part];
    const index_t first = part == 0 ? 0 : cauchy_rows(x.rows, 0), rows = cauchy_rows(x.rows, static_cast<int>(part));
    if (columns == 0 || others == 0 || rows == 0) continue;
    const T* const against = &y(first, args.ends[part] - others);
    const auto gemm = [&](Op op, index_t m, index_t k, T alpha, const T* b, index_t ldb, T beta, T* c, index_t ldc) {
      context.check(
          cublas::gemm<T>(context.cublas(), op, Op::none, m, columns, k, alpha, against, y.ld, b, ldb, beta, c, ldc),
          "cublas gemm");
    };
    gemm(Op::transpose, others, rows, 1, &x(first, 0), x.ld, 0, work.data, work.ld);
    gemm(Op::none, rows, others, -1, work.data, work.ld, 1, &x(first, 0), x.ld);
    normalise<<<static_cast<unsigned>(columns), toeplitz::each_threads, 0, context.stream()>>>(rows, &x(first, 0),
                                                                                               x.ld);
  }
  context.check(cudaGetLastError(), "orthogonalize_against");
}

TESELA_CUDA_FOR_REALS(SineTransform, FromSineBasis, OrthogonalizeAgainst)

}  // namespace tesela::kernels
