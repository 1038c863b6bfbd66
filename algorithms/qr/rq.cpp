#include <tesela/algorithms/qr/rq.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>

namespace tesela {
namespace {

template <class T>
QrFactorization<T> qr_of_transposed(Graph& g, const TileMatrix<T>& A, const RqOptions& options, bool reversed) {
  const TileShape own{A.tile_shape().nb, A.tile_shape().mb},
      cut = options.tile.mb == 0 && options.tile.nb == 0 ? own : options.tile;
  const TileMatrix<T> transposed(g.runtime(), A.n(), A.m(), cut, "At");
  rearrange(g, A, {.op = adjoint<T>, .reverse_columns = reversed}, transposed);
  return qr(g, transposed, options.qr);
}

/// Reverses the order of C's rows (left) or columns (right).
template <class T>
void reverse(Graph& g, Side side, const TileMatrix<T>& C) {
  const TileMatrix<T> reversed(g.runtime(), C.m(), C.n(), C.tile_shape(), "reversed");
  rearrange(g, C, {.reverse_rows = side == Side::left, .reverse_columns = side == Side::right}, reversed);
  rearrange(g, reversed, {}, C);
}

}  // namespace

template <class T>
void RqFactorization<T>::apply(Graph& g, Side side, Op op, const TileMatrix<T>& C) const {
  op = op_for<T>(op);
  require(op == Op::none || op == adjoint<T>, "RqFactorization::apply", "op", "transpose",
          ": a complex Q has its adjoint Q^H, conjugate");
  // Q = P F^H: Q C and C Q^H apply P last, Q^H C and C Q apply it first.
  const bool first = (side == Side::left) == (op != Op::none);
  if (reversed_ && first) reverse(g, side, C);
  transposed_.apply(g, side, op == Op::none ? adjoint<T> : Op::none, C);
  if (reversed_ && !first) reverse(g, side, C);
}

template <class T>
void RqFactorization<T>::form_q(Graph& g, const TileMatrix<T>& Q) const {
  const TileShape tile = transposed_.factors().tile_shape();
  require(Q.n() == n() && Q.m() <= n(), "RqFactorization::form_q", "Q", Q, "; it must have ", n(),
          " columns and at most as many rows");
  const TileMatrix<T> columns(g.runtime(), Q.n(), Q.m(), tile, "Q");
  transposed_.form_q(g, columns);
  rearrange(g, columns, {.op = adjoint<T>, .reverse_rows = reversed_}, Q);
}

template <class T>
void RqFactorization<T>::extract(Graph& g, const TileMatrix<T>& triangle) const {
  const index_t k = std::min(m(), n());
  require(triangle.m() == m() && triangle.n() == k, "RqFactorization::extract", "triangle", triangle, "; it must be ",
          Shape{m(), k});
  const TileMatrix<T> upper(g.runtime(), k, m(), transposed_.factors().tile_shape(), "R");
  transposed_.extract_r(g, upper);
  rearrange(g, upper, {.op = adjoint<T>, .reverse_rows = reversed_, .reverse_columns = reversed_}, triangle);
}

template <class T>
RqFactorization<T> rq(Graph& g, const TileMatrix<T>& A, const RqOptions& options) {
  return {qr_of_transposed(g, A, options, true), true};
}

template <class T>
RqFactorization<T> lq(Graph& g, const TileMatrix<T>& A, const RqOptions& options) {
  return {qr_of_transposed(g, A, options, false), false};
}

TESELA_FUNCTIONS_FOR_NUMBERS(rq, lq)
TESELA_CLASSES_FOR_NUMBERS(RqFactorization)

}  // namespace tesela
