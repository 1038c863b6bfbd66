#include <tesela/codelets/svd/small_svd.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#define HWY_TARGET_INCLUDE "tesela/codelets/svd/small_svd.cpp"
#include <tesela/codelets/svd/internal/lane_rotations_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::HWY_NAMESPACE {
namespace {

/// Exponent of the largest element while a matrix is in work, so that squares of small numbers do not underflow.
template <class T>
inline constexpr int work_exponent = std::numeric_limits<T>::max_exponent * 3 / 8;

/// A matrix of the batch in the order of a tall one: element (i, j) is at data[i * down + j * right].
template <class T>
struct Tall {
  const T* data;
  index_t down, right;
  T operator()(index_t i, index_t j) const { return data[i * down + j * right]; }
};

/// Columns of a result: `tall` for the side with m rows, `small` for the side with n.
template <class T>
struct Side {
  T* data;
  index_t ld;
  T& operator()(index_t i, index_t j) const { return data[i + j * ld]; }
};

/// Matrices that go through all steps together; m >= n.
template <class T>
struct Group {
  static constexpr index_t matrices = lanes<T>;

  index_t m, n, tall_columns;
  bool vectors;
  LaneQr<T> first, second;  // A P = Q R, R^T = Q2 R2
  LaneMatrix<T> x;          // R2^T, then its left vectors times the values
  LaneMatrix<T> u, v;       // of the tall and the small side
  LaneMatrix<T> values;
  std::vector<index_t> row_order, order;
  std::vector<T> largest;
  int exponent[matrices] = {};

  Group(index_t rows, index_t cols, index_t columns_of_tall)
      : m(rows),
        n(cols),
        tall_columns(columns_of_tall),
        vectors(columns_of_tall > 0),
        first(m, n, true),
        second(n, n, false),
        x(n, n),
        u(vectors ? m : 0, columns_of_tall),
        v(vectors ? n : 0, n),
        values(1, n),
        row_order(static_cast<std::size_t>(matrices * m)),
        order(static_cast<std::size_t>(n)),
        largest(static_cast<std::size_t>(m)) {}

  index_t* rows_of(index_t lane) { return row_order.data() + lane * m; }
};

/// Copies a matrix, scaled and its rows in descending order of their largest elements. Returns 0, or info for the first
/// element that is not finite.
template <class T>
HWY_INLINE int take(Group<T>& group, index_t lane, const Tall<T>& a, bool transposed) {
  const index_t m = group.m, n = group.n;
  std::fill(group.largest.begin(), group.largest.end(), T(0));
  T poison = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) {
      const T size = std::abs(a(i, j));
      T& largest = group.largest[static_cast<std::size_t>(i)];
      largest = size > largest ? size : largest;
      poison += 0 * size;
    }
  if (!(poison == 0)) {
    const index_t rows = transposed ? n : m, cols = transposed ? m : n;
    for (index_t j = 0; j < cols; ++j)
      for (index_t i = 0; i < rows; ++i)
        if (!std::isfinite(transposed ? a(j, i) : a(i, j))) return -static_cast<int>(1 + i + j * rows);
  }
  index_t* const rows = group.rows_of(lane);
  std::iota(rows, rows + m, index_t{0});
  const auto size = [&](index_t i) { return group.largest[static_cast<std::size_t>(i)]; };
  std::sort(rows, rows + m, [&](index_t i, index_t k) { return size(i) != size(k) ? size(i) > size(k) : i < k; });
  const T most = m > 0 ? size(rows[0]) : T(0);
  const int shift = most > 0 ? work_exponent<T> - std::ilogb(most) : 0;
  group.exponent[lane] = -shift;
  const T first = std::ldexp(T(1), shift / 2), second = std::ldexp(T(1), shift - shift / 2);  // 2^shift may exceed T
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) group.first.a()(i, j, lane) = a(rows[i], j) * first * second;
  return 0;
}

