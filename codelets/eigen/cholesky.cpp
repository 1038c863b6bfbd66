#include <tesela/codelets/eigen/cholesky.hpp>
#include <tesela/codelets/libraries/lapack.hpp>

namespace tesela::kernels {

template <class T>
void MirrorTile<T>::cpu(const Args&, InOut<T> a) {
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < j; ++i) a(i, j) = a(j, i);
}

template <class T>
void Potrf<T>::cpu(const Args& args, InOut<T> a, InOut<double> minor) {
  if (minor(0, 0) > 0) return;
  index_t info = lapack::potrf(a.rows, a.data, a.ld);
  for (index_t j = 0; info == 0 && j < a.rows; ++j)  // not every LAPACK finds NaN
    if (!(a(j, j) > 0)) info = j + 1;
  if (info != 0) minor(0, 0) = static_cast<double>(args.first + info);
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = j + 1; i < a.rows; ++i) a(i, j) = 0;
}

template <class T, template <class> class B>
void CopyBlock<T, B>::cpu(const Args& args, In<T> a, B<T> b) {
  for (index_t j = 0; j < args.columns; ++j)
    for (index_t i = 0; i < args.rows; ++i)
      b(args.b_row + i, args.b_column + j) =
          args.op == Op::none ? a(args.a_row + i, args.a_column + j) : a(args.a_column + j, args.a_row + i);
}

template struct MirrorTile<float>;
template struct MirrorTile<double>;
template struct Potrf<float>;
template struct Potrf<double>;
template struct CopyBlock<float>;
template struct CopyBlock<double>;
template struct CopyBlock<float, Out>;
template struct CopyBlock<double, Out>;

}  // namespace tesela::kernels
