#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/qr/orthogonalize.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/algorithms/svd/internal/scaled_tall.hpp>
#include <tesela/algorithms/svd/internal/svd_on_gpus.hpp>
#include <tesela/algorithms/svd/low_rank_svd.hpp>
#include <tesela/codelets/support/fill.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

namespace tesela {
namespace {

constexpr index_t tests = 20;   ///< random vectors for the bound
constexpr double factor = 3.0;  ///< it fails with probability factor^-tests

/// Returns c with ||B||_2 > c max ||B w||_2 over the random vectors w with probability factor^-tests at most.
///
/// ||B w|| >= ||B|| |z| for z = v^H w and B's first right singular vector v. z is distributed as an element of w, since
/// a unitary transformation of w changes nothing. Real: P(|z| <= t) <= t sqrt(2 / pi). Complex: |z|^2 / 2 is
/// exponentially distributed, because both parts have variance 1, and P(|z| <= t) = 1 - exp(-t^2 / 2) <= t^2 / 2. Both
/// are 1 / factor for t = 1 / c.
template <class T>
double norm_factor() {
  return is_complex<T> ? std::sqrt(factor / 2) : factor * std::sqrt(2 / std::numbers::pi);
}

void check(Shape a, const LowRankOptions& o) {
  const index_t least = std::min(a.rows, a.cols);
  require(o.rank >= 0 && o.rank <= least, "low_rank_svd", "rank", o.rank, " of ", least);
  require(o.oversampling >= 0, "low_rank_svd", "oversampling", o.oversampling);
  require(o.power >= 0, "low_rank_svd", "power", o.power);
}

index_t dimensions(Shape a, const LowRankOptions& o) {
  const index_t least = std::min(a.rows, a.cols);
  return o.oversampling >= least - o.rank ? least : std::max<index_t>(o.rank + o.oversampling, 1);
}

/// Products with op(A), which is tall; matrices of few columns are one tile wide.
template <class T>
class Range {
 public:
  /// transposed  whether op(A) is A^H, of a wide A
  /// unchecked   whether basis() assumes that Cholesky factors exist: then no task waits for the host
  Range(Graph& g, TileMatrix<T> A, bool transposed, bool unchecked)
      : g_(g), A_(std::move(A)), transposed_(transposed), unchecked_(unchecked) {}

  /// Returns the tiles of A. GPUs work on all its columns (or rows) and at most 2 GB a task; cores need two tasks each.
  static TileShape tile(const Runtime& runtime, Shape a) {
    const WorkerCounts workers = workers_for<T>(runtime);
    if (workers.gpus == 0) {
      const auto edge = [&](index_t size) {
        return std::clamp<index_t>(ceil_div(size, 2 * std::max(workers.cpus, 1)), std::min<index_t>(size, 128), 512);
      };
      return {edge(a.rows), edge(a.cols)};
    }
    constexpr index_t most = index_t{1} << 28;
    const index_t length = std::max(a.rows, a.cols), width = std::min(a.rows, a.cols),
                  part = std::clamp<index_t>(most / width, 1, ceil_div(length, workers.gpus));
    return a.rows < a.cols ? TileShape{width, part} : TileShape{part, width};
  }
  index_t rows() const { return transposed_ ? A_.n() : A_.m(); }
  index_t cols() const { return transposed_ ? A_.m() : A_.n(); }

