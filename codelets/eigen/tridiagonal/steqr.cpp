#include <tesela/codelets/eigen/internal/ql_steps.hpp>
#include <tesela/codelets/eigen/internal/rotate_columns.hpp>
#include <tesela/codelets/eigen/tridiagonal/steqr.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/config.hpp>

#include <algorithm>
#include <vector>

#define HWY_TARGET_INCLUDE "tesela/codelets/eigen/tridiagonal/steqr.cpp"
#include <tesela/codelets/support/internal/vectors_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::ql::HWY_NAMESPACE {
namespace {

/// Makes T diagonal and applies its rotations to the vectors. Returns the row where it did not converge, or -1. e has n
/// elements, like d.
template <class T>
index_t solve(index_t n, T* d, T* e, const Block<T>& vectors, index_t& all_sweeps) {
  for (index_t l = 0; l < n; ++l)
    for (int sweeps = 0;; ++sweeps) {
      const index_t m = block_end(n, d, e, l);
      if (m == l) break;
      if (sweeps == most_sweeps) return l;
      ++all_sweeps;
      sweep(d, e, l, m, ColumnRotation<T>{vectors});
    }
  return -1;
}

}  // namespace
}  // namespace tesela::kernels::ql::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {
namespace ql {
namespace {

template <class T>
auto best_solver() {
  return TESELA_BEST_TARGET(solve<T>);
}

}  // namespace
}  // namespace ql

template <class T>
void Steqr<T>::cpu(const Args&, In<T> t, Out<T> values, Out<T> vectors, Out<index_t> sweeps, InOut<int> info) {
  const index_t n = t.rows;
  std::vector<T> e(&t(0, 1), &t(0, 1) + n);
  std::copy_n(&t(0, 0), n, values.data);
  for (index_t j = 0; j < n; ++j) {
    std::fill_n(&vectors(0, j), n, T(0));
    vectors(j, j) = 1;
  }
  *sweeps.data = 0;
  const index_t broken = ql::best_solver<T>()(n, values.data, e.data(), vectors, *sweeps.data);
  if (broken >= 0 && *info.data == 0) *info.data = static_cast<int>(broken) + 1;
}

template <class T>
void Stedc<T>::cpu(const Args&, In<T> t, Out<T> values, Out<T> vectors, InOut<int> info) {
  const index_t n = t.rows;
  std::vector<T> e(&t(0, 1), &t(0, 1) + n);
  std::copy_n(&t(0, 0), n, values.data);
  const int failed = lapack::stedc(n, values.data, e.data(), vectors.data, vectors.ld);
  // LAPACK returns the rows of a block as first (n + 1) + last.
  if (failed != 0 && *info.data == 0) *info.data = std::max(1, failed % (static_cast<int>(n) + 1));
}

template <class T>
void Syevd<T>::cpu(const Args& args, InOut<T> a, Out<real_t<T>> values, Scratch<T>, InOut<int> info) {
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < j; ++i) a(i, j) = conj(a(j, i));
  const int failed = lapack::syevd(a.cols, a.data, a.ld, values.data, args.vectors);
  if (failed != 0 && *info.data == 0) *info.data = failed;
}

#if !TESELA_HAVE_CUDA
template <class T>
index_t syevd_work(bool, index_t, bool) {
  return 1;
}
TESELA_FUNCTIONS_FOR_NUMBERS(syevd_work)
#endif

TESELA_STRUCTS_FOR_NUMBERS(Syevd)
TESELA_STRUCTS_FOR_REALS(Steqr, Stedc)

}  // namespace tesela::kernels
#endif
