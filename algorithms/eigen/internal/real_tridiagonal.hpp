#pragma once

#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>
#include <tesela/codelets/eigen/symmetric_scan.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/scalar.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace tesela::detail {

/// T = D T' D^H with a real symmetric tridiagonal T'; D is diagonal, with numbers of magnitude 1. For real numbers T'
/// is T, and there is no D.
template <class T>
struct RealTridiagonal {
  std::vector<real_t<T>> d, e;
  std::vector<T> phases;  ///< D, of complex numbers

  RealTridiagonal() = default;
  /// Ignores imaginary parts of the diagonal.
  RealTridiagonal(std::vector<T> diagonal, std::vector<T> below) {
    if constexpr (is_complex<T>) {
      for (const T x : diagonal) d.push_back(x.real());
      phases.assign(d.empty() ? 0 : 1, T(1));
      for (const T x : below) {
        e.push_back(std::abs(x));
        phases.push_back(e.back() > 0 ? phases.back() * (x / e.back()) : phases.back());
        phases.back() /= std::abs(phases.back());
      }
    } else {
      d = std::move(diagonal), e = std::move(below);
    }
  }

  /// Computes eigenpairs of T' and inserts X = D X', the eigenvectors of T.
  TridiagonalEigResult<real_t<T>> eigenvectors(Graph& g, const TileMatrix<T>& X,
                                               const TridiagonalEigOptions& options) const {
    if constexpr (is_complex<T>) {
      Runtime& runtime = g.runtime();
      const TileMatrix<real_t<T>> Y(runtime, X.m(), X.n(), X.tile_shape(), "Y");
      auto found = tridiagonal_eig<real_t<T>>(runtime, d, e, Y, options);
      if (!found.status.ok() || X.m() == 0) return found;
      TileMatrix<T> of_rows(runtime, X.m(), 1, {X.m(), 1}, "phases");
      of_rows.copy_from(phases.data(), X.m());
      for (index_t j = 0; j < X.nt(); ++j)
        for (index_t i = 0; i < X.mt(); ++i)
          g.insert<kernels::PhaseRows<T>>(on_gpu_number(static_cast<std::size_t>(j)), {i * X.tile_shape().mb},
                                          of_rows(0, 0), Y(i, j), X(i, j));
      return found;
    } else {
      return tridiagonal_eig<T>(g.runtime(), d, e, X, options);
    }
  }
};

}  // namespace tesela::detail
