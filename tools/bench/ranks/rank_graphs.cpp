#include "tools/bench/ranks/rank_rows.hpp"
#include "tools/checks/qr_parts_error.hpp"
#include "tools/checks/reference.hpp"
#include "tools/peers/harness.hpp"
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_matrices.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/tiles/block_cyclic.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

namespace tesela::bench {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// All ranks begin together.
template <class F>
double together(Runtime& runtime, const F& f) {
  gather_over_ranks(runtime, "");
  return seconds_of(f);
}

/// Memory that is const is what tasks only read.
TileMatrix<double> map(Runtime& runtime, const HostMatrix<double>& local, const BlockCyclic& part, const char* name) {
  const auto [m, n] = part.whole();
  return TileMatrix<double>::map_block_cyclic(runtime, const_cast<double*>(local.data()), m, n, local.ld(),
                                              {part.rows.block, part.columns.block}, name);
}

HostMatrix<double> copy_of(const HostMatrix<double>& a) {
  HostMatrix<double> copy(a.rows(), a.cols());
  parallel_for(a.cols(), [&](index_t first, index_t end) {
    std::copy_n(&a(0, first), (end - first) * a.rows(), &copy(0, first));
  });
  return copy;
}

/// Made once: a row's runs have the same numbers.
const HostMatrix<double>& generated(const BlockCyclic& part, std::uint64_t seed) {
  using Key = std::tuple<std::uint64_t, index_t, index_t, index_t, index_t, int, int>;
  static std::map<Key, HostMatrix<double>> made;
  const Key key{seed,
                part.rows.size,
                part.columns.size,
                part.rows.block,
                part.columns.block,
                part.rows.parts,
                part.columns.parts};
  if (const auto known = made.find(key); known != made.end()) return known->second;
  HostMatrix<double> a(part.local().rows, part.local().cols);
  const Generator<double> element = RandomMatrix{}.generator<double>(seed);
  parallel_for(a.cols(), [&](index_t first, index_t end) {
    for (index_t j = first; j < end; ++j)
      for (index_t i = 0; i < a.rows(); ++i) a(i, j) = element(part.rows.global(i), part.columns.global(j));
  });
  return made.emplace(key, std::move(a)).first->second;
}

}  // namespace

RankRun rank_gemm(Runtime& runtime, RankProblem p) {
  const auto [mb, nb, kb] = gemm_tile(runtime, p.m, p.n, p.n);
  const BlockCyclic a_part(runtime, {p.m, p.n}, {mb, kb}), b_part(runtime, {p.n, p.n}, {kb, nb}),
      c_part(runtime, {p.m, p.n}, {mb, nb});
  const HostMatrix<double>&a = generated(a_part, 1), &b = generated(b_part, 2);
  HostMatrix<double> c(c_part.local().rows, c_part.local().cols);
  parallel_for(c.cols(), [&](index_t first, index_t end) { std::fill_n(&c(0, first), (end - first) * c.rows(), 0.0); });
  RankRun result;
  {
    const auto A = map(runtime, a, a_part, "A"), B = map(runtime, b, b_part, "B"), C = map(runtime, c, c_part, "C");
    result.seconds = together(runtime, [&] {
      Graph g(runtime);
      gemm(g, Op::none, Op::none, 1.0, A, B, 0.0, C);
      static_cast<void>(g.wait());
      C.bring_home();
    });
  }
  if (!p.check) return result;
  const ProductError error = product_error<double>(
      runtime, {Op::none, Op::none, 1.0, 0.0, a, b, HostMatrix<double>(), c, a_part, b_part, c_part},
      sample_rows(p.m, 8, 3));
  result.error = error.finite ? error.scaled / product_bound<double>(p.n) : 2;
  return result;
}

RankRun rank_qr(Runtime& runtime, RankProblem p) {
  constexpr index_t vectors = 8;
  const TileShape tile = qr_tile(runtime, p.m, p.n);
  const BlockCyclic part(runtime, {p.m, p.n}, tile), of_block(runtime, {p.m, 3 * vectors}, tile);
  const HostMatrix<double>& a = generated(part, 1);
  HostMatrix<double> factors = copy_of(a);
  const auto A = map(runtime, factors, part, "A");
  RankRun result;
  std::vector<QrFactorization<double>> found;
  result.seconds = together(runtime, [&] {
    Graph g(runtime);
    found.push_back(qr(g, A));
    static_cast<void>(g.wait());
    A.bring_home();
  });
  if (!p.check) return result;
  const QrPartsSample<double> sample(runtime, part, factors, vectors, 7);
  HostMatrix<double> block = sample.block(of_block);
  {
    const auto C = map(runtime, block, of_block, "C");
    Graph g(runtime);
    found.front().apply(g, Side::left, Op::none, C);
    static_cast<void>(g.wait());
  }
  const QrError error = sample.error_of_product(a, block, of_block);
  const QrBounds bounds = qr_bounds<double>(p.m, p.n);
  result.error = error.finite ? std::max(error.backward / (bounds.backward + error.lost),
                                         error.orthogonality / bounds.orthogonality)
                              : 2;
  return result;
}

