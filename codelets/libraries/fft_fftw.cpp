#include <tesela/codelets/libraries/fft.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/in_precision.hpp>

#include <fftw3.h>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace tesela::fft {
namespace {

enum class Kind : std::uint8_t { forward, backward, real_to_complex, complex_to_real };

/// FFTW's names for float and double.
template <class T>
struct Fftw {
  using Plan = std::conditional_t<std::is_same_v<T, float>, fftwf_plan, fftw_plan>;
  using Complex = std::conditional_t<std::is_same_v<T, float>, fftwf_complex, fftw_complex>;
  static constexpr auto plan = in_precision<T, fftwf_plan_dft_1d, fftw_plan_dft_1d>;
  static constexpr auto plan_r2c = in_precision<T, fftwf_plan_dft_r2c_1d, fftw_plan_dft_r2c_1d>;
  static constexpr auto plan_c2r = in_precision<T, fftwf_plan_dft_c2r_1d, fftw_plan_dft_c2r_1d>;
  static constexpr auto execute = in_precision<T, fftwf_execute_dft, fftw_execute_dft>;
  static constexpr auto execute_r2c = in_precision<T, fftwf_execute_dft_r2c, fftw_execute_dft_r2c>;
  static constexpr auto execute_c2r = in_precision<T, fftwf_execute_dft_c2r, fftw_execute_dft_c2r>;
};

template <class T>
typename Fftw<T>::Complex* raw(std::complex<T>* data) {
  return reinterpret_cast<typename Fftw<T>::Complex*>(data);
}

/// Returns the plan for one sequence anywhere in memory, in place or not.
template <class T>
typename Fftw<T>::Plan plan(Kind kind, index_t n, bool in_place) {
  using F = Fftw<T>;
  // Never destroyed: another static object's destructor may still transform.
  static auto& mutex = *new std::mutex;
  static auto& plans = *new std::map<std::tuple<Kind, index_t, bool>, typename F::Plan>;
  const std::scoped_lock lock(mutex);
  typename F::Plan& made = plans[{kind, n, in_place}];
  if (made != nullptr) return made;
  if (n > std::numeric_limits<int>::max()) throw ArgumentError("fft", "n", std::to_string(n) + " exceeds FFTW's int");
  // Planning by FFTW_ESTIMATE does not access them, but compares their addresses.
  std::vector<std::complex<T>> memory(2);
  std::complex<T>*const a = memory.data(), *const b = in_place ? a : a + 1;
  T* const real = reinterpret_cast<T*>(kind == Kind::complex_to_real ? b : a);
  constexpr unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;
  const int size = static_cast<int>(n);
  switch (kind) {
    case Kind::forward:
      made = F::plan(size, raw(a), raw(a), FFTW_FORWARD, flags);
      break;
    case Kind::backward:
      made = F::plan(size, raw(a), raw(a), FFTW_BACKWARD, flags);
      break;
    case Kind::real_to_complex:
      made = F::plan_r2c(size, real, raw(b), flags);
      break;
    case Kind::complex_to_real:
      made = F::plan_c2r(size, raw(a), real, flags | FFTW_DESTROY_INPUT);
      break;
  }
  if (made == nullptr) throw EnvironmentError("fft: FFTW has no plan for length " + std::to_string(n));
  return made;
}

}  // namespace

template <class T>
void transform(Direction direction, index_t n, index_t count, std::complex<T>* data, index_t ld) {
  if (n <= 0 || count <= 0) return;
  const auto p = plan<T>(direction == Direction::forward ? Kind::forward : Kind::backward, n, true);
  for (index_t s = 0; s < count; ++s) Fftw<T>::execute(p, raw(data + s * ld), raw(data + s * ld));
}

template <class T>
void real_to_complex(index_t n, index_t count, const T* in, index_t ld_in, std::complex<T>* out, index_t ld_out) {
  if (n <= 0 || count <= 0) return;
  const bool in_place = static_cast<const void*>(in) == out;
  const auto p = plan<T>(Kind::real_to_complex, n, in_place);
  // FFTW does not write to the input of this transform.
  for (index_t s = 0; s < count; ++s) Fftw<T>::execute_r2c(p, const_cast<T*>(in) + s * ld_in, raw(out + s * ld_out));
}

template <class T>
void complex_to_real(index_t n, index_t count, std::complex<T>* in, index_t ld_in, T* out, index_t ld_out) {
  if (n <= 0 || count <= 0) return;
  const bool in_place = static_cast<void*>(in) == out;
  const auto p = plan<T>(Kind::complex_to_real, n, in_place);
  for (index_t s = 0; s < count; ++s) Fftw<T>::execute_c2r(p, raw(in + s * ld_in), out + s * ld_out);
}

template void transform(Direction, index_t, index_t, std::complex<float>*, index_t);
template void real_to_complex(index_t, index_t, const float*, index_t, std::complex<float>*, index_t);
template void complex_to_real(index_t, index_t, std::complex<float>*, index_t, float*, index_t);
template void transform(Direction, index_t, index_t, std::complex<double>*, index_t);
template void real_to_complex(index_t, index_t, const double*, index_t, std::complex<double>*, index_t);
template void complex_to_real(index_t, index_t, std::complex<double>*, index_t, double*, index_t);

}  // namespace tesela::fft
