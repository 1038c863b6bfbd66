#include <tesela/algorithms/least_squares/internal/kept_triangle.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/least_squares/r_factor.hpp>
#include <tesela/host/minimum_norm.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace tesela::detail {

using namespace kernels;
namespace {

constexpr index_t vectors = 3;
constexpr int power_steps = 4;

Priority on_triangle_device() { return on_column(0, highest_priority); }

}  // namespace

template <class T>
ResidentTriangle<T>::ResidentTriangle(Graph& g, TileMatrix<T> R)
    : r_(std::move(R)),
      inverses_(g.runtime(), std::min(inverted_block, r_.n()), r_.n(), {std::min(inverted_block, r_.n()), r_.n()},
                "V") {
  g.insert<InvertBlocks<T>>(on_triangle_device(), {}, r_(0, 0), inverses_(0, 0));
}

template <class T>
ResidentTriangle<T> ResidentTriangle<T>::of_qr(Graph& g, const TileMatrix<T>& factors) {
  const index_t n = factors.n();
  TileMatrix<T> R(g.runtime(), n, n, {n, n}, "R");
  std::vector<Tile<T>> row;
  for (index_t j = 0; j < factors.nt(); ++j) row.push_back(factors(0, j));
  g.insert<GatherUpper<T>>(on_triangle_device(), {}, R(0, 0), row);
  return {g, std::move(R)};
}

template <class T>
ResidentTriangle<T> ResidentTriangle<T>::of_tiles(Graph& g, const TileMatrix<T>& R, TileMatrix<T> whole) {
  rearrange(g, R, {}, whole);
  return {g, std::move(whole)};
}

template <class T>
void ResidentTriangle<T>::insert_solve(Graph& g, Op op, const Tile<T>& X) const {
  g.insert<BlockTrsm<T>>(on_triangle_device(), {op}, r_(0, 0), inverses_(0, 0), X,
                         g.scratch<T>(inverted_block, X.cols()));
}

template <class T>
void ResidentTriangle<T>::solve(Graph& g, Op op, HostMatrix<T>& X) const {
  if (X.size() == 0) return;
  const TileMatrix<T> x = one_tile(g, X, "X");
  insert_solve(g, op, x(0, 0));
  x.copy_to(X.data(), X.ld());
}

template <class T>
void ResidentTriangle<T>::solve_normal(Graph& g, HostMatrix<T>& X) const {
  if (X.size() == 0) return;
  const TileMatrix<T> x = one_tile(g, X, "X");
  insert_solve(g, adjoint<T>, x(0, 0));
  insert_solve(g, Op::none, x(0, 0));
  x.copy_to(X.data(), X.ld());
}

template <class T>
HostMatrix<T> ResidentTriangle<T>::product(Graph& g, Op op, const HostMatrix<T>& X) const {
  return tile_product(g, op, r_, X);
}

template <class T>
std::vector<real_t<T>> ResidentTriangle<T>::norms(Graph& g) const {
  const TileMatrix<real_t<T>> norms(g.runtime(), r_.n(), 1, {r_.n(), 1}, "norms");
  g.insert<ColumnNorms<T>>(on_triangle_device(), {}, r_(0, 0), norms(0, 0));
  std::vector<real_t<T>> result(static_cast<std::size_t>(r_.n()));
  norms.copy_to(result.data(), r_.n());
  return result;
}

template <class T>
double ResidentTriangle<T>::condition(Graph& g, const std::vector<real_t<T>>& norms) const {
  const index_t n = r_.n();
  const auto in_units = [&](const HostMatrix<T>& X, bool divided) {
    HostMatrix<T> result(n, vectors);
    for (index_t j = 0; j < vectors; ++j)
      for (index_t i = 0; i < n; ++i) {
        const real_t<T> norm = norms[static_cast<std::size_t>(i)];
        result(i, j) = divided ? X(i, j) / norm : X(i, j) * norm;
      }
    return result;
  };
  HostMatrix<T> wide = probes<T>(n, vectors), narrow = wide.clone();
  double largest = 0, inverse = 0;
  for (int step = 0; step < power_steps; ++step) {
    const TileMatrix<T> x = one_tile(g, in_units(wide, true), "X"), y = one_tile(g, in_units(narrow, false), "Y"),
                        rx(g.runtime(), n, vectors, {n, vectors}, "RX");
    insert_solve(g, adjoint<T>, y(0, 0));
    insert_solve(g, Op::none, y(0, 0));
    g.insert<Gemm<T, Out>>(on_triangle_device(), {}, r_(0, 0), x(0, 0), rx(0, 0));
    g.insert<Gemm<T, Out>>(on_triangle_device(), {.op_a = adjoint<T>}, r_(0, 0), rx(0, 0), x(0, 0));
    y.copy_to(narrow.data(), narrow.ld());
    x.copy_to(wide.data(), wide.ld());
    narrow = in_units(narrow, false);
    wide = in_units(wide, true);
    inverse = normalize_columns(narrow);
    largest = normalize_columns(wide);
  }
  return std::sqrt(largest) * std::sqrt(inverse);
}

template <class T>
TileMatrix<T> one_tile(Graph& g, const HostMatrix<T>& X, const char* name) {
  TileMatrix<T> tile(g.runtime(), X.rows(), X.cols(), {std::max<index_t>(X.rows(), 1), std::max<index_t>(X.cols(), 1)},
                     name);
  tile.copy_from(X.data(), X.ld());
  return tile;
}

template <class T>
HostMatrix<T> tile_product(Graph& g, Op op, const TileMatrix<T>& A, const HostMatrix<T>& X) {
  const index_t rows = apply(op, {A.m(), A.n()}).rows;
  HostMatrix<T> result(rows, X.cols());
  if (X.size() == 0) return result;
  const TileMatrix<T> x = one_tile(g, X, "X"), y(g.runtime(), rows, X.cols(), {rows, X.cols()}, "Y");
  g.insert<Gemm<T, Out>>(on_triangle_device(), {.op_a = op}, A(0, 0), x(0, 0), y(0, 0));
  y.copy_to(result.data(), result.ld());
  return result;
}

template <class T>
HostMatrix<T> probes(index_t n, index_t count) {
  HostMatrix<T> X(n, count);
  std::uint32_t state = 1;
  for (index_t k = 0; k < X.size(); ++k) {
    state = state * 1664525u + 1013904223u;
    X.data()[k] = T(static_cast<real_t<T>>(state >> 8) / static_cast<real_t<T>>(1 << 24) - real_t<T>(0.5));
  }
  normalize_columns(X);
  return X;
}

template <class T>
double normalize_columns(HostMatrix<T>& X) {
  double most = 0;
  for (index_t j = 0; j < X.cols(); ++j) {
    const real_t<T> norm = euclidean_norm(X.rows(), &X(0, j));
    if (!(static_cast<double>(norm) <= most)) most = static_cast<double>(norm);
    for (index_t i = 0; i < X.rows(); ++i) X(i, j) /= norm;
    if (std::isnan(most)) break;
  }
  return most;
}

TESELA_FUNCTIONS_FOR_NUMBERS(one_tile, tile_product, probes, normalize_columns)
TESELA_CLASSES_FOR_NUMBERS(ResidentTriangle)

}  // namespace tesela::detail
