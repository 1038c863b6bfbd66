#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/toeplitz/internal/lanczos_tiles_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_device.cuh>
#include <tesela/codelets/toeplitz/lanczos/lanczos_tiles.hpp>

namespace tesela::kernels {
namespace {

struct Gpu : toeplitz::Device {
  template <class T>
  void gemv(Op op, index_t m, index_t n, T alpha, const T* a, index_t lda, const T* x, T beta, T* y) const {
    context.check(cublas::gemv<T>(context.cublas(), op, m, n, alpha, a, lda, x, 1, beta, y, 1), "cublas gemv");
  }
  template <class T>
  void norm(index_t n, const T* x, T* to) const {
    context.check(cublas::nrm2<T>(context.cublas(), n, x, to), "cublas nrm2");
  }
};

}  // namespace

template <class T>
void LanczosBegin<T>::cuda(CudaContext& context, const Args& args, In<T> starts, Out<T> w, Out<T>) {
  context.check(cudaMemcpyAsync(w.data, &starts(args.row, args.start), static_cast<std::size_t>(w.rows) * sizeof(T),
                                cudaMemcpyDeviceToDevice, context.stream()),
                "cudaMemcpyAsync");
}

template <class T>
void LanczosProduct<T>::cuda(CudaContext& context, const Args& args, In<T> c, In<T> tables, In<T> inverse, In<T> norm,
                             Out<T> y, Scratch<T> work, std::span<const In<T>> w) {
  Gpu gpu{{context}};
  toeplitz::lanczos_product(gpu, args, c, tables, inverse, norm, y, work.data, w);
  context.check(cudaGetLastError(), "lanczos_product");
}

template <class T>
void LanczosRecent<T>::cuda(CudaContext& context, const Args& args, In<T> y, In<T> w, In<T> norm, InOut<T> basis,
                            Out<T> sums) {
  Gpu gpu{{context}};
  toeplitz::lanczos_recent(gpu, args, y, w, norm, basis, sums);
  context.check(cudaGetLastError(), "lanczos_recent");
}

template <class T>
void LanczosProject<T>::cuda(CudaContext& context, const Args& args, In<T> y, In<T> basis, Out<T> w, Out<T> sums,
                             std::span<const In<T>> recent) {
  Gpu gpu{{context}};
  toeplitz::lanczos_project(gpu, args, y, basis, w, sums, recent);
  context.check(cudaGetLastError(), "lanczos_project");
}

template <class T>
void LanczosSubtract<T>::cuda(CudaContext& context, const Args& args, In<T> basis, InOut<T> w, Out<T> sums,
                              Scratch<T> work, std::span<const In<T>> projected) {
  Gpu gpu{{context}};
  toeplitz::lanczos_subtract(gpu, args, basis, w, sums, work.data, projected);
  context.check(cudaGetLastError(), "lanczos_subtract");
}

template <class T>
void LanczosNorm<T>::cuda(CudaContext& context, const Args& args, Out<T> norm, Commute<double> coefficients,
                          std::span<const In<T>> sums) {
  Gpu gpu{{context}};
  toeplitz::lanczos_norm(gpu, args, norm, coefficients, sums);
  context.check(cudaGetLastError(), "lanczos_norm");
}

#define TESELA_LANCZOS_TILES(T)                                                                                    \
  template void LanczosBegin<T>::cuda(CudaContext&, const Args&, In<T>, Out<T>, Out<T>);                           \
  template void LanczosProduct<T>::cuda(CudaContext&, const Args&, In<T>, In<T>, In<T>, In<T>, Out<T>, Scratch<T>, \
                                        std::span<const In<T>>);                                                   \
  template void LanczosRecent<T>::cuda(CudaContext&, const Args&, In<T>, In<T>, In<T>, InOut<T>, Out<T>);          \
  template void LanczosProject<T>::cuda(CudaContext&, const Args&, In<T>, In<T>, Out<T>, Out<T>,                   \
                                        std::span<const In<T>>);                                                   \
  template void LanczosSubtract<T>::cuda(CudaContext&, const Args&, In<T>, InOut<T>, Out<T>, Scratch<T>,           \
                                         std::span<const In<T>>);                                                  \
  template void LanczosNorm<T>::cuda(CudaContext&, const Args&, Out<T>, Commute<double>, std::span<const In<T>>);
TESELA_FOR_REALS(TESELA_LANCZOS_TILES)

}  // namespace tesela::kernels
