#pragma once

#include <complex>
#include <type_traits>

namespace tesela {

/// The function or constant of a library for T: `by_type<T, cblas_sgemm, cblas_dgemm>(…)`, and if T may be complex,
/// `by_type<T, cblas_sgemm, cblas_dgemm, cblas_cgemm, cblas_zgemm>(…)`.
template <class T, auto for_float, auto for_double, auto for_complex_float = nullptr, auto for_complex_double = nullptr>
inline constexpr auto by_type = [] {
  if constexpr (std::is_same_v<T, float>)
    return for_float;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return for_complex_float;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return for_complex_double;
  else
    return for_double;
}();

}  // namespace tesela
