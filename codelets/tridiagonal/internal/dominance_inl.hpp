// Tests whether rows of tridiagonal matrices may be eliminated without choosing pivots. Included once for each vector
// unit. Internal to codelets/tridiagonal.
#include <tesela/codelets/tridiagonal/internal/segment_vectors_inl.hpp>

#include <cmath>

#if defined(TESELA_DOMINANCE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_DOMINANCE_INL
#undef TESELA_DOMINANCE_INL
#else
#define TESELA_DOMINANCE_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::tridiagonal::HWY_NAMESPACE {

/// Tests an equation and the rows after it, at most a cache line. If |p| >= the sum of the equation's other
/// coefficients and |d| >= |dl| + |du| in each row, every pivot dominates its equation, and scaled partial pivoting
/// exchanges nothing. Rounding may violate this for an equation by the slack, and each row multiplies the violation by
/// |d| / (|d| - |dl|), so rows with |dl| close to |d| fail the test.
template <class T>
class Dominance {
  using N = Vec<T>;

 public:
  HWY_INLINE Dominance()
      : zero_(constant<N>(0)), most_(constant<N>(1)), least_(constant<N>(1)), holds_(zero_ == zero_) {}

  /// Adds an equation with the coefficient p of x(i) and other coefficients with the sum of sizes `others`.
  HWY_INLINE void add_equation(const N& p, const N& others) {
    const N size = magnitude(p);
    holds_ = hn::And(holds_, others * all(1 - std::ldexp(T(1), is_double ? -40 : -20)) <= size);
    record_size(size);
  }
  HWY_INLINE void add_row(const N& dl, const N& d, const N& du, const N& b) {
    const N size = magnitude(d), below = magnitude(dl), right = magnitude(b);
    holds_ =
        hn::And(holds_, hn::And(below + magnitude(du) <= size, below <= size * all(is_double ? T(0.875) : T(0.5))));
    record_size(size);
    record_size(choose(right == zero_, most_, right));
  }

  /// Returns whether all rows of all lanes dominate, and no number is large or small enough to require scaling of a
  /// row.
  HWY_INLINE bool holds() const {
    constexpr int exponent = is_double ? 200 : 24;
    return hn::AllTrue(Tag<T>(), holds_) && hn::AllTrue(Tag<T>(), most_ <= all(std::ldexp(T(1), exponent))) &&
           hn::AllTrue(Tag<T>(), least_ >= all(std::ldexp(T(1), -exponent)));
  }

 private:
  static constexpr bool is_double = sizeof(T) == 8;
  HWY_INLINE void record_size(const N& size) {
    most_ = hn::Max(most_, size);
    least_ = hn::Min(least_, size);
  }

  const N zero_;
  N most_, least_;
  decltype(N() == N()) holds_;
};

}  // namespace tesela::kernels::tridiagonal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
