// One-sided Jacobi rotations of several small matrices at once, one matrix per lane. Guarded by Highway's toggle, like
// vectors_inl.hpp. Internal to codelets/svd.
#include <tesela/codelets/svd/internal/lane_reflectors_inl.hpp>

#include <algorithm>
#include <cmath>

#if defined(TESELA_SVD_LANE_ROTATIONS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_SVD_LANE_ROTATIONS_INL
#undef TESELA_SVD_LANE_ROTATIONS_INL
#else
#define TESELA_SVD_LANE_ROTATIONS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::HWY_NAMESPACE {
namespace {

/// The columns p and q become p - s (q + tau p) and q + s (p - tau q) in each lane: rounding of s and tau hardly
/// changes their lengths (Rutishauser).
template <class T>
struct LaneRotation {
  Vec<T> s, tau;
  bool any = false;  ///< whether a lane rotates
};

/// Returns the rotation that makes the columns p and q orthogonal. Lanes whose cosine is at most `tolerance` have none.
template <class T>
HWY_INLINE LaneRotation<T> orthogonalize(const T* p, const T* q, index_t rows, T tolerance, T* moved) {
  constexpr index_t l = lanes<T>;
  Vec<T> pp = zeros<T>(), pq = pp, qq = pp, pp2 = pp, pq2 = pp, qq2 = pp;
  index_t i = 0;
  for (; i + 2 <= rows; i += 2) {
    const Vec<T> x = load(p + i * l), y = load(q + i * l), x2 = load(p + (i + 1) * l), y2 = load(q + (i + 1) * l);
    pp = hn::MulAdd(x, x, pp), pq = hn::MulAdd(x, y, pq), qq = hn::MulAdd(y, y, qq);
    pp2 = hn::MulAdd(x2, x2, pp2), pq2 = hn::MulAdd(x2, y2, pq2), qq2 = hn::MulAdd(y2, y2, qq2);
  }
  if (i < rows) {
    const Vec<T> x = load(p + i * l), y = load(q + i * l);
    pp = hn::MulAdd(x, x, pp), pq = hn::MulAdd(x, y, pq), qq = hn::MulAdd(y, y, qq);
  }
  pp = hn::Add(pp, pp2), pq = hn::Add(pq, pq2), qq = hn::Add(qq, qq2);
  const Vec<T> one = all(T(1)), zero = zeros<T>(), least = all(no_square<T>),
               limit = hn::Mul(all(tolerance), hn::Mul(hn::Sqrt(pp), hn::Sqrt(qq)));
  const auto turn = hn::And(hn::Gt(hn::Abs(pq), limit), hn::And(hn::Gt(pp, least), hn::Gt(qq, least)));
  if (hn::AllFalse(Tag<T>(), turn)) return {zero, zero};
  store(moved, hn::IfThenElse(turn, one, load(moved)));
  // t = sign(z) / (|z| + sqrt(1 + z^2)); z^2 may overflow.
  const Vec<T> z = hn::Div(hn::Sub(qq, pp), hn::Add(pq, pq)), size = hn::Abs(z),
               some = hn::Min(size, all(1 / std::numeric_limits<T>::epsilon())),
               root = hn::Max(hn::Sqrt(hn::MulAdd(some, some, one)), size),
               t = hn::IfThenElse(turn, hn::CopySign(hn::Div(one, hn::Add(size, root)), z), zero),
               h = hn::Sqrt(hn::MulAdd(t, t, one));
  return {hn::Div(t, h), hn::Div(t, hn::Add(h, one)), true};
}

template <class T>
HWY_INLINE void rotate(T* p, T* q, index_t rows, const LaneRotation<T>& r) {
  constexpr index_t l = lanes<T>;
  for (index_t i = 0; i < rows; ++i, p += l, q += l) {
    const Vec<T> x = load(p), y = load(q);
    store(p, hn::NegMulAdd(r.s, hn::MulAdd(r.tau, x, y), x));
    store(q, hn::MulAdd(r.s, hn::NegMulAdd(r.tau, y, x), y));
  }
}

/// Rotates the columns of X (n x n) until they are orthogonal, and the columns of J by the same rotations if `vectors`;
/// of J the first n rows. `moved` becomes 1 in lanes that did not converge, else 0.
template <class T>
HWY_INLINE void orthogonalize(LaneMatrix<T>& x, bool vectors, LaneMatrix<T>& j, T* moved) {
  constexpr int most_sweeps = 40;
  constexpr index_t together = 4;  // columns that stay in the cache while the others pass
  const index_t n = x.cols();
  const T tolerance = std::numeric_limits<T>::epsilon() * std::sqrt(static_cast<T>(n));
  bool any = true;
  const auto pair = [&](index_t p, index_t q) HWY_ATTR {
    const LaneRotation<T> r = orthogonalize(x.at(0, p), x.at(0, q), n, tolerance, moved);
    if (!r.any) return;
    any = true;
    rotate(x.at(0, p), x.at(0, q), n, r);
    if (vectors) rotate(j.at(0, p), j.at(0, q), n, r);
  };
  for (int sweep = 0; sweep < most_sweeps && any; ++sweep) {
    any = false;
    store(moved, zeros<T>());
    for (index_t first = 0; first < n; first += together) {
      const index_t end = std::min(first + together, n);
      for (index_t q = first + 1; q < n; ++q)
        for (index_t p = first; p < std::min(end, q); ++p) pair(p, q);
    }
  }
}

}  // namespace
}  // namespace tesela::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
