#include <tesela/codelets/qr/append_rows.hpp>
#include <tesela/codelets/qr/internal/eliminate.hpp>
#include <tesela/codelets/qr/tile_qr.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

// LAPACK routines, which the BLAS library contains.
extern "C" {
void dtpqrt_(const int* m, const int* n, const int* l, const int* nb, double* a, const int* lda, double* b,
             const int* ldb, double* t, const int* ldt, double* work, int* info);
void stpqrt_(const int* m, const int* n, const int* l, const int* nb, float* a, const int* lda, float* b,
             const int* ldb, float* t, const int* ldt, float* work, int* info);
}

namespace tesela::kernels {
namespace {

constexpr index_t cache_line = 64;

/// Parts of the work tile: R, a block of A's rows, the exponents of the columns, and the work space of tpqrt for wide
/// blocks and for complex numbers.
template <class T>
struct Cut {
  index_t n, rows, inner;
  bool by_columns;  ///< by eliminate() instead of tpqrt

  explicit Cut(index_t columns) : n(columns), by_columns(!is_complex<T> && columns <= eliminate_cols) {
    // Narrow blocks fit into a core's caches; wide ones are large enough for gemm and for a whole triangle.
    const index_t wanted = n <= eliminate_cols
                               ? std::max(std::min<index_t>(64 + 2 * n, 192), 2048 / std::max<index_t>(n, 1))
                               : std::max<index_t>(512, n);
    rows = ceil_div(wanted, eliminate_rows) * eliminate_rows;
    inner = by_columns ? 0 : 32;
  }
  index_t elements() const { return rows * n + n * n + 2 * inner * n; }
};

void tpqrt(int m, int n, int l, int nb, double* r, double* b, int ldb, double* t, double* work) {
  int info = 0;
  dtpqrt_(&m, &n, &l, &nb, r, &n, b, &ldb, t, &nb, work, &info);
}
void tpqrt(int m, int n, int l, int nb, float* r, float* b, int ldb, float* t, float* work) {
  int info = 0;
  stpqrt_(&m, &n, &l, &nb, r, &n, b, &ldb, t, &nb, work, &info);
}
template <class R>
void tpqrt(int m, int n, int l, int nb, std::complex<R>* r, std::complex<R>* b, int ldb, std::complex<R>* t,
           std::complex<R>* work) {
  using T = std::complex<R>;
  Tpqrt<T>::cpu({.width = n, .ib = std::min(nb, n), .triangle = l > 0}, {{r, n, n, n}}, {{b, m, n, ldb}},
                {{t, nb, n, nb}}, {{work, nb, n, nb}});
}

/// R with scaled columns: column c equals 2^exponent(c) times its values in r.
template <class T>
struct ScaledTriangle {
  using Real = real_t<T>;
  static constexpr int unset = std::numeric_limits<int>::min();
  index_t n;
  T* r;
  int* exponents;  // unset while a column is zero

  int exponent(index_t c) const { return exponents[c] == unset ? 0 : exponents[c]; }
  /// Returns the factor of rows of column c.
  Real scale(index_t c) const { return std::ldexp(Real(1), -exponent(c)); }

  Real largest(index_t c) const {
    Real most = 0;
    for (index_t i = 0; i <= c; ++i) most = std::max(most, largest_part(r[i + c * n]));  // ignores NaN
    return most;
  }

