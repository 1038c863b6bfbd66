#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal_scale.hpp>

#include <algorithm>
#include <cmath>

// Computation of the exponents of TridiagonalExponents. Internal to codelets/.

namespace tesela::kernels::internal {

inline bool counts(double x) { return x != 0 && std::isfinite(x); }

/// Exponents of one system's columns, computed from row to row.
template <class T>
class Walk {
 public:
  /// Processes row j and returns g(j), without limits.
  index_t step(T dl, T d, T du) {
    const Entry a(dl), b(d), c(du);
    if (first_) {
      first_ = false;
    } else {
      index_t sum = 0, count = 0, next = here_;
      if (d_.counts && du_.counts) sum += d_.exponent - du_.exponent, ++count;
      if (a.counts && b.counts) sum += a.exponent - b.exponent, ++count;
      if (count > 0)
        next = here_ + sum / count;
      else if (dl_.counts && du_.counts)
        next = before_ + dl_.exponent - du_.exponent;
      before_ = here_;
      here_ = next;
    }
    dl_ = a, d_ = b, du_ = c;
    return here_;
  }

  /// Processes rows 0 and 1 again after the last row of a periodic system, which gives columns 0 and 1 a second
  /// exponent each. The two surpluses differ if a zero diagonal decouples columns of even and odd numbers.
  void close_cycle(const T (&first)[3], const T (&second)[3], index_t g1, index_t n) {
    n_ = n;
    surplus_[0] = step(first[0], first[1], first[2]);
    surplus_[1] = step(second[0], second[1], second[2]) - g1;
    if (n % 2 == 1) surplus_[0] = surplus_[1] = (surplus_[0] + surplus_[1]) / 2;
  }

  /// Returns g of column j, column by column, corrected such that it returns to its start.
  index_t closed(index_t g, index_t j) {
    const double part = n_ > 0 ? static_cast<double>(j) / static_cast<double>(n_) : 0;
    g -= static_cast<index_t>(part * static_cast<double>(surplus_[j % 2]));
    low_ = std::min(low_, g), high_ = std::max(high_, g);
    if (summed_ < memory) sum_ += g, ++summed_;
    return g;
  }

  /// Returns closed()'s g shifted into its limits, in a second pass from the first column on.
  index_t bounded(index_t g) {
    constexpr index_t limit = TridiagonalExponents<T>::limit;
    if (high_ - low_ <= 2 * limit) return g - (low_ + (high_ - low_) / 2);
    if (!begun_) total_ = sum_ / summed_ * memory;
    begun_ = true;
    // The shift changes gradually: if only the column that exceeds the limit were shifted, its neighbours would be
    // wrong by the whole shift. For the same reason the shift starts at the mean of the first columns.
    total_ += g - total_ / memory;
    total_ = std::clamp(total_, memory * (g - limit), memory * (g + limit));
    return g - total_ / memory;
  }

 private:
  struct Entry {
    bool counts = false;
    index_t exponent = 0;
    Entry() = default;
    explicit Entry(T x)
        : counts(internal::counts(largest_part(x))), exponent(counts ? std::ilogb(largest_part(x)) : 0) {}
  };

  /// Columns over which a shift is averaged: `total_` is this multiple of the shift.
  static constexpr index_t memory = sizeof(real_t<T>) == 8 ? 1024 : 64;

  Entry dl_, d_, du_;
  index_t before_ = 0, here_ = 0, low_ = 0, high_ = 0, sum_ = 0, summed_ = 0, total_ = 0;
  index_t n_ = 0, surplus_[2] = {0, 0};
  bool first_ = true, begun_ = false;
};

}  // namespace tesela::kernels::internal
