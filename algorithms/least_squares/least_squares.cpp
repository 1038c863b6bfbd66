#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/algorithms/least_squares/internal/wide_system.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/algorithms/support/calling_thread.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/range_exponent.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/runtime/require.hpp>

#include <cmath>
#include <type_traits>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

/// Factors A by the method and returns use(factors).
template <class T, class F>
auto with_factors(Graph& g, const TileMatrix<T>& A, OlsOptions options, F use) {
  options.givens.ends = options.qr.ends = options.column_ends;
  if (options.method == OlsMethod::givens) return use(givens_qr(g, A, options.givens));
  return use(qr(g, A, options.qr));
}

/// Solves for m >= n.
template <class T>
LeastSquares<T> solve_tall(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const OlsOptions& options,
                           double rcond) {
  return with_factors(g, A, options, [&](const auto& factors) {
    factors.apply(g, Side::left, adjoint<T>, B);
    if (options.method != OlsMethod::givens && !options.keep_triangle)
      if (auto solved = detail::ols_on_device(g, A, B, rcond)) return std::move(*solved);
    return detail::ols_from_r(g, extended_qr(g, factors, A.tile_shape(), B), {A.m(), A.n()}, options);
  });
}

/// Solves for m < n.
template <class T>
LeastSquares<T> solve_wide(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const OlsOptions& options,
                           double rcond) {
  const index_t m = A.m(), n = A.n();
  const TileShape cut{A.tile_shape().nb, A.tile_shape().mb};  // tiles of A^H
  const TileMatrix<T> transposed(g.runtime(), n, m, cut, "At");
  for (index_t i = 0; i < A.mt(); ++i)
    for (index_t j = 0; j < A.nt(); ++j)
      if constexpr (is_complex<T>)
        g.insert<CopyBlock<T, Out>>({.rows = transposed(j, i).rows(), .columns = A(i, j).rows(), .op = Op::conjugate},
                                    A(i, j), transposed(j, i));
      else
        g.insert<Transpose<T>>({}, A(i, j), transposed(j, i));
  OlsOptions of_transposed_matrix = options;
  of_transposed_matrix.column_ends.clear();
  return with_factors(g, transposed, of_transposed_matrix, [&](const auto& of_transposed) {
    const index_t nb = B.tile_shape().nb;
    const auto on_tiles = [&](const HostMatrix<T>& x, index_t mb, const char* name) {
      return TileMatrix<T>::map(g.runtime(), x.data(), x.rows(), x.cols(), x.ld(), {mb, nb}, name);
    };
    const detail::WideSystem<T> system{{m, n},
                                       [&](HostMatrix<T>& X) {
                                         const auto tiles = on_tiles(X, A.tile_shape().nb, "X");
                                         of_transposed.apply(g, Side::left, Op::none, tiles);
                                         g.wait();
                                         tiles.bring_home();
                                       },
                                       [&](HostMatrix<T>& C, const HostMatrix<T>& X) {
                                         const auto tiles = on_tiles(C, A.tile_shape().mb, "rest");
                                         gemm(g, Op::none, Op::none, T(-1), A, on_tiles(X, A.tile_shape().nb, "X"),
                                              T(1), tiles, {.kernel = GemmKernel::cublas});
                                         g.wait();
                                         tiles.bring_home();
                                       }};
    if (auto solved = detail::solve_wide_system(g, extended_qr(g, of_transposed, cut, B), system, rcond))
      return std::move(*solved);
    const auto factors = qr(g, A, options.qr);
    factors.apply(g, Side::left, adjoint<T>, B);
    ExtendedQr<T> e = extended_qr(g, factors, A.tile_shape(), B);
    if (!all_finite(e)) return detail::not_finite<T>(B.n());
    return detail::ols_any_rank(std::move(e), {m, n}, rcond);
  });
}

}  // namespace

template <class T>
Measured ols_error(const typename NormalResidual<T>::Result& errors, Shape a, index_t rank, double cut) {
  // docs/least-squares.md derives these bounds.
  const double rounding = rounding_bound<T>(std::max(a.rows, a.cols));
  if (rank == a.cols) return {errors.column_error, rounding};
  if (rank == a.rows) return {errors.equation_error, rounding};
  return {errors.backward_error, rounding, 2 * cut};
}

