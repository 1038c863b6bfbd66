#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/qr/streamed_r.hpp>
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/parallel_zeros.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace tesela {

using namespace kernels;
namespace {

/// A block of rows of A and its tiles. The tiles' vectors are not needed after they have been applied to all columns.
template <class T>
class RowBlock {
 public:
  RowBlock(Runtime& runtime, index_t rows, index_t n, index_t nb, index_t ib)
      : runtime_(runtime), nb_(nb), home_(rows, n), factors_(runtime, ib, n, {ib, nb}, "T") {}

  /// Reads rows into the block. Waits for the tasks that use its old contents.
  void read(const RowSource<T>& A, index_t first, index_t rows) {
    if (!tiles_ || tiles_->m() != rows) {
      tiles_.reset();
      tiles_.emplace(TileMatrix<T>::map(runtime_, home_.data(), rows, A.n, home_.ld(), {rows, nb_}, "rows"));
    }
    tiles_->home_changed();
    A.read(first, {home_.data(), rows, A.n, home_.ld()});
  }
  Tile<T> rows(index_t j) const { return (*tiles_)(0, j); }
  Tile<T> factor(index_t j) const { return factors_(0, j); }

 private:
  Runtime& runtime_;
  index_t nb_;
  HostMatrix<T> home_;
  std::optional<TileMatrix<T>> tiles_;  // views of home_, which lives longer
  TileMatrix<T> factors_;
};

/// Inserts R = the triangle of [R; block].
template <class T>
void append(Graph& g, const TileMatrix<T>& R, const RowBlock<T>& block, index_t ib, const Tile<T>& work, bool on_gpu) {
  const index_t nt = R.nt(), nb = R.tile_shape().nb;
  const auto towards = [&](index_t column, int first) {
    return Priority{static_cast<int>(2 * (nt - column)) + first, on_gpu};
  };
  for (index_t k = 0; k < nt; ++k) {
    const Tile<T> v = block.rows(k), t = block.factor(k);
    const index_t width = v.cols();
    g.insert<Tpqrt<T>>(towards(k, 1), {k * nb, 0, width, ib, false}, R(0, k), v, t, work);
    for (index_t j = k + 1; j < nt; ++j)
      g.insert<Tpmqrt<T>>(towards(j, 0), {Side::left, adjoint<T>, k * nb, 0, width, ib, false}, v, t, R(0, j),
                          block.rows(j), work);
    g.forget(v);
    g.forget(t);
  }
}

template <class T>
index_t suitable_rows(const Runtime& runtime, index_t m, index_t n) {
  const index_t bytes = runtime.gpus() > 0 ? index_t{1} << 31 : index_t{1} << 26;
  const index_t rows = bytes / (n * index_t{sizeof(T)});
  return std::min(m,
                  runtime.gpus() > 0 ? std::clamp<index_t>(rows, 2048, 32768) : std::clamp<index_t>(rows, 1024, 8192));
}

}  // namespace

template <class T>
HostMatrix<T> streamed_r(Graph& g, const RowSource<T>& A, const StreamedQrOptions& options) {
  const index_t m = A.m, n = A.n;
  require(options.rows >= 0, "streamed_r", "rows", options.rows, " is negative");
  auto home = parallel_zeros<T>(n, n);
  if (m == 0 || n == 0) return home;
  Runtime& runtime = g.runtime();
  if constexpr (!is_complex<T>)
    if (n <= 192 && m / 16 >= n) {
      const auto R = TileMatrix<T>::map(runtime, home.data(), n, n, n, {n, n}, "R");
      tall_skinny_r(g, A, R, options.rows);
      g.wait();
      R.bring_home();
      return home;
    }
  const index_t rows = options.rows > 0 ? std::min(options.rows, m) : suitable_rows<T>(runtime, m, n),
                nb = std::min(n, qr_tile(runtime, m, n, is_complex<T>).nb),
                ib = runtime.gpus() > 0 ? nb : std::min<index_t>(nb, 32);
  const Shape shape = qr_work(nb, nb, rows, runtime.gpus() > 0);
  const Tile<T> work = g.scratch<T>(shape.rows, shape.cols);
  const auto R = TileMatrix<T>::map(runtime, home.data(), n, n, n, {n, nb}, "R");
  std::array<std::optional<RowBlock<T>>, 2> blocks;
  for (index_t first = 0, turn = 0; first < m; first += rows, turn = 1 - turn) {
    std::optional<RowBlock<T>>& block = blocks[static_cast<std::size_t>(turn)];
    if (!block) block.emplace(runtime, rows, n, nb, ib);
    block->read(A, first, std::min(rows, m - first));
    append(g, R, *block, ib, work, options.on_gpu);
  }
  g.wait();
  R.bring_home();
  return home;
}

TESELA_FUNCTIONS_FOR_NUMBERS(streamed_r)

}  // namespace tesela
