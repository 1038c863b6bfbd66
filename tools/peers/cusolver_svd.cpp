#include "tools/peers/cusolver_svd.hpp"

#include <tesela/runtime/config.hpp>

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

int narrow(index_t n) { return static_cast<int>(n); }

/// Creates the parameters of Jacobi rotations: cuSOLVER's own tolerance leaves errors beyond our bounds. 15 sweeps
/// suffice for the rounding error, according to cuSOLVER's manual.
template <class T>
void create(gesvdjInfo*& jacobi) {
  check_device(cusolverDnCreateGesvdjInfo(&jacobi), "cusolverDnCreateGesvdjInfo");
  check_device(cusolverDnXgesvdjSetTolerance(jacobi, static_cast<double>(std::numeric_limits<T>::epsilon())),
               "cusolverDnXgesvdjSetTolerance");
  check_device(cusolverDnXgesvdjSetMaxSweeps(jacobi, 15), "cusolverDnXgesvdjSetMaxSweeps");
}

/// Returns whether gesvdj's info means success, or that the sweeps ended above the tolerance: the check of the result
/// then decides.
bool is_result(int info, index_t values) { return info == 0 || info == values + 1; }

}  // namespace

template <class T>
CusolverSvd<T>::CusolverSvd(CusolverSvdRoutine routine, index_t m, index_t n, bool vectors)
    : routine_(routine),
      m_(m),
      n_(n),
      vectors_(vectors),
      a_(bytes_of<T>(m * n)),
      s_(bytes_of<real_t<T>>(n)),
      u_(bytes_of<T>(m * n)),  // gesvdp writes U and V even if only the values are wanted
      v_(bytes_of<T>(n * n)),
      info_(sizeof(int)) {
  require(m >= n, "CusolverSvd", "m", m, " rows; cuSOLVER needs at least as many as columns, ", n);
  if (n == 0) return;
  T *const a = a_.as<T>(), *const u = u_.as<T>(), *const v = v_.as<T>();
  real_t<T>* const s = s_.as<real_t<T>>();
  std::size_t on_device = 0, on_host = 0;
  switch (routine) {
    case CusolverSvdRoutine::gesvd: {
      const signed char some = vectors ? 'S' : 'N';
      check_device(cusolverDnXgesvd_bufferSize(on_.solver, on_.params, some, some, m, n, type<T>, a, m, type<real_t<T>>,
                                               s, type<T>, u, m, type<T>, v, n, type<T>, &on_device, &on_host),
                   "cusolverDnXgesvd_bufferSize");
      break;
    }
    case CusolverSvdRoutine::gesvdp:
      check_device(
          cusolverDnXgesvdp_bufferSize(on_.solver, on_.params, job(vectors), 1, m, n, type<T>, a, m, type<real_t<T>>, s,
                                       type<T>, u, m, type<T>, v, n, type<T>, &on_device, &on_host),
          "cusolverDnXgesvdp_bufferSize");
      break;
    case CusolverSvdRoutine::gesvdj: {
      require(!is_complex<T>, "CusolverSvd", "routine", "gesvdj is for real numbers here");
      require(m <= std::numeric_limits<int>::max(), "CusolverSvd", "m", m, " exceeds gesvdj's integers");
      if constexpr (!is_complex<T>) {
        create<T>(jacobi_);
        int numbers = 0;
        check_device(by_type<T, cusolverDnSgesvdj_bufferSize, cusolverDnDgesvdj_bufferSize>(
                         on_.solver, job(vectors), 1, narrow(m), narrow(n), a, narrow(m), s, u, narrow(m), v, narrow(n),
                         &numbers, jacobi_),
                     "cusolverDn gesvdj_bufferSize");
        on_device = bytes_of<T>(numbers);
      }
    }
  }
  work_.reserve(on_device, on_host);
}

template <class T>
CusolverSvd<T>::~CusolverSvd() {
  if (jacobi_ != nullptr) cusolverDnDestroyGesvdjInfo(jacobi_);
}

