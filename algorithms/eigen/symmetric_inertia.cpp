#include <tesela/algorithms/eigen/symmetric_inertia.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/eigen/ldlt.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela {

using namespace kernels;

template <class T>
SymmetricInertia symmetric_inertia(Graph& g, const TileMatrix<T>& A, double sigma) {
  const index_t n = A.n(), nb = A.tile_shape().nb, nt = A.nt();
  if (A.m() != n || (nt > 1 && A.tile_shape().mb != nb))
    throw ArgumentError("symmetric_inertia", "A", to_string(Shape{A.m(), n}) + "; it must be square, in square tiles");
  if (!std::isfinite(sigma)) throw ArgumentError("symmetric_inertia", "sigma", std::to_string(sigma));
  Runtime& runtime = g.runtime();
  const TileMatrix<T> S(runtime, n, n, {nb, nb}, "S"), W(runtime, n, nb, {nb, nb}, "W");
  const TileMatrix<double> mass(runtime, n, 1, {nb, 1}, "mass"), negative(runtime, nt, 1, {1, 1}, "negative");
  for (index_t i = 0; i < nt; ++i) g.insert<Laset<double>>({0.0, 1}, mass(i, 0));
  for (index_t j = 0; j < nt; ++j)
    for (index_t i = j; i < nt; ++i)
      g.insert<ShiftedCopy<T>>({i == j ? static_cast<T>(sigma) : T(0)}, A(i, j), S(i, j));
  for (index_t k = 0; k < nt; ++k) {
    g.insert<Ldlt<T>>(urgent, {}, S(k, k), mass(k, 0), negative(k, 0));
    for (index_t i = k + 1; i < nt; ++i) g.insert<LdltPanel<T>>(urgent, {}, S(k, k), S(i, k), W(i, 0), mass(i, 0));
    for (index_t j = k + 1; j < nt; ++j) {
      const Priority next{j == k + 1 ? highest_priority - 1 : 0};
      for (index_t i = j; i < nt; ++i)
        g.insert<Gemm<T>>(next, {Op::none, Op::transpose, T(-1), T(1)}, W(i, 0), S(j, k), S(i, j));
    }
    for (index_t i = k; i < nt; ++i) g.forget(S(i, k));
  }
  g.wait();
  SymmetricInertia result;
  double most = 0;
  for (index_t k = 0; k < nt; ++k) {
    result.below += static_cast<index_t>(negative(k, 0).read()(0, 0));
    const auto rows = mass(k, 0).read();
    for (index_t i = 0; i < rows.rows; ++i) most = rows(i, 0) <= most ? most : rows(i, 0);  // NaN stays
    if (std::isnan(most)) break;
  }
  result.uncertainty = static_cast<double>(std::numeric_limits<T>::epsilon()) * static_cast<double>(n) * most;
  if (!std::isfinite(result.uncertainty)) result.uncertainty = std::numeric_limits<double>::infinity();
  return result;
}

template <class T>
Certificate certify_spectrum(Graph& g, const TileMatrix<T>& A, std::span<const double> values, double accuracy,
                             index_t shifts, std::uint64_t seed) {
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
      const auto sigma = static_cast<double>(static_cast<T>(low * (1 - at) + high * at));
      const SymmetricInertia inertia = symmetric_inertia(g, A, sigma);
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

template SymmetricInertia symmetric_inertia(Graph&, const TileMatrix<float>&, double);
template SymmetricInertia symmetric_inertia(Graph&, const TileMatrix<double>&, double);
template Certificate certify_spectrum(Graph&, const TileMatrix<float>&, std::span<const double>, double, index_t,
                                      std::uint64_t);
template Certificate certify_spectrum(Graph&, const TileMatrix<double>&, std::span<const double>, double, index_t,
                                      std::uint64_t);

}  // namespace tesela
