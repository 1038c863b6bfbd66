#pragma once

#include <type_traits>

namespace tesela::bench {

/// A library's handle, initially null, destroyed with this object: Handle<cusparseHandle_t, cusparseDestroy>.
template <class H, auto destroy>
class Handle {
 public:
  Handle() = default;
  ~Handle() {
    if (handle_ != nullptr) destroy(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator H() const { return handle_; }
  H* out() { return &handle_; }  ///< argument of the library's call that creates it

 private:
  static_assert(std::is_pointer_v<H>);
  H handle_ = nullptr;
};

/// Selects a library's float or double function: `in_precision<T, sgeqrf_, dgeqrf_>`.
template <class T, auto single_one, auto double_one>
inline constexpr auto in_precision = [] {
  if constexpr (std::is_same_v<T, float>)
    return single_one;
  else
    return double_one;
}();

}  // namespace tesela::bench
