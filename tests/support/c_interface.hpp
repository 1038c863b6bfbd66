#pragma once

#include "tests/support/padded.hpp"
#include "tests/support/test.hpp"
#include "tests/support/variable.hpp"
#include <tesela/runtime/runtime.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <tesela.h>
#include <type_traits>

namespace tesela::test {

/// Returns the C function for T.
template <class T, class S, class D>
auto of(S single, D other) {
  if constexpr (std::is_same_v<T, float>)
    return single;
  else
    return other;
}

/// Returns the C function for T, real or complex.
template <class T, class S, class D, class C, class Z>
auto of(S single, D other, C complex_single, Z complex_other) {
  if constexpr (is_complex<T>)
    return of<real_t<T>>(complex_single, complex_other);
  else
    return of<T>(single, other);
}
#define TESELA_C(T, name) tesela::test::of<T>(tesela_s##name, tesela_d##name, tesela_c##name, tesela_z##name)

/// Returns a random symmetric matrix with `diagonal` added to its diagonal.
template <class T>
Padded<T> symmetric(index_t n, std::uint64_t seed, double diagonal = 0) {
  auto a = Padded<T>::random(n, n, seed);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < j; ++i) a(i, j) = a(j, i);
  for (index_t j = 0; j < n; ++j) a(j, j) += static_cast<T>(diagonal);
  return a;
}

/// Returns ||op(A) B - C||_F in double.
template <class T>
double product_error(const Padded<T>& a, bool transpose, const Padded<T>& b, const Padded<T>& c, index_t rows,
                     index_t inner) {
  using Wide = with_parts<T, double>;
  double sum = 0;
  for (index_t j = 0; j < b.n; ++j)
    for (index_t i = 0; i < rows; ++i) {
      Wide x = -Wide(c(i, j));
      for (index_t k = 0; k < inner; ++k) x += Wide(transpose ? a(k, i) : a(i, k)) * Wide(b(k, j));
      sum = std::hypot(sum, std::abs(x));
    }
  return sum;
}

template <class T>
double eps() {
  return static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
}

/// Requires that the call returns 0 and shows its message otherwise.
#define CHECK_OK(call)                     \
  do {                                     \
    const auto info_ = (call);             \
    INFO(#call << ": " << tesela_error()); \
    CHECK(info_ == 0);                     \
  } while (false)

/// While it lives, C functions compute on cores only, see CoresOnly.
class COnCores {
 public:
  COnCores() { CHECK_OK(tesela_stop()); }
  ~COnCores() { CHECK_OK(tesela_stop()); }
  COnCores(const COnCores&) = delete;
  COnCores& operator=(const COnCores&) = delete;

 private:
  CoresOnly cores_;
};

}  // namespace tesela::test
