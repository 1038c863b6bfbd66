#include <tesela/algorithms/support/internal/tile_loops.hpp>
#include <tesela/algorithms/svd/svd_batch.hpp>
#include <tesela/codelets/svd/small_svd.hpp>
#include <tesela/tiles/parallel_zeros.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {
namespace {

[[noreturn]] void refuse(const char* argument, const std::string& why) {
  throw ArgumentError("svd_batch", argument, why);
}

void require_small(Shape each) {
  if (std::min(each.rows, each.cols) > largest_svd_batch_side ||
      std::max(each.rows, each.cols) > largest_svd_batch_length)
    refuse("A", "matrices of " + to_string(each) + "; at most " + std::to_string(largest_svd_batch_length) + " x " +
                    std::to_string(largest_svd_batch_side));
}

SvdStatus status_of(int info, index_t m) {
  if (info > 0) return {SvdStatus::Verdict::not_converged, info, info};
  const index_t at = -static_cast<index_t>(info) - 1;
  return {SvdStatus::Verdict::not_finite, at % m, at / m};
}

/// Returns the columns of each matrix in X, which has `rows` rows: `some` or `all`.
template <class T>
index_t columns_of_each(const char* name, const TileMatrix<T>& X, index_t rows, index_t some, index_t count,
                        index_t at_once) {
  const bool all = X.n() == rows * count;
  const index_t each = all ? rows : some;
  if (X.m() != rows || X.n() != each * count)
    refuse(name, to_string(Shape{X.m(), X.n()}) + "; it must be " + to_string(Shape{rows, some * count}) + " or " +
                     to_string(Shape{rows, rows * count}));
  if (X.mt() > 1 || X.tile_shape().nb != each * at_once) refuse(name, "tiles must have the columns of kb matrices");
  return each;
}

/// Returns the number of matrices that take a core about a millisecond.
template <class T>
index_t batch_on_a_core(Shape shape) {
  const auto k = static_cast<double>(std::min(shape.rows, shape.cols)),
             length = static_cast<double>(std::max(shape.rows, shape.cols));
  const double microseconds = 0.1 + k * (0.1 + k * k / 300 + length * k / 1000);  // measured time per matrix
  constexpr index_t lanes = 64 / sizeof(T);
  return ceil_div(static_cast<index_t>(std::ceil(1000 / microseconds)), lanes) * lanes;
}

}  // namespace

std::string to_string(const SvdBatchFailure& failure) {
  return to_string(failure.status) + " of matrix " + std::to_string(failure.matrix + 1);
}

template <class T>
index_t svd_batch_size(const WorkerCounts& workers, Shape shape) {
  if (workers.gpus == 0 || is_complex<T>) return batch_on_a_core<T>(shape);
  constexpr index_t most_bytes = index_t{1} << 28, most = index_t{1} << 16;
  const index_t length = std::max<index_t>({shape.rows, shape.cols, 1});
  return std::clamp<index_t>(most_bytes / (length * length * index_t{sizeof(T)}), 1, most);
}

template <class T>
std::vector<SvdBatchFailure> svd_batch(Graph& g, const TileMatrix<T>& A, const TileMatrix<real_t<T>>& S,
                                       const TileMatrix<T>* U, const TileMatrix<T>* V) {
  const index_t m = A.m(), count = S.n(), at_once = S.tile_shape().nb, n = count > 0 ? A.n() / count : 0,
                k = std::min(m, n);
  require_small({m, n});
  if (A.n() != n * count || (count > 0 && S.m() != k))
    refuse("A, S", to_string(Shape{m, A.n()}) + " and " + to_string(Shape{S.m(), count}) +
                       "; they must be m x (n K) and min(m, n) x K");
  if ((U == nullptr) != (V == nullptr)) refuse("U, V", "one without the other");
  if (k == 0 || count == 0) return {};
  if (A.mt() > 1 || S.mt() > 1 || A.tile_shape().nb != n * at_once)
    refuse("A, S", "tiles must be m x (n kb) and k x kb");
  typename kernels::SmallSvd<T>::Args args{n};
  if (U != nullptr) {
    args.u_columns = columns_of_each("U", *U, m, k, count, at_once);
    args.v_columns = columns_of_each("V", *V, n, k, count, at_once);
    const bool economic = args.u_columns == k && args.v_columns == k, all = args.u_columns == m && args.v_columns == n;
    if (!economic && !all) refuse("U, V", "one has all columns, the other only some");
  }
  const TileMatrix<int> info(g.runtime(), 1, count, {1, at_once}, "info");
  const TileMatrix<T> none(g.runtime(), 2, S.nt(), {1, 1}, "none");
  const Shape room =
      kernels::small_svd_work<T>({m, n}, !is_complex<T> && g.runtime().gpus() > 0 ? std::min(at_once, count) : 0);
  const Tile<T> work = g.scratch<T>(std::max<index_t>(room.rows, 1), 1);
  const Priority where = at_once > batch_on_a_core<T>({m, n}) ? on_gpu : Priority{};
  for (index_t t = 0; t < S.nt(); ++t) {
    g.insert<kernels::SmallSvd<T>>(where, args, A(0, t), S(0, t), U != nullptr ? (*U)(0, t) : none(0, t),
                                   V != nullptr ? (*V)(0, t) : none(1, t), info(0, t), work);
    if (S.mapped()) g.bring_home(S(0, t));
    for (const TileMatrix<T>* result : {U, V})
      if (result != nullptr && result->mapped()) g.bring_home((*result)(0, t));
  }
  g.wait();
  std::vector<SvdBatchFailure> failures;
  for (index_t t = 0; t < S.nt(); ++t) {
    const auto found = info(0, t).read();
    const auto values = S(0, t).read();
    for (index_t i = 0; i < found.cols; ++i)
      if (found(0, i) != 0)
        failures.push_back({t * at_once + i, status_of(found(0, i), m)});
      else if (std::isinf(values(0, i)))
        failures.push_back({t * at_once + i, {SvdStatus::Verdict::overflow, -1, -1}});
  }
  return failures;
}