  /// Returns a matrix with op(A)'s rows or columns as its rows.
  TileMatrix<T> tall(index_t columns) const {
    const TileShape tile = A_.tile_shape();
    return {g_.runtime(), rows(), columns, {transposed_ ? tile.nb : tile.mb, std::max<index_t>(columns, 1)}};
  }
  TileMatrix<T> small(index_t columns) const {
    const TileShape tile = A_.tile_shape();
    return {g_.runtime(), cols(), columns, {transposed_ ? tile.mb : tile.nb, std::max<index_t>(columns, 1)}};
  }
  /// Inserts random vectors with op(A)'s columns as rows.
  TileMatrix<T> random(index_t columns, std::uint64_t seed) const {
    TileMatrix<T> X = small(columns);
    const auto generator = RandomMatrix{.pattern = Pattern::normal}.generator<T>(seed);
    X.for_each_tile([&](const Tile<T>& tile, index_t row, index_t) {
      g_.insert<kernels::Fill<T>>(on_gpu, {generator, row, 0}, tile);
    });
    return X;
  }
  /// Insert op(A) X and op(A)^H X.
  TileMatrix<T> times(const TileMatrix<T>& X) const {
    return product(transposed_ ? adjoint<T> : Op::none, X, tall(X.n()));
  }
  TileMatrix<T> adjoint_times(const TileMatrix<T>& X) const {
    return product(transposed_ ? Op::none : adjoint<T>, X, small(X.n()));
  }
  /// Inserts a copy of some columns of X, which has a tile column.
  TileMatrix<T> columns(const TileMatrix<T>& X, index_t first, index_t count) const {
    const TileMatrix<T> part(g_.runtime(), X.m(), count, {X.tile_shape().mb, std::max<index_t>(count, 1)});
    rearrange(g_, X, {.column = first, .on_gpus = on_gpus()}, part);
    return part;
  }
  /// Q with orthonormal columns, and R of X = Q R as a product of factors, the last one first.
  struct Basis {
    TileMatrix<T> Q;
    std::vector<TileMatrix<T>> factors = {};

    HostMatrix<T> triangle() const {
      HostMatrix<T> r = upper(factors.front());
      for (std::size_t k = 1; k < factors.size(); ++k) {
        const HostMatrix<T> next = upper(factors[k]), before = std::exchange(r, HostMatrix<T>(r.rows(), r.cols()));
        blas::gemm(Op::none, Op::none, r.rows(), r.cols(), r.rows(), T(1), next.data(), next.ld(), before.data(),
                   before.ld(), T(0), r.data(), r.ld());
      }
      return r;
    }
    /// Returns whether Q is orthonormal to rounding: its last pass of several changed little.
    bool is_orthonormal() const {
      if (factors.size() < 2) return true;
      const HostMatrix<T> last = upper(factors.back());
      double squares = 0;
      for (index_t j = 0; j < last.cols(); ++j)
        for (index_t i = 0; i <= j; ++i) squares += std::norm(last(i, j) - (i == j ? T(1) : T(0)));
      return squares <= 0.25;  // false for NaN
    }
  };
  /// Inserts the computation of a basis of X's columns; overwrites X. GPUs try Cholesky QR first, since it reads X a
  /// few times, at the speed of memory. One pass of it is enough to multiply Q by A again.
  Basis basis(const TileMatrix<T>& X, int passes = 2) {
    if (unchecked_) return by_cholesky(X, passes);
    if (on_gpus()) {
      const TileMatrix<T> copy = columns(X, 0, X.n());
      if (Orthogonalized<T> found = orthogonalize(g_, copy, Orthogonalization::cholesky_qr2); found.broken == 0)
        return {copy, {found.R}};
    }
    const TileMatrix<T> Q(g_.runtime(), X.m(), X.n(), X.tile_shape()),
        R(g_.runtime(), X.n(), X.n(), X.tile_shape(), "R");
    const QrFactorization<T> factors = qr(g_, X);
    factors.extract_r(g_, R);
    factors.form_q(g_, Q);
    return {Q, {R}};
  }
  /// Returns whether all Cholesky factors exist.
  bool factors_exist() const {
    return std::all_of(infos_.begin(), infos_.end(), [](const auto& info) { return *info(0, 0).read().data == 0; });
  }

 private:
  static HostMatrix<T> upper(const TileMatrix<T>& X) {
    HostMatrix<T> x = X.to_host();
    for (index_t j = 0; j < x.cols(); ++j)
      for (index_t i = j + 1; i < x.rows(); ++i) x(i, j) = 0;
    return x;
  }
  Basis by_cholesky(const TileMatrix<T>& X, int passes) {
    Basis basis{X};
    for (int pass = 0; pass < passes; ++pass) {
      const TileMatrix<T>& G = basis.factors.emplace_back(g_.runtime(), X.n(), X.n(), TileShape{X.n(), X.n()}, "G");
      const TileMatrix<int>& info = infos_.emplace_back(g_.runtime(), 1, 1, TileShape{1, 1}, "info");
      cholesky_qr_pass(g_, X, G(0, 0), info(0, 0));
    }
    return basis;
  }
  bool on_gpus() const { return workers_for<T>(g_.runtime()).gpus > 0; }
  TileMatrix<T> product(Op op, const TileMatrix<T>& X, TileMatrix<T> Y) const {
    gemm<T>(g_, op, Op::none, T(1), A_, X, T(0), Y);
    return Y;
  }

