#include <tesela/codelets/econometrics/basis_times.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>

namespace tesela::kernels {

void BasisTimes::cpu(const Args&, In<double> x, Out<double> w, std::span<const In<double>> q) {
  index_t first = 0, column = 0;
  for (const In<double>& one : q) {
    blas::gemv(Op::none, one.rows, one.cols, 1.0, one.data, one.ld, &x(first, 0), 0.0, &w(0, column));
    std::fill(w.data + one.rows + column * w.ld, w.data + w.rows + column * w.ld, 0.0);
    first += one.cols;
    ++column;
  }
}

void BasisTransposedTimes::cpu(const Args&, In<double> v, Out<double> y, std::span<const In<double>> q) {
  index_t first = 0, column = 0;
  for (const In<double>& one : q) {
    blas::gemv(Op::transpose, one.rows, one.cols, 1.0, one.data, one.ld, &v(0, column), 0.0, &y(first, 0));
    first += one.cols;
    ++column;
  }
}

void BasisSolve::cpu(const Args&, In<double> r, InOut<double> x) {
  for (index_t i = 0; i < x.cols; ++i) blas::trsm(Op::none, r.rows, 1, &r(0, i * r.rows), r.ld, &x(0, i), x.ld);
}

}  // namespace tesela::kernels
