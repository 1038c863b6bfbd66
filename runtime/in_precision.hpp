#pragma once

#include <type_traits>

namespace tesela {

/// Selects a library's float or double function: `in_precision<T, sgeqrf_, dgeqrf_>`.
template <class T, auto single_one, auto double_one>
inline constexpr auto in_precision = [] {
  if constexpr (std::is_same_v<T, float>)
    return single_one;
  else
    return double_one;
}();

}  // namespace tesela
