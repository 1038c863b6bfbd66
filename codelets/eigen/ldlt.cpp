#include <tesela/codelets/eigen/ldlt.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::kernels {
namespace {

/// Returns |x| in double precision.
template <class T>
double magnitude(T x) {
  return std::abs(with_parts<T, double>(x));
}

/// Replaces W (m x n) by L = W D^-1 and adds |w|^2 / |d| to `mass`; the diagonal of `d` (leading dimension ldd) is D.
template <class T>
void divide(index_t m, index_t n, const T* d, index_t ldd, T* w, index_t ldw, double* mass) {
  for (index_t j = 0; j < n; ++j) {
    const real_t<T> pivot = real_part(d[j + j * ldd]);
    for (index_t i = 0; i < m; ++i) {
      const T above = w[i + j * ldw];
      w[i + j * ldw] = above / pivot;
      mass[i] += magnitude(above) * magnitude(w[i + j * ldw]);
    }
  }
}

/// Factors by halves; `work` holds n n / 4 numbers.
template <class T>
void factor(index_t n, T* a, index_t lda, double* mass, T* work) {
  if (n <= 24) {
    for (index_t k = 0; k < n; ++k) {
      T* const column = a + k * lda;
      const real_t<T> pivot = real_part(column[k]);
      mass[k] += magnitude(column[k]);
      for (index_t j = k + 1; j < n; ++j) {
        const T multiple = conj(column[j]) / pivot;
        for (index_t i = j; i < n; ++i) a[i + j * lda] -= times(column[i], multiple);
      }
      divide(n - k - 1, index_t{1}, column + k, lda, column + k + 1, lda, mass + k + 1);
    }
    return;
  }
  const index_t n1 = n / 2, n2 = n - n1;
  T *const below = a + n1, *const corner = a + n1 + n1 * lda;
  factor(n1, a, lda, mass, work);
  blas::solve_unit_lower_right<T>(n2, n1, a, lda, below, lda);
  for (index_t j = 0; j < n1; ++j) std::copy_n(below + j * lda, n2, work + j * n2);
  divide(n2, n1, a, lda, below, lda, mass + n1);
  blas::gemm<T>(Op::none, adjoint<T>, n2, n2, n1, -1, work, n2, below, lda, 1, corner, lda);
  factor(n2, corner, lda, mass + n1, work);
}

}  // namespace

template <class T>
void ShiftedCopy<T>::cpu(const Args& args, In<T> a, Out<T> b) {
  for (index_t j = 0; j < b.cols; ++j) std::copy_n(&a(0, j), b.rows, &b(0, j));
  if (args.sigma == 0) return;
  for (index_t j = 0; j < std::min(b.rows, b.cols); ++j) b(j, j) -= args.sigma;
}

template <class T>
void ShiftedPair<T>::cpu(const Args& args, In<T> a, In<T> b, Out<T> s) {
  for (index_t j = 0; j < s.cols; ++j)
    for (index_t i = 0; i < s.rows; ++i)
      if constexpr (is_complex<T>)
        s(i, j) = T(std::fma(-args.sigma, b(i, j).real(), a(i, j).real()),
                    std::fma(-args.sigma, b(i, j).imag(), a(i, j).imag()));
      else
        s(i, j) = std::fma(-args.sigma, b(i, j), a(i, j));
}

template <class T>
void Ldlt<T>::cpu(const Args&, InOut<T> a, InOut<double> mass, Out<double> negative) {
  const index_t n = a.rows;
  std::vector<T> work(static_cast<std::size_t>((n / 2) * (n - n / 2)));
  // The products of the halves use whole squares, so elements above the diagonal become zero.
  for (index_t j = 1; j < n; ++j) std::fill_n(&a(0, j), j, T(0));
  factor(n, a.data, a.ld, mass.data, work.data());
  index_t below = 0;
  for (index_t j = 0; j < n; ++j) below += real_part(a(j, j)) < 0 ? 1 : 0;
  negative(0, 0) = static_cast<double>(below);
}

template <class T>
void LdltPanel<T>::cpu(const Args&, In<T> diagonal, InOut<T> a, Out<T> w, InOut<double> mass) {
  const index_t m = a.rows, n = a.cols;
  blas::solve_unit_lower_right<T>(m, n, diagonal.data, diagonal.ld, a.data, a.ld);
  for (index_t j = 0; j < n; ++j) std::copy_n(&a(0, j), m, &w(0, j));
  divide(m, n, diagonal.data, diagonal.ld, a.data, a.ld, mass.data);
}

TESELA_STRUCTS_FOR_NUMBERS(ShiftedCopy, ShiftedPair, Ldlt, LdltPanel)

}  // namespace tesela::kernels
