#include <tesela/codelets/qr/orthogonalize.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <algorithm>

namespace tesela::kernels {
namespace {

/// Normalizes column k; r(k, k) becomes its norm.
template <class T>
bool normalize(const InOut<T>& a, index_t k, const Out<T>& r) {
  T* const column = &a(0, k);
  const real_t<T> norm = blas::nrm2(a.rows, column);
  r(k, k) = norm;
  if (!(norm > 0)) return false;
  for (index_t i = 0; i < a.rows; ++i) column[i] /= norm;
  return true;
}

/// Removes from column k its components along the earlier columns and adds them to r's column k.
template <class T>
void project(const InOut<T>& a, index_t k, const Out<T>& r, T* sums) {
  if (k == 0) return;
  T* const column = &a(0, k);
  blas::gemv(adjoint<T>, a.rows, k, T(1), a.data, a.ld, column, T(0), sums);
  blas::gemv(Op::none, a.rows, k, T(-1), a.data, a.ld, sums, T(1), column);
  for (index_t j = 0; j < k; ++j) r(j, k) += sums[j];
}

}  // namespace

template <class T>
void OrthogonalizePanel<T>::cpu(const Args& args, InOut<T> a, Out<T> r, InOut<int> broken, Scratch<T> work) {
  const index_t n = a.cols;
  for (index_t j = 0; j < n; ++j) std::fill_n(&r(0, j), n, T(0));
  const bool modified = args.method == Orthogonalization::mgs;
  for (index_t k = 0; k < n; ++k) {
    for (int pass = 0; !modified && pass < (args.method == Orthogonalization::cgs2 ? 2 : 1); ++pass)
      project(a, k, r, work.data);
    if (!normalize(a, k, r)) {
      if (*broken.data == 0) *broken.data = static_cast<int>(args.first + k) + 1;
      return;
    }
    if (const index_t rest = n - k - 1; modified && rest > 0) {
      blas::gemm(adjoint<T>, Op::none, 1, rest, a.rows, T(1), &a(0, k), a.ld, &a(0, k + 1), a.ld, T(0), &r(k, k + 1),
                 r.ld);
      blas::gemm(Op::none, Op::none, a.rows, rest, 1, T(-1), &a(0, k), a.ld, &r(k, k + 1), r.ld, T(1), &a(0, k + 1),
                 a.ld);
    }
  }
}

#if TESELA_HAVE_CUDA
// orthogonalize.cu has the functions of real numbers.
#define TESELA_WORK_SIZES(T)                            \
  template <>                                           \
  index_t OrthogonalizePanel<T>::work_size(index_t n) { \
    return n;                                           \
  }                                                     \
  template <>                                           \
  index_t GramCholesky<T>::work_size(index_t) {         \
    return 1;                                           \
  }
TESELA_FOR_COMPLEX(TESELA_WORK_SIZES)
#else
template <class T>
index_t OrthogonalizePanel<T>::work_size(index_t n) {
  return n;
}
template <class T>
index_t GramCholesky<T>::work_size(index_t) {
  return 1;
}
#endif

template <class T>
void GramCholesky<T>::cpu(const Args&, InOut<T> a, Out<int> info, Scratch<T>) {
  *info.data = lapack::potrf(a.rows, a.data, a.ld);
  for (index_t j = 0; *info.data == 0 && j < a.rows; ++j)  // some LAPACK libraries miss NaN
    if (!(real_part(a(j, j)) > 0)) *info.data = static_cast<int>(j) + 1;
}

template <class T>
void SolveRight<T>::cpu(const Args&, In<T> r, InOut<T> x) {
  blas::trsm_right(x.rows, x.cols, r.data, r.ld, x.data, x.ld);
}

TESELA_STRUCTS_FOR_NUMBERS(OrthogonalizePanel, GramCholesky, SolveRight)

}  // namespace tesela::kernels
