#include "tools/peers/cusolver_factor.hpp"

#include <tesela/runtime/config.hpp>

#if TESELA_HAVE_CUDA
#include "tools/peers/cusolver_types.hpp"

namespace tesela {

using namespace bench;
using namespace cusolver;
namespace {

template <class By>
bool is_cholesky(By by) {
  return by == By::cholesky || by == By::cholesky_lower;
}
template <class By>
cublasFillMode_t half(By by) {
  return by == By::cholesky ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

}  // namespace

template <class T>
CusolverFactor<T>::CusolverFactor(index_t n, By by, bool kept, index_t r)
    : n_(n),
      r_(r),
      by_(by),
      bytes_(bytes_of<T>(n * n)),
      a_(bytes_),
      original_(kept ? bytes_ : 0),
      b_(bytes_of<T>(n * r)),
      pivots_(bytes_of<std::int64_t>(n)),
      info_(sizeof(int)) {
  choose(by);
}

template <class T>
void CusolverFactor<T>::choose(By by) {
  by_ = by;
  select_first_device();
  std::size_t on_device = 0, on_host = 0;
  if (is_cholesky(by))
    check_device(cusolverDnXpotrf_bufferSize(on_.solver, on_.params, half(by), n_, type<T>, a_.as<T>(), n_, type<T>,
                                             &on_device, &on_host),
                 "cusolverDnXpotrf_bufferSize");
  else
    check_device(cusolverDnXgetrf_bufferSize(on_.solver, on_.params, n_, n_, type<T>, a_.as<T>(), n_, type<T>,
                                             &on_device, &on_host),
                 "cusolverDnXgetrf_bufferSize");
  work_.reserve(on_device, on_host);
}

template <class T>
void CusolverFactor<T>::put_back() const {
  copy_memory(a_.as<T>(), original_.as<T>(), bytes_);
  check_device(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

template <class T>
int CusolverFactor<T>::factor() {
  select_first_device();
  if (is_cholesky(by_))
    check_device(
        cusolverDnXpotrf(on_.solver, on_.params, half(by_), n_, type<T>, a_.as<T>(), n_, type<T>,
                         work_.device->as<void>(), work_.bytes, work_.host.data(), work_.host.size(), info_.as<int>()),
        "cusolverDnXpotrf");
  else
    check_device(
        cusolverDnXgetrf(on_.solver, on_.params, n_, n_, type<T>, a_.as<T>(), n_, pivots(), type<T>,
                         work_.device->as<void>(), work_.bytes, work_.host.data(), work_.host.size(), info_.as<int>()),
        "cusolverDnXgetrf");
  return read_info(info_);
}

template <class T>
int CusolverFactor<T>::solve(T* b) {
  copy_memory(b_.as<T>(), b, bytes_of<T>(n_ * r_));
  if (const int info = factor(); info != 0) return info;
  if (is_cholesky(by_))
    check_device(cusolverDnXpotrs(on_.solver, on_.params, half(by_), n_, r_, type<T>, a_.as<T>(), n_, type<T>,
                                  b_.as<T>(), n_, info_.as<int>()),
                 "cusolverDnXpotrs");
  else
    check_device(cusolverDnXgetrs(on_.solver, on_.params, CUBLAS_OP_N, n_, r_, type<T>, a_.as<T>(), n_, pivots(),
                                  type<T>, b_.as<T>(), n_, info_.as<int>()),
                 "cusolverDnXgetrs");
  require_success(info_, "potrs or getrs");
  copy_memory(b, b_.as<T>(), bytes_of<T>(n_ * r_));
  return 0;
}

template <class T>
std::vector<int> CusolverFactor<T>::swaps() const {
  if (by_ != By::lu) return {};
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n_));
  copy_memory(rows.data(), pivots(), rows.size() * sizeof(std::int64_t));
  return {rows.begin(), rows.end()};
}

TESELA_CLASSES_FOR_NUMBERS(CusolverFactor)

}  // namespace tesela

#endif
