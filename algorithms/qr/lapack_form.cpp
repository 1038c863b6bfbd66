#include <tesela/algorithms/qr/lapack_form.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/householder_vectors.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <algorithm>

namespace tesela {
namespace {

/// Returns R of A = Q R, n x n, by the tile QR, and overwrites A. Returns an empty matrix and leaves A alone if A is
/// wide or has fewer than 256 columns: LAPACK then reads A itself.
template <class T>
HostMatrix<T> tall_triangle(Runtime& runtime, HostMatrix<T>& A) {
  constexpr index_t graph_from = 256;
  const index_t m = A.rows(), n = A.cols();
  if (m < n || n < graph_from) return {};
  static_cast<void>(qr<T>(runtime, MatrixView<T>(A), {}, {}));
  HostMatrix<T> triangle(n, n);
  for (index_t j = 0; j < n; ++j) std::copy_n(A.data() + j * A.ld(), n, triangle.data() + j * n);
  return triangle;
}

}  // namespace

template <class T>
void to_lapack_form(index_t m, index_t n, T* a, index_t lda, HostMatrix<T>& q, T* tau) {
  const index_t k = std::min(m, n);
  std::vector<T> signs(static_cast<std::size_t>(k));
  lapack::householder_vectors(m, k, q.data(), q.ld(), tau, signs.data());
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = 0; i < std::min(j + 1, k); ++i) a[i + j * lda] *= signs[static_cast<std::size_t>(i)];
    for (index_t i = j + 1; j < k && i < m; ++i) a[i + j * lda] = q(i, j);
  }
}

template <class T>
std::vector<index_t> column_pivots(Runtime& runtime, HostMatrix<T>& A) {
  HostMatrix<T> r = tall_triangle(runtime, A);
  HostMatrix<T>& a = r.size() > 0 ? r : A;
  const index_t k = std::min(a.rows(), a.cols());
  std::vector<index_t> pivots;
  std::vector<T> tau(static_cast<std::size_t>(k));
  const blas::Threads threads(blas::threads_for(k, std::max(1, runtime.cpus())));
  lapack::geqp3(a.rows(), a.cols(), a.data(), a.ld(), pivots, tau.data());
  return pivots;
}

template <class T>
std::vector<T> qr_reflectors(Runtime& runtime, HostMatrix<T>& A) {
  const index_t k = std::min(A.rows(), A.cols());
  std::vector<T> tau(static_cast<std::size_t>(k));
  const blas::Threads threads(blas::threads_for(k, std::max(1, runtime.cpus())));
  if (k > 0) lapack::geqrf(A.rows(), A.cols(), A.data(), A.ld(), tau.data());
  return tau;
}

template <class T>
std::vector<real_t<T>> singular_values(Runtime& runtime, HostMatrix<T>& A) {
  HostMatrix<T> r = tall_triangle(runtime, A);
  HostMatrix<T>& a = r.size() > 0 ? r : A;
  if (a.size() == 0) return {};
  const blas::Threads threads(blas::threads_for(std::min(a.rows(), a.cols()), std::max(1, runtime.cpus())));
  return lapack::gesvd(a.rows(), a.cols(), a.data(), a.ld());
}

TESELA_FUNCTIONS_FOR_NUMBERS(to_lapack_form, qr_reflectors, column_pivots, singular_values)

}  // namespace tesela
