#include <tesela/codelets/toeplitz/internal/cauchy_product.cuh>

namespace tesela::kernels {
namespace {

/// Adds r += sigma y to residuals that were computed without a shift.
template <class T>
__global__ void add_shifts(index_t n, const double* sigma, const T* y, T* r) {
  const index_t from = static_cast<index_t>(blockIdx.x) * 2 * chunk, at = n * blockIdx.y;
  const T shift = static_cast<T>(sigma[blockIdx.y]);
  for (index_t a = from + threadIdx.x; a < n && a < from + 2 * chunk; a += threads) r[at + a] += shift * y[at + a];
}

/// Computes quality(part, i) = ||r|| of one part of one vector.
template <class T>
__global__ void norms(index_t n, const T* r, double* quality, index_t ld) {
  const int part = static_cast<int>(blockIdx.y);
  const T* const v = r + n * blockIdx.x + part * cauchy_rows(n, 0);
  double squares = 0;
  for (index_t a = threadIdx.x; a < cauchy_rows(n, part); a += threads) squares += static_cast<double>(v[a]) * v[a];
  squares = sum_over_block(squares);
  if (threadIdx.x == 0) quality[blockIdx.x * ld + part] = sqrt(squares);
}

}  // namespace

template <class T>
void CauchyInverseError<T>::cuda(CudaContext& context, const Args&, In<T> c, In<T> tables, In<double> sigma,
                                 In<T> inverse, In<T> starts, Out<double> quality, Scratch<T> work) {
  const index_t n = c.rows, length = cauchy_length(n), room = std::min<index_t>(work.cols, most);
  for (index_t j = 0; j < sigma.rows; j += room) {
    const auto some = static_cast<int>(std::min(room, sigma.rows - j));
    T* const y = work.data + 4 * length * work.cols;
    Vectors<T> v{n, length, tables.ld, tables.data, work.data, y, {}, {}, {}};
    Refinement<T> refinement{y, y + n * work.cols, {}, {}};
    for (int i = 0; i < some; ++i) {
      v.c[i] = inverse.data + 3 * (j + i) * inverse.ld;
      v.ldc[i] = inverse.ld;
      v.x[i] = starts.data;
    }
    // The shifts are on the device.
    residual(context, v, refinement, c, some, static_cast<int>(room));
    add_shifts<<<dim3(static_cast<unsigned>(shares_of(n)), static_cast<unsigned>(some)), threads, 0,
                 context.stream()>>>(n, sigma.data + j, refinement.y, refinement.r);
    norms<<<dim3(static_cast<unsigned>(some), 2), threads, 0, context.stream()>>>(
        n, refinement.r, quality.data + j * quality.ld, quality.ld);
  }
  context.check(cudaGetLastError(), "cauchy_quality");
}

template void CauchyInverseError<float>::cuda(CudaContext&, const Args&, In<float>, In<float>, In<double>, In<float>,
                                              In<float>, Out<double>, Scratch<float>);
template void CauchyInverseError<double>::cuda(CudaContext&, const Args&, In<double>, In<double>, In<double>,
                                               In<double>, In<double>, Out<double>, Scratch<double>);

}  // namespace tesela::kernels
