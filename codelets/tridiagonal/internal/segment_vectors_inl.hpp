// The algebra of segments for vectors, and for numbers on the same vector unit. Included once for each unit. Internal
// to codelets/tridiagonal.
#include <tesela/codelets/support/internal/vectors_inl.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_segment.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(TESELA_SEGMENT_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_SEGMENT_VECTORS_INL
#undef TESELA_SEGMENT_VECTORS_INL
#else
#define TESELA_SEGMENT_VECTORS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::tridiagonal::HWY_NAMESPACE {

using namespace kernels::HWY_NAMESPACE;

using tridiagonal::choose;
using tridiagonal::constant;
using tridiagonal::larger;
using tridiagonal::magnitude;
using tridiagonal::negative;
using tridiagonal::over_power;

/// Operations on vectors that the algebra of segments needs.
template <class N>
concept VectorOfNumbers = !std::is_arithmetic_v<N>;
template <VectorOfNumbers N>
TESELA_INLINE N constant(int value) {
  return hn::Set(hn::DFromV<N>(), static_cast<hn::TFromV<N>>(value));
}
template <class M, VectorOfNumbers N>
TESELA_INLINE N choose(const M& which, const N& b, const N& a) {
  return hn::IfThenElse(which, b, a);
}
template <VectorOfNumbers N>
TESELA_INLINE N magnitude(const N& x) {
  return hn::Abs(x);
}
template <VectorOfNumbers N>
TESELA_INLINE N negative(const N& x) {
  return hn::Neg(x);
}
/// Returns a if a or b is NaN, on x86, as the overload for numbers.
template <VectorOfNumbers N>
TESELA_INLINE N larger(const N& a, const N& b) {
  return hn::Max(b, a);
}
template <VectorOfNumbers N>
TESELA_INLINE N over_power(const N& x) {
  using T = hn::TFromV<N>;
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr hn::DFromV<N> numbers;
  constexpr hn::Rebind<Bits, hn::DFromV<N>> bits;
  constexpr int digits = std::numeric_limits<T>::digits - 1;
  constexpr Bits largest = (Bits{1} << (8 * sizeof(T) - 1 - digits)) - 1;
  const N in_range = hn::Min(hn::Max(x, hn::Set(numbers, std::numeric_limits<T>::min())),
                             hn::Set(numbers, std::numeric_limits<T>::max()));
  const auto exponent = hn::And(hn::BitCast(bits, in_range), hn::Set(bits, largest << digits));
  return hn::BitCast(numbers, hn::Sub(hn::Set(bits, largest << digits), exponent));
}

#include <tesela/codelets/tridiagonal/segment_algebra.inc>

}  // namespace tesela::kernels::tridiagonal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
