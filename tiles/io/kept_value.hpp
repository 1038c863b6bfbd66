#pragma once

#include <tesela/runtime/errors.hpp>

#include <cmath>
#include <limits>
#include <string_view>

// Tests whether numbers of a file keep their value in the target precision.

namespace tesela {

/// Returns whether T holds `value` accurately as `rounded`: false if it overflows, if it loses digits below T's normal
/// numbers, and for NaN and infinities.
template <class T>
bool keeps(double value, T rounded) {
  return std::abs(value - static_cast<double>(rounded)) <=
         static_cast<double>(std::numeric_limits<T>::epsilon()) * std::abs(value);
}

/// A file with a number that double precision holds and single precision does not.
class PrecisionError : public FileError {
 public:
  using FileError::FileError;
};

/// Returns whether a decimal text is zero: all digits before its exponent are 0.
bool is_zero(std::string_view decimal);

/// Returns whether a text of digits, with or without a sign, equals the integer `value`.
bool is_exactly(std::string_view integer, double value);

}  // namespace tesela