template <class T>
SvdBatch<T> svd_batch(Graph& g, MatrixView<T> a, index_t count, SvdVectors vectors) {
  if (count < 0 || (count == 0 ? a.cols != 0 : a.cols % count != 0))
    refuse("count", std::to_string(count) + " matrices in " + std::to_string(a.cols) + " columns");
  if (a.device >= 0) refuse("a", "is on a device; it must be in host memory");
  const index_t m = a.rows, n = count > 0 ? a.cols / count : 0, k = std::min(m, n);
  require_small({m, n});
  const bool all = vectors == SvdVectors::all;
  SvdBatch<T> result{{}, HostMatrix<real_t<T>>(k, count), {}, {}};
  if (vectors != SvdVectors::none) {
    result.u.emplace(parallel_zeros<T>(m, (all ? m : k) * count));
    result.v.emplace(parallel_zeros<T>(n, (all ? n : k) * count));
  }
  if (k == 0 && all)
    for (HostMatrix<T>* x : {&*result.u, &*result.v})
      for (index_t j = 0; j < x->cols(); ++j)
        for (index_t i = 0; i < x->rows(); ++i) (*x)(i, j) = i == j % x->rows() ? 1 : 0;
  if (k == 0 || count == 0) return result;
  const index_t kb = std::min(svd_batch_size<T>(g.runtime(), {m, n}), count);
  const auto tiles = [&]<class Element>(Element* data, index_t rows, index_t cols, index_t ld, const char* name) {
    return TileMatrix<Element>::map(g.runtime(), data, rows, cols * count, ld, {rows, cols * kb}, name);
  };
  const TileMatrix<T> A = tiles(a.data, m, n, a.ld, "A");
  const TileMatrix<real_t<T>> S = tiles(result.values.data(), k, 1, k, "S");
  if (vectors == SvdVectors::none) {
    result.failures = svd_batch<T>(g, A, S);
  } else {
    const TileMatrix<T> U = tiles(result.u->data(), m, all ? m : k, m, "U"),
                        V = tiles(result.v->data(), n, all ? n : k, n, "V");
    result.failures = svd_batch<T>(g, A, S, &U, &V);
  }
  return result;
}

template <class T>
SvdBatch<T> svd_batch(Runtime& runtime, MatrixView<T> a, index_t count, SvdVectors vectors) {
  Graph g(runtime);
  return svd_batch(g, a, count, vectors);
}

#define TESELA_INSTANTIATE(T)                                                                                 \
  template std::vector<SvdBatchFailure> svd_batch(Graph&, const TileMatrix<T>&, const TileMatrix<real_t<T>>&, \
                                                  const TileMatrix<T>*, const TileMatrix<T>*);                \
  template SvdBatch<T> svd_batch(Graph&, MatrixView<T>, index_t, SvdVectors);                                 \
  template SvdBatch<T> svd_batch(Runtime&, MatrixView<T>, index_t, SvdVectors);                               \
  template index_t svd_batch_size<T>(const WorkerCounts&, Shape);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
