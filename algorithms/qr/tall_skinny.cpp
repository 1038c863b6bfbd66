#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <string>

namespace tesela {

using namespace kernels;
namespace {

/// The triangles of the chains. The first is R itself. The graph keeps the others as scratch tiles, with numbers that
/// no kernel requests. With P ranks, whose rows alternate, rank c mod P owns chain c.
template <class T>
class Chains {
 public:
  Chains(Graph& g, Tile<T> R, bool has_value, index_t blocks, const TallSkinnyOptions& options)
      : g_(g), work_(work(g, R.cols())) {
    const index_t workers = equal_shares(g.runtime()) * g.runtime().ranks();
    const index_t count =
        std::clamp<index_t>(options.chains > 0 ? options.chains : workers, 1, std::max<index_t>(blocks, 1));
    for (index_t c = 0; c < count; ++c)
      chains_.push_back({c == 0 ? R : g.scratch<T>(R.cols(), R.cols(), first_scratch + c), c == 0 && has_value});
  }

  /// Appends a row of tiles to the next chain. `weighted`: the last tile holds the factors of the rows.
  void append(const std::vector<Tile<T>>& rows, bool weighted = false) {
    insert(chains_[next_], rows, {.triangle = false, .weighted = weighted});
    next_ = (next_ + 1) % chains_.size();
  }

  /// Joins the triangles into R by a binary tree, first within each rank.
  void join() {
    const std::size_t ranks = std::min(chains_.size(), static_cast<std::size_t>(g_.runtime().ranks()));
    for (std::size_t rank = 0; rank < ranks; ++rank) join(rank, chains_.size(), ranks);
    join(0, ranks, 1);
  }

 private:
  /// Joins the triangles first, first + stride, first + 2 stride … below `end` into the first.
  void join(std::size_t first, std::size_t end, std::size_t stride) {
    for (std::size_t step = stride; first + step < end; step *= 2)
      for (std::size_t c = first; c + step < end; c += 2 * step)
        if (chains_[c + step].has_value) insert(chains_[c], {chains_[c + step].triangle}, {.triangle = true});
  }

  static constexpr index_t first_scratch = 1 << 20;

  struct Chain {
    Tile<T> triangle;
    bool has_value;
  };

  static Tile<double> work(Graph& g, index_t n) {
    Shape shape = append_rows_work<T>(n);
    // Ranks may choose different numbers of rows (with and without a GPU); all use the largest.
    for (const std::string& rows : gather_over_ranks(g.runtime(), std::to_string(shape.rows)))
      shape.rows = std::max<index_t>(shape.rows, std::stoll(rows));
    return g.scratch<double>(shape.rows, shape.cols);
  }

  void insert(Chain& chain, const std::vector<Tile<T>>& rows, const typename AppendRows<T>::Args& args) {
    if (chain.has_value)
      g_.insert<AppendRows<T>>(args, chain.triangle, work_, rows);
    else
      g_.insert<AppendRows<T, Out>>({args.triangle, args.weighted}, chain.triangle, work_, rows);
    chain.has_value = true;
  }

