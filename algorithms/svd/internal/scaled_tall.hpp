#pragma once

#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace tesela::detail {

/// The exponent that scales A such that its largest element has size 1, or a status with the first column's first
/// element that is not finite.
template <class T>
struct Magnitude {
  int exponent = 0;
  SvdStatus status = {};

  /// Finds them on all cores.
  static Magnitude of(const MatrixView<const T>& a) {
    struct Found {
      real_t<T> largest = 0;  // of a part of complex numbers
      index_t row = -1;
    };
    std::vector<Found> columns(static_cast<std::size_t>(a.cols));
    parallel_for(a.cols, 32, [&](index_t first, index_t end) {
      for (index_t j = first; j < end; ++j) {
        Found found;
        for (index_t i = 0; i < a.rows; ++i) {
          const real_t<T> size = largest_part(a.data[i + j * a.ld]);
          if (!std::isfinite(size) && found.row < 0) found.row = i;
          found.largest = std::max(found.largest, size);
        }
        columns[static_cast<std::size_t>(j)] = found;
      }
    });
    Magnitude result;
    real_t<T> largest = 0;
    for (index_t j = 0; j < a.cols; ++j) {
      const Found& found = columns[static_cast<std::size_t>(j)];
      if (found.row >= 0 && result.status.ok()) result.status = {SvdStatus::Verdict::not_finite, found.row, j};
      largest = std::max(largest, found.largest);
    }
    if (result.status.ok() && largest > 0) result.exponent = std::ilogb(largest);
    return result;
  }
};

/// A or A^H, whichever has no fewer rows than columns, times 2^-exponent, so that its elements have size 1.
template <class T>
struct ScaledTall {
  HostMatrix<T> a;
  bool transposed;
  int exponent;
  SvdStatus status = {};

  explicit ScaledTall(const MatrixView<const T>& given) : ScaledTall(given, Magnitude<T>::of(given)) {}
  ScaledTall(const MatrixView<const T>& given, const Magnitude<T>& size)
      : a(std::max(given.rows, given.cols), std::min(given.rows, given.cols)),
        transposed(given.rows < given.cols),
        exponent(size.exponent),
        status(size.status) {
    if (!status.ok()) return;
    // The factor 2^-exponent may not be a number of T.
    const real_t<T> one = 1, near = std::ldexp(one, -exponent / 2), far = std::ldexp(one, -exponent - (-exponent / 2));
    parallel_for(given.cols, 32, [&](index_t first, index_t end) {
      for (index_t j = first; j < end; ++j)
        for (index_t i = 0; i < given.rows; ++i) {
          const T x = given.data[i + j * given.ld] * near * far;
          transposed ? a(j, i) = conj(x) : a(i, j) = x;
        }
    });
  }
};

/// Sets the values that the options select, the norm and the status `overflow` from all values of A 2^-exponent.
/// Returns the first selected position and the end.
template <class T, class U>
std::pair<index_t, index_t> set_values(Svd<T>& result, const std::vector<U>& values, int exponent,
                                       const SvdOptions& options) {
  std::vector<double> all;
  for (const U value : values) all.push_back(std::ldexp(static_cast<double>(value), exponent));
  if (!all.empty()) result.norm = all.front();
  if (result.norm > static_cast<double>(std::numeric_limits<real_t<T>>::max()))
    result.status.verdict = SvdStatus::Verdict::overflow;
  const auto at_least = [&](double limit) {
    return std::partition_point(all.begin(), all.end(), [&](double value) { return value >= limit; }) - all.begin();
  };
  index_t first = 0, end = options.largest.value_or(std::ssize(all));
  if (options.range) first = at_least(options.range->second), end = at_least(options.range->first);
  result.values.assign(all.begin() + first, all.begin() + end);
  return {first, end};
}

/// Returns the columns first … end - 1 of a.
template <class T>
HostMatrix<T> columns_of(HostMatrix<T> a, index_t first, index_t end) {
  if (first == 0 && end == a.cols()) return a;
  HostMatrix<T> part(a.rows(), end - first);
  if (part.size() > 0) std::copy_n(&a(0, first), part.size(), part.data());
  return part;
}

}  // namespace tesela::detail
