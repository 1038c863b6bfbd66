#include <tesela/algorithms/qr/internal/tall_triangle.hpp>
#include <tesela/algorithms/qr/singular_values.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>

#include <algorithm>

namespace tesela {

template <class T>
std::vector<T> singular_values(Runtime& runtime, HostMatrix<T>& A) {
  HostMatrix<T> r = detail::tall_triangle(runtime, A);
  HostMatrix<T>& a = r.size() > 0 ? r : A;
  if (a.size() == 0) return {};
  const blas::Threads threads(blas::threads_for(std::min(a.rows(), a.cols()), std::max(1, runtime.cpus())));
  return lapack::gesvd(a.rows(), a.cols(), a.data(), a.ld());
}

template std::vector<float> singular_values(Runtime&, HostMatrix<float>&);
template std::vector<double> singular_values(Runtime&, HostMatrix<double>&);

}  // namespace tesela
