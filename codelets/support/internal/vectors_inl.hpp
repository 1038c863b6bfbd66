// Compiles the file that includes it, HWY_TARGET_INCLUDE, for each vector unit (see per_target.hpp), with vectors of
// that unit. Its guard is Highway's toggle, since it is included once for each. Internal to codelets/.
#include <tesela/host/per_target.hpp>
#include <tesela/runtime/types.hpp>

#include <hwy/foreach_target.h>

#if defined(TESELA_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_VECTORS_INL
#undef TESELA_VECTORS_INL
#else
#define TESELA_VECTORS_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// A full register of T.
template <class T>
using Tag = hn::ScalableTag<T>;
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

/// Loads the first `count` numbers, followed by zeros.
template <class T>
HWY_INLINE Vec<T> load_first(const T* from, index_t count) {
  HWY_ALIGN T some[lanes<T>] = {};
  for (index_t i = 0; i < count; ++i) some[i] = from[i];
  return hn::Load(Tag<T>(), some);
}
template <class T>
HWY_INLINE void store_first(T* to, Vec<T> v, index_t count) {
  HWY_ALIGN T some[lanes<T>];
  hn::Store(v, Tag<T>(), some);
  for (index_t i = 0; i < count; ++i) to[i] = some[i];
}

/// Returns the sum of all lanes.
template <class T>
HWY_INLINE T sum(Vec<T> v) {
  return hn::GetLane(hn::SumOfLanes(Tag<T>(), v));
}

}  // namespace tesela::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
