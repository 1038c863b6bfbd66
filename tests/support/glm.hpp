#pragma once

#include "tests/support/least_squares.hpp"
#include <tesela/algorithms/least_squares/glm.hpp>
#include <tesela/host/lapack/lapack.hpp>

/// General linear models with LAPACK's and our solutions.
namespace tesela::test {

struct Model {
  Matrix a, b, y;  // y = A x + B u
};

inline Matrix sum(const Matrix& a, const Matrix& b, double factor = 1) {
  return made(a.rows(), a.cols(), [&](index_t i, index_t j) { return a(i, j) + factor * b(i, j); });
}

/// Returns a model whose right-hand sides are consistent.
inline Model consistent(Matrix a, Matrix b, index_t r, std::uint64_t seed = 9) {
  Matrix y = sum(product(Op::none, a, random(a.cols(), r, seed)), product(Op::none, b, random(b.cols(), r, seed + 1)));
  return {std::move(a), std::move(b), std::move(y)};
}

struct GlmReference {
  Matrix X, U;
};

/// Returns the solution of LAPACK's ggglm, for n <= m <= n + p, one column at a time.
inline GlmReference reference_of(const Model& model) {
  const index_t m = model.a.rows(), n = model.a.cols(), p = model.b.cols();
  GlmReference result{Matrix(n, model.y.cols()), Matrix(p, model.y.cols())};
  for (index_t j = 0; j < model.y.cols(); ++j) {
    Matrix a = model.a.clone(), b = model.b.clone(), d = model.y.clone();
    REQUIRE(lapack::ggglm(m, n, p, a.data(), a.ld(), b.data(), b.ld(), d.data() + j * d.ld(), result.X.data() + j * n,
                          result.U.data() + j * p) == 0);
  }
  return result;
}

inline Glm<double> solve(Runtime& runtime, const Model& model, GlmOptions options = {}, TileShape tile = {64, 48}) {
  const index_t m = model.a.rows();
  if (options.method == GlmMethod::givens || options.method == GlmMethod::seminormal) tile.mb = std::max<index_t>(m, 1);
  Matrix a = model.a.clone(), b = model.b.clone(), y = model.y.clone();
  const auto A = TileMatrix<double>::map(runtime, a.data(), m, a.cols(), a.ld(), tile);
  const auto B = TileMatrix<double>::map(runtime, b.data(), m, b.cols(), b.ld(), {tile.mb, 40});
  const auto Y = TileMatrix<double>::map(runtime, y.data(), m, y.cols(), y.ld(), {tile.mb, 2});
  Graph g(runtime);
  options.multipliers = true;
  return glm(g, A, B, Y, options);
}

/// Requires a small residual, and u = B^T lambda with A^T lambda = 0 for the multipliers lambda.
inline void require_solution(const Model& model, const Glm<double>& s, double tolerance = 1e-13) {
  REQUIRE(s.X.rows() == model.a.cols());
  REQUIRE(s.U.rows() == model.b.cols());
  const Matrix residual = sum(sum(model.y, product(Op::none, model.a, s.X), -1), product(Op::none, model.b, s.U), -1);
  CHECK(norm(residual) <= tolerance * (norm(model.a) * norm(s.X) + norm(model.b) * norm(s.U) + norm(model.y)));
  Matrix lambda = s.multipliers.clone();
  for (index_t j = 0; j < lambda.cols(); ++j)
    for (index_t i = 0; i < lambda.rows(); ++i)
      lambda(i, j) = std::ldexp(lambda(i, j), s.multiplier_exponents[static_cast<std::size_t>(j)]);
  CHECK(norm(product(Op::transpose, model.a, lambda)) <= tolerance * norm(model.a) * norm(lambda));
  CHECK(distance(product(Op::transpose, model.b, lambda), s.U) <=
        tolerance * (norm(s.U) + norm(model.b) * norm(lambda)));
}

}  // namespace tesela::test
