#pragma once

#include <tesela/algorithms/eigen/symmetric_inertia.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/eigen/ldlt.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tesela::detail {

/// Returns the inertia of a symmetric or Hermitian matrix of order n. shift(S, i, j, priority) writes its tile (i, j),
/// i >= j, of size nb to S(i, j); only the lower triangle of diagonal tiles is used. With GPUs a row of tiles stays on
/// one GPU.
template <class T, class Shift>
SymmetricInertia count_pivots(Graph& g, index_t n, index_t nb, const Shift& shift) {
  using namespace kernels;
  Runtime& runtime = g.runtime();
  const index_t nt = n > 0 ? ceil_div(n, nb) : 0;
  const auto on_row = [](index_t i, int value) {
    Priority priority = on_gpu_number(static_cast<std::size_t>(i));
    priority.value = value;
    return priority;
  };
  const TileMatrix<T> S(runtime, n, n, {nb, nb}, "S"), W(runtime, n, nb, {nb, nb}, "W");
  const TileMatrix<double> mass(runtime, n, 1, {nb, 1}, "mass"), negative(runtime, nt, 1, {1, 1}, "negative");
  for (index_t i = 0; i < nt; ++i) g.insert<Laset<double>>(on_row(i, 0), {0.0, 1}, mass(i, 0));
  for (index_t j = 0; j < nt; ++j)
    for (index_t i = j; i < nt; ++i) shift(S, i, j, on_row(i, 0));
  for (index_t k = 0; k < nt; ++k) {
    g.insert<Ldlt<T>>(on_row(k, highest_priority), {}, S(k, k), mass(k, 0), negative(k, 0));
    for (index_t i = k + 1; i < nt; ++i)
      g.insert<LdltPanel<T>>(on_row(i, highest_priority), {}, S(k, k), S(i, k), W(i, 0), mass(i, 0));
    for (index_t j = k + 1; j < nt; ++j)
      for (index_t i = j; i < nt; ++i)
        g.insert<Gemm<T>>(on_row(i, j == k + 1 ? highest_priority - 1 : 0), {Op::none, adjoint<T>, T(-1), T(1)},
                          W(i, 0), S(j, k), S(i, j));
    for (index_t i = k; i < nt; ++i) g.forget(S(i, k));
  }
  g.wait();
  SymmetricInertia result;
  double most = 0;
  for (index_t k = 0; k < nt; ++k) {
    result.below += static_cast<index_t>(negative(k, 0).read()(0, 0));
    const auto rows = mass(k, 0).read();
    for (index_t i = 0; i < rows.rows; ++i)
      if (!std::isnan(most) && !(rows(i, 0) <= most)) most = rows(i, 0);  // NaN stays
  }
  // A complex product has 2 sqrt 2 times the error of a real one (Higham 2002, lemma 3.5).
  constexpr double constant = (is_complex<T> ? 2 * std::numbers::sqrt2 : 1) * std::numeric_limits<real_t<T>>::epsilon();
  result.uncertainty = constant * static_cast<double>(n) * most;
  // Subnormal pivots have absolute errors.
  if (most > 0) result.uncertainty += 4 * static_cast<double>(n) * std::numeric_limits<real_t<T>>::denorm_min();
  if (!std::isfinite(result.uncertainty)) result.uncertainty = std::numeric_limits<double>::infinity();
  return result;
}

/// Runs certify_spectrum with the inertia that inertia_at(sigma) returns.
template <class T, class Inertia>
Certificate certify(std::span<const double> values, double accuracy, index_t shifts, std::uint64_t seed,
                    const Inertia& inertia_at) {
  Certificate result;
  if (values.empty()) return result;
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  const double most = std::max(std::abs(values.front()), std::abs(values.back())),
               room = most > 0 ? 0.05 * (values.back() - values.front()) + 0.01 * most : 1, low = values.front() - room,
               high = values.back() + room;
  for (index_t s = 0; s < shifts; ++s)
    for (index_t attempt = 0;; ++attempt) {
      if (attempt == 6) {
        ++result.doubtful;
        break;
      }
      const double at = 0.5 * (random(s, attempt) + 1);
      const auto sigma = static_cast<double>(static_cast<real_t<T>>(low * (1 - at) + high * at));
      const SymmetricInertia inertia = inertia_at(sigma);
      const auto below = [&](double limit) {
        return static_cast<index_t>(std::lower_bound(values.begin(), values.end(), limit) - values.begin());
      };
      const double near = inertia.uncertainty + accuracy;
      if (!(below(sigma - near) == below(sigma + near))) continue;
      ++(inertia.below == below(sigma) ? result.certified : result.misses);
      break;
    }
  return result;
}

}  // namespace tesela::detail
