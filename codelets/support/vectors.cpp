#include <tesela/codelets/support/vectors.hpp>
#include <tesela/host/blas.hpp>

namespace tesela::kernels {
namespace {

template <class X, class Y, class T>
void dots(const X& x, const Y& y, bool reverse, const Out<T>& result) {
  for (index_t j = 0; j < x.cols; ++j) {
    // Several sums at once are faster and more accurate than one.
    T sums[16] = {};
    const T *const a = x.data + j * x.ld, *const b = y.data + j * y.ld;
    index_t i = 0;
    for (; i + 16 <= x.rows; i += 16)
      for (index_t l = 0; l < 16; ++l) sums[l] += a[i + l] * b[reverse ? x.rows - 1 - i - l : i + l];
    for (index_t l = 0; i + l < x.rows; ++l) sums[l] += a[i + l] * b[reverse ? x.rows - 1 - i - l : i + l];
    T sum = 0;
    for (const T part : sums) sum += part;
    result.data[j] = sum;
  }
}

}  // namespace

template <class T>
void Dot<T>::cpu(const Args& args, In<T> x, In<T> y, Out<T> result) {
  dots(x, y, args.reverse, result);
}

template <class T>
void Norm<T>::cpu(const Args&, In<T> x, Out<double> result) {
  for (index_t j = 0; j < x.cols; ++j) result.data[j] = static_cast<double>(blas::nrm2(x.rows, x.data + j * x.ld));
}

template <class T>
void Axpy<T>::cpu(const Args& args, In<T> x, InOut<T> y) {
  for (index_t j = 0; j < x.cols; ++j)
    for (index_t i = 0; i < x.rows; ++i) y(i, j) += args.alpha * x(args.reverse ? x.rows - 1 - i : i, j);
}

template <class T>
void AxpxbReverse<T>::cpu(const Args& args, InOut<T> x) {
  for (index_t j = 0; j < x.cols; ++j)
    for (index_t i = 0, m = x.rows - 1; i <= m; ++i, --m) {
      const T first = x(i, j), last = x(m, j);
      x(i, j) = args.b * (args.alpha * last + first);
      x(m, j) = args.b * (args.alpha * first + last);
    }
}

template <class T>
void Reorthogonalize<T>::cpu(const Args&, In<T> p, InOut<T> v, Scratch<T> work) {
  blas::gemm(Op::transpose, Op::none, p.cols, v.cols, p.rows, T(1), p.data, p.ld, v.data, v.ld, T(0), work.data,
             work.ld);
  blas::gemm(Op::none, Op::none, p.rows, v.cols, p.cols, T(-1), p.data, p.ld, work.data, work.ld, T(1), v.data, v.ld);
}

#define TESELA_VECTORS(T)          \
  template struct Dot<T>;          \
  template struct Norm<T>;         \
  template struct Axpy<T>;         \
  template struct AxpxbReverse<T>; \
  template struct Reorthogonalize<T>;
TESELA_VECTORS(float)
TESELA_VECTORS(double)
#undef TESELA_VECTORS

}  // namespace tesela::kernels
