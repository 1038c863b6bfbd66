#pragma once

#include <tesela/algorithms/eigen/bidiagonal/bidiagonal_tree.hpp>
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/algorithms/svd/internal/real_bidiagonal.hpp>
#include <tesela/algorithms/svd/internal/scaled_tall.hpp>
#include <tesela/algorithms/svd/internal/svd_reduction.hpp>
#include <tesela/algorithms/svd/internal/tall_factors.hpp>
#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/codelets/eigen/symmetric_scan.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/tiles/parallel_zeros.hpp>

#include <algorithm>
#include <cmath>
#include <future>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace tesela::detail {

/// Returns the exponent that scales A such that its largest element has size 1, or the status `not_finite`. GPUs
/// search.
template <class T>
Magnitude<T> magnitude(Graph& g, const TileMatrix<T>& A) {
  const TileMatrix<double> found(g.runtime(), A.mt(), A.nt(), {1, 1}, "largest");
  A.for_each_tile([&](const Tile<T>& tile, index_t row, index_t column) {
    const index_t i = row / A.tile_shape().mb, j = column / A.tile_shape().nb;
    g.insert<kernels::LargestElement<T>>(on_gpu_number(static_cast<std::size_t>(j)), {}, tile, found(i, j));
  });
  double largest = 0;
  found.for_each_tile([&](const Tile<double>& tile, index_t, index_t) {
    const double one = *tile.read().data;
    if (!std::isnan(largest) && !(one <= largest)) largest = one;
  });
  if (std::isfinite(largest)) return {.exponent = largest > 0 ? std::ilogb(largest) : 0};
  HostMatrix<T> a = A.to_host();
  return Magnitude<T>::of(MatrixView(a));
}

/// Returns A 2^-exponent or its adjoint, in these tiles, on GPUs if there are any.
template <class T>
TileMatrix<T> scaled_copy(Graph& g, const TileMatrix<T>& A, bool transposed, TileShape tile, int exponent) {
  TileMatrix<T> scaled(g.runtime(), transposed ? A.n() : A.m(), transposed ? A.m() : A.n(), tile, "A");
  rearrange(g, A, {.op = transposed ? adjoint<T> : Op::none, .on_gpus = g.runtime().gpus() > 0}, scaled);
  if (exponent == 0) return scaled;
  scaled.for_each_tile([&](const Tile<T>& one, index_t, index_t column) {
    g.insert<kernels::ScalePowerOfTwo<T>>(on_gpu_number(static_cast<std::size_t>(column / tile.nb)), {-exponent}, one);
  });
  return scaled;
}

/// Returns the singular values of B', descending, by bisection on GPUs: the nonnegative eigenvalues of the tridiagonal
/// matrix with diagonal 0 and off-diagonal d1 e1 d2 …. Errors are a few eps ||B'||, as B' has itself.
template <class T>
std::vector<double> bisected_values(Runtime& runtime, const std::vector<T>& d, const std::vector<T>& e) {
  const auto n = static_cast<index_t>(d.size());
  std::vector<double> zeros(2 * d.size(), 0.0), mixed;
  for (std::size_t i = 0; i < d.size(); ++i) {
    mixed.push_back(static_cast<double>(d[i]));
    if (i < e.size()) mixed.push_back(static_cast<double>(e[i]));
  }
  std::vector<double> values =
      tridiagonal_eigenvalues<double>(runtime, zeros, mixed,
                                      {.method = TridiagonalEigMethod::bisection, .range = IndexRange{n, 2 * n}})
          .values;
  for (double& value : values) value = std::max(value, 0.0);
  std::reverse(values.begin(), values.end());
  return values;
}

/// Singular vectors in tiles: on GPUs, or in host memory whose pages all cores touch first.
template <class T>
class SingularVectors {
 public:
  SingularVectors(Runtime& runtime, Shape shape, TileShape tile, const char* name, bool on_host) {
    tile.nb = std::max<index_t>(tile.nb, 1);
    if (on_host) home_.emplace(parallel_zeros<T>(shape.rows, shape.cols));
    tiles_.emplace(on_host ? TileMatrix<T>::map(runtime, home_->data(), shape.rows, shape.cols, home_->ld(), tile, name)
                           : TileMatrix<T>(runtime, shape.rows, shape.cols, tile, name));
  }
  const TileMatrix<T>& tiles() const { return *tiles_; }
  /// Copies X, which has the same tiles, for complex numbers with its rows times the phases: on GPUs for complex
  /// doubles, otherwise on the host, which waits.
  void copy(Graph& g, const TileMatrix<double>& X, const std::vector<T>& phases) {
    if constexpr (std::is_same_v<T, std::complex<double>>) {
      const index_t n = X.m();
      TileMatrix<T> D(g.runtime(), n, 1, {n, 1}, "phases");
      D.copy_from(phases.data(), n);
      for (index_t k = 0; k < X.nt(); ++k)
        g.insert<kernels::PhaseRows<T>>(on_gpu_number(static_cast<std::size_t>(k)), {}, D(0, 0), X(0, k),
                                        (*tiles_)(0, k));
      return;
    }
    for (index_t k = 0; k < X.nt(); ++k) {
      const auto x = X(0, k).read();
      const auto y = (*tiles_)(0, k).write();
      parallel_for(x.cols, 32, [&](index_t first, index_t end) {
        for (index_t j = first; j < end; ++j)
          for (index_t i = 0; i < x.rows; ++i) {
            const auto number = static_cast<real_t<T>>(x(i, j));
            if constexpr (is_complex<T>)
              y(i, j) = phases[static_cast<std::size_t>(i)] * number;
            else
              y(i, j) = number;
          }
      });
    }
  }
  /// Inserts the transfer of the tiles to host memory, if they are there.
  void bring_home(Graph& g) const {
    if (home_) tiles_->for_each_tile([&](const Tile<T>& tile, index_t, index_t) { g.bring_home(tile); });
  }
  /// Moves the matrix to the host or leaves it in tiles. Waits.
  void move_to(std::optional<HostMatrix<T>>& host, std::optional<TileMatrix<T>>& tiles) {
    if (!home_) return static_cast<void>(tiles = std::exchange(tiles_, std::nullopt));
    tiles_->bring_home();
    tiles_.reset();
    host = std::move(home_);
  }

