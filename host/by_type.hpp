#pragma once

#include <type_traits>

namespace tesela {

/// The function or constant of a library for T: `by_type<T, cblas_sgemm, cblas_dgemm>(…)`.
template <class T, auto for_float, auto for_double>
inline constexpr auto by_type = [] {
  if constexpr (std::is_same_v<T, float>)
    return for_float;
  else
    return for_double;
}();

}  // namespace tesela
