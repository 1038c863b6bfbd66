#pragma once

#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/eigen/eigen_range.hpp>
#include <tesela/runtime/shortest.hpp>

#include <cmath>
#include <limits>
#include <optional>

namespace tesela::c {

/// The part of a spectrum of n values that LAPACK's arguments range, vl, vu, il and iu select.
struct SpectrumPart {
  std::optional<IndexRange> positions = {};  ///< 'I': the il-th … iu-th
  /// 'V': in [low, high)
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  index_t most = 0;  ///< largest number of values

  template <class T>
  SpectrumPart(char range, index_t n, T vl, T vu, index_t il, index_t iu) : most(n) {
    const char upper = range >= 'a' && range <= 'z' ? static_cast<char>(range - 'a' + 'A') : range;
    if (upper != 'A' && upper != 'V' && upper != 'I')
      throw WrongArgument("range", in_quotes(range) + " is none of 'A', 'V' and 'I'");
    if (upper == 'V') {
      if (std::isnan(vl)) throw WrongArgument("vl", "is NaN");
      if (!(vl <= vu)) throw WrongArgument("vu", shortest(vu) + " is less than vl, " + shortest(vl));
      low = static_cast<double>(vl);
      high = static_cast<double>(vu);
    }
    if (upper != 'I') return;
    if (n == 0 ? il != 1 : il < 1 || il > n) throw WrongArgument("il", std::to_string(il) + " is not in 1 … n");
    if (iu < std::min(il, n) || iu > n) throw WrongArgument("iu", std::to_string(iu) + " is not in il … n");
    most = n == 0 ? 0 : iu - il + 1;
    positions = IndexRange{il - 1, il - 1 + most};
  }
};

}  // namespace tesela::c
