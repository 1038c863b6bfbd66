#include <tesela/algorithms/mimo/qr_batch.hpp>
#include <tesela/codelets/mimo/small_qr.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {
namespace {

[[noreturn]] void refuse(const char* argument, const std::string& why) {
  throw ArgumentError("qr_batch", argument, why);
}

}  // namespace

template <class F>
std::vector<QrBatchFailure> qr_batch(Graph& g, const TileMatrix<F>& A, const TileMatrix<F>& tau,
                                     const TileMatrix<int>& order, const std::type_identity_t<TileMatrix<F>>* B,
                                     const QrBatchOptions& options) {
  const index_t m = A.m(), n = order.m(), count = order.n(), together = order.tile_shape().nb;
  const bool mmse = options.order == ColumnOrder::mmse_sqrd || options.order == ColumnOrder::mmse_vblast;
  if (row_of(options.order).of_signals) refuse("order", "gradient and su-wassell need a signal");
  if (!(options.n0 >= 0) || !std::isfinite(options.n0)) refuse("n0", shortest(options.n0) + " is not a variance");
  if (n < 1 || n > 32 || m < 1 || m > 160)
    refuse("A", std::to_string(m) + " x " + std::to_string(n) + "; up to 160 x 32");
  if (mmse && m <= n) refuse("A", "needs n more rows than H for [H; sqrt(N0) I]");
  if (A.n() != n * count || tau.m() != std::min(m, n) || tau.n() != count)
    refuse("A, tau, order", to_string(Shape{m, A.n()}) + ", " + to_string(Shape{tau.m(), tau.n()}) + " and " +
                                to_string(Shape{n, count}) + "; they must be m x (n K), min(m, n) x K and n x K");
  if (count == 0) return {};
  const index_t right = B == nullptr ? 0 : B->n() / count;
  if (B != nullptr && (B->m() != m || B->n() != right * count || right < 1 || B->tile_shape().nb != right * together))
    refuse("B", to_string(Shape{B->m(), B->n()}) + "; it must be m x (r K) in tiles m x (r kb)");
  if (A.mt() > 1 || A.tile_shape().nb != n * together || tau.tile_shape().nb != together || tau.mt() > 1 ||
      order.mt() > 1)
    refuse("A, tau, order", "tiles must be m x (n kb), min(m, n) x kb and n x kb");
  const TileMatrix<int> info(g.runtime(), 1, count, {1, together}, "info");
  const TileMatrix<F> nothing(g.runtime(), 1, 1, {1, 1}, "no B");
  const F zero{};
  nothing.copy_from(&zero, 1);
  const index_t each = kernels::SmallQr<F>::work_size(options.order, m, n);
  const bool needed = each > 0 && g.runtime().gpus() > 0;
  const auto work = g.scratch<F>(std::max<index_t>(each, 1), needed ? std::min(together, count) : 1);
  for (index_t t = 0; t < order.nt(); ++t)
    g.insert<kernels::SmallQr<F>>(on_gpu, {n, right, options.order, options.n0, options.rotations}, A(0, t),
                                  right > 0 ? (*B)(0, t) : nothing(0, 0), tau(0, t), order(0, t), info(0, t), work);
  g.wait();
  std::vector<QrBatchFailure> failures;
  for (index_t t = 0; t < info.nt(); ++t) {
    const auto found = info(0, t).read();
    for (index_t k = 0; k < found.cols; ++k)
      if (const int at = -found(0, k) - 1; at >= 0) failures.push_back({t * together + k, at % m, at / m});
  }
  return failures;
}

#define TESELA_QR_BATCH(F)                                                                          \
  template std::vector<QrBatchFailure> qr_batch(Graph&, const TileMatrix<F>&, const TileMatrix<F>&, \
                                                const TileMatrix<int>&, const TileMatrix<F>*, const QrBatchOptions&);
TESELA_FOR_NUMBERS(TESELA_QR_BATCH)

}  // namespace tesela