  Graph& g_;
  TileMatrix<T> A_;
  bool transposed_, unchecked_;
  std::vector<TileMatrix<int>> infos_;
};

/// Inserts X Y for the first columns y of a square Y.
template <class T>
TileMatrix<T> combined(Graph& g, const TileMatrix<T>& X, const HostMatrix<T>& y, TileMatrix<T> Z) {
  if (Z.n() == 0) return Z;
  const TileMatrix<T> Y(g.runtime(), y.rows(), Z.n(), {y.rows(), Z.n()});
  Y.copy_from(y.data(), y.ld());
  gemm<T>(g, Op::none, Op::none, T(1), X, Y, T(0), Z);
  return Z;
}

/// Returns the error of rounding in the bound, also of the rounded vectors; `length` is the larger side of A.
template <class T>
double rounding(index_t length, double norm) {
  return static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()) *
         (10 + 25 * std::sqrt(static_cast<double>(length))) * norm;
}

/// Removes value k + 1 from the result, which has k + 1 if the matrix has.
template <class T>
void drop_next_value(LowRankSvd<T>& result, index_t k) {
  const auto rank = static_cast<std::size_t>(k);
  if (result.values.size() > rank) result.next_value = result.values[rank];
  result.values.resize(rank);
}

/// Decomposes op(A), whose products neither over- nor underflow. Returns nothing if Cholesky QR failed.
template <class T>
std::optional<LowRankSvd<T>> decompose(Graph& g, Range<T> range, index_t l, const LowRankOptions& o) {
  // The test vectors are independent of Q. One product serves both.
  const TileMatrix<T> both = range.times(range.random(l + tests, o.seed)), E = range.columns(both, l, tests),
                      inside(g.runtime(), l, tests, {l, tests}), squares(g.runtime(), tests, tests, {tests, tests});
  const auto passes = [&](int products) { return products < o.power ? 1 : 2; };
  auto left = range.basis(range.columns(both, 0, l), passes(0));
  for (int k = 1; k <= o.power; ++k)
    left = range.basis(range.times(range.basis(range.adjoint_times(left.Q), 1).Q), passes(k));
  const TileMatrix<T>& Q = left.Q;
  gemm<T>(g, adjoint<T>, Op::none, T(1), Q, E, T(0), inside);
  gemm<T>(g, Op::none, Op::none, T(-1), Q, inside, T(1), E);
  gemm<T>(g, adjoint<T>, Op::none, T(1), E, E, T(0), squares);
  const auto right = range.basis(range.adjoint_times(Q));  // Q^H A = R^H P^H
  g.wait();
  if (!range.factors_exist() || !left.is_orthonormal() || !right.is_orthonormal()) return {};
  HostMatrix<T> r = right.triangle();
  LowRankSvd<T> result;
  static_cast<Svd<T>&>(result) = svd(g, MatrixView<T>(r), {.largest = std::min(o.rank + 1, l)});
  if (!result.status.ok()) return result;
  drop_next_value(result, o.rank);
  result.u_tiles.emplace(combined(g, Q, *result.v, range.tall(o.rank)));
  result.v_tiles.emplace(combined(g, right.Q, *result.u, range.small(o.rank)));
  result.u.reset(), result.v.reset();
  const HostMatrix<T> of_tests = squares.to_host();
  double most = 0;
  for (index_t j = 0; j < tests; ++j) most = std::max(most, static_cast<double>(real_part(of_tests(j, j))));
  const double outside = norm_factor<T>() * std::sqrt(most);
  result.error_bound = std::hypot(outside, result.next_value) + rounding<T>(range.rows(), result.norm);
  g.wait();
  return result;
}

/// Decomposes by svd.
template <class T>
LowRankSvd<T> whole(Graph& g, MatrixView<T> a, const LowRankOptions& o) {
  LowRankSvd<T> result;
  static_cast<Svd<T>&>(result) = svd(g, a, {.largest = std::min({o.rank + 1, a.rows, a.cols})});
  if (result.status.verdict != SvdStatus::Verdict::ok) return result;
  drop_next_value(result, o.rank);
  result.u.emplace(detail::columns_of(std::move(*result.u), 0, o.rank));
  result.v.emplace(detail::columns_of(std::move(*result.v), 0, o.rank));
  result.error_bound = result.next_value + rounding<T>(std::max(a.rows, a.cols), result.norm);
  return result;
}

/// Returns whether products of elements up to 2^exponent neither over- nor underflow, where it matters.
template <class T>
bool is_moderate(int exponent) {
  return std::abs(exponent) <= std::numeric_limits<real_t<T>>::max_exponent / 8;
}

/// Decomposes op(A) by Cholesky QR. Returns nothing if that failed or if squares of A's norm may over- or underflow.
template <class T>
std::optional<LowRankSvd<T>> decompose_unchecked(Graph& g, const TileMatrix<T>& A, bool transposed, index_t l,
                                                 const LowRankOptions& o) {
  std::optional<LowRankSvd<T>> found = decompose(g, Range<T>(g, A, transposed, true), l, o);
  // Half of the exponent: the norm may be larger than the largest element by sqrt(m n).
  if (found && found->status.ok() && std::isfinite(found->error_bound) && is_moderate<T>(std::ilogb(found->norm) / 2))
    return found;
  return {};
}

/// Decomposes a matrix that is large enough for random products: A in place, or a copy that is scaled.
template <class T>
LowRankSvd<T> by_products(Graph& g, MatrixView<T> a, index_t l, const LowRankOptions& o) {
  Runtime& runtime = g.runtime();
  const bool wide = a.rows<a.cols, gpus = workers_for<T>(runtime).gpus> 0;
  const TileShape tile = Range<T>::tile(runtime, a.shape());
  const TileMatrix<T> A = a.in_tiles(runtime, tile);
  std::optional<LowRankSvd<T>> found;
  int exponent = 0;
  if (gpus) found = decompose_unchecked(g, A, wide, l, o);
  if (!found) {
    const detail::Magnitude<T> size =
        a.device >= 0 || gpus ? detail::magnitude(g, A) : detail::Magnitude<T>::of(MatrixView<const T>(a));
    if (!size.status.ok()) {
      LowRankSvd<T> failed;
      failed.status = size.status;
      return failed;
    }
    if (!is_moderate<T>(size.exponent)) exponent = size.exponent;
    const TileMatrix<T> scaled = exponent == 0 ? A : detail::scaled_copy(g, A, false, tile, exponent);
    if (gpus && exponent != 0) found = decompose_unchecked(g, scaled, wide, l, o);
    if (!found) found = decompose(g, Range<T>(g, scaled, wide, false), l, o);
  }
  LowRankSvd<T>& result = *found;
  if (!result.status.ok()) return std::move(result);
  const auto unscale = [&](double& x) { x = std::ldexp(x, exponent); };
  for (double& value : result.values) unscale(value);
  unscale(result.norm), unscale(result.error_bound), unscale(result.next_value);
  if (result.norm > static_cast<double>(std::numeric_limits<real_t<T>>::max()))
    result.status.verdict = SvdStatus::Verdict::overflow;
  if (wide) std::swap(result.u_tiles, result.v_tiles);
  return std::move(result);
}

}  // namespace

template <class T>
LowRankSvd<T> low_rank_svd(Graph& g, MatrixView<T> a, const LowRankOptions& options) {
  check(a.shape(), options);
  const index_t l = dimensions(a.shape(), options);
  const bool few = l == std::min(a.rows, a.cols);
  LowRankSvd<T> result = few ? whole(g, a, options) : by_products(g, a, l, options);
  // Values below the smallest normal number lose digits.
  result.error_bound += static_cast<double>(std::numeric_limits<real_t<T>>::denorm_min()) * static_cast<double>(l);
  if (few && options.in_tiles) detail::move_to_tiles<T>(g.runtime(), result);
  if (options.in_tiles || !result.u_tiles) return result;
  result.u.emplace(result.u_tiles->to_host()), result.u_tiles.reset();
  result.v.emplace(result.v_tiles->to_host()), result.v_tiles.reset();
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
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
