// Code that fft_ducc_portable.cpp and fft_ducc_avx2.cpp compile, each for its machine, as namespace TESELA_FFT_ISA.
// Each has DUCC in a separate namespace, so that no function has two definitions.
#include <tesela/host/internal/fft_ducc.hpp>

#include <ducc0/fft/fft1d_impl.h>
#include <ducc0/infra/string_utils.cc>
#include <ducc0/infra/threading.cc>

namespace tesela::fft::TESELA_FFT_ISA {
namespace {

template <class T>
class Complex final : public DuccPlan<T> {
 public:
  explicit Complex(std::size_t n) : plan_(n, true) {}
  [[nodiscard]] std::size_t scratch() const override { return 2 * plan_.bufsize(); }
  void run(T* data, T* scratch, bool forward) const override {
    using Number = DUCC0_NAMESPACE::Cmplx<T>;
    plan_.exec_copyback(reinterpret_cast<Number*>(data), reinterpret_cast<Number*>(scratch), T(1), forward);
  }

 private:
  DUCC0_NAMESPACE::detail_fft::pocketfft_c<T> plan_;
};

template <class T>
class Real final : public DuccPlan<T> {
 public:
  explicit Real(std::size_t n) : plan_(n, true) {}
  [[nodiscard]] std::size_t scratch() const override { return plan_.bufsize(); }
  void run(T* data, T* scratch, bool forward) const override { plan_.exec_copyback(data, scratch, T(1), forward); }

 private:
  DUCC0_NAMESPACE::detail_fft::pocketfft_r<T> plan_;
};

}  // namespace

template <class T>
std::unique_ptr<DuccPlan<T>> make_plan(bool real, index_t n) {
  const auto size = static_cast<std::size_t>(n);
  if (real) return std::make_unique<Real<T>>(size);
  return std::make_unique<Complex<T>>(size);
}
template std::unique_ptr<DuccPlan<float>> make_plan(bool, index_t);
template std::unique_ptr<DuccPlan<double>> make_plan(bool, index_t);

}  // namespace tesela::fft::TESELA_FFT_ISA
