#include <tesela/algorithms/qr/streamed_r.hpp>
#include <tesela/algorithms/svd/streamed_svd.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>

namespace tesela {
namespace {

constexpr index_t block = 512;  ///< rows of a product

/// Returns the rows of A X. Always whole blocks are computed, so that every pass gives the same digits.
template <class T>
RowSource<T> product(const RowSource<T>& A, HostMatrix<T> x) {
  struct State {
    HostMatrix<T> x, rows, found;
  };
  const index_t columns = x.cols();
  const auto state =
      std::make_shared<State>(State{std::move(x), HostMatrix<T>(block, A.n), HostMatrix<T>(block, columns)});
  return {A.m, columns, [A, state, columns](index_t first, const Block<T>& out) {
            for (index_t done = 0; done < out.rows;) {
              const index_t row = first + done, begin = row / block * block, count = std::min(block, A.m - begin),
                            skip = row - begin, use = std::min(count - skip, out.rows - done);
              A.read(begin, {state->rows.data(), count, A.n, block});
              blas::gemm<T>(Op::none, Op::none, count, columns, A.n, T(1), state->rows.data(), block, state->x.data(),
                            std::max<index_t>(A.n, 1), T(0), state->found.data(), block);
              for (index_t j = 0; j < columns; ++j)
                std::copy_n(&state->found(skip, j), use, out.data + done + j * out.ld);
              done += use;
            }
          }};
}

/// Returns the exponent of A's largest element, or sets the status if an element is not finite. Reads A once.
template <class T>
int exponent_of(const RowSource<T>& A, SvdStatus& status) {
  HostMatrix<T> rows(block, A.n);
  real_t<T> largest = 0;
  for (index_t first = 0; first < A.m; first += block) {
    const index_t count = std::min(block, A.m - first);
    A.read(first, {rows.data(), count, A.n, block});
    for (index_t j = 0; j < A.n; ++j)
      for (index_t i = 0; i < count; ++i) {
        const real_t<T> size = largest_part(rows(i, j));
        if (!std::isfinite(size) && status.ok()) status = {SvdStatus::Verdict::not_finite, first + i, j};
        largest = std::max(largest, size);
      }
  }
  return largest > 0 && status.ok() ? std::ilogb(largest) : 0;
}

/// Returns the rows of 2^exponent A.
template <class T>
RowSource<T> scaled(const RowSource<T>& A, int exponent) {
  return {A.m, A.n, [A, exponent](index_t first, const Block<T>& out) {
            A.read(first, out);
            for (index_t j = 0; j < out.cols; ++j)
              scale_by_power_of_two(std::span(&out(0, j), static_cast<std::size_t>(out.rows)), exponent);
          }};
}

/// Returns whether R is not finite, or so small that R lost digits or quotients by its singular values may overflow.
template <class T>
bool leaves_range(const HostMatrix<T>& r) {
  using Limits = std::numeric_limits<real_t<T>>;
  return !kernels::all_finite(r) || largest_exponent(r.size(), r.data()) < Limits::min_exponent + 2 * Limits::digits;
}

/// Decomposes an A whose R leaves the range: A times a power of two, unless an element of A is not finite.
template <class T>
StreamedSvd<T> of_size_1(Graph& g, const RowSource<T>& A, SvdOptions options) {
  StreamedSvd<T> result;
  const int exponent = exponent_of(A, result.status);
  result.u = {A.m, 0, [](index_t, const Block<T>&) {}};
  if (!result.status.ok()) return result;
  if (options.range)
    options.range = {std::ldexp(options.range->first, -exponent), std::ldexp(options.range->second, -exponent)};
  result = streamed_svd(g, scaled(A, -exponent), options);
  for (double& value : result.values) value = std::ldexp(value, exponent);
  result.norm = std::ldexp(result.norm, exponent);
  if (result.norm > static_cast<double>(std::numeric_limits<real_t<T>>::max()))
    result.status.verdict = SvdStatus::Verdict::overflow;
  return result;
}

/// Returns the rows of W R^-1.
template <class T>
RowSource<T> divided(RowSource<T> W, HostMatrix<T> r) {
  const auto triangle = std::make_shared<HostMatrix<T>>(std::move(r));
  return {W.m, W.n, [W, triangle](index_t first, const Block<T>& out) {
            W.read(first, out);
            if (out.rows > 0 && W.n > 0) blas::trsm_right<T>(out.rows, W.n, triangle->data(), W.n, out.data, out.ld);
          }};
}

}  // namespace

template <class T>
StreamedSvd<T> streamed_svd(Graph& g, const RowSource<T>& A, const SvdOptions& options) {
  require(A.m >= A.n, "streamed_svd", "A", "has fewer rows than columns: ", to_string(Shape{A.m, A.n}));
  require(options.vectors != SvdVectors::all, "streamed_svd", "vectors", "all");
  StreamedSvd<T> result;
  const bool vectors = options.vectors != SvdVectors::none;
  HostMatrix<T> r = streamed_r(g, A);
  if (leaves_range(r)) return of_size_1(g, A, options);
  const auto R = TileMatrix<T>::map(g.runtime(), r.data(), A.n, A.n, std::max<index_t>(A.n, 1),
                                    {std::max<index_t>(A.n, 1), std::max<index_t>(A.n, 1)}, "R");
  Svd<T> found = svd(g, R, options);
  result.status = found.status;
  result.values = std::move(found.values), result.norm = found.norm;
  result.u = {A.m, 0, [](index_t, const Block<T>&) {}};
  if (!result.status.ok() || !vectors) return result;
  const double least =
      static_cast<double>(A.m) * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()) * result.norm;
  const auto rank = static_cast<index_t>(
      std::partition_point(result.values.begin(), result.values.end(), [&](double value) { return value > least; }) -
      result.values.begin());
  HostMatrix<T> scaled(A.n, rank);
  for (index_t j = 0; j < rank; ++j)
    for (index_t i = 0; i < A.n; ++i)
      scaled(i, j) = converted<T>(with_parts<T, double>((*found.v)(i, j)) / result.values[static_cast<std::size_t>(j)]);
  result.v = std::move(found.v);
  if (rank == 0) return result;
  const RowSource<T> W = product(A, std::move(scaled));
  HostMatrix<T> triangle = streamed_r(g, W);
  for (index_t i = 0; i < rank; ++i)  // the signs of its rows are arbitrary
    if (real_part(triangle(i, i)) < 0)
      for (index_t j = i; j < rank; ++j) triangle(i, j) = -triangle(i, j);
  result.u = divided(W, std::move(triangle));
  return result;
}

TESELA_FUNCTIONS_FOR_NUMBERS(streamed_svd)

}  // namespace tesela
