#include "tools/peers/gemm_peers.hpp"
#include <tesela/host/by_type.hpp>

#include <cblas.h>
#include <starpu.h>

#if TESELA_HAVE_CUDA
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <starpu_cublas_v2.h>
#endif

namespace tesela::bench {
namespace {

struct Block {
  explicit Block(void* buffer)
      : data(STARPU_MATRIX_GET_PTR(buffer)),
        rows(static_cast<int>(STARPU_MATRIX_GET_NX(buffer))),
        cols(static_cast<int>(STARPU_MATRIX_GET_NY(buffer))),
        ld(static_cast<int>(STARPU_MATRIX_GET_LD(buffer))) {}
  uintptr_t data;
  int rows, cols, ld;
};

template <class T>
void plain_cpu(void* buffers[], void* arguments) {
  T beta = 0;
  starpu_codelet_unpack_args(arguments, &beta);
  const Block a(buffers[0]), b(buffers[1]), c(buffers[2]);
  by_type<T, cblas_sgemm, cblas_dgemm>(CblasColMajor, CblasNoTrans, CblasNoTrans, c.rows, c.cols, a.cols, T(1),
                                       reinterpret_cast<T*>(a.data), a.ld, reinterpret_cast<T*>(b.data), b.ld, beta,
                                       reinterpret_cast<T*>(c.data), c.ld);
}

#if TESELA_HAVE_CUDA
template <class T>
void plain_cuda(void* buffers[], void* arguments) {
  T beta = 0;
  const T one = 1;
  starpu_codelet_unpack_args(arguments, &beta);
  const Block a(buffers[0]), b(buffers[1]), c(buffers[2]);
  const cublasStatus_t status = by_type<T, cublasSgemm, cublasDgemm>(
      starpu_cublas_get_local_handle(), CUBLAS_OP_N, CUBLAS_OP_N, c.rows, c.cols, a.cols, &one,
      reinterpret_cast<T*>(a.data), a.ld, reinterpret_cast<T*>(b.data), b.ld, &beta, reinterpret_cast<T*>(c.data),
      c.ld);
  if (status != CUBLAS_STATUS_SUCCESS) STARPU_CUBLAS_REPORT_ERROR(status);
}
#endif

/// Makes C = A B (mode STARPU_W) or C = A B + C (STARPU_RW), with one model for both, as Tesela has.
template <class T>
starpu_codelet make_codelet(starpu_data_access_mode mode) {
  static starpu_perfmodel model = [] {
    starpu_perfmodel m{};
    m.type = STARPU_HISTORY_BASED;
    m.symbol = std::is_same_v<T, float> ? "bench_plain_sgemm" : "bench_plain_dgemm";
    return m;
  }();
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.name = "plain_gemm";
  codelet.cpu_funcs[0] = &plain_cpu<T>;
#if TESELA_HAVE_CUDA
  codelet.cuda_funcs[0] = &plain_cuda<T>;
  codelet.cuda_flags[0] = STARPU_CUDA_ASYNC;
#endif
  codelet.nbuffers = 3;
  codelet.modes[0] = codelet.modes[1] = STARPU_R;
  codelet.modes[2] = mode;
  codelet.model = &model;
  return codelet;
}

}  // namespace

template <class T>
void starpu_gemm(const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& C) {
  static starpu_codelet first = make_codelet<T>(STARPU_W), next = make_codelet<T>(STARPU_RW);
  const auto handle = [](const Tile<T>& tile) { return static_cast<starpu_data_handle_t>(tile.data().handle()); };
  for (index_t k = 0; k < A.nt(); ++k)
    for (index_t j = 0; j < C.nt(); ++j)
      for (index_t i = 0; i < C.mt(); ++i) {
        const T beta = k == 0 ? T(0) : T(1);
        const double flops = 2.0 * static_cast<double>(C(i, j).rows() * C(i, j).cols() * A(i, k).cols());
        starpu_task_insert(k == 0 ? &first : &next, STARPU_VALUE, &beta, sizeof beta, STARPU_R, handle(A(i, k)),
                           STARPU_R, handle(B(k, j)), k == 0 ? STARPU_W : STARPU_RW, handle(C(i, j)), STARPU_FLOPS,
                           flops, STARPU_PRIORITY, 0, 0);
        if (k == A.nt() - 1 && C.mapped())
          starpu_data_acquire_on_node_cb(
              handle(C(i, j)), STARPU_MAIN_RAM, STARPU_R,
              [](void* h) { starpu_data_release_on_node(static_cast<starpu_data_handle_t>(h), STARPU_MAIN_RAM); },
              handle(C(i, j)));
      }
  starpu_task_wait_for_all();
}

template <class T>
T element(const Tile<T>& tile, index_t i, index_t j) {
  auto* handle = static_cast<starpu_data_handle_t>(tile.data().handle());
#if TESELA_HAVE_CUDA
  for (unsigned node = 1; node < starpu_memory_nodes_get_count(); ++node) {
    int allocated = 0, valid = 0, requested = 0;
    starpu_data_query_status(handle, static_cast<int>(node), &allocated, &valid, &requested);
    if (valid == 0 || starpu_node_get_kind(node) != STARPU_CUDA_RAM) continue;
    starpu_data_acquire_on_node(handle, static_cast<int>(node), STARPU_R);
    const auto* memory = static_cast<const starpu_matrix_interface*>(starpu_data_get_interface_on_node(handle, node));
    T value{};
    const int status = static_cast<int>(
        cudaMemcpy(&value, reinterpret_cast<const T*>(memory->ptr) + i + j * static_cast<index_t>(memory->ld),
                   sizeof(T), cudaMemcpyDefault));
    starpu_data_release_on_node(handle, static_cast<int>(node));
    check_device(status, "cudaMemcpy of a result");
    return value;
  }
#else
  static_cast<void>(handle);
#endif
  return tile.read()(i, j);
}

TESELA_FUNCTIONS_FOR_REALS(starpu_gemm)
TESELA_FUNCTIONS_FOR_NUMBERS(element)

}  // namespace tesela::bench
