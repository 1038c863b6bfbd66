#include "tools/commands/least_squares/glm_library.hpp"

#include "tools/peers/cusolver_glm.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>
#include <tesela/runtime/errors.hpp>

#include <algorithm>
#include <memory>

namespace tesela::cli {

template <class T>
LibraryModel<T> time_glm_library(const char* command, const CommonOptions& common, const QrMethod& method,
                                 const HostMatrix<T>& A, const HostMatrix<T>& B, const HostMatrix<T>& b, Timed& runs) {
  const index_t m = A.rows(), n = A.cols(), p = B.cols(), r = b.cols();
  if (n > m || m > n + p)
    throw ArgumentError(command, "--method", method.name + " solves problems with n <= m <= n + p only");
  LibraryModel<T> answer{HostMatrix<T>::zeros(n, r), HostMatrix<T>::zeros(p, r)};
  const bool nothing = m == 0 || r == 0;
  if (method.name == "cusolver") {
    const auto device = nothing || n == 0 || m == n ? nullptr : std::make_unique<CusolverGlm<T>>(m, n, p, r, false);
    if (!nothing && !device) throw ArgumentError(command, "--method", "cusolver solves problems with 0 < n < m only");
    runs = time_library(
        common, [] {},
        [&] {
          if (!device) return;
          device->upload(0, A.data());
          device->upload(1, B.data());
          device->upload(2, b.data());
          device->solve(answer.X.data(), answer.U.data());
        },
        method.gpus());
    return answer;
  }
  runs = time_library(
      common, [] {},
      [&] {
        const blas::Threads threads(blas::all_cores());
        for (index_t j = 0; j < r && !nothing; ++j) {
          HostMatrix<T> a = A.clone(), factor = B.clone(), d(m, 1);
          std::copy_n(&b(0, j), m, d.data());
          const int info = lapack::ggglm(m, n, p, a.data(), a.ld(), factor.data(), factor.ld(), d.data(),
                                         answer.X.data() + j * n, answer.U.data() + j * p);
          answer.regular = answer.regular && info == 0;
        }
      });
  return answer;
}

template LibraryModel<float> time_glm_library(const char*, const CommonOptions&, const QrMethod&,
                                              const HostMatrix<float>&, const HostMatrix<float>&,
                                              const HostMatrix<float>&, Timed&);
template LibraryModel<double> time_glm_library(const char*, const CommonOptions&, const QrMethod&,
                                               const HostMatrix<double>&, const HostMatrix<double>&,
                                               const HostMatrix<double>&, Timed&);

}  // namespace tesela::cli
