#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/svd/internal/scaled_tall.hpp>
#include <tesela/algorithms/svd/low_rank_svd.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace tesela {
namespace {

constexpr index_t tests = 20;   ///< random vectors for the bound
constexpr double factor = 3.0;  ///< it fails with probability factor^-tests

void check(Shape a, const LowRankOptions& o) {
  const index_t least = std::min(a.rows, a.cols);
  require(o.rank >= 0 && o.rank <= least, "low_rank_svd", "rank", o.rank, " of ", least);
  require(o.oversampling >= 0, "low_rank_svd", "oversampling", o.oversampling);
  require(o.power >= 0, "low_rank_svd", "power", o.power);
}

index_t dimensions(Shape a, const LowRankOptions& o) {
  const index_t least = std::min(a.rows, a.cols);
  return o.oversampling >= least - o.rank ? least : o.rank + o.oversampling;
}

/// The products with A, tall, in tiles; matrices of few columns are one tile wide.
template <class T>
class Range {
 public:
  Range(Graph& g, const HostMatrix<T>& a)
      : g_(g),
        tile_{edge(a.rows(), g.runtime()), edge(a.cols(), g.runtime())},
        A_(TileMatrix<T>::map(g.runtime(), a.data(), a.rows(), a.cols(), a.ld(), tile_)) {}

  /// Returns a matrix with A's rows or columns as its rows.
  TileMatrix<T> tall(index_t columns) const { return {g_.runtime(), A_.m(), columns, {tile_.mb, columns}}; }
  TileMatrix<T> small(index_t columns) const { return {g_.runtime(), A_.n(), columns, {tile_.nb, columns}}; }
  /// Returns random vectors with A's columns as rows.
  TileMatrix<T> random(index_t columns, std::uint64_t seed) const {
    const auto x = generate<T>(Shape{A_.n(), columns}, parse_random_kind("normal"), seed);
    const TileMatrix<T> X = small(columns);
    X.copy_from(x.data(), x.ld());
    return X;
  }
  /// Insert A X and A^T X.
  TileMatrix<T> times(const TileMatrix<T>& X) const { return product(Op::none, X, tall(X.n())); }
  TileMatrix<T> transposed_times(const TileMatrix<T>& X) const { return product(Op::transpose, X, small(X.n())); }
  /// Inserts the computation of an orthonormal basis of X's columns; overwrites X.
  TileMatrix<T> basis(const TileMatrix<T>& X) const {
    const TileMatrix<T> Q(g_.runtime(), X.m(), X.n(), X.tile_shape());
    qr(g_, X).form_q(g_, Q);
    return Q;
  }

 private:
  /// Returns the edge of tiles: two for each core, and large products.
  static index_t edge(index_t size, const Runtime& runtime) {
    return std::clamp<index_t>(ceil_div(size, 2 * std::max(runtime.cpus(), 1)), std::min<index_t>(size, 128), 512);
  }
  TileMatrix<T> product(Op op, const TileMatrix<T>& X, TileMatrix<T> Y) const {
    gemm<T>(g_, op, Op::none, T(1), A_, X, T(0), Y);
    return Y;
  }

