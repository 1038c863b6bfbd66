#include <tesela/codelets/eigen/internal/secular_loops.hpp>
#include <tesela/codelets/support/inline.hpp>
#include <tesela/codelets/support/internal/shared_inl.hpp>
#include <tesela/runtime/types.hpp>

#include <cmath>
#include <limits>

#if defined(TESELA_EIGEN_SECULAR_ROOT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_EIGEN_SECULAR_ROOT_INL
#undef TESELA_EIGEN_SECULAR_ROOT_INL
#else
#define TESELA_EIGEN_SECULAR_ROOT_INL
#endif

TESELA_BEFORE_UNIT
namespace tesela::kernels::secular::TESELA_UNIT {

/// The sum of z^2 / (d - x) over some poles, and its derivative.
template <class T>
struct Sum {
  T value, slope;
};

template <class T>
struct Root {
  T pole, distance;
  int iterations;
};

/// Returns p - q, or for singular values p^2 - q^2, with a relative error of a few eps.
template <Equation equation, class T>
TESELA_INLINE T difference(T p, T q) {
  if constexpr (equation == Equation::eigenvalue)
    return p - q;
  else
    return (p - q) * (p + q);
}

/// Search for one root of f(x) = 1 / rho + sum z(i)^2 / (d(i) - x), which increases between its poles. The root is
/// sought between two poles, a and b, as a distance from the nearer one; for the last root both are below it.
///
/// Two approximations are possible. "The middle way" replaces f's part from poles up to a, and its part from b on, each
/// by a constant and one pole at a or b. "Fixed weight", faster near a pole, keeps the nearer pole's own weight and
/// gives the rest to the other. `Poles` has d(i), square(i) = z(i)^2, weight(), the sum of all squares, and sum(begin,
/// end, pole, distance), the sum of these poles' terms. On a GPU a warp performs one search: all its lanes take the
/// same steps and share the sums. For singular values all differences, weights and distances are those of squares.
template <class T, class Poles, Equation equation = Equation::eigenvalue>
class RootSearch {
 public:
  TESELA_INLINE RootSearch(index_t k, T rho, Poles poles) : k_(k), rho_(rho), constant_(1 / rho), poles_(poles) {}

  TESELA_INLINE Root<T> operator()(index_t j) {
    if (k_ == 1) return {poles_.d(0), rho_ * poles_.square(0), 0};
    last_ = j == k_ - 1;
    a_ = last_ ? j - 1 : j;
    b_ = a_ + 1;
    gap_ = difference<equation>(poles_.d(b_), poles_.d(a_));
    T x = last_ ? start_of_last() : start();
    bool fixed_weight = !last_;
    T before = infinity;
    int iteration = 1;
    for (; iteration < most_iterations; ++iteration) {
      evaluate(x);
      if (std::abs(f_) <= eps * noise(x)) break;
      (f_ < 0 ? low_ : high_) = x;
      if (std::abs(f_) > before / 10 && !last_) fixed_weight = !fixed_weight;
      before = std::abs(f_);
      const T next = iteration < impatient ? inside(x, x + step(x, fixed_weight)) : middle();
      if (next == x || !(low_ < next && next < high_)) break;  // no number is between the ends
      x = next;
    }
    return {base_, x, iteration};
  }

 private:
  static constexpr int impatient = 40, most_iterations = 200;
  static constexpr T eps = std::numeric_limits<T>::epsilon(), infinity = std::numeric_limits<T>::infinity();

