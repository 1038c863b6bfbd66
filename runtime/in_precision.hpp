#pragma once

#include <type_traits>

namespace tesela {

/// What a library calls one thing for float and another for double: `in_precision<T, sgeqrf_, dgeqrf_>`.
template <class T, auto single_one, auto double_one>
inline constexpr auto in_precision = [] {
  if constexpr (std::is_same_v<T, float>)
    return single_one;
  else
    return double_one;
}();

}  // namespace tesela
