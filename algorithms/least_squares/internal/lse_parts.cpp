#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/least_squares/extended_qr.hpp>
#include <tesela/algorithms/least_squares/internal/lse_parts.hpp>
#include <tesela/algorithms/least_squares/internal/ols_solve.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/rank_revealing.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tesela::detail {

using namespace kernels;

template <class T>
Constraints<T>::Constraints(Graph& g, const HostMatrix<T>& C, const HostMatrix<T>& equilibrated, double rcond)
    : kept_(static_cast<std::size_t>(C.rows())), dropped_(static_cast<std::size_t>(C.rows()), false) {
  std::iota(kept_.begin(), kept_.end(), index_t{0});
  if (C.rows() == 0) return;
  if (C.rows() <= C.cols()) {
    factor(g, C);
    condition_ = triangle_condition(r_, true);
    if (clearly_regular(condition_, rcond)) return;
  }
  choose_rows(g, equilibrated, rcond);
  factors_.reset();
  tiles_.reset();
  condition_ = 1;
  if (rank() == 0) return;
  factor(g, C);
  condition_ = triangle_condition(r_, true);
}

template <class T>
void Constraints<T>::choose_rows(Graph& g, const HostMatrix<T>& C, double rcond) {
  index_t rank = 0;
  std::vector<index_t> pivots(kept_);
  if (C.cols() > 0) {
    factor(g, C);
    if (C.rows() <= C.cols() && clearly_regular(triangle_condition(r_, true), rcond)) return;
    HostMatrix<T> nothing(r_.rows(), 0);
    scale_columns(r_);
    RankRevealed revealed = reveal_rank(r_, nothing, rcond);
    rank = revealed.rank;
    cut_ = revealed.cut;
    pivots = std::move(revealed.pivots);
  }
  kept_.assign(pivots.begin(), pivots.begin() + rank);
  std::sort(kept_.begin(), kept_.end());
  dropped_.assign(dropped_.size(), true);
  for (const index_t row : kept_) dropped_[static_cast<std::size_t>(row)] = false;
}

template <class T>
void Constraints<T>::factor(Graph& g, const HostMatrix<T>& C) {
  const index_t n = C.cols(), p = rank();
  transposed_ = HostMatrix<T>(n, p);
  for (index_t i = 0; i < p; ++i)
    for (index_t j = 0; j < n; ++j) transposed_(j, i) = conj(C(kept_[static_cast<std::size_t>(i)], j));
  const TileShape tile = qr_tile(g.runtime(), n, p);
  tiles_ = TileMatrix<T>::map(g.runtime(), transposed_.data(), n, p, n, tile, "C'");
  factors_ = qr(g, *tiles_);
  const HostMatrix<T> nothing(n, 0);
  r_ = extended_qr(g, *factors_, tile, TileMatrix<T>::map(g.runtime(), nothing.data(), n, 0, n, tile, "D")).R;
}

template <class T>
std::vector<index_t> Constraints<T>::dropped() const {
  std::vector<index_t> rows;
  for (std::size_t i = 0; i < dropped_.size(); ++i)
    if (dropped_[i]) rows.push_back(static_cast<index_t>(i));
  return rows;
}

template <class T>
HostMatrix<T> Constraints<T>::solve(Graph& g, const HostMatrix<T>& D) const {
  HostMatrix<T> y(rank(), D.cols());
  for (index_t k = 0; k < D.cols(); ++k)
    for (index_t i = 0; i < rank(); ++i) y(i, k) = D(kept_[static_cast<std::size_t>(i)], k);
  triangular_solve(g, adjoint<T>, r_, y);
  return y;
}

template <class T>
void Constraints<T>::multiply_right(Graph& g, HostMatrix<T>& M) const {
  if (!factors_ || M.size() == 0) return;
  const TileShape tile = tiles_->tile_shape();
  const auto tiles = TileMatrix<T>::map(g.runtime(), M.data(), M.rows(), M.cols(), M.ld(), {tile.mb, tile.mb}, "M");
  factors_->apply(g, Side::right, Op::none, tiles);
  g.wait();
  tiles.bring_home();
}

template <class T>
void Constraints<T>::multiply(Graph& g, HostMatrix<T>& Y) const {
  if (!factors_ || Y.size() == 0) return;
  const TileShape tile{tiles_->tile_shape().mb, std::max<index_t>(Y.cols(), 1)};
  const auto tiles = TileMatrix<T>::map(g.runtime(), Y.data(), Y.rows(), Y.cols(), Y.ld(), tile, "X");
  factors_->apply(g, Side::left, Op::none, tiles);
  g.wait();
  tiles.bring_home();
}

template <class T>
HostMatrix<T> Constraints<T>::multipliers(Graph& g, const HostMatrix<T>& M, const HostMatrix<T>& b) const {
  HostMatrix<T> kept = HostMatrix<T>::zeros(rank(), b.cols()),
                all = HostMatrix<T>::zeros(static_cast<index_t>(dropped_.size()), b.cols());
  if (kept.size() > 0 && b.rows() > 0)
    blas::gemm(adjoint<T>, Op::none, kept.rows(), kept.cols(), b.rows(), T(1), M.data(), M.ld(), b.data(), b.ld(), T(0),
               kept.data(), kept.ld());
  triangular_solve(g, Op::none, r_, kept);
  for (index_t k = 0; k < b.cols(); ++k)
    for (index_t i = 0; i < rank(); ++i) all(kept_[static_cast<std::size_t>(i)], k) = kept(i, k);
  return all;
}

