#include <tesela/host/fft.hpp>
#include <tesela/host/internal/fft_ducc.hpp>
#include <tesela/host/vector_target.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <tuple>

namespace tesela::fft {
namespace {

/// Returns whether transforms use DUCC for AVX2, like other kernels of cores (see vector_target()).
bool with_avx2() {
  const std::string_view target = vector_target();
  return TESELA_FFT_AVX2 && (target == "avx2" || target == "avx512");
}

template <class T>
std::unique_ptr<DuccPlan<T>> make_plan(bool real, index_t n, [[maybe_unused]] bool avx2) {
#if TESELA_FFT_AVX2
  if (avx2) return avx2::make_plan<T>(real, n);
#endif
  return portable::make_plan<T>(real, n);
}

/// The plan of a length, with memory to run it.
template <class T>
class Runner {
 public:
  Runner(bool real, index_t n) : plan_(plan(real, n)), scratch_(new T[plan_.scratch()]) {}
  void operator()(T* data, bool forward) const { plan_.run(data, scratch_.get(), forward); }

 private:
  static const DuccPlan<T>& plan(bool real, index_t n) {
    // Never destroyed: another static object's destructor may still transform.
    static auto& mutex = *new std::mutex;
    static auto& plans = *new std::map<std::tuple<bool, bool, index_t>, std::unique_ptr<DuccPlan<T>>>;
    const bool avx2 = with_avx2();
    const std::scoped_lock lock(mutex);
    auto& made = plans[{avx2, real, n}];
    if (made == nullptr) made = make_plan<T>(real, n, avx2);
    return *made;
  }

  const DuccPlan<T>& plan_;
  std::unique_ptr<T[]> scratch_;
};

}  // namespace

template <class T>
void transform(Direction direction, index_t n, index_t count, std::complex<T>* data, index_t ld) {
  if (n <= 0 || count <= 0) return;
  const Runner<T> run(false, n);
  for (index_t s = 0; s < count; ++s) run(reinterpret_cast<T*>(data + s * ld), direction == Direction::forward);
}

template <class T>
void real_to_complex(index_t n, index_t count, const T* in, index_t ld_in, std::complex<T>* out, index_t ld_out) {
  if (n <= 0 || count <= 0) return;
  const Runner<T> run(true, n);
  for (index_t s = 0; s < count; ++s) {
    T* const y = reinterpret_cast<T*>(out + s * ld_out);
    std::memmove(y + 1, in + s * ld_in, static_cast<std::size_t>(n) * sizeof(T));
    run(y + 1, true);
    y[0] = y[1];
    y[1] = 0;
    if (n % 2 == 0) y[n + 1] = 0;
  }
}

template <class T>
void complex_to_real(index_t n, index_t count, std::complex<T>* in, index_t ld_in, T* out, index_t ld_out) {
  if (n <= 0 || count <= 0) return;
  const Runner<T> run(true, n);
  for (index_t s = 0; s < count; ++s) {
    const T* const x = reinterpret_cast<const T*>(in + s * ld_in);
    T* const y = out + s * ld_out;
    y[0] = x[0];
    std::memmove(y + 1, x + 2, static_cast<std::size_t>(n - 1) * sizeof(T));
    run(y, false);
  }
}

template void transform(Direction, index_t, index_t, std::complex<float>*, index_t);
template void real_to_complex(index_t, index_t, const float*, index_t, std::complex<float>*, index_t);
template void complex_to_real(index_t, index_t, std::complex<float>*, index_t, float*, index_t);
template void transform(Direction, index_t, index_t, std::complex<double>*, index_t);
template void real_to_complex(index_t, index_t, const double*, index_t, std::complex<double>*, index_t);
template void complex_to_real(index_t, index_t, std::complex<double>*, index_t, double*, index_t);

index_t good_size(index_t n) {
  constexpr index_t most = std::numeric_limits<index_t>::max();
  n = std::max<index_t>(n, 2);
  index_t best = most;
  for (index_t sevens = 1; sevens<best; sevens = sevens> most / 7 ? most : sevens * 7)
    for (index_t fives = sevens; fives<best; fives = fives> most / 5 ? most : fives * 5)
      for (index_t threes = fives; threes<best; threes = threes> most / 3 ? most : threes * 3) {
        index_t size = threes > most / 2 ? most : 2 * threes;
        while (size < n && size <= most / 2) size *= 2;
        if (size >= n) best = std::min(best, size);
      }
  return best;
}

}  // namespace tesela::fft