 private:
  std::optional<HostMatrix<T>> home_;
  std::optional<TileMatrix<T>> tiles_;
};

/// Decomposes B' on GPUs and computes A's values and vectors. Prepares memory for the vectors while GPUs reduce A, and
/// finds the values while it finds the vectors.
///
/// tall  Q of a tall A, whose R was reduced; or null
template <class T>
void finish_on_gpus(Graph& g, const SvdReduction<T>& reduction, const TallFactors<T>* tall, int exponent,
                    const SvdOptions& o, Svd<T>& result) {
  Runtime& runtime = g.runtime();
  const index_t n = reduction.n();
  const bool vectors = o.vectors != SvdVectors::none;
  std::optional<SingularVectors<T>> left, right, product;
  const auto prepare = [&](index_t k) {
    const TileShape tile{n, eigenvectors_tile(runtime, n, k)};
    left.emplace(runtime, Shape{n, k}, tile, "U", !o.in_tiles && tall == nullptr);
    right.emplace(runtime, Shape{n, k}, tile, "V", !o.in_tiles);
    if (tall == nullptr) return;
    const index_t m = tall->rows();
    product.emplace(runtime, Shape{m, o.vectors == SvdVectors::all ? m : k}, TallFactors<T>::tile(runtime, {m, n}), "U",
                    !o.in_tiles);
  };
  if (vectors && !o.range) prepare(o.largest.value_or(n));
  const RealBidiagonal<T> b(reduction.diagonal(), reduction.off_diagonal());
  g.wait();
  std::future<std::vector<double>> values =
      std::async(std::launch::async, [&] { return bisected_values(runtime, b.d, b.e); });
  index_t first = 0, k = o.largest.value_or(n);
  if (!left) {
    const auto [begin, end] = set_values(result, values.get(), exponent, o);
    if (!vectors) return;
    first = begin, k = end - begin;
    prepare(k);
  }
  if (k > 0) {
    const std::vector<double> diagonal(b.d.begin(), b.d.end()), above(b.e.begin(), b.e.end());
    const auto find = [&](const TileMatrix<double>& U, const TileMatrix<double>& V) {
      const int info = bidiagonal_tree(runtime, diagonal, above, U, V, {.first = first, .values = false}).info;
      if (info != 0) result.status = {SvdStatus::Verdict::not_converged, info, info};
    };
    if constexpr (std::is_same_v<T, double>) {
      find(left->tiles(), right->tiles());
    } else {
      const TileShape tile = left->tiles().tile_shape();
      const TileMatrix<double> U(runtime, n, k, tile, "U"), V(runtime, n, k, tile, "V");
      find(U, V);
      left->copy(g, U, b.left), right->copy(g, V, b.right);
    }
    if (result.status.verdict == SvdStatus::Verdict::not_converged) return;
    reduction.apply(Side::right, right->tiles());
    right->bring_home(g);
    reduction.apply(Side::left, left->tiles());
  }
  if (product && product->tiles().n() > 0) tall->multiply(g, left->tiles(), product->tiles());
  SingularVectors<T>& whole = product ? *product : *left;
  whole.bring_home(g);
  if (values.valid()) set_values(result, values.get(), exponent, o);
  g.wait();
  whole.move_to(result.u, result.u_tiles);
  right->move_to(result.v, result.v_tiles);
}

/// Moves vectors from the host to tiles.
template <class T>
void move_to_tiles(Runtime& runtime, Svd<T>& result) {
  const auto move = [&](std::optional<HostMatrix<T>>& x, std::optional<TileMatrix<T>>& tiles, const char* name) {
    if (!x) return;
    const index_t wide = eigenvectors_tile(workers_for<T>(runtime), x->rows(), x->cols());
    tiles.emplace(runtime, x->rows(), x->cols(), TileShape{std::max<index_t>(x->rows(), 1), std::max<index_t>(wide, 1)},
                  name);
    tiles->copy_from(x->data(), x->ld());
    x.reset();
  };
  move(result.u, result.u_tiles, "U"), move(result.v, result.v_tiles, "V");
}

}  // namespace tesela::detail
