#include "tools/peers/gemm_peers.hpp"

#if TESELA_HAVE_CUDA

#include "tools/peers/harness.hpp"
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/host/by_type.hpp>
#include <tesela/runtime/scalar.hpp>

#include <cublasXt.h>
#include <cuda_runtime.h>

#include <numeric>
#include <tuple>
#include <vector>

namespace tesela::bench {
namespace {

template <class T>
std::size_t bytes(index_t rows, index_t cols) {
  return static_cast<std::size_t>(rows * cols) * sizeof(T);
}

}  // namespace

template <class T>
CublasGemm<T>::CublasGemm(index_t m, index_t n, index_t k)
    : m_(m), n_(n), k_(k), a_(bytes<T>(m, k)), b_(bytes<T>(k, n)), c_(bytes<T>(m, n)) {}

template <class T>
void CublasGemm<T>::upload(const T* a, const T* b) const {
  select_first_device();
  for (const auto& [to, from, size] : {std::tuple(this->a(), a, bytes<T>(m_, k_)), {this->b(), b, bytes<T>(k_, n_)}})
    check_device(cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, nullptr), "cudaMemcpyAsync");
}

template <class T>
void CublasGemm<T>::multiply() const {
  select_first_device();
  check_device(cublas_multiply(nullptr, m_, n_, k_, a(), b(), c_.template as<T>()), "cublas gemm");
  check_device(cudaDeviceSynchronize(), "cudaDeviceSynchronize after cublas gemm");
}

template <class T>
void CublasGemm<T>::download(T* c) const {
  copy_memory(c, c_.template as<T>(), bytes<T>(m_, n_));
}

template <class T>
void CublasGemm<T>::poison() const {
  select_first_device();
  check_device(cudaMemset(c_.template as<T>(), 0xff, bytes<T>(m_, n_)), "cudaMemset");
  check_device(cudaDeviceSynchronize(), "cudaMemset");
}

template <class T>
T CublasGemm<T>::element(index_t i, index_t j) const {
  T value{};
  copy_memory(&value, c_.template as<T>() + i + j * m_, sizeof value);
  return value;
}

template <class T>
CublasXtGemm<T>::CublasXtGemm(int devices, index_t m, index_t n, index_t k) : m_(m), n_(n), k_(k) {
  cublasXtHandle_t handle = nullptr;
  check_device(cublasXtCreate(&handle), "cublasXtCreate");
  handle_ = handle;
  std::vector<int> ids(static_cast<std::size_t>(devices));
  std::iota(ids.begin(), ids.end(), 0);
  check_device(cublasXtDeviceSelect(handle, devices, ids.data()), "cublasXtDeviceSelect");
}

template <class T>
CublasXtGemm<T>::~CublasXtGemm() {
  cublasXtDestroy(static_cast<cublasXtHandle_t>(handle_));
}

template <class T>
void CublasXtGemm<T>::choose_block(const std::function<void()>& run) const {
  int best = 0;
  double least = 0;
  const auto set = [&](int edge) {
    check_device(cublasXtSetBlockDim(static_cast<cublasXtHandle_t>(handle_), edge), "cublasXtSetBlockDim");
  };
  for (const int edge : {2048, 4096, 8192}) {
    set(edge);
    run();
    const double seconds = seconds_of(run);
    if (best != 0 && seconds >= least) continue;
    best = edge;
    least = seconds;
  }
  set(best);
}

template <class T>
void CublasXtGemm<T>::multiply(const T* a, const T* b, T* c) const {
  const T one = 1, zero = 0;
  const auto m = static_cast<std::size_t>(m_), n = static_cast<std::size_t>(n_), k = static_cast<std::size_t>(k_);
  const auto handle = static_cast<cublasXtHandle_t>(handle_);
  using cublas::numbers;
  check_device(by_type<T, cublasXtSgemm, cublasXtDgemm, cublasXtCgemm, cublasXtZgemm>(
                   handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, numbers(&one), numbers(a), m, numbers(b), k,
                   numbers(&zero), numbers(c), m),
               "cublasXt gemm");
}

TESELA_CLASSES_FOR_NUMBERS(CublasGemm, CublasXtGemm)

}  // namespace tesela::bench

#endif