  /// Chooses a new scale of column c if the rows' largest number `most` requires it, and returns whether it did.
  ///
  /// The first numbers of a column are scaled to about 1, so that a power of two as a factor of A changes only R's
  /// exponents. Squares and their sums stay in range. Rows far below the column's present size may be arbitrarily
  /// small.
  bool make_room(index_t c, Real most) const {
    constexpr int range = std::numeric_limits<Real>::max_exponent / 4;
    if (most == 0 || !std::isfinite(most)) return false;
    int size = std::ilogb(most) - exponent(c);
    if (exponents[c] != unset) {
      if (std::abs(size) <= range) return false;
      const Real above = largest(c);
      if (above > 0 && std::isfinite(above)) size = std::max(size, std::ilogb(above));
      if (std::abs(size) <= range) return false;
    }
    const int before = exponent(c);
    exponents[c] = std::max(before + size, 1 - std::numeric_limits<Real>::max_exponent);  // so that scale() is finite
    scale_by_power_of_two(std::span(r + c * n, static_cast<std::size_t>(c + 1)), before - exponents[c]);
    return exponents[c] != before;
  }
};

/// Copies rows of one column, each times its weight.
template <class T>
void weigh(const T* x, const T* weights, index_t rows, T* to) {
  for (index_t i = 0; i < rows; ++i) to[i] = weights[i] == T(0) ? T(0) : times(weights[i], x[i]);
}

/// Copies as copy_and_max(); complex numbers are pairs of real numbers.
template <class T>
real_t<T> copy_numbers(const T* x, index_t rows, index_t padded, real_t<T> scale, T* to) {
  using Real = real_t<T>;
  constexpr index_t parts = is_complex<T> ? 2 : 1;
  return copy_and_max(reinterpret_cast<const Real*>(x), parts * rows, parts * padded, scale,
                      reinterpret_cast<Real*>(to));
}

}  // namespace

template <class T>
Shape append_rows_work(index_t n) {
  const Cut<T> cut(n);
  const index_t bytes = cut.elements() * index_t{sizeof(T)} + n * index_t{sizeof(int)} + 4 * cache_line;
  index_t doubles = ceil_div(bytes, sizeof(double));
#if TESELA_HAVE_CUDA
  doubles = std::max(doubles, internal::append_rows_device_work<T>(n));
#endif
  return {doubles, 1};
}

template <class T, template <class> class R>
void AppendRows<T, R>::cpu(const Args& args, R<T> r, Scratch<double> work, std::span<const In<T>> a) {
  const index_t n = r.cols, m = a.front().rows;
  const T* const weights = args.weighted ? a.back().data : nullptr;
  if (args.weighted) a = a.first(a.size() - 1);
  const Cut<T> cut(n);
  const auto base = (reinterpret_cast<std::uintptr_t>(work.data) + cache_line - 1) / cache_line * cache_line;
  T* const block = reinterpret_cast<T*>(base);
  T* const t = block + cut.rows * n;
  T* const triangle = t + 2 * cut.inner * n;
  const ScaledTriangle<T> scaled{n, triangle, reinterpret_cast<int*>(triangle + n * n)};

  for (index_t c = 0; c < n; ++c) {
    for (index_t i = 0; i < n; ++i) triangle[i + c * n] = R<T>::mode == Mode::out || i > c ? T(0) : r(i, c);
    scaled.exponents[c] = ScaledTriangle<T>::unset;
    scaled.make_room(c, scaled.largest(c));
  }
  for (index_t row = 0; row < m; row += cut.rows) {
    const index_t rows = std::min(cut.rows, m - row), padded = ceil_div(rows, eliminate_rows) * eliminate_rows;
    T* column = block;
    index_t c = 0;
    for (const In<T>& tile : a)
      for (index_t j = 0; j < tile.cols; ++j, ++c, column += padded) {
        const auto from = [&] {  // weighted, at the place of the later copy
          if (weights == nullptr) return &tile(row, j);
          weigh(&tile(row, j), weights + row, rows, column);
          return static_cast<const T*>(column);
        };
        if (scaled.make_room(c, copy_numbers(from(), rows, padded, scaled.scale(c), column)))
          copy_numbers(from(), rows, padded, scaled.scale(c), column);
      }
    if constexpr (!is_complex<T>)
      if (cut.by_columns) {
        eliminate(triangle, block, padded, n);
        continue;
      }
    tpqrt(static_cast<int>(rows), static_cast<int>(n), static_cast<int>(args.triangle ? rows : 0),
          static_cast<int>(cut.inner), triangle, block, static_cast<int>(padded), t, t + cut.inner * n);
  }
  for (index_t c = 0; c < n; ++c)
    for (index_t i = 0; i < n; ++i)
      r(i, c) = i > c ? T(0) : times_power_of_two(triangle[i + c * n], scaled.exponent(c));
}

#define TESELA_INSTANTIATE(T)                  \
  template Shape append_rows_work<T>(index_t); \
  template struct AppendRows<T, InOut>;        \
  template struct AppendRows<T, Out>;
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::kernels
