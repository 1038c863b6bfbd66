#pragma once

#include <cmath>
#include <limits>
#include <string_view>

// Numbers of a file that do not keep their value in the precision that they are read in.

namespace tesela {

/// Returns whether `rounded` has the digits of `value` that T holds: false for a value that overflows, or that falls
/// below T's normal numbers and loses digits there, and for NaN and infinities.
template <class T>
bool keeps(double value, T rounded) {
  return std::abs(value - static_cast<double>(rounded)) <=
         static_cast<double>(std::numeric_limits<T>::epsilon()) * std::abs(value);
}

/// Returns whether a decimal text is zero: no digit before its exponent is another.
bool is_zero(std::string_view decimal);

/// Returns whether a text of digits, with a sign or without, is the integer that `value` is.
bool is_exactly(std::string_view integer, double value);

}  // namespace tesela
