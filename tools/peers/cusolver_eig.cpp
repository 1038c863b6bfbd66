#include "tools/peers/cusolver_eig.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/scalar.hpp>

#if TESELA_HAVE_CUDA
#include "tools/peers/cusolver_types.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tesela {

using namespace bench;
using namespace cusolver;
namespace {

constexpr index_t batch_fails = 65536, largest_batch = batch_fails / 2;

int narrow(index_t n) {
  require(n <= std::numeric_limits<int>::max(), "CusolverGeneralizedEig", "n", n, " exceeds cuSOLVER's integers");
  return static_cast<int>(n);
}

}  // namespace

template <class T>
CusolverEig<T>::CusolverEig(index_t n, bool vectors, index_t smallest)
    : n_(n),
      count_(smallest > 0 ? smallest : n),
      vectors_(vectors),
      a_(bytes_of<T>(n * n)),
      w_(bytes_of<real_t<T>>(n)),
      info_(sizeof(int)) {
  if (n == 0) return;
  std::size_t on_device = 0, on_host = 0;
  real_t<T> no_limit = 0;
  if (count_ == n)
    check_device(cusolverDnXsyevd_bufferSize(on_.solver, on_.params, job(vectors), CUBLAS_FILL_MODE_LOWER, n, type<T>,
                                             a(), n, type<real_t<T>>, w_.as<void>(), type<T>, &on_device, &on_host),
                 "cusolverDnXsyevd_bufferSize");
  else
    check_device(
        cusolverDnXsyevdx_bufferSize(on_.solver, on_.params, job(vectors), CUSOLVER_EIG_RANGE_I, CUBLAS_FILL_MODE_LOWER,
                                     n, type<T>, a(), n, &no_limit, &no_limit, 1, count_, &found_, type<real_t<T>>,
                                     w_.as<void>(), type<T>, &on_device, &on_host),
        "cusolverDnXsyevdx_bufferSize");
  work_.reserve(on_device, on_host);
}

template <class T>
void CusolverEig<T>::solve(real_t<T>* values) {
  if (n_ == 0) return;
  select_first_device();
  real_t<T> no_limit = 0;
  if (count_ == n_)
    check_device(cusolverDnXsyevd(on_.solver, on_.params, job(vectors_), CUBLAS_FILL_MODE_LOWER, n_, type<T>, a(), n_,
                                  type<real_t<T>>, w_.as<void>(), type<T>, work_.device->as<void>(), work_.bytes,
                                  work_.host.data(), work_.host.size(), info_.as<int>()),
                 "cusolverDnXsyevd");
  else
    check_device(cusolverDnXsyevdx(on_.solver, on_.params, job(vectors_), CUSOLVER_EIG_RANGE_I, CUBLAS_FILL_MODE_LOWER,
                                   n_, type<T>, a(), n_, &no_limit, &no_limit, 1, count_, &found_, type<real_t<T>>,
                                   w_.as<void>(), type<T>, work_.device->as<void>(), work_.bytes, work_.host.data(),
                                   work_.host.size(), info_.as<int>()),
                 "cusolverDnXsyevdx");
  require_success(info_, "syevd");
  copy_memory(values, w_.as<void>(), bytes_of<real_t<T>>(count_));
}

template <class T>
CusolverEigBatch<T>::CusolverEigBatch(index_t n, index_t count, bool vectors)
    : n_(n),
      count_(count),
      at_once_(count < batch_fails ? count : largest_batch),
      vectors_(vectors),
      a_(bytes_of<T>(n * n * count)),
      w_(bytes_of<T>(n * count)),
      info_(bytes_of<int>(count)),
      infos_(static_cast<std::size_t>(count)) {
  std::size_t on_device = 0, on_host = 0;
  check_device(
      cusolverDnXsyevBatched_bufferSize(on_.solver, on_.params, job(vectors), CUBLAS_FILL_MODE_LOWER, n, type<T>,
                                        a_.as<T>(), n, type<T>, w_.as<T>(), type<T>, &on_device, &on_host, at_once_),
      "cusolverDnXsyevBatched_bufferSize");
  work_.reserve(on_device, on_host);
}

template <class T>
void CusolverEigBatch<T>::solve() {
  select_first_device();
  for (index_t k = 0; k < count_; k += at_once_)
    check_device(cusolverDnXsyevBatched(on_.solver, on_.params, job(vectors_), CUBLAS_FILL_MODE_LOWER, n_, type<T>,
                                        a_.as<T>() + k * n_ * n_, n_, type<T>, w_.as<T>() + k * n_, type<T>,
                                        work_.device->as<void>(), work_.bytes, work_.host.data(), work_.host.size(),
                                        info_.as<int>() + k, std::min(at_once_, count_ - k)),
                 "cusolverDnXsyevBatched");
  copy_memory(infos_.data(), info_.as<int>(), bytes_of<int>(count_));
  const auto bad = std::find_if(infos_.begin(), infos_.end(), [](int one) { return one != 0; });
  if (bad != infos_.end())
    throw EnvironmentError(fmt::format("cusolverDnXsyevBatched: info {} of matrix {}", *bad, bad - infos_.begin() + 1));
}

template <class T>
CusolverGeneralizedEig<T>::CusolverGeneralizedEig(index_t n, bool vectors)
    : n_(narrow(n)),
      vectors_(vectors),
      bytes_(bytes_of<T>(n * n)),
      a_(bytes_),
      b_(bytes_),
      w_(bytes_of<T>(n)),
      info_(sizeof(int)) {
  if (n_ == 0) return;
  check_device(by_type<T, cusolverDnSsygvd_bufferSize, cusolverDnDsygvd_bufferSize>(
                   on_.solver, CUSOLVER_EIG_TYPE_1, job(vectors), CUBLAS_FILL_MODE_LOWER, n_, a_.as<T>(), n_,
                   b_.as<T>(), n_, w_.as<T>(), &size_),
               "cusolverDn sygvd_bufferSize");
  if (size_ < 0) throw EnvironmentError("cuSOLVER sygvd: its workspace exceeds 32 bits");
  work_ = std::make_unique<DeviceMemory>(bytes_of<T>(size_));
}

template <class T>
void CusolverGeneralizedEig<T>::solve(T* values) const {
  if (n_ == 0) return;
  select_first_device();
  check_device(by_type<T, cusolverDnSsygvd, cusolverDnDsygvd>(on_.solver, CUSOLVER_EIG_TYPE_1, job(vectors_),
                                                              CUBLAS_FILL_MODE_LOWER, n_, a_.as<T>(), n_, b_.as<T>(),
                                                              n_, w_.as<T>(), work_->as<T>(), size_, info_.as<int>()),
               "cusolverDn sygvd");
  require_success(info_, "sygvd");
  copy_memory(values, w_.as<T>(), bytes_of<T>(n_));
}

TESELA_CLASSES_FOR_REALS(CusolverEig, CusolverEigBatch, CusolverGeneralizedEig)
template class CusolverEig<std::complex<float>>;
template class CusolverEig<std::complex<double>>;

}  // namespace tesela

#endif