  Graph& g_;
  TileShape tile_;
  TileMatrix<T> A_;
};

template <class T>
HostMatrix<T> to_host(const TileMatrix<T>& X) {
  HostMatrix<T> x(X.m(), X.n());
  X.copy_to(x.data(), x.ld());
  return x;
}

/// Returns the length of the longest column.
template <class T>
double longest(const HostMatrix<T>& x) {
  double most = 0;
  for (index_t j = 0; j < x.cols(); ++j) {
    double squares = 0;
    for (index_t i = 0; i < x.rows(); ++i) squares += static_cast<double>(x(i, j)) * static_cast<double>(x(i, j));
    most = std::max(most, std::sqrt(squares));
  }
  return most;
}

/// Decomposes a tall matrix whose elements have size 1.
template <class T>
LowRankSvd<T> decompose(Graph& g, const HostMatrix<T>& a, const LowRankOptions& o) {
  const index_t l = dimensions(a.shape(), o);
  const Range<T> range(g, a);
  TileMatrix<T> Q = range.basis(range.times(range.random(l, o.seed)));
  for (int pass = 0; pass < o.power; ++pass) Q = range.basis(range.times(range.basis(range.transposed_times(Q))));
  // The test vectors are independent of Q.
  const TileMatrix<T> E = range.times(range.random(tests, ~o.seed)), inside(g.runtime(), l, tests, {l, tests});
  gemm<T>(g, Op::transpose, Op::none, T(1), Q, E, T(0), inside);
  gemm<T>(g, Op::none, Op::none, T(-1), Q, inside, T(1), E);
  const TileMatrix<T> B = range.transposed_times(Q);  // (Q^T A)^T
  g.wait();
  LowRankSvd<T> result;
  static_cast<Svd<T>&>(result) = svd(g, B, {.largest = std::min(o.rank + 1, l)});
  if (!result.status.ok()) return result;
  const auto rank = static_cast<std::size_t>(o.rank);
  if (result.values.size() > rank) result.next_value = result.values[rank];
  result.values.resize(rank);
  HostMatrix<T> right = detail::columns_of(std::move(*result.u), 0, o.rank),
                inner = detail::columns_of(std::move(*result.v), 0, o.rank), left(a.rows(), o.rank);
  if (o.rank > 0) {
    const TileMatrix<T> X(g.runtime(), l, o.rank, {l, o.rank}), U = range.tall(o.rank);
    X.copy_from(inner.data(), inner.ld());
    gemm<T>(g, Op::none, Op::none, T(1), Q, X, T(0), U);
    g.wait();
    left = to_host(U);
  }
  result.u.emplace(std::move(left));
  result.v.emplace(std::move(right));
  const double outside = factor * std::sqrt(2 / std::numbers::pi) * longest(to_host(E)),
               rounding = static_cast<double>(std::numeric_limits<T>::epsilon()) *
                          (10 + std::sqrt(static_cast<double>(a.rows()))) * result.norm;
  result.error_bound = std::hypot(outside, result.next_value) + rounding;
  return result;
}

/// Decomposes by svd.
template <class T>
LowRankSvd<T> whole(Graph& g, const HostMatrix<T>& a, const LowRankOptions& o) {
  LowRankSvd<T> result;
  const auto A = TileMatrix<T>::map(g.runtime(), a.data(), a.rows(), a.cols(), std::max<index_t>(a.ld(), 1),
                                    {std::max<index_t>(a.rows(), 1), std::max<index_t>(a.cols(), 1)});
  static_cast<Svd<T>&>(result) = svd(g, A, {.largest = std::min(o.rank + 1, a.cols())});
  if (!result.status.ok()) return result;
  const auto rank = static_cast<std::size_t>(o.rank);
  if (result.values.size() > rank) result.next_value = result.values[rank];
  result.values.resize(rank);
  result.u.emplace(detail::columns_of(std::move(*result.u), 0, o.rank));
  result.v.emplace(detail::columns_of(std::move(*result.v), 0, o.rank));
  result.error_bound = result.next_value + static_cast<double>(std::numeric_limits<T>::epsilon()) *
                                               (10 + std::sqrt(static_cast<double>(a.rows()))) * result.norm;
  return result;
}

}  // namespace

template <class T>
LowRankSvd<T> low_rank_svd(Graph& g, MatrixView<T> a, const LowRankOptions& options) {
  check(a.shape(), options);
  require(a.device < 0, "low_rank_svd", "a", "is on a device; it must be in host memory");
  detail::ScaledTall<T> scaled(a);
  LowRankSvd<T> result;
  result.status = scaled.status;
  if (!result.status.ok()) return result;
  result = dimensions(a.shape(), options) == std::min(a.rows, a.cols) ? whole(g, scaled.a, options)
                                                                      : decompose(g, scaled.a, options);
  if (!result.status.ok()) return result;
  const auto unscale = [&](double& x) { x = std::ldexp(x, scaled.exponent); };
  for (double& value : result.values) unscale(value);
  unscale(result.norm), unscale(result.error_bound), unscale(result.next_value);
  if (result.norm > static_cast<double>(std::numeric_limits<T>::max()))
    result.status.verdict = SvdStatus::Verdict::overflow;
  if (scaled.transposed) std::swap(result.u, result.v);
  return result;
}

template <class T>
LowRankSvd<T> low_rank_svd(Runtime& runtime, MatrixView<T> a, const LowRankOptions& options) {
  Graph g(runtime);
  return low_rank_svd(g, a, options);
}

double low_rank_svd_flops(Shape shape, const LowRankOptions& options) {
  const double m = static_cast<double>(shape.rows), n = static_cast<double>(shape.cols),
               l = static_cast<double>(dimensions(shape, options)), passes = 2.0 * options.power;
  const double bases = 4 * l * l * (m + passes / 2 * (m + n));
  return 2 * m * n * ((passes + 2) * l + static_cast<double>(tests)) + bases + 14 * n * l * l + 2 * m * l * l;
}

#define TESELA_INSTANTIATE(T)                                                          \
  template LowRankSvd<T> low_rank_svd(Runtime&, MatrixView<T>, const LowRankOptions&); \
  template LowRankSvd<T> low_rank_svd(Graph&, MatrixView<T>, const LowRankOptions&);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela
