#include "tools/problems/eigen/eig_samples.hpp"

#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::bench {

using namespace kernels;

template <class T>
void FillSymmetric<T>::cpu(const Args& args, Out<double> a) {
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i)
      a(i, j) = static_cast<double>(args.generator(std::max(i, args.column + j), std::min(i, args.column + j)));
}

template <class T>
void TakeColumns<T>::cpu(const Args& args, In<T> x, InOut<double> s) {
  for (index_t c = 0; c < args.count; ++c)
    for (index_t i = 0; i < x.rows; ++i) s(i, args.to[c]) = static_cast<double>(x(i, args.from[c]));
}

template <class T>
HostMatrix<double> symmetric_product(Runtime& runtime, const Generator<T>& lower, const HostMatrix<double>& y) {
  constexpr index_t wide = 1024;
  const index_t n = y.rows(), k = y.cols();
  HostMatrix<double> product(n, k);
  if (product.size() == 0) return product;
  const auto Y = TileMatrix<double>::map(runtime, y.data(), n, k, n, {wide, k}, "Y");
  const TileMatrix<double> panels(runtime, n, n, {n, wide}, "panels"), R(runtime, n, k, {n, k}, "R");
  Graph g(runtime);
  for (index_t j = 0; j < panels.nt(); ++j) {
    // Two panels alternate; the last, which may be narrower, is separate.
    const auto panel = panels(0, j + 1 < panels.nt() ? j % 2 : j);
    g.insert<FillSymmetric<T>>(on_gpu_number(0), {lower, j * wide}, panel);
    if (j == 0)
      g.insert<Gemm<double, Out>>(on_gpu_number(0), {}, panel, Y(j, 0), R(0, 0));
    else
      g.insert<Gemm<double>>(on_gpu_number(0), {Op::none, Op::none, 1, 1}, panel, Y(j, 0), R(0, 0));
  }
  g.wait();
  R.copy_to(product.data(), n);
  return product;
}

template <class T>
HostMatrix<double> columns_of(Runtime& runtime, const TileMatrix<T>& X, const std::vector<index_t>& columns) {
  const index_t n = X.m(), count = static_cast<index_t>(columns.size()), wide = X.tile_shape().nb;
  require(count <= TakeColumns<T>::most, "columns_of", "columns", count);
  HostMatrix<double> taken(n, count);
  if (taken.size() == 0) return taken;
  const TileMatrix<double> S(runtime, n, count, {n, count}, "S");
  Graph g(runtime);
  g.insert<Laset<double>>(on_gpu, {}, S(0, 0));
  for (index_t j = 0; j < X.nt(); ++j) {
    typename TakeColumns<T>::Args args;
    for (index_t c = 0; c < count; ++c) {
      const index_t column = columns[static_cast<std::size_t>(c)];
      if (column / wide != j) continue;
      args.from[args.count] = column % wide, args.to[args.count] = c;
      ++args.count;
    }
    if (args.count > 0) g.insert<TakeColumns<T>>(on_gpu_number(static_cast<std::size_t>(j)), args, X(0, j), S(0, 0));
  }
  g.wait();
  S.copy_to(taken.data(), n);
  return taken;
}

template <class T>
double sampled_orthogonality(Runtime& runtime, const TileMatrix<T>& X, index_t samples, std::uint64_t seed) {
  const index_t n = X.m(), k = X.n(), wide = X.tile_shape().nb;
  if (k == 0 || n == 0 || samples == 0) return 0;
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  HostMatrix<T> signs(k, samples), back(k, samples);
  for (index_t s = 0; s < samples; ++s)
    for (index_t i = 0; i < k; ++i) signs(i, s) = T(random(i, s) < 0 ? -1 : 1);
  {
    const auto S = TileMatrix<T>::map(runtime, signs.data(), k, samples, k, {wide, samples}, "signs");
    const auto B = TileMatrix<T>::map(runtime, back.data(), k, samples, k, {wide, samples}, "back");
    const TileMatrix<T> Y(runtime, n, samples, {n, samples}, "Y");
    Graph g(runtime);
    for (index_t j = 0; j < X.nt(); ++j) {
      const Priority here = on_gpu_number(static_cast<std::size_t>(j));
      if (j == 0)
        g.insert<Gemm<T, Out>>(here, {}, X(0, j), S(j, 0), Y(0, 0));
      else
        g.insert<Gemm<T>>(here, {Op::none, Op::none, 1, 1}, X(0, j), S(j, 0), Y(0, 0));
    }
    for (index_t j = 0; j < X.nt(); ++j)
      g.insert<Gemm<T, Out>>(on_gpu_number(static_cast<std::size_t>(j)), {Op::transpose, Op::none}, X(0, j), Y(0, 0),
                             B(j, 0));
    g.wait();
    B.bring_home();
  }
  double squares = 0;
  for (index_t s = 0; s < samples; ++s)
    for (index_t i = 0; i < k; ++i) {
      const double apart = static_cast<double>(back(i, s)) - static_cast<double>(signs(i, s));
      squares += apart * apart;
    }
  return std::sqrt(squares / static_cast<double>(samples));
}

TESELA_STRUCTS_FOR_REALS(FillSymmetric, TakeColumns)
TESELA_FUNCTIONS_FOR_REALS(symmetric_product, columns_of, sampled_orthogonality)

}  // namespace tesela::bench
