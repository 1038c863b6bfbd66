#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>

namespace tesela {

using namespace kernels;

template <class T>
void triangular_solve(Graph& g, Op op, const HostMatrix<T>& R, HostMatrix<T>& X) {
  if (X.size() == 0) return;
  op = op_for<T>(op);
  constexpr index_t columns = 64;
  if (X.cols() <= columns || blas::must_divide(R.rows(), R.data(), R.ld())) {  // a GPU multiplies by reciprocals, too
    blas::trsm(op, X.rows(), X.cols(), R.data(), R.ld(), X.data(), X.ld());
    return;
  }
  const auto r = TileMatrix<T>::map(g.runtime(), R.data(), R.rows(), R.cols(), R.ld(), {R.rows(), R.cols()}, "R");
  const auto x = TileMatrix<T>::map(g.runtime(), X.data(), X.rows(), X.cols(), X.ld(), {X.rows(), columns}, "X");
  for (index_t j = 0; j < x.nt(); ++j) g.insert<Trsm<T>>({op}, r(0, 0), x(0, j));
  g.wait();
  x.bring_home();
}

template <class T>
double triangular_condition(const HostMatrix<T>& R) {
  return R.rows() == 0 ? 1 : lapack::trcon(R.rows(), R.data(), R.ld());
}

TESELA_FUNCTIONS_FOR_NUMBERS(triangular_condition, triangular_solve)

}  // namespace tesela
