#include <tesela/codelets/dense/cholesky_link.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>

namespace tesela::kernels {

template <class T>
void CholeskyNextDiagonal<T>::cpu(const Args& args, In<T> r, In<T>, In<T> a, In<T> below, Out<T> next, Scratch<T> s,
                                  Scratch<T>) {
  const index_t n = r.rows, w = next.rows;
  for (index_t j = 0; j < w; ++j) {
    std::copy_n(&a(0, args.column + j), n, s.data + j * n);
    std::copy_n(&below(0, args.column + j), w, &next(0, j));
  }
  blas::trsm(Op::transpose, n, w, r.data, r.ld, s.data, n);
  blas::syrk<T>(w, n, -1, s.data, n, next.data, next.ld);
}

template struct CholeskyNextDiagonal<float>;
template struct CholeskyNextDiagonal<double>;

}  // namespace tesela::kernels