  Graph& g_;
  Tile<double> work_;
  std::vector<Chain> chains_;
  std::size_t next_ = 0;
};

template <class T>
void require_triangle(const TileMatrix<T>& R, index_t n) {
  require(R.m() == n && R.n() == n && R.mt() <= 1 && R.nt() <= 1, "tall_skinny_r", "R", R, " in ",
          Shape{R.mt(), R.nt()}, " tiles; it must be one tile, ", Shape{n, n});
}

/// Reads one block of rows per row of the grid of ranks; the first rank of each grid row reads its block.
template <class T>
void read_by_ranks(Graph& g, const RowSource<T>& A, index_t rows, Chains<T>& chains) {
  const auto [m, n, read] = A;
  Runtime& runtime = g.runtime();
  struct Group {
    HostMatrix<T> memory;
    TileMatrix<T> tiles;
  };
  std::deque<Group> groups;
  const index_t together = rows * runtime.grid()[0];
  for (index_t first = 0; first < m; first += together) {
    const Shape shape{std::min(together, m - first), n};
    const BlockCyclic part(runtime, shape, {rows, n});
    const auto [here, columns] = part.local();
    // One block more than workers, so that one can be read while all workers are busy.
    if (std::ssize(groups) <= least_workers(runtime) || shape.rows < together) {
      HostMatrix<T> memory(here, columns);
      auto tiles =
          TileMatrix<T>::map_block_cyclic(runtime, memory.data(), shape.rows, n, memory.ld(), {rows, n}, "rows");
      groups.push_back({std::move(memory), std::move(tiles)});
    } else {
      std::rotate(groups.begin(), groups.begin() + 1, groups.end());  // the oldest block comes first
    }
    Group& group = groups.back();
    group.tiles.home_changed();  // waits for the tasks that read the block
    if (here > 0 && columns > 0) read(first + part.rows.global(0), {group.memory.data(), here, n, here});
    for (index_t i = 0; i < group.tiles.mt(); ++i) chains.append({group.tiles(i, 0)});
  }
  chains.join();
}

template <class T>
void add_tiles(const TileMatrix<T>& A, index_t i, std::vector<Tile<T>>& row) {
  for (index_t j = 0; j < A.nt(); ++j) row.push_back(A(i, j));
}

}  // namespace

template <class T>
void tall_skinny_r(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& R, const TallSkinnyOptions& options) {
  require_triangle(R, A.n());
  require(!R.shares_tiles(A), "tall_skinny_r", "R", "shares tiles with A, which is read");
  if (A.n() == 0) return;
  if (A.m() == 0) return fill(g, R, Generator<T>{});
  Chains<T> chains(g, R(0, 0), false, A.mt(), options);
  for (index_t i = 0; i < A.mt(); ++i) {
    std::vector<Tile<T>> row;
    add_tiles(A, i, row);
    chains.append(row);
  }
  chains.join();
}

template <class T>
void tall_skinny_r(Graph& g, const MatrixRows<T>& A, const TileMatrix<T>& R, index_t rows,
                   const TallSkinnyOptions& options) {
  tall_skinny_r(g, {A.m(), A.n(), [&A](index_t first, const Block<T>& out) { A.read(first, out); }}, R, rows, options);
}

template <class T>
void tall_skinny_r(Graph& g, const RowSource<T>& A, const TileMatrix<T>& R, index_t rows,
                   const TallSkinnyOptions& options) {
  const auto [m, n, read] = A;
  require_triangle(R, n);
  require(rows >= 0, "tall_skinny_r", "rows", rows, " is negative");
  if (n == 0) return;
  if (m == 0) return fill(g, R, Generator<T>{});
  if (rows == 0) rows = std::max<index_t>((index_t{16} << 20) / (n * index_t{sizeof(T)}), 1024);
  const index_t blocks = ceil_div(m, rows);
  Chains<T> chains(g, R(0, 0), false, blocks, options);
  // One block more than workers, so that one can be read while all workers are busy. Writing to a block waits for the
  // task that reads it. With several ranks each rank reads its own blocks.
  if (g.runtime().ranks() > 1) return read_by_ranks(g, A, rows, chains);
  const index_t most = least_workers(g.runtime()) + 1;
  std::deque<TileMatrix<T>> buffers;
  for (index_t b = 0; b < blocks; ++b) {
    const index_t count = std::min(rows, m - b * rows);
    if (b < most || count < rows)
      buffers.emplace_back(g.runtime(), count, n, TileShape{count, n}, "rows");
    else
      std::rotate(buffers.begin(), buffers.begin() + 1, buffers.end());  // the oldest block comes first
    const Tile<T> tile = buffers.back()(0, 0);
    read(b * rows, tile.write());
    chains.append({tile});
  }
  chains.join();
}

template <class T>
QrUpdater<T>::QrUpdater(Runtime& runtime, index_t n, index_t r)
    : n_(n), r_(r), triangle_(runtime, n + r, n + r, {std::max<index_t>(n + r, 1), std::max<index_t>(n + r, 1)}, "R") {
  require(n >= 1, "QrUpdater", "n", n, " is less than 1");
  require(r >= 0, "QrUpdater", "r", r, " is negative");
}

template <class T>
void QrUpdater<T>::append(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TallSkinnyOptions& options) {
  append_tiles(g, A, &B, nullptr, options);
}

template <class T>
void QrUpdater<T>::append(Graph& g, const TileMatrix<T>& A, const TallSkinnyOptions& options) {
  append_tiles(g, A, nullptr, nullptr, options);
}

template <class T>
void QrUpdater<T>::append_scaled(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& D,
                                 const TallSkinnyOptions& options) {
  require(D.m() == A.m() && D.n() == 1 && (std::max(A.mt(), D.mt()) <= 1 || D.tile_shape().mb == A.tile_shape().mb),
          "QrUpdater::append_scaled", "D", D, " in tiles of ", D.tile_shape().mb, " rows; A has ", A.m(),
          " in tiles of ", A.tile_shape().mb);
  append_tiles(g, A, &B, &D, options);
}

template <class T>
void QrUpdater<T>::append_tiles(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>* B, const TileMatrix<T>* D,
                                const TallSkinnyOptions& options) {
  const index_t r = B != nullptr ? B->n() : 0;
  require(A.n() == n_ && r == r_, "QrUpdater::append", "shapes", "A has ", A.n(), " columns and B ", r,
          "; they must have ", n_, " and ", r_);
  if (r > 0)
    require(B->m() == A.m() && (std::max(A.mt(), B->mt()) <= 1 || B->tile_shape().mb == A.tile_shape().mb),
            "QrUpdater::append", "B", B->m(), " rows in tiles of ", B->tile_shape().mb, "; A has ", A.m(),
            " in tiles of ", A.tile_shape().mb);
  if (A.m() == 0) return;
  Chains<T> chains(g, triangle_(0, 0), !empty_, A.mt(), options);
  for (index_t i = 0; i < A.mt(); ++i) {
    std::vector<Tile<T>> row;
    add_tiles(A, i, row);
    if (B != nullptr) add_tiles(*B, i, row);
    if (D != nullptr) add_tiles(*D, i, row);
    chains.append(row, D != nullptr);
  }
  chains.join();
  empty_ = false;
  rows_ += A.m();
}

template <class T>
typename QrUpdater<T>::Solution QrUpdater<T>::solve() const {
  if (rows_ < n_) return {{}, {rows_ + 1}};
  const auto R = triangle_(0, 0).read();
  for (index_t k = 0; k < n_; ++k)
    if (R(k, k) == T(0) || !is_finite(R(k, k))) return {{}, {k + 1}};
  HostMatrix<T> x(n_, r_);
  bool finite = true;
  for (index_t j = 0; j < r_; ++j) {
    for (index_t i = 0; i < n_; ++i) x(i, j) = R(i, n_ + j);
    for (index_t k = n_ - 1; k >= 0; --k) {
      x(k, j) /= R(k, k);
      finite = finite && is_finite(x(k, j));
      for (index_t i = 0; i < k; ++i) x(i, j) -= times(R(i, k), x(k, j));
    }
  }
  if (!finite) return {{}, {n_ + 1}};
  return {std::move(x), {}};
}

template <class T>
std::vector<real_t<T>> QrUpdater<T>::residual_norms() const {
  std::vector<real_t<T>> norms(static_cast<std::size_t>(r_));
  if (empty_) return norms;
  const auto R = triangle_(0, 0).read();
  for (index_t j = 0; j < r_; ++j)
    for (index_t i = n_; i <= n_ + j; ++i) {
      real_t<T>& norm = norms[static_cast<std::size_t>(j)];
      norm = std::hypot(norm, std::abs(R(i, n_ + j)));
    }
  return norms;
}

#define TESELA_INSTANTIATE(T)                                                                                        \
  template void tall_skinny_r(Graph&, const TileMatrix<T>&, const TileMatrix<T>&, const TallSkinnyOptions&);         \
  template void tall_skinny_r(Graph&, const RowSource<T>&, const TileMatrix<T>&, index_t, const TallSkinnyOptions&); \
  template class QrUpdater<T>;
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)
template void tall_skinny_r(Graph&, const MatrixRows<float>&, const TileMatrix<float>&, index_t,
                            const TallSkinnyOptions&);
template void tall_skinny_r(Graph&, const MatrixRows<double>&, const TileMatrix<double>&, index_t,
                            const TallSkinnyOptions&);

}  // namespace tesela