std::span<const Named<OlsMethod>> ols_methods() {
  static constexpr std::array<Named<OlsMethod>, 4> all{{
      {OlsMethod::automatic, "auto", "selected by shape"},
      {OlsMethod::tiles, "tiles", "QR over tiles"},
      {OlsMethod::tall_skinny, "tall-skinny", "one pass; a .npy file of A is streamed"},
      {OlsMethod::givens, "givens", "plane rotations, one after another"},
  }};
  return all;
}

template <class T>
OlsMethod ols_method(OlsMethod wanted, Shape a, index_t r) {
  if (wanted != OlsMethod::automatic) return wanted;
  return !is_complex<T> && a.cols + r <= 32 && a.rows / 16 >= a.cols + r ? OlsMethod::tall_skinny : OlsMethod::tiles;
}

namespace {

TileShape default_tile(const Runtime& runtime, OlsMethod method, index_t m, index_t n) {
  const auto workers = std::max<index_t>(equal_shares(runtime), 1);
  if (method == OlsMethod::tall_skinny)
    return {std::clamp<index_t>(ceil_div(m, 4 * workers * runtime.ranks()), 1024, index_t{1} << 20),
            std::max<index_t>(n, 1)};
  TileShape tile = qr_tile(runtime, std::max(m, n), std::min(m, n));
  if (method == OlsMethod::givens) return {tile.nb, tile.nb};
  // Few tall tiles if there are enough rows: fewer tile rows are joined.
  if (runtime.gpus() == 0 && std::max(m, n) >= 16 * std::min(m, n))
    tile = {std::clamp<index_t>(std::max(m, n) / (4 * workers), tile.nb, 2048), std::min<index_t>(tile.nb, 128)};
  return m < n ? TileShape{tile.nb, tile.mb} : tile;
}

}  // namespace

TileShape ols_tile(const Runtime& runtime, OlsMethod method, Shape a, TileShape wanted) {
  const auto [m, n] = a;
  TileShape tile = wanted.mb == 0 ? default_tile(runtime, method, m, n) : wanted;
  if (method == OlsMethod::givens) (m < n ? tile.nb : tile.mb) = std::max<index_t>(m < n ? n : m, 1);
  return tile;
}

namespace detail {

template <class T>
void require_conforming(const char* routine, const TileMatrix<T>& A, const TileMatrix<T>& B) {
  require(B.m() == A.m() && (std::max(A.mt(), B.mt()) <= 1 || B.tile_shape().mb == A.tile_shape().mb), routine, "B",
          B.m(), " rows in tiles of ", B.tile_shape().mb, "; A has ", A.m(), " in tiles of ", A.tile_shape().mb);
  require(!B.shares_tiles(A), routine, "B", "shares tiles with A");
}

template <class T>
LeastSquares<T> solve_empty(const TileMatrix<T>& B, index_t n) {
  FirstRows<T> b = first_rows(B, 0);
  if (!std::all_of(b.norms_below.begin(), b.norms_below.end(), [](real_t<T> norm) { return std::isfinite(norm); }))
    return not_finite<T>(B.n());
  LeastSquares<T> answer;
  answer.X = HostMatrix<T>::zeros(n, B.n());
  answer.residual_norms = std::move(b.norms_below);
  answer.degrees_of_freedom = B.m();
  return answer;
}

template <class T>
ExtendedQr<T> reduce(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const OlsOptions& options) {
  OlsOptions settled = options;
  settled.method = ols_method<T>(settled.method, {A.m(), A.n()}, B.n());
  if (settled.method == OlsMethod::tall_skinny) {
    QrUpdater<T> updater(g.runtime(), A.n(), B.n());
    updater.append(g, A, B);
    return extended_qr(g, updater);
  }
  return with_factors(g, A, settled, [&](const auto& factors) {
    factors.apply(g, Side::left, adjoint<T>, B);
    return extended_qr(g, factors, A.tile_shape(), B);
  });
}

namespace {

/// A block of rows of A, cut into tiles. With several ranks each rank owns and reads some of the tiles.
template <class T>
class RowGroup {
 public:
  RowGroup(Runtime& runtime, Shape shape, TileShape cut)
      : part_(runtime, shape, cut),
        memory_(runtime.ranks() > 1 ? HostMatrix<T>(part_.local().rows, part_.local().cols) : HostMatrix<T>()),
        tiles_(runtime.ranks() > 1 ? TileMatrix<T>::map_block_cyclic(runtime, memory_.data(), shape.rows, shape.cols,
                                                                     memory_.ld(), cut, "rows")
                                   : TileMatrix<T>(runtime, shape.rows, shape.cols, cut, "rows")) {}
  const TileMatrix<T>& tiles() const { return tiles_; }

