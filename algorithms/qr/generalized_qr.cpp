#include <tesela/algorithms/qr/generalized_qr.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/runtime/require.hpp>

namespace tesela {
namespace {

template <class T>
void require_no_overlap(const char* routine, const TileMatrix<T>& A, const TileMatrix<T>& B) {
  require(!B.shares_tiles(A), routine, "B", "shares tiles with A");
}

}  // namespace

template <class T>
void GeneralizedQr<T>::form_v(Graph& g, const TileMatrix<T>& V) const {
  const TileMatrix<T> rows(g.runtime(), V.n(), V.m(), {V.tile_shape().nb, V.tile_shape().mb}, "Vt");
  of_qb.form_q(g, rows);
  rearrange(g, rows, {.op = adjoint<T>}, V);
}

template <class T>
GeneralizedQr<T> gqr(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const RqOptions& options) {
  require_no_overlap("gqr", A, B);
  require(A.m() == B.m(), "gqr", "B", B.m(), " rows; A has ", A.m());
  QrFactorization<T> of_a = qr(g, A, options.qr);
  of_a.apply(g, Side::left, adjoint<T>, B);
  return {std::move(of_a), rq(g, B, options)};
}

template <class T>
GeneralizedRq<T> grq(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const RqOptions& options) {
  require_no_overlap("grq", A, B);
  require(A.n() == B.n(), "grq", "B", B.n(), " columns; A has ", A.n());
  RqFactorization<T> of_a = rq(g, A, options);
  of_a.apply(g, Side::right, adjoint<T>, B);
  return {std::move(of_a), qr(g, B, options.qr)};
}

TESELA_FUNCTIONS_FOR_NUMBERS(gqr, grq)
TESELA_STRUCTS_FOR_NUMBERS(GeneralizedQr)

}  // namespace tesela
