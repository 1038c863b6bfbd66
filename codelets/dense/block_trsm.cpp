#include <tesela/codelets/dense/block_trsm.hpp>

#include <algorithm>

namespace tesela::kernels {

template <class T>
void InvertBlocks<T>::cpu(const Args& args, In<T> r, Out<T> v) {
  const bool upper = args.triangle == blas::Triangle::upper;
  for (index_t at = 0; at < r.rows; at += inverted_block) {
    const index_t n = std::min(inverted_block, r.rows - at);
    for (index_t j = at; j < at + n; ++j)
      for (index_t i = 0; i < n; ++i) v(i, j) = T(at + i == j ? 1 : 0);
    if (upper) {
      blas::trsm(Op::none, n, n, &r(at, at), r.ld, &v(0, at), v.ld);
    } else {
      blas::solve_unit_lower(adjoint<T>, n, n, &r(at, at), r.ld, &v(0, at), v.ld);
    }
  }
}

template <class T>
void BlockTrsm<T>::cpu(const Args& args, In<T> r, In<T>, InOut<T> x, Scratch<T>) {
  blas::trsm(args.op, x.rows, x.cols - args.column, r.data, r.ld, &x(0, args.column), x.ld);
}

TESELA_STRUCTS_FOR_NUMBERS(InvertBlocks, BlockTrsm)

}  // namespace tesela::kernels