  /// Reads rows into the tiles. Writing to a tile waits for the task that reads it.
  void read(const MatrixRows<T>& A, index_t first) {
    if (!tiles_.mapped())
      return tiles_.for_each_tile([&](const Tile<T>& t, index_t row, index_t) { A.read(first + row, t.write()); });
    tiles_.home_changed();
    const auto [rows, columns] = part_.local();
    for (index_t l = 0; columns > 0 && l < rows; l += part_.rows.block)
      A.read(first + part_.rows.global(l),
             {memory_.data() + l, std::min(part_.rows.block, rows - l), columns, memory_.ld()});
  }

 private:
  BlockCyclic part_;
  HostMatrix<T> memory_;  // must outlive the tiles
  TileMatrix<T> tiles_;
};

}  // namespace

template <class T>
std::vector<ExtendedQr<T>> reduce(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B, const HostMatrix<T>& D,
                                  index_t wanted_rows) {
  const index_t m = A.m(), n = A.n(), r = B.cols();
  const index_t suitable = (index_t{16} << 20) / (std::max<index_t>(n, 1) * index_t{sizeof(T)});
  const index_t rows = wanted_rows > 0 ? wanted_rows : std::max<index_t>(suitable, 1024);
  const auto b = TileMatrix<T>::map(g.runtime(), B.data(), m, r, B.ld(), {rows, std::max<index_t>(r, 1)}, "B");
  const auto d = TileMatrix<T>::map(g.runtime(), D.data(), D.rows(), D.cols(), D.ld(), {rows, 1}, "D");
  std::vector<QrUpdater<T>> updaters;
  for (index_t k = 0; k < std::max<index_t>(D.cols(), 1); ++k) updaters.emplace_back(g.runtime(), n, r);
  // One group has a tile for each worker; it is read while the workers process the other group.
  const index_t together = least_workers(g.runtime()) * g.runtime().grid()[0];
  std::vector<RowGroup<T>> groups;
  for (index_t group = 0; group * together * rows < m; ++group) {
    const index_t first = group * together * rows, count = std::min(rows * together, m - first);
    if (group < 2 || count < rows * together)
      groups.emplace_back(g.runtime(), Shape{count, n}, TileShape{rows, n});
    else
      std::swap(groups.front(), groups.back());
    groups.back().read(A, first);
    const TileMatrix<T>& block = groups.back().tiles();
    const auto of_b = b.view(group * together, 0, block.mt(), b.nt());
    if (D.cols() == 0) updaters.front().append(g, block, of_b);
    for (index_t k = 0; k < D.cols(); ++k)
      if (std::any_of(&D(first, k), &D(first, k) + count, [](T x) { return x != T(0); }))
        updaters[static_cast<std::size_t>(k)].append_scaled(g, block, of_b, d.view(group * together, k, block.mt(), 1));
  }
  std::vector<ExtendedQr<T>> triangles;
  for (const QrUpdater<T>& updater : updaters) triangles.push_back(extended_qr(g, updater));
  return triangles;
}

TESELA_FUNCTIONS_FOR_NUMBERS(require_conforming, solve_empty)
#define TESELA_INSTANTIATE(T) \
  template ExtendedQr<T> reduce(Graph&, const TileMatrix<T>&, const TileMatrix<T>&, const OlsOptions&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)
#undef TESELA_INSTANTIATE
template std::vector<ExtendedQr<float>> reduce(Graph&, const MatrixRows<float>&, const HostMatrix<float>&,
                                               const HostMatrix<float>&, index_t);
template std::vector<ExtendedQr<double>> reduce(Graph&, const MatrixRows<double>&, const HostMatrix<double>&,
                                                const HostMatrix<double>&, index_t);

}  // namespace detail

