#include <tesela/codelets/support/cufft.hpp>
#include <tesela/host/by_type.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/scalar.hpp>

#if TESELA_HAVE_CUDA

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cufft.h>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <utility>

namespace tesela::fft {
namespace {

struct Layout {
  cufftType type;
  index_t n, count, ld_in, ld_out;
  friend bool operator==(const Layout&, const Layout&) = default;
};

struct Planned {
  Layout layout;
  cufftHandle plan;
};

/// Plans of one stream, the most recently used first. They own work space, so their number is small.
using Plans = std::list<Planned>;
constexpr std::size_t most_plans = 24;

/// Makes a plan; returns 0 (CUFFT_SUCCESS) or the error.
int make_plan(const Layout& l, cufftHandle& plan) {
  if (const cufftResult status = cufftCreate(&plan); status != CUFFT_SUCCESS) return status;
  // With embedding sizes instead of null pointers cuFFT respects the distances; in one dimension it uses no other
  // values of them.
  long long n = l.n, in = l.ld_in, out = l.ld_out;
  std::size_t work = 0;
  const cufftResult status =
      cufftMakePlanMany64(plan, 1, &n, &in, 1, l.ld_in, &out, 1, l.ld_out, l.type, l.count, &work);
  if (status != CUFFT_SUCCESS) cufftDestroy(plan);
  return status;
}

/// Finds the plan of this layout for the context's stream; returns false after a failure, which is reported. The plans
/// outlive the Runtime and are never destroyed, because CUDA may end before static objects do.
bool find_plan(CudaContext& context, const Layout& layout, cufftHandle& plan) {
  static auto& mutex = *new std::mutex;
  static auto& streams = *new std::map<std::pair<int, CUstream_st*>, Plans>;
  int device = 0;
  if (!context.check(cudaGetDevice(&device), "cudaGetDevice")) return false;
  Plans* plans = nullptr;
  {
    const std::scoped_lock lock(mutex);
    plans = &streams[{device, context.stream()}];  // the map's elements do not move; only this worker uses it
  }
  const auto found = std::find_if(plans->begin(), plans->end(), [&](const Planned& p) { return p.layout == layout; });
  if (found != plans->end()) {
    plans->splice(plans->begin(), *plans, found);
  } else {
    if (plans->size() >= most_plans) {
      // A plan without work space does not wait for its transforms, which still read its tables.
      if (!context.check(cudaStreamSynchronize(context.stream()), "cudaStreamSynchronize")) return false;
      cufftDestroy(plans->back().plan);
      plans->pop_back();
    }
    cufftHandle made = 0;
    if (!context.check(make_plan(layout, made), "cufftMakePlanMany64")) return false;
    plans->push_front({layout, made});
  }
  plan = plans->front().plan;
  // Set each time, because a later Runtime's stream may have an old one's address.
  return context.check(cufftSetStream(plan, context.stream()), "cufftSetStream");
}

template <class F>
void with_plan(CudaContext& context, const Layout& layout, const F& execute) {
  if (layout.n <= 0 || layout.count <= 0) return;
  try {
    cufftHandle plan = 0;
    if (find_plan(context, layout, plan)) context.check(execute(plan), "cufftExec");
  } catch (const std::exception&) {
    context.check(CUFFT_ALLOC_FAILED, "finding a cuFFT plan");
  }
}

cufftComplex* to_cufft(std::complex<float>* x) { return reinterpret_cast<cufftComplex*>(x); }
cufftDoubleComplex* to_cufft(std::complex<double>* x) { return reinterpret_cast<cufftDoubleComplex*>(x); }

}  // namespace

template <class T>
void transform(CudaContext& context, Direction direction, index_t n, index_t count, std::complex<T>* data, index_t ld) {
  with_plan(context, {by_type<T, CUFFT_C2C, CUFFT_Z2Z>, n, count, ld, ld}, [&](cufftHandle plan) {
    return by_type<T, cufftExecC2C, cufftExecZ2Z>(plan, to_cufft(data), to_cufft(data),
                                                  direction == Direction::forward ? CUFFT_FORWARD : CUFFT_INVERSE);
  });
}

template <class T>
void real_to_complex(CudaContext& context, index_t n, index_t count, const T* in, index_t ld_in, std::complex<T>* out,
                     index_t ld_out) {
  with_plan(context, {by_type<T, CUFFT_R2C, CUFFT_D2Z>, n, count, ld_in, ld_out}, [&](cufftHandle plan) {
    return by_type<T, cufftExecR2C, cufftExecD2Z>(plan, const_cast<T*>(in), to_cufft(out));
  });
}

template <class T>
void complex_to_real(CudaContext& context, index_t n, index_t count, std::complex<T>* in, index_t ld_in, T* out,
                     index_t ld_out) {
  with_plan(context, {by_type<T, CUFFT_C2R, CUFFT_Z2D>, n, count, ld_in, ld_out},
            [&](cufftHandle plan) { return by_type<T, cufftExecC2R, cufftExecZ2D>(plan, to_cufft(in), out); });
}

#define TESELA_INSTANTIATE(T)                                                                                  \
  template void transform(CudaContext&, Direction, index_t, index_t, std::complex<T>*, index_t);               \
  template void real_to_complex(CudaContext&, index_t, index_t, const T*, index_t, std::complex<T>*, index_t); \
  template void complex_to_real(CudaContext&, index_t, index_t, std::complex<T>*, index_t, T*, index_t);
TESELA_FOR_REALS(TESELA_INSTANTIATE)

}  // namespace tesela::fft

#endif
