#include <tesela/algorithms/eigen/eig_batch.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/codelets/eigen/small_eig.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {
namespace {

[[noreturn]] void refuse(const char* argument, const std::string& why) {
  throw ArgumentError("eig_batch", argument, why);
}

SymmetricEigStatus status_of(int info, index_t n) {
  using Verdict = SymmetricEigStatus::Verdict;
  if (info > 0) return {Verdict::not_converged, info - 1, info - 1};
  const index_t at = -static_cast<index_t>(info) - 1;
  return {Verdict::not_finite, at % n, at / n};
}

/// Returns the number of matrices of order n that take a core about a millisecond.
template <class T>
index_t batch_on_a_core(index_t n) {
  const auto order = static_cast<double>(n);
  const double microseconds = 0.1 + order * (0.1 + order * (1.0 / 40 + order / 1500));  // measured time per matrix
  constexpr index_t together = 64 / sizeof(T);
  return ceil_div(static_cast<index_t>(std::ceil(1000 / microseconds)), together) * together;
}

}  // namespace

std::string to_string(const EigBatchFailure& failure) {
  return to_string(failure.status) + " of matrix " + std::to_string(failure.matrix + 1);
}

template <class T>
index_t eig_batch_size(const Runtime& runtime, index_t n) {
  if (runtime.gpus() == 0 || is_complex<T>) return batch_on_a_core<T>(n);
  constexpr index_t most_bytes = index_t{1} << 28, most = index_t{1} << 16;
  return std::clamp<index_t>(most_bytes / (std::max<index_t>(n * n, 1) * index_t{sizeof(T)}), 1, most);
}

template <class T>
EigBatchResult eig_batch(Graph& g, const TileMatrix<T>& A, const TileMatrix<real_t<T>>& W,
                         const EigBatchOptions& options) {
  const index_t n = A.m(), count = W.n(), at_once = W.tile_shape().nb;
  if (n > largest_batch_order)
    refuse("A", "order " + std::to_string(n) + "; at most " + std::to_string(largest_batch_order));
  if (W.m() != n || A.n() != n * count)
    refuse("A, W", to_string(Shape{n, A.n()}) + " and " + to_string(Shape{W.m(), count}) +
                       "; they must be n x (K n) and n x K");
  if (A.mt() > 1 || W.mt() > 1 || (n > 0 && count > 0 && A.tile_shape().nb != n * at_once))
    refuse("A, W", "tiles must be n x (kb n) and n x kb");
  EigBatchResult result;
  if (n == 0) return result;
  const TileMatrix<int> info(g.runtime(), 1, count, {1, at_once}, "info");
  const Priority where = at_once > batch_on_a_core<T>(n) ? on_gpu : Priority{};
  for (index_t t = 0; t < W.nt(); ++t) {
    g.insert<kernels::SmallEig<T>>(where, {options.vectors}, A(0, t), W(0, t), info(0, t));
    if (A.mapped() && options.vectors) g.bring_home(A(0, t));
    if (W.mapped()) g.bring_home(W(0, t));
  }
  g.wait();
  for (index_t t = 0; t < W.nt(); ++t) {
    const auto found = info(0, t).read();
    for (index_t k = 0; k < found.cols; ++k)
      if (found(0, k) != 0) result.failures.push_back({t * at_once + k, status_of(found(0, k), n)});
  }
  return result;
}

TESELA_FUNCTIONS_FOR_NUMBERS(eig_batch, eig_batch_size)

}  // namespace tesela
