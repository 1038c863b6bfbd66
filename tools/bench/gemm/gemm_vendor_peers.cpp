// The peers of bench gemm that call a vendor's library.

#include "tools/peers/device.hpp"
#include "tools/problems/dense/gemm_data.hpp"
#include <tesela/host/blas.hpp>

#include <cblas.h>

#include <memory>
#include <string>

#if TESELA_HAVE_CUDA
#include "tools/peers/generate.hpp"

#include <cublasXt.h>
#include <cuda_runtime.h>

#include <vector>
#endif

namespace tesela::bench {

template <class T>
Peer openblas_gemm(const GemmData<T>& data) {
  const auto run = [&data] {
    const auto& [m, n, k, tile, seed, on_device, kernel] = data.what();
    const PausedWorkers paused;
    const blas::Threads all(openblas_get_num_procs());
    wait_for_idle_threads();
    return seconds_of([&, m_ = m, n_ = n, k_ = k] {
      blas::gemm<T>(Op::none, Op::none, m_, n_, k_, T(1), data.a(), m_, data.b(), k_, T(0), data.c(), m_);
    });
  };
  return {"openblas", run, [&data, run] { return data.verify("openblas", run); }};
}

template Peer openblas_gemm(const GemmData<float>&);
template Peer openblas_gemm(const GemmData<double>&);

#if TESELA_HAVE_CUDA

namespace {

template <class T>
struct CublasOperands {
  explicit CublasOperands(const GemmCase& w)
      : a(bytes(w.m, w.k)), b(bytes(w.k, w.n)), c(bytes(w.m, w.n)), c_bytes(bytes(w.m, w.n)) {}
  static std::size_t bytes(index_t rows, index_t cols) { return static_cast<std::size_t>(rows * cols) * sizeof(T); }
  DeviceMemory a, b, c;
  std::size_t c_bytes;
};

void copy(void* to, const void* from, std::size_t bytes) {
  check_device(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr), "cudaMemcpyAsync");
}

template <class T>
void multiply_on_device(const GemmCase& w, const CublasOperands<T>& on_device) {
  check_device(cublas_multiply(nullptr, w.m, w.n, w.k, on_device.a.template as<T>(), on_device.b.template as<T>(),
                               on_device.c.template as<T>()),
               "cublas gemm");
}

}  // namespace

template <class T>
Peer cublas_gemm(const GemmData<T>& data) {
  const GemmCase& w = data.what();
  const auto operands = std::make_shared<CublasOperands<T>>(w);
  if (w.on_device) {
    generate(operands->a.template as<T>(), w.m, w.k, gemm_operand<T>(w, false));
    generate(operands->b.template as<T>(), w.k, w.n, gemm_operand<T>(w, true));
    check_device(cudaMemset(operands->c.template as<T>(), 0xff, operands->c_bytes), "cudaMemset");  // NaN
  }
  const auto run = [&data, operands] {
    const GemmCase& what = data.what();
    const PausedWorkers paused;
    select_first_device();
    wait_for_idle_threads();
    return seconds_of([&] {
      using Operands = CublasOperands<T>;
      if (!what.on_device) {
        copy(operands->a.template as<T>(), data.a(), Operands::bytes(what.m, what.k));
        copy(operands->b.template as<T>(), data.b(), Operands::bytes(what.k, what.n));
      }
      multiply_on_device(what, *operands);
      if (!what.on_device) copy(data.c(), operands->c.template as<T>(), operands->c_bytes);
      check_device(cudaDeviceSynchronize(), "cudaDeviceSynchronize after cublas gemm");
    });
  };
  return {"cublas", run, [&data, operands, run] {
            if (!data.what().on_device) return data.verify("cublas", run);
            run();
            return data.check("cublas", [&](index_t i, index_t j) {
              T value{};
              copy(&value, operands->c.template as<T>() + i + j * data.what().m, sizeof value);
              check_device(cudaDeviceSynchronize(), "cudaMemcpyAsync");
              return value;
            });
          }};
}

namespace {

class XtHandle {
 public:
  explicit XtHandle(int devices) {
    check_device(cublasXtCreate(&handle_), "cublasXtCreate");
    std::vector<int> ids;
    for (int d = 0; d < devices; ++d) ids.push_back(d);
    check_device(cublasXtDeviceSelect(handle_, devices, ids.data()), "cublasXtDeviceSelect");
  }
  ~XtHandle() { cublasXtDestroy(handle_); }
  XtHandle(const XtHandle&) = delete;
  XtHandle& operator=(const XtHandle&) = delete;

  void set_block(int edge) { check_device(cublasXtSetBlockDim(handle_, edge), "cublasXtSetBlockDim"); }

  template <class T>
  void multiply(const GemmData<T>& data) const {
    const T one = 1, zero = 0;
    const auto m = static_cast<std::size_t>(data.what().m), n = static_cast<std::size_t>(data.what().n),
               k = static_cast<std::size_t>(data.what().k);
    if constexpr (std::is_same_v<T, float>)
      check_device(
          cublasXtSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, data.a(), m, data.b(), k, &zero, data.c(), m),
          "cublasXtSgemm");
    else
      check_device(
          cublasXtDgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, data.a(), m, data.b(), k, &zero, data.c(), m),
          "cublasXtDgemm");
  }

 private:
  cublasXtHandle_t handle_ = nullptr;
};

}  // namespace

/// cublasXt's speed depends on its block size, so it gets the best of three, each tried twice before anything is timed.
template <class T>
Peer cublasxt_gemm(const GemmData<T>& data) {
  const auto handle = std::make_shared<XtHandle>(data.runtime().gpus());
  const auto timed = [&data, handle] {
    const PausedWorkers paused;
    wait_for_idle_threads();
    return seconds_of([&] { handle->multiply(data); });
  };
  const auto verify = [&data, handle, timed] {
    int best = 0;
    double least = 0;
    for (const int edge : {2048, 4096, 8192}) {
      handle->set_block(edge);
      timed();
      const double seconds = timed();
      if (best != 0 && seconds >= least) continue;
      best = edge;
      least = seconds;
    }
    handle->set_block(best);
    return data.verify("cublasxt", timed);
  };
  return {"cublasxt", timed, verify};
}

template Peer cublas_gemm(const GemmData<float>&);
template Peer cublas_gemm(const GemmData<double>&);
template Peer cublasxt_gemm(const GemmData<float>&);
template Peer cublasxt_gemm(const GemmData<double>&);

#endif

}  // namespace tesela::bench
