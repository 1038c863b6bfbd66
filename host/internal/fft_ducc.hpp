#pragma once

#include <tesela/runtime/types.hpp>

#include <memory>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TESELA_FFT_AVX2 1
#else
#define TESELA_FFT_AVX2 0
#endif

namespace tesela::fft {

/// DUCC's plan for one length: of complex numbers, two T each, or of real ones, whose transform is r(0) r(1) i(1) r(2)
/// i(2) … in n numbers, without the constant zeros. Any thread may run it.
template <class T>
class DuccPlan {
 public:
  virtual ~DuccPlan() = default;
  [[nodiscard]] virtual std::size_t scratch() const = 0;  ///< in T
  virtual void run(T* data, T* scratch, bool forward) const = 0;
};

// The same code for every machine and for AVX2.
namespace portable {
template <class T>
std::unique_ptr<DuccPlan<T>> make_plan(bool real, index_t n);
}
#if TESELA_FFT_AVX2
namespace avx2 {
template <class T>
std::unique_ptr<DuccPlan<T>> make_plan(bool real, index_t n);
}
#endif

}  // namespace tesela::fft
