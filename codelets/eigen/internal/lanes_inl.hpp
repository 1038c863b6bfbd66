// Vectors of at most 32 bytes, also with AVX-512: these kernels' block sizes were measured with them. Guarded by
// Highway's toggle, like vectors_inl.hpp. Internal to codelets/eigen.
#include <tesela/codelets/support/internal/vectors_inl.hpp>

#if defined(TESELA_EIGEN_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_EIGEN_LANES_INL
#undef TESELA_EIGEN_LANES_INL
#else
#define TESELA_EIGEN_LANES_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::eigen::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, 32 / sizeof(T)>;
template <class T>
using Vec = hn::Vec<Tag<T>>;
template <class T>
inline constexpr index_t lanes = static_cast<index_t>(hn::MaxLanes(Tag<T>()));

/// Loads or stores numbers at any alignment.
template <class T>
HWY_INLINE Vec<T> load(const T* from) {
  return hn::LoadU(Tag<T>(), from);
}
template <class T>
HWY_INLINE void store(T* to, Vec<T> v) {
  hn::StoreU(v, Tag<T>(), to);
}
template <class T>
HWY_INLINE Vec<T> all(T value) {
  return hn::Set(Tag<T>(), value);
}
template <class T>
HWY_INLINE Vec<T> zeros() {
  return hn::Zero(Tag<T>());
}

/// Returns the sum of all lanes.
template <class T>
HWY_INLINE T sum(Vec<T> v) {
  return hn::GetLane(hn::SumOfLanes(Tag<T>(), v));
}

}  // namespace tesela::kernels::eigen::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