RankRun rank_tall_skinny(Runtime& runtime, RankProblem p) {
  const TileShape tile{std::min<index_t>(p.m, 1 << 16), p.n};
  const BlockCyclic part(runtime, {p.m, p.n}, tile);
  const HostMatrix<double>& a = generated(part, 1);
  const TileMatrix<double> R(runtime, p.n, p.n, {p.n, p.n}, "R");
  RankRun result;
  {
    const auto A = map(runtime, a, part, "A");
    result.seconds = together(runtime, [&] {
      Graph g(runtime);
      tall_skinny_r(g, A, R);
      static_cast<void>(g.wait());
    });
  }
  // R^T R = A^T A
  std::vector<double> gram(static_cast<std::size_t>(p.n * p.n), 0.0);
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t k = 0; k < a.cols(); ++k)
      for (index_t i = 0; i < a.rows(); ++i) gram[static_cast<std::size_t>(k + j * p.n)] += a(i, k) * a(i, j);
  sum_over_ranks(runtime, gram);
  const auto r = R(0, 0).read();
  double worst = 0, largest = 0;
  for (index_t j = 0; j < p.n; ++j)
    for (index_t k = 0; k < p.n; ++k) {
      double sum = 0;
      for (index_t i = 0; i <= std::min(j, k); ++i) sum += r(i, k) * r(i, j);
      const double wanted = gram[static_cast<std::size_t>(k + j * p.n)];
      worst = std::max(worst, std::isfinite(sum) ? std::abs(sum - wanted) : std::abs(wanted) + 1);
      largest = std::max(largest, std::abs(wanted));
    }
  result.error = worst / (largest * eps * std::sqrt(static_cast<double>(p.m)) * 100);
  return result;
}

RankRun rank_tridiagonal(Runtime& runtime, RankProblem p) {
  const TileShape tile{std::min<index_t>(p.m, 1 << 16), 1};
  const BlockCyclic part(runtime, {p.m, 1}, tile);
  const HostMatrix<double>&dl = generated(part, 1), &du = generated(part, 3), &b = generated(part, 4);
  HostMatrix<double> d = copy_of(generated(part, 2)), x = copy_of(b);
  for (index_t i = 0; i < d.size(); ++i) d(i, 0) += d(i, 0) < 0 ? -3 : 3;
  RankRun result;
  {
    const Tridiagonal<double> A{map(runtime, dl, part, "dl"), map(runtime, d, part, "d"), map(runtime, du, part, "du")};
    const auto B = map(runtime, x, part, "B");
    result.seconds = together(runtime, [&] {
      Graph g(runtime);
      tridiagonal_solve(g, A, B);
      static_cast<void>(g.wait());
      B.bring_home();
    });
  }
  // Rows whose neighbours are here as well.
  double worst = 0;
  for (index_t l = 1; l + 1 < x.rows(); ++l) {
    if (part.rows.global(l - 1) + 2 != part.rows.global(l + 1)) continue;
    const double residual = dl(l, 0) * x(l - 1, 0) + d(l, 0) * x(l, 0) + du(l, 0) * x(l + 1, 0) - b(l, 0);
    worst = std::max(worst, std::isfinite(residual) ? std::abs(residual) : 1.0);
  }
  result.error = worst / (100 * eps);
  return result;
}

RankRun rank_toeplitz(Runtime& runtime, RankProblem p) {
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, p.m);
  RankRun result;
  Spectrum<double> found;
  result.seconds = together(runtime, [&] {
    Graph g(runtime);
    found = toeplitz_spectrum<double>(g, std::span<const double>(t.data(), static_cast<std::size_t>(p.m)));
  });
  result.error = found.good() ? 0 : 2;  // by residuals and counts, the same on all ranks
  return result;
}

}  // namespace tesela::bench