template <class T>
void CusolverSvd<T>::solve(real_t<T>* values) {
  if (n_ == 0) return;
  select_first_device();
  T *const a = a_.as<T>(), *const u = u_.as<T>(), *const v = v_.as<T>();
  real_t<T>* const s = s_.as<real_t<T>>();
  void* const on_device = work_.device->as<void>();
  double error = 0;
  switch (routine_) {
    case CusolverSvdRoutine::gesvd: {
      const signed char some = vectors_ ? 'S' : 'N';
      check_device(cusolverDnXgesvd(on_.solver, on_.params, some, some, m_, n_, type<T>, a, m_, type<real_t<T>>, s,
                                    type<T>, u, m_, type<T>, v, n_, type<T>, on_device, work_.bytes, work_.host.data(),
                                    work_.host.size(), info_.as<int>()),
                   "cusolverDnXgesvd");
      break;
    }
    case CusolverSvdRoutine::gesvdp:
      check_device(cusolverDnXgesvdp(on_.solver, on_.params, job(vectors_), 1, m_, n_, type<T>, a, m_, type<real_t<T>>,
                                     s, type<T>, u, m_, type<T>, v, n_, type<T>, on_device, work_.bytes,
                                     work_.host.data(), work_.host.size(), info_.as<int>(), &error),
                   "cusolverDnXgesvdp");
      break;
    case CusolverSvdRoutine::gesvdj:
      if constexpr (!is_complex<T>)
        check_device(by_type<T, cusolverDnSgesvdj, cusolverDnDgesvdj>(
                         on_.solver, job(vectors_), 1, narrow(m_), narrow(n_), a, narrow(m_), s, u, narrow(m_), v,
                         narrow(n_), static_cast<T*>(on_device), narrow(static_cast<index_t>(work_.bytes / sizeof(T))),
                         info_.as<int>(), jacobi_),
                     "cusolverDn gesvdj");
  }
  if (const int info = read_info(info_); routine_ == CusolverSvdRoutine::gesvdj ? !is_result(info, n_) : info != 0)
    throw EnvironmentError(fmt::format("cuSOLVER gesvd: info {}", info));
  copy_memory(values, s, bytes_of<real_t<T>>(n_));
}

template <class T>
CusolverSvdBatch<T>::CusolverSvdBatch(index_t m, index_t n, index_t count, bool vectors)
    : m_(m),
      n_(n),
      count_(count),
      vectors_(vectors),
      a_(bytes_of<T>(m * n * count)),
      s_(bytes_of<T>(std::min(m, n) * count)),
      u_(bytes_of<T>(m * m * count)),
      v_(bytes_of<T>(n * n * count)),
      info_(bytes_of<int>(count)) {
  require(std::max(m, n) <= largest, "CusolverSvdBatch", "m, n", std::max(m, n), "; gesvdjBatched accepts at most ",
          largest);
  create<T>(jacobi_);
  check_device(by_type<T, cusolverDnSgesvdjBatched_bufferSize, cusolverDnDgesvdjBatched_bufferSize>(
                   on_.solver, job(vectors), narrow(m), narrow(n), a_.as<T>(), narrow(m), s_.as<T>(), u_.as<T>(),
                   narrow(m), v_.as<T>(), narrow(n), &size_, jacobi_, narrow(count)),
               "cusolverDn gesvdjBatched_bufferSize");
  work_.reserve(bytes_of<T>(size_), 0);
}

template <class T>
CusolverSvdBatch<T>::~CusolverSvdBatch() {
  if (jacobi_ != nullptr) cusolverDnDestroyGesvdjInfo(jacobi_);
}

template <class T>
void CusolverSvdBatch<T>::solve() {
  select_first_device();
  check_device(
      by_type<T, cusolverDnSgesvdjBatched, cusolverDnDgesvdjBatched>(
          on_.solver, job(vectors_), narrow(m_), narrow(n_), a_.as<T>(), narrow(m_), s_.as<T>(), u_.as<T>(), narrow(m_),
          v_.as<T>(), narrow(n_), work_.device->as<T>(), size_, info_.as<int>(), jacobi_, narrow(count_)),
      "cusolverDn gesvdjBatched");
  std::vector<int> infos(static_cast<std::size_t>(count_));
  copy_memory(infos.data(), info_.as<int>(), bytes_of<int>(count_));
  const auto bad = std::find_if(infos.begin(), infos.end(), [&](int one) { return !is_result(one, std::min(m_, n_)); });
  if (bad != infos.end())
    throw EnvironmentError(fmt::format("gesvdjBatched: info {} of matrix {}", *bad, bad - infos.begin() + 1));
}

template <class T>
void CusolverSvdBatch<T>::download(T* s, T* u, T* v) const {
  copy_memory(s, s_.as<T>(), bytes_of<T>(std::min(m_, n_) * count_));
  if (!vectors_) return;
  copy_memory(u, u_.as<T>(), bytes_of<T>(m_ * m_ * count_));
  copy_memory(v, v_.as<T>(), bytes_of<T>(n_ * n_ * count_));
}

TESELA_CLASSES_FOR_NUMBERS(CusolverSvd)
TESELA_CLASSES_FOR_REALS(CusolverSvdBatch)

}  // namespace tesela

#endif