template <class T>
LeastSquares<T> ols(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B, const OlsOptions& options) {
  detail::require_conforming("ols", A, B);
  const index_t m = A.m(), n = A.n(), r = B.n();
  OlsOptions settled = options;
  settled.rcond = detail::default_rcond<T>("ols", options, m, n);
  if (m == 0 || n == 0) return detail::solve_empty(B, n);
  settled.method = ols_method<T>(settled.method, {m, n}, r);
  if (settled.method == OlsMethod::tall_skinny)
    return detail::ols_from_r(g, detail::reduce(g, A, B, settled), {m, n}, settled);
  LeastSquares<T> answer =
      m < n ? solve_wide(g, A, B, settled, settled.rcond) : solve_tall(g, A, B, settled, settled.rcond);
  answer.degrees_of_freedom = m - answer.rank;
  return answer;
}

template <class T>
LeastSquares<T> ols(Runtime& runtime, MatrixView<T> a, MatrixView<T> b, const OlsOptions& options) {
  const auto [m, n] = a.shape();
  const double products =
      static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::min(m, n) + b.cols);
  if (options.method == OlsMethod::automatic && options.column_ends.empty() && b.rows == m &&
      runs_here(runtime, products, largest_factored_here, a, b) && has_moderate_size(a) && has_moderate_size(b)) {
    OlsOptions settled = options;
    settled.rcond = detail::default_rcond<T>("ols", options, m, n);
    Graph g(runtime);
    if (m >= n) return detail::ols_from_r(g, detail::reduce_here(a, b), {m, n}, settled);
    LeastSquares<T> answer = detail::solve_wide_here(g, a, b, settled.rcond);
    answer.degrees_of_freedom = m - answer.rank;
    return answer;
  }
  const int of_a = scale_into_range(runtime, a), of_b = scale_into_range(runtime, b);
  LeastSquares<T> answer = detail::solve_in_tiles(
      runtime, a, b, options, [](Graph& g, const auto& A, const auto& B, const auto& o) { return ols(g, A, B, o); });
  scale_back(answer, of_a, of_b);
  return answer;
}

template <class T>
void scale_back(LeastSquares<T>& answer, int of_a, int of_b) {
  if ((of_a == 0 && of_b == 0) || answer.status == SolveStatus::not_finite) return;
  const index_t r = answer.X.cols();
  bool finite = scale_in_memory(MatrixView<T>(answer.X), of_b - of_a).ok() &&
                scale_in_memory(MatrixView<T>(answer.triangle), of_a).ok();
  for (real_t<T>& norm : answer.residual_norms) finite = std::isfinite(norm = std::ldexp(norm, of_b)) && finite;
  if (!finite) answer = detail::not_finite<T>(r);
}

template <class T>
LeastSquares<T> ols(Graph& g, const MatrixRows<T>& A, const HostMatrix<T>& B, const OlsOptions& options) {
  const index_t m = A.m(), n = A.n(), r = B.cols();
  require(B.rows() == m, "ols", "B", B.shape(), "; A has ", m, " rows");
  OlsOptions settled = options;
  settled.rcond = detail::default_rcond<T>("ols", options, m, n);
  require(options.rows >= 0, "ols", "rows", options.rows, " is negative");
  if (m == 0 || n == 0) {
    const TileShape whole{std::max<index_t>(m, 1), std::max<index_t>(r, 1)};
    return detail::solve_empty(TileMatrix<T>::map(g.runtime(), B.data(), m, r, B.ld(), whole, "B"), n);
  }
  auto triangles = detail::reduce(g, A, B, HostMatrix<T>(), options.rows);
  return detail::ols_from_r(g, std::move(triangles.front()), {m, n}, settled);
}

TESELA_FUNCTIONS_FOR_NUMBERS(ols_method, ols_error, scale_back)
#define TESELA_INSTANTIATE(T)                                                                          \
  template LeastSquares<T> ols(Graph&, const TileMatrix<T>&, const TileMatrix<T>&, const OlsOptions&); \
  template LeastSquares<T> ols(Runtime&, MatrixView<T>, MatrixView<T>, const OlsOptions&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)
template LeastSquares<float> ols(Graph&, const MatrixRows<float>&, const HostMatrix<float>&, const OlsOptions&);
template LeastSquares<double> ols(Graph&, const MatrixRows<double>&, const HostMatrix<double>&, const OlsOptions&);

}  // namespace tesela
