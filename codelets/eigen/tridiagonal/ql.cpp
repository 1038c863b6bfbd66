#include <tesela/codelets/eigen/internal/ql_steps.hpp>
#include <tesela/codelets/eigen/internal/rotate_columns.hpp>
#include <tesela/codelets/eigen/tridiagonal/ql.hpp>

#define HWY_TARGET_INCLUDE "tesela/codelets/eigen/tridiagonal/ql.cpp"
#include <tesela/codelets/support/internal/vectors_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::ql::HWY_NAMESPACE {
namespace {

/// Applies the rotations that QlSweeps recorded.
template <class T>
void apply(const T* c, const T* s, const index_t* sweeps, const Block<T>& x) {
  index_t r = 0;
  for (index_t k = 1; k <= sweeps[0]; ++k)
    for (index_t i = sweeps[2 * k + 1]; i-- > sweeps[2 * k]; ++r) rotate_columns(x, i, c[r], s[r]);
}

}  // namespace
}  // namespace tesela::kernels::ql::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {
namespace ql {
namespace {

template <class T>
auto best_apply() {
  return TESELA_BEST_TARGET(apply<T>);
}

}  // namespace
}  // namespace ql

template <class T>
void QlSweeps<T>::cpu(const Args&, InOut<T> t, InOut<index_t> progress, Out<T> rotations, Out<index_t> sweeps,
                      InOut<int> info) {
  T *const d = &t(0, 0), *const e = &t(0, 1);
  const index_t n = t.rows;
  const bool record = rotations.rows >= n;
  index_t &l = progress.data[0], &tried = progress.data[1], &all = progress.data[2];
  index_t &recorded = sweeps(0, 0), &done = sweeps(1, 0), used = 0;
  recorded = done = 0;
  for (; l < n; ++l, tried = 0)
    for (;; ++tried, ++all) {
      const index_t m = ql::block_end(n, d, e, l);
      if (m == l) break;
      if (tried == ql::most_sweeps) {
        if (*info.data == 0) *info.data = static_cast<int>(l) + 1;
        done = 1;
        return;
      }
      if (record && (used + m - l > rotations.rows || recorded + 1 == sweeps.cols)) return;
      index_t last = m;  // of the rotated rows: a sweep may end before l
      ql::sweep(d, e, l, m, [&](index_t i, T c, T s) {
        last = i;
        if (!record) return;
        rotations(used, 0) = c;
        rotations(used, 1) = s;
        ++used;
      });
      if (!record) continue;
      ++recorded;
      sweeps(0, recorded) = last;
      sweeps(1, recorded) = m;
    }
  done = 1;
}

template <class T>
void QlRotate<T>::cpu(const Args&, In<T> rotations, In<index_t> sweeps, InOut<T> x) {
  ql::best_apply<T>()(&rotations(0, 0), &rotations(0, 1), sweeps.data, x);
}

TESELA_STRUCTS_FOR_REALS(QlSweeps, QlRotate)

}  // namespace tesela::kernels
#endif
