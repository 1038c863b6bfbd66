#pragma once

#include "tests/support/least_squares.hpp"
#include <tesela/algorithms/least_squares/glm.hpp>

/// General linear models with LAPACK's and our solutions.
namespace tesela::test {

template <class T>
struct Model {
  HostMatrix<T> a, b, y;  // y = A x + B u
};

inline constexpr GlmMethod every_glm_method[] = {GlmMethod::seminormal, GlmMethod::tiles, GlmMethod::gqr,
                                                 GlmMethod::givens};

template <class T>
HostMatrix<T> sum(const HostMatrix<T>& a, const HostMatrix<T>& b, double factor = 1) {
  return filled<T>(a.shape(), [&](index_t i, index_t j) { return a(i, j) + static_cast<real_t<T>>(factor) * b(i, j); });
}

/// Returns a model whose right-hand sides are consistent.
template <class T>
Model<T> consistent(HostMatrix<T> a, HostMatrix<T> b, index_t r, std::uint64_t seed = 9) {
  HostMatrix<T> y = sum(product(a, random<T>(a.cols(), r, seed)), product(b, random<T>(b.cols(), r, seed + 1)));
  return {std::move(a), std::move(b), std::move(y)};
}

template <class T>
struct GlmReference {
  HostMatrix<T> X, U;
};

/// Returns the solution of LAPACK's ggglm, for n <= m <= n + p, one column at a time.
template <class T>
GlmReference<T> reference_of(const Model<T>& model) {
  const index_t m = model.a.rows(), n = model.a.cols(), p = model.b.cols();
  GlmReference<T> result{HostMatrix<T>(n, model.y.cols()), HostMatrix<T>(p, model.y.cols())};
  for (index_t j = 0; j < model.y.cols(); ++j) {
    HostMatrix<T> a = model.a.clone(), b = model.b.clone(), d = model.y.clone();
    REQUIRE(lapack::ggglm(m, n, p, a.data(), a.ld(), b.data(), b.ld(), d.data() + j * d.ld(), result.X.data() + j * n,
                          result.U.data() + j * p) == 0);
  }
  return result;
}

/// Solves in tiles, or in memory if the tile is 0 x 0.
template <class T>
Glm<T> solve(Runtime& runtime, const Model<T>& model, GlmOptions options = {}, TileShape tile = {64, 48}) {
  HostMatrix<T> a = model.a.clone(), b = model.b.clone(), y = model.y.clone();
  options.multipliers = true;
  if (tile.mb == 0) return glm(runtime, MatrixView(a), MatrixView(b), MatrixView(y), options);
  if (options.method == GlmMethod::givens || options.method == GlmMethod::seminormal)
    tile.mb = std::max<index_t>(a.rows(), 1);
  Graph g(runtime);
  return glm(g, MatrixView(a).in_tiles(runtime, tile, "A"), MatrixView(b).in_tiles(runtime, {tile.mb, 40}, "B"),
             MatrixView(y).in_tiles(runtime, {tile.mb, 2}, "y"), options);
}

/// Returns multipliers times their powers of two.
template <class T>
HostMatrix<T> scaled(const HostMatrix<T>& multipliers, const std::vector<int>& exponents) {
  return filled<T>(multipliers.shape(), [&](index_t i, index_t j) {
    return times_power_of_two(multipliers(i, j), exponents[static_cast<std::size_t>(j)]);
  });
}

/// Requires a residual of some roundings, and u = B^H lambda with A^H lambda = 0 for the multipliers lambda.
template <class T>
void require_solution(const Model<T>& model, const Glm<T>& s, double roundings = 450) {
  const double tolerance = roundings * eps<T>;
  REQUIRE(s.X.rows() == model.a.cols());
  REQUIRE(s.U.rows() == model.b.cols());
  const HostMatrix<T> residual = sum(sum(model.y, product(model.a, s.X), -1), product(model.b, s.U), -1);
  CHECK(norm(residual) <= tolerance * (norm(model.a) * norm(s.X) + norm(model.b) * norm(s.U) + norm(model.y)));
  const HostMatrix<T> lambda = scaled(s.multipliers, s.multiplier_exponents);
  CHECK(norm(product(Op::conjugate, model.a, lambda)) <= tolerance * norm(model.a) * norm(lambda));
  CHECK(distance(product(Op::conjugate, model.b, lambda), s.U) <=
        tolerance * (norm(s.U) + norm(model.b) * norm(lambda)));
}

/// Requires the solution of ggglm.
template <class T>
void require_ggglm(const Model<T>& model, const Glm<T>& s) {
  const GlmReference<T> reference = reference_of(model);
  const double factor = 1e3 * eps<T> * s.condition * s.condition_b;
  CHECK(distance(s.X, reference.X) <= factor * (norm(reference.X) + norm(reference.U)));
  CHECK(distance(s.U, reference.U) <= factor * (norm(reference.X) + norm(reference.U)));
}

}  // namespace tesela::test