/// Replaces columns of a lane of u by unit vectors that are orthogonal to all others of the first n: those whose values
/// are too small to determine them.
template <class T>
void complete(Group<T>& group, index_t lane) {
  const index_t n = group.n;
  std::vector<index_t> columns, missing;
  for (index_t j = 0; j < n; ++j) (group.values(0, j, lane) > std::sqrt(no_square<T>) ? columns : missing).push_back(j);
  std::vector<T> best(static_cast<std::size_t>(n)), trial(best);
  const auto at = [](std::vector<T>& x, index_t i) -> T& { return x[static_cast<std::size_t>(i)]; };
  for (const index_t j : missing) {
    T longest = 0;
    for (index_t axis = 0; axis < n && longest < T(0.5); ++axis) {
      std::fill(trial.begin(), trial.end(), T(0));
      at(trial, axis) = 1;
      T length = 0;
      for (int pass = 0; pass < 2; ++pass) {
        for (const index_t k : columns) {
          T product = 0;
          for (index_t i = 0; i < n; ++i) product += at(trial, i) * group.u(i, k, lane);
          for (index_t i = 0; i < n; ++i) at(trial, i) -= product * group.u(i, k, lane);
        }
        const T norm = std::sqrt(std::inner_product(trial.begin(), trial.end(), trial.begin(), T(0)));
        if (pass == 0) length = norm;
        if (norm > 0)
          for (T& number : trial) number /= norm;
      }
      if (length > longest) longest = length, best = trial;
    }
    for (index_t i = 0; i < n; ++i) group.u(i, j, lane) = at(best, i);
    columns.push_back(j);
  }
}

/// Computes the values and vectors of all lanes.
template <class T>
HWY_INLINE void decompose(Group<T>& group, T* moved) {
  const index_t m = group.m, n = group.n;
  group.first.factor();
  group.first.lower_triangle(group.second.a());
  group.second.factor();
  group.second.lower_triangle(group.x);
  for (index_t j = 0; group.vectors && j < n; ++j)
    for (index_t i = 0; i < n; ++i) store(group.v.at(i, j), all(i == j ? T(1) : T(0)));
  orthogonalize(group.x, group.vectors, group.v, moved);
  bool incomplete = false;
  for (index_t j = 0; j < n; ++j) {
    Vec<T> sum = zeros<T>();
    for (index_t i = 0; i < n; ++i) sum = hn::MulAdd(load(group.x.at(i, j)), load(group.x.at(i, j)), sum);
    const Vec<T> value = hn::Sqrt(sum);
    store(group.values.at(0, j), value);
    if (!group.vectors) continue;
    const auto live = hn::Gt(value, all(std::sqrt(no_square<T>)));
    incomplete = incomplete || !hn::AllTrue(Tag<T>(), live);
    const Vec<T> inverse = hn::IfThenElse(live, hn::Div(all(T(1)), value), zeros<T>());
    for (index_t i = 0; i < n; ++i) store(group.u.at(i, j), hn::Mul(load(group.x.at(i, j)), inverse));
    for (index_t i = n; i < m; ++i) store(group.u.at(i, j), zeros<T>());
  }
  for (index_t j = n; j < group.tall_columns; ++j)
    for (index_t i = 0; i < m; ++i) store(group.u.at(i, j), all(i == j ? T(1) : T(0)));
  if (!group.vectors) return;
  for (index_t lane = 0; incomplete && lane < lanes<T>; ++lane) complete(group, lane);
  group.first.multiply(group.u);
  group.second.multiply(group.v);
}

