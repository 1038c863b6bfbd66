#include <tesela/codelets/eigen/small_eig.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#define HWY_TARGET_INCLUDE "tesela/codelets/eigen/small_eig.cpp"
#include <tesela/codelets/eigen/internal/ql_lanes_inl.hpp>
#include <tesela/codelets/eigen/internal/small_tridiagonal_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::eigen::HWY_NAMESPACE {
namespace {

/// A few matrices that go through all steps together.
template <class T>
struct Group {
  static constexpr int matrices = LaneSweeps<T>::matrices;

  index_t n;
  bool vectors;
  SmallTridiagonal<T> tridiagonal;
  LaneSweeps<T> sweeps;
  CacheLines<T> x;  // Q, then the vectors, of one matrix after the other
  std::vector<int> order;
  int exponent[matrices] = {};

  Group(index_t order_of_each, bool with_vectors)
      : n(order_of_each),
        vectors(with_vectors),
        tridiagonal(n),
        sweeps(n, vectors),
        x(vectors ? matrices * n * tridiagonal.step() : 1),
        order(static_cast<std::size_t>(n)) {}

  T* basis(int lane) { return vectors ? x.data() + lane * n * tridiagonal.step() : nullptr; }
};

/// Returns the first element, column by column, of the lower triangle that is not finite, in the form of info; 0 if all
/// are finite.
template <class T>
int not_finite(index_t n, const T* a, index_t ld) {
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j; i < n; ++i)
      if (!std::isfinite(a[i + j * ld])) return -static_cast<int>(1 + i + j * n);
  return 0;
}

/// Copies a matrix, scaled and with both triangles, into the group's workspace. Returns false if it is not finite.
template <class T>
HWY_INLINE bool take(Group<T>& group, int lane, const T* a, index_t ld) {
  const index_t n = group.n;
  T largest = 0, poison = 0;  // `largest` would lose a NaN
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j; i < n; ++i) {
      const T size = std::abs(a[i + j * ld]);
      largest = size > largest ? size : largest;
      poison += 0 * size;
    }
  if (!(poison == 0)) return false;
  const int exponent = largest > 0 ? std::ilogb(largest) : 0, half = -exponent / 2;
  group.exponent[lane] = exponent;
  const T first = std::ldexp(T(1), half), second = std::ldexp(T(1), -exponent - half);  // 2^-exponent may exceed T
  for (index_t j = 0; j < n; ++j) {
    T* const column = group.tridiagonal.column(j);
    for (index_t i = j; i < n; ++i) column[i] = a[i + j * ld] * first * second;
    for (index_t i = 0; i < j; ++i) column[i] = group.tridiagonal.column(i)[j];
    std::fill(column + n, column + group.tridiagonal.padded(), T(0));
  }
  return true;
}

/// Applies the recorded rotations to a few rows of the vectors, which stay in registers from column to column.
template <int C, class T>
HWY_INLINE void rotate_rows(Group<T>& group, int lane, T* x) {
  constexpr index_t w = lanes<T>;
  const index_t step = group.tridiagonal.step();
  group.sweeps.for_each_recorded(lane, [&](auto window, const auto* c, const auto* s) HWY_ATTR {
    Vec<T> y[C];
    T* column = x + window.to * step;
    for (int r = 0; r < C; ++r) y[r] = load(column + r * w);
    for (int i = window.to; i-- > window.from; column -= step) {
      const Vec<T> cosine = all(c[i].at[lane]), sine = all(s[i].at[lane]);
      for (int r = 0; r < C; ++r) {
        const Vec<T> old = load(column - step + r * w);
        store(column + r * w, hn::MulAdd(sine, old, hn::Mul(cosine, y[r])));
        y[r] = hn::NegMulAdd(sine, y[r], hn::Mul(cosine, old));
      }
    }
    for (int r = 0; r < C; ++r) store(column + r * w, y[r]);
  });
}