namespace {

constexpr int none = std::numeric_limits<int>::min() / 4;  // exponent of zero

template <class T>
int exponent_of(T value) {
  return value != T(0) ? std::ilogb(largest_part(value)) : none;
}

template <class T>
int exponent_of_column(const HostMatrix<T>& a, index_t j) {
  int most = none;
  for (index_t i = 0; i < a.rows(); ++i) most = std::max(most, exponent_of(a(i, j)));
  return most;
}

/// Returns the exponent of the size of each row of C, its columns divided by 2^units; 0 for zero rows.
template <class T>
std::vector<int> row_sizes(const HostMatrix<T>& C, const std::vector<int>& units) {
  std::vector<int> sizes(at(C.rows()), none);
  for (index_t j = 0; j < C.cols(); ++j)
    for (index_t i = 0; i < C.rows(); ++i)
      if (C(i, j) != T(0)) sizes[at(i)] = std::max(sizes[at(i)], exponent_of(C(i, j)) - units[at(j)]);
  for (int& size : sizes) size = size == none ? 0 : size;
  return sizes;
}

/// Returns the exponent of the size of column j of C, its rows divided by 2^of_rows.
template <class T>
int column_size(const HostMatrix<T>& C, index_t j, const std::vector<int>& of_rows) {
  int size = none;
  for (index_t i = 0; i < C.rows(); ++i)
    if (C(i, j) != T(0)) size = std::max(size, exponent_of(C(i, j)) - of_rows[at(i)]);
  return size;
}

}  // namespace

template <class T>
std::vector<int> unknown_units(const HostMatrix<T>& R, const HostMatrix<T>& C) {
  std::vector<int> units(at(R.cols()), 0);
  int most = none;
  for (index_t j = 0; j < R.cols(); ++j) {
    units[at(j)] = exponent_of_column(R, j);
    most = std::max(most, units[at(j)]);
  }
  const std::vector<int> of_rows = row_sizes(C, std::vector<int>(units.size(), 0));
  most = most == none ? 0 : most;
  for (index_t j = 0; j < R.cols(); ++j)
    if (units[at(j)] == none) {
      const int size = column_size(C, j, of_rows);
      units[at(j)] = most + (size == none ? 0 : std::max(size, -1000));
    }
  return units;
}

template <class T>
HostMatrix<T> equilibrated(const HostMatrix<T>& C) {
  std::vector<int> columns(at(C.cols()), 0), rows;
  for (int sweep = 0; sweep < 4; ++sweep) {
    rows = row_sizes(C, columns);
    for (index_t j = 0; j < C.cols(); ++j) {
      const int size = column_size(C, j, rows);
      columns[at(j)] = size == none ? 0 : size;
    }
  }
  rows = row_sizes(C, columns);
  HostMatrix<T> result(C.rows(), C.cols());
  for (index_t j = 0; j < C.cols(); ++j)
    for (index_t i = 0; i < C.rows(); ++i) result(i, j) = times_power_of_two(C(i, j), -rows[at(i)] - columns[at(j)]);
  return result;
}

template <class T>
ScaledProblem<T> scaled_problem(const ExtendedQr<T>& e, const HostMatrix<T>& C, const HostMatrix<T>& D,
                                std::vector<int> units) {
  const index_t n = e.R.cols(), r = e.C.cols(), p = C.rows();
  ScaledProblem<T> s{HostMatrix<T>(e.R.rows(), n), HostMatrix<T>(p, n), HostMatrix<T>(e.C.rows(), r),
                     HostMatrix<T>(p, r)};
  s.of_rows = row_sizes(C, units);
  s.order.resize(at(n));
  std::iota(s.order.begin(), s.order.end(), index_t{0});
  std::vector<int> sizes(at(n));
  for (index_t j = 0; j < n; ++j) sizes[at(j)] = column_size(C, j, s.of_rows) - units[at(j)];
  // QR of C^T keeps the digits of small rows below large ones. If the sizes differ little, the order does not change.
  constexpr int little = 10;
  if (n > 0 && *std::max_element(sizes.begin(), sizes.end()) > *std::min_element(sizes.begin(), sizes.end()) + little)
    std::stable_sort(s.order.begin(), s.order.end(), [&](index_t a, index_t b) { return sizes[at(a)] > sizes[at(b)]; });
  for (index_t j = 0; j < n; ++j) {
    const index_t from = s.order[at(j)];
    const int unit = units[at(from)];
    s.units.push_back(unit);
    for (index_t i = 0; i < e.R.rows(); ++i) s.M(i, j) = times_power_of_two(e.R(i, from), -unit);
    for (index_t i = 0; i < p; ++i) s.C(i, j) = times_power_of_two(C(i, from), -unit - s.of_rows[at(i)]);
  }
  for (index_t k = 0; k < r; ++k) {
    int size = exponent_of_column(e.C, k);
    for (index_t i = 0; i < p; ++i)
      if (D(i, k) != T(0)) size = std::max(size, exponent_of(D(i, k)) - s.of_rows[at(i)]);
    s.of_x.push_back(size == none ? 0 : size);
    for (index_t i = 0; i < e.C.rows(); ++i) s.b(i, k) = times_power_of_two(e.C(i, k), -s.of_x.back());
    for (index_t i = 0; i < p; ++i) s.d(i, k) = times_power_of_two(D(i, k), -s.of_rows[at(i)] - s.of_x.back());
  }
  return s;
}

TESELA_FUNCTIONS_FOR_NUMBERS(scaled_problem, unknown_units, equilibrated)
TESELA_CLASSES_FOR_NUMBERS(Constraints)

}  // namespace tesela::detail
