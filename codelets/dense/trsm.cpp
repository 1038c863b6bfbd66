#include <tesela/codelets/dense/trsm.hpp>
#include <tesela/host/blas.hpp>

namespace tesela::kernels {

template <class T>
void Trsm<T>::cpu(const Args& args, In<T> r, InOut<T> x) {
  blas::trsm(args.op, x.rows, x.cols - args.column, r.data, r.ld, &x(0, args.column), x.ld);
}

template struct Trsm<float>;
template struct Trsm<double>;

}  // namespace tesela::kernels