template <class T>
HWY_INLINE void rotate(Group<T>& group, int lane) {
  constexpr index_t w = lanes<T>;
  const index_t rows = group.tridiagonal.padded();
  T* const x = group.basis(lane);
  index_t i = 0;
  for (; i + 4 * w <= rows; i += 4 * w) rotate_rows<4>(group, lane, x + i);
  for (; i + 2 * w <= rows; i += 2 * w) rotate_rows<2>(group, lane, x + i);
  for (; i < rows; i += w) rotate_rows<1>(group, lane, x + i);
}

/// Sorts the values in ascending order and writes the vectors over the matrix.
template <class T>
HWY_INLINE void give(Group<T>& group, int lane, T* a, index_t ld, T* values) {
  const index_t n = group.n;
  std::iota(group.order.begin(), group.order.end(), 0);
  std::sort(group.order.begin(), group.order.end(),
            [&](int p, int q) { return group.sweeps.d(p, lane) < group.sweeps.d(q, lane); });
  for (index_t j = 0; j < n; ++j) {
    const index_t from = group.order[static_cast<std::size_t>(j)];
    values[j] = std::ldexp(group.sweeps.d(from, lane), group.exponent[lane]);
    if (!group.vectors) continue;
    const T* const x = group.basis(lane) + from * group.tridiagonal.step();
    T high = 0, low = 0;
    for (index_t i = 0; i < n; ++i) high = x[i] > high ? x[i] : high, low = x[i] < low ? x[i] : low;
    bool turn = -low > high;
    if (-low == high) turn = *std::find_if(x, x + n, [&](T v) { return std::abs(v) == high; }) < 0;
    const T sign = turn ? T(-1) : T(1);
    for (index_t i = 0; i < n; ++i) a[i + j * ld] = sign * x[i];
  }
}

template <class T>
struct Batch {
  Block<T> a, values;
  Block<int> info;
};

/// Solves matrices k … k + count - 1 of the batch.
template <class T>
HWY_INLINE void solve(Group<T>& group, const Batch<T>& batch, index_t first, int count) {
  const index_t n = group.n;
  auto& sweeps = group.sweeps;
  for (int lane = 0; lane < group.matrices; ++lane) {
    const index_t k = first + lane;
    if (lane < count && take(group, lane, &batch.a(0, k * n), batch.a.ld)) {
      batch.info(0, k) = 0;
      group.tridiagonal.reduce(&sweeps.d(0, lane), &sweeps.e(0, lane), group.matrices, group.basis(lane));
      continue;
    }
    if (lane < count) batch.info(0, k) = not_finite(n, &batch.a(0, k * n), batch.a.ld);
    for (index_t i = 0; i < n; ++i) sweeps.d(i, lane) = sweeps.e(i, lane) = 0;
  }
  sweeps.restart();
  for (bool more = true; more;) {
    more = sweeps.advance();
    if (group.vectors)
      for (int lane = 0; lane < count; ++lane) rotate(group, lane);
  }
  for (int lane = 0; lane < count; ++lane) {
    const index_t k = first + lane;
    if (batch.info(0, k) == 0) batch.info(0, k) = sweeps.broken(lane);
    if (batch.info(0, k) == 0)
      give(group, lane, &batch.a(0, k * n), batch.a.ld, &batch.values(0, k));
    else
      std::fill_n(&batch.values(0, k), n, std::numeric_limits<T>::quiet_NaN());
  }
}

template <class T>
void solve_all(bool vectors, const InOut<T>& a, const Out<T>& values, const Out<int>& info) {
  Group<T> group(a.rows, vectors);
  const Batch<T> batch{a, values, info};
  for (index_t k = 0; k < values.cols; k += group.matrices)
    solve(group, batch, k, static_cast<int>(std::min<index_t>(group.matrices, values.cols - k)));
}

}  // namespace
}  // namespace tesela::kernels::eigen::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {
namespace eigen {
namespace {

template <class T>
auto best_solver() {
  return TESELA_BEST_TARGET(solve_all<T>);
}

}  // namespace
}  // namespace eigen

template <class T>
void SmallEig<T>::cpu(const Args& args, InOut<T> a, Out<real_t<T>> values, Out<int> info) {
  eigen::best_solver<T>()(args.vectors, a, values, info);
}

TESELA_STRUCTS_FOR_REALS(SmallEig)

}  // namespace tesela::kernels
#endif
