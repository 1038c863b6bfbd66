#include <tesela/algorithms/qr/column_pivots.hpp>
#include <tesela/algorithms/qr/internal/tall_triangle.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>

#include <algorithm>

namespace tesela {

template <class T>
std::vector<index_t> column_pivots(Runtime& runtime, HostMatrix<T>& A) {
  HostMatrix<T> r = detail::tall_triangle(runtime, A);
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

template std::vector<float> qr_reflectors(Runtime&, HostMatrix<float>&);
template std::vector<double> qr_reflectors(Runtime&, HostMatrix<double>&);
template std::vector<index_t> column_pivots(Runtime&, HostMatrix<float>&);
template std::vector<index_t> column_pivots(Runtime&, HostMatrix<double>&);

}  // namespace tesela
