// Jacobi's iteration until convergence: the host reads a small tile in the middle of the graph and decides by its
// value, in float and in double with one kernel. First the program tests the kernel without a runtime.
#include <tesela/tesela.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

namespace mine {

using namespace tesela;
using namespace tesela::kernels;

/// Rows of x' = D^-1 (b - (A - D) x) with D = diag(A), and their largest change.
template <class T>
struct Sweep {
  static constexpr auto name = "jacobi_sweep";
  static constexpr auto color = 0x4c72b0u;
  struct Args {
    index_t row = 0;  // index of the first row; the time does not depend on it, so no cost_key
  };
  static double flops(const Args&, std::span<const Shape> shapes) {
    return 2.0 * static_cast<double>(shapes[0].rows) * static_cast<double>(shapes[0].cols);
  }
  static void cpu(const Args& args, In<T> a, In<T> b, Out<T> next, Out<T> change, std::span<const In<T>> x) {
    for (index_t i = 0; i < a.rows; ++i) next(i, 0) = b(i, 0);
    *change.data = 0;
    const In<T>* own = nullptr;
    index_t j = 0;
    for (const In<T>& part : x) {
      if (j == args.row) own = &part;
      for (index_t k = 0; k < part.rows; ++k, ++j)
        for (index_t i = 0; i < a.rows; ++i)
          if (j != args.row + i) next(i, 0) -= a(i, j) * part(k, 0);
    }
    for (index_t i = 0; i < a.rows; ++i) {
      next(i, 0) /= a(i, args.row + i);
      *change.data = std::max(*change.data, std::abs(next(i, 0) - (*own)(i, 0)));
    }
  }
};

/// result = the largest of several values, each in one tile.
template <class T>
struct Largest {
  static constexpr auto name = "largest_of";
  static constexpr auto color = 0xdd8452u;
  struct Args {};
  static void cpu(const Args&, Out<T> result, std::span<const In<T>> numbers) {
    *result.data = 0;
    for (const In<T>& number : numbers) *result.data = std::max(*result.data, *number.data);
  }
};

template <class T>
std::vector<Tile<T>> tiles_of(const TileMatrix<T>& x) {
  std::vector<Tile<T>> tiles;
  for (index_t i = 0; i < x.mt(); ++i) tiles.push_back(x(i, 0));
  return tiles;
}

/// Iterates from x until the largest change is at most `tolerance`. Returns the number of sweeps, or -1 after `most`.
/// The solution replaces x. The tiles of A are block rows with the heights of the tiles of b and x.
template <class T>
int jacobi(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& b, TileMatrix<T>& x, T tolerance, int most) {
  TileMatrix<T> next(g.runtime(), x.m(), 1, x.tile_shape(), "next");
  const TileMatrix<T> changes(g.runtime(), x.mt(), 1, {1, 1}, "changes"), change(g.runtime(), 2, 1, {1, 1}, "change");
  for (int k = 0; k < most; ++k) {
    for (index_t i = 0; i < x.mt(); ++i)
      g.insert<Sweep<T>>({.row = i * x.tile_shape().mb}, A(i, 0), b(i, 0), next(i, 0), changes(i, 0), tiles_of(x));
    g.insert<Largest<T>>({}, change(k % 2, 0), tiles_of(changes));
    std::swap(x, next);
    // The previous sweep has most likely ended; the new one runs during the read.
    if (k > 0 && *change((k - 1) % 2, 0).read().data <= tolerance) return k + 1;
  }
  return -1;
}

/// Checks the first of two rows: x' = (5 - 1 * 3) / 4 = 0.5. No other memory may be read.
template <class T>
bool sweep_is_right() {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T a[] = {4, nan, 1, nan}, b[] = {5}, x[] = {nan, 3};  // a has ld = 2; x[0] affects only the change
  T next = nan, change = nan;
  const In<T> parts[] = {{{x, 1, 1, 1}}, {{x + 1, 1, 1, 1}}};
  Sweep<T>::cpu({.row = 0}, {{a, 1, 2, 2}}, {{b, 1, 1, 1}}, {{&next, 1, 1, 1}}, {{&change, 1, 1, 1}}, parts);
  return next == T(0.5);
}

/// Solves a system of order n with the solution 1, 1, … Returns error / bound.
template <class T>
double error_of(Runtime& runtime, index_t n, index_t rows) {
  std::vector<T> a(n * n), ones(n, 0), sums(n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      a[i + j * n] = i == j ? T(2) : T(1) / static_cast<T>(n);
      sums[i] += a[i + j * n];
    }
  const auto A = TileMatrix<T>::map(runtime, a.data(), n, n, std::max<index_t>(n, 1), {rows, std::max<index_t>(n, 1)});
  const auto b = TileMatrix<T>::map(runtime, sums.data(), n, 1, std::max<index_t>(n, 1), {rows, 1});
  auto x = TileMatrix<T>(runtime, n, 1, {rows, 1});
  Graph g(runtime, {.record = true});
  for (const Tile<T>& tile : tiles_of(x)) g.insert<Fill<T>>({}, tile);
  const T rounding = 2 * static_cast<T>(n + 8) * std::numeric_limits<T>::epsilon();  // of the sum of a row
  const int sweeps = jacobi(g, A, b, x, rounding, 200);
  if (!g.wait().ok() || sweeps < 0) return std::numeric_limits<double>::infinity();
  const Bounds bounds = g.bounds();
  std::printf("%d tasks take at least %.3g s (longest path %.3g, work / workers %.3g); %d have no model yet\n",
              static_cast<int>(bounds.tasks), bounds.lower_bound_seconds(), bounds.path_seconds, bounds.area_seconds,
              static_cast<int>(bounds.untimed));
  double error = 0;
  for (const Tile<T>& tile : tiles_of(x)) {
    const auto values = tile.read();
    for (index_t i = 0; i < values.rows; ++i) error = std::max(error, std::abs(static_cast<double>(values(i, 0)) - 1));
  }
  std::printf("n = %d in rows of %d, %s: %d sweeps, error %.1e\n", static_cast<int>(n), static_cast<int>(rows),
              sizeof(T) == 4 ? "float" : "double", sweeps, error);
  return error / (2 * static_cast<double>(rounding));
}

}  // namespace mine

int main() {
  if (!mine::sweep_is_right<float>() || !mine::sweep_is_right<double>()) return 1;
  tesela::Runtime runtime;
  for (const tesela::index_t n : {1, 7, 64, 200})  // one row, less than a tile, several tiles, ragged
    for (const tesela::index_t rows : {1, 30, 64})
      if (rows * 40 >= n &&
          (mine::error_of<float>(runtime, n, rows) > 1 || mine::error_of<double>(runtime, n, rows) > 1))
        return 1;
}
