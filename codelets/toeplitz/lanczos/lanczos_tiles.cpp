#include <tesela/codelets/toeplitz/internal/lanczos_tiles_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/lanczos/lanczos_tiles.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::kernels {
namespace {

struct Core : toeplitz::Host {
  template <class T>
  void gemv(Op op, index_t m, index_t n, T alpha, const T* a, index_t lda, const T* x, T beta, T* y) const {
    blas::gemv<T>(op, m, n, alpha, a, lda, x, beta, y);
  }
  template <class T>
  void norm(index_t n, const T* x, T* to) const {
    *to = blas::nrm2(n, x);
  }
};

}  // namespace

index_t lanczos_product_rows(index_t n) { return 2 * cauchy_length(n) + 3 * cauchy_rows(n, 0); }

template <class T>
void LanczosBegin<T>::cpu(const Args& args, In<T> starts, Out<T> w, Out<T>) {
  std::copy_n(&starts(args.row, args.start), w.rows, w.data);
}

template <class T>
void LanczosProduct<T>::cpu(const Args& args, In<T> c, In<T> tables, In<T> inverse, In<T> norm, Out<T> y,
                            Scratch<T> work, std::span<const In<T>> w) {
  Core core;
  toeplitz::lanczos_product(core, args, c, tables, inverse, norm, y, work.data, w);
}

template <class T>
void LanczosRecent<T>::cpu(const Args& args, In<T> y, In<T> w, In<T> norm, InOut<T> basis, Out<T> sums) {
  Core core;
  toeplitz::lanczos_recent(core, args, y, w, norm, basis, sums);
}

template <class T>
void LanczosProject<T>::cpu(const Args& args, In<T> y, In<T> basis, Out<T> w, Out<T> sums,
                            std::span<const In<T>> recent) {
  Core core;
  toeplitz::lanczos_project(core, args, y, basis, w, sums, recent);
}

template <class T>
void LanczosSubtract<T>::cpu(const Args& args, In<T> basis, InOut<T> w, Out<T> sums, Scratch<T> work,
                             std::span<const In<T>> projected) {
  Core core;
  toeplitz::lanczos_subtract(core, args, basis, w, sums, work.data, projected);
}

template <class T>
void LanczosNorm<T>::cpu(const Args& args, Out<T> norm, Commute<double> coefficients, std::span<const In<T>> sums) {
  Core core;
  toeplitz::lanczos_norm(core, args, norm, coefficients, sums);
}

TESELA_STRUCTS_FOR_REALS(LanczosBegin, LanczosProduct, LanczosRecent, LanczosProject, LanczosSubtract, LanczosNorm)

}  // namespace tesela::kernels