  TESELA_INLINE void evaluate(T x) {
    below_ = poles_.sum(index_t{0}, a_ + 1, base_, x);
    above_ = poles_.sum(b_, k_, base_, x);
    f_ = constant_ + below_.value + above_.value;
    slope_ = below_.slope + above_.slope;
  }
  /// Returns the uncertainty of f, in eps: from its terms and from x.
  TESELA_INLINE T noise(T x) const {
    return constant_ + 8 * (std::abs(below_.value) + std::abs(above_.value)) + std::abs(x) * slope_;
  }
  TESELA_INLINE T middle() const {
    if (low_ > 0 && high_ > 4 * low_) return std::sqrt(low_) * std::sqrt(high_);
    if (high_ < 0 && low_ < 4 * high_) return -std::sqrt(-low_) * std::sqrt(-high_);
    return low_ + (high_ - low_) / 2;
  }
  TESELA_INLINE T inside(T x, T next) const {
    if (low_ < next && next < high_) return next;
    return x + ((f_ < 0 ? high_ : low_) - x) / 2;
  }

  /// Finds the half of the gap that holds the root, then a first guess from the two poles' own weights, with all other
  /// terms as in the middle.
  TESELA_INLINE T start() {
    base_ = poles_.d(a_);
    evaluate(gap_ / 2);
    const T za = poles_.square(a_), zb = poles_.square(b_), c = f_ + (za - zb) / (gap_ / 2);
    if (f_ >= 0) {
      low_ = 0, high_ = gap_ / 2;
      const T a = c * gap_ + za + zb, b = za * gap_, root = std::sqrt(std::abs(a * a - 4 * b * c));
      return inside(high_, a > 0 ? 2 * b / (a + root) : (a - root) / (2 * c));
    }
    base_ = poles_.d(b_);
    low_ = -gap_ / 2, high_ = 0;
    const T a = c * gap_ - za - zb, b = zb * gap_, root = std::sqrt(std::abs(a * a + 4 * b * c));
    return inside(low_, a < 0 ? 2 * b / (a - root) : -(a + root) / (2 * c));
  }
  TESELA_INLINE T start_of_last() {
    base_ = poles_.d(b_);
    low_ = 0, high_ = rho_ * poles_.weight() * (1 + 16 * eps);
    const T half = high_ / 2;
    evaluate(half);
    (f_ < 0 ? low_ : high_) = half;
    const T za = poles_.square(a_), zb = poles_.square(b_), c = f_ + za / (gap_ + half) + zb / half,
            a = za + zb - c * gap_, b = zb * gap_, root = std::sqrt(std::abs(a * a + 4 * b * c));
    return inside(half, a < 0 ? 2 * b / (root - a) : (a + root) / (2 * c));
  }

  TESELA_INLINE T step(T x, bool fixed_weight) const {
    const T to_a = difference<equation>(poles_.d(a_), base_) - x, to_b = difference<equation>(poles_.d(b_), base_) - x;
    const T a = (to_a + to_b) * f_ - to_a * to_b * slope_, b = to_a * to_b * f_;
    T c;
    if (!fixed_weight)
      c = f_ - to_a * below_.slope - to_b * above_.slope;
    else if (base_ == poles_.d(a_))
      c = f_ - to_b * slope_ + gap_ * poles_.square(a_) / (to_a * to_a);
    else
      c = f_ - to_a * slope_ - gap_ * poles_.square(b_) / (to_b * to_b);
    if (last_) c = std::abs(c);
    const T root = std::sqrt(std::abs(a * a - 4 * b * c));
    T eta;
    if (last_)
      eta = a >= 0 ? (a + root) / (2 * c) : 2 * b / (a - root);
    else
      eta = a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
    return f_ * eta < 0 ? eta : -f_ / slope_;  // also for NaN: Newton's step has the right direction
  }

  const index_t k_;
  const T rho_, constant_;
  const Poles poles_;
  bool last_ = false;
  index_t a_ = 0, b_ = 0;
  T gap_ = 0, base_ = 0, low_ = 0, high_ = 0;  // the root's distance from the base is between low and high
  Sum<T> below_{}, above_{};
  T f_ = 0, slope_ = 0;
};

}  // namespace tesela::kernels::secular::TESELA_UNIT
TESELA_AFTER_UNIT

#endif