/// Sorts the values in descending order and writes the results of a lane.
template <class T>
HWY_INLINE void give(Group<T>& group, index_t lane, T* values, const Side<T>& tall, const Side<T>& small) {
  const index_t m = group.m, n = group.n;
  const auto value = [&](index_t j) { return group.values(0, j, lane); };
  std::iota(group.order.begin(), group.order.end(), index_t{0});
  std::sort(group.order.begin(), group.order.end(),
            [&](index_t p, index_t q) { return value(p) != value(q) ? value(p) > value(q) : p < q; });
  const index_t* const rows = group.rows_of(lane);
  for (index_t r = 0; r < n; ++r) {
    const index_t j = group.order[static_cast<std::size_t>(r)];
    values[r] = std::ldexp(value(j), group.exponent[lane]);
    if (!group.vectors) continue;
    for (index_t i = 0; i < m; ++i) tall(rows[i], r) = group.u(i, j, lane);
    for (index_t i = 0; i < n; ++i) small(group.first.column(i, lane), r) = group.v(i, j, lane);
  }
  for (index_t j = n; j < group.tall_columns; ++j)
    for (index_t i = 0; i < m; ++i) tall(rows[i], j) = group.u(i, j, lane);
}

template <class T>
struct Batch {
  index_t columns, u_columns, v_columns;
  Block<const T> a;
  Block<T> values, u, v;
  Block<int> info;
};

/// Decomposes the matrices first … first + count - 1 of the batch.
template <class T>
HWY_INLINE void solve(Group<T>& group, const Batch<T>& b, index_t first, index_t count) {
  const index_t m = group.m, n = group.n;
  const bool transposed = b.a.rows < b.columns;
  for (index_t lane = 0; lane < group.matrices; ++lane) {
    const index_t k = first + lane;
    int info = 1;
    if (lane < count) {
      const T* const data = &b.a(0, k * b.columns);
      info = b.info(0, k) =
          take(group, lane, transposed ? Tall<T>{data, b.a.ld, 1} : Tall<T>{data, 1, b.a.ld}, transposed);
    }
    if (info == 0) continue;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) group.first.a()(i, j, lane) = 0;
  }
  HWY_ALIGN T moved[lanes<T>];
  decompose(group, moved);
  for (index_t lane = 0; lane < count; ++lane) {
    const index_t k = first + lane;
    const Side<T> u{b.u.data + k * b.u_columns * b.u.ld, b.u.ld}, v{b.v.data + k * b.v_columns * b.v.ld, b.v.ld};
    if (b.info(0, k) == 0 && moved[lane] != 0) b.info(0, k) = 1;
    if (b.info(0, k) == 0) {
      give(group, lane, &b.values(0, k), transposed ? v : u, transposed ? u : v);
      continue;
    }
    constexpr T nan = std::numeric_limits<T>::quiet_NaN();
    std::fill_n(&b.values(0, k), n, nan);
    for (index_t j = 0; j < b.u_columns; ++j) std::fill_n(&u(0, j), b.u.rows, nan);
    for (index_t j = 0; j < b.v_columns; ++j) std::fill_n(&v(0, j), b.v.rows, nan);
  }
}

template <class T>
void solve_all(const typename SmallSvd<T>::Args& args, const In<T>& a, const Out<T>& values, const Out<T>& u,
               const Out<T>& v, const Out<int>& info) {
  const bool transposed = a.rows < args.columns;
  Group<T> group(std::max(a.rows, args.columns), std::min(a.rows, args.columns),
                 transposed ? args.v_columns : args.u_columns);
  const Batch<T> batch{args.columns, args.u_columns, args.v_columns, a, values, u, v, info};
  for (index_t k = 0; k < values.cols; k += group.matrices)
    solve(group, batch, k, std::min(group.matrices, values.cols - k));
}

}  // namespace
}  // namespace tesela::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {
namespace {

template <class T>
auto best_solver() {
  return TESELA_BEST_TARGET(solve_all<T>);
}

}  // namespace

template <class T>
void SmallSvd<T>::cpu(const Args& args, In<T> a, Out<real_t<T>> values, Out<T> u, Out<T> v, Out<int> info, Scratch<T>) {
  best_solver<T>()(args, a, values, u, v, info);
}

TESELA_STRUCTS_FOR_REALS(SmallSvd)

}  // namespace tesela::kernels
#endif
