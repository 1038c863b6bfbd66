// The two graph peers of bench gemm: ours, and the same graph written directly for StarPU.

#include "tools/problems/dense/gemm_data.hpp"
#include <tesela/algorithms/dense/gemm.hpp>

#include <cblas.h>
#include <starpu.h>

#if TESELA_HAVE_CUDA
#include <cublas_v2.h>
#include <starpu_cublas_v2.h>
#endif

namespace tesela::bench {
namespace {

template <class T>
void bring_home(const TileMatrix<T>& c) {
  c.for_each_tile([](const Tile<T>& tile, index_t, index_t) {
    auto* handle = static_cast<starpu_data_handle_t>(tile.data().handle());
    starpu_data_acquire_on_node(handle, STARPU_MAIN_RAM, STARPU_R);
    starpu_data_release_on_node(handle, STARPU_MAIN_RAM);
  });
}

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
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, c.rows, c.cols, a.cols, 1, reinterpret_cast<float*>(a.data),
                a.ld, reinterpret_cast<float*>(b.data), b.ld, beta, reinterpret_cast<float*>(c.data), c.ld);
  else
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, c.rows, c.cols, a.cols, 1, reinterpret_cast<double*>(a.data),
                a.ld, reinterpret_cast<double*>(b.data), b.ld, beta, reinterpret_cast<double*>(c.data), c.ld);
}

#if TESELA_HAVE_CUDA
template <class T>
void plain_cuda(void* buffers[], void* arguments) {
  T beta = 0;
  const T one = 1;
  starpu_codelet_unpack_args(arguments, &beta);
  const Block a(buffers[0]), b(buffers[1]), c(buffers[2]);
  cublasHandle_t handle = starpu_cublas_get_local_handle();
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  if constexpr (std::is_same_v<T, float>)
    status =
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, c.rows, c.cols, a.cols, &one, reinterpret_cast<float*>(a.data),
                    a.ld, reinterpret_cast<float*>(b.data), b.ld, &beta, reinterpret_cast<float*>(c.data), c.ld);
  else
    status =
        cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, c.rows, c.cols, a.cols, &one, reinterpret_cast<double*>(a.data),
                    a.ld, reinterpret_cast<double*>(b.data), b.ld, &beta, reinterpret_cast<double*>(c.data), c.ld);
  if (status != CUBLAS_STATUS_SUCCESS) STARPU_CUBLAS_REPORT_ERROR(status);
}
#endif

/// C := A B (mode STARPU_W) or C := A B + C (STARPU_RW); both learn into one model, as ours do.
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

template <class T>
void plain_graph(const typename GemmData<T>::Tiles& tiles) {
  static starpu_codelet first = make_codelet<T>(STARPU_W), next = make_codelet<T>(STARPU_RW);
  const auto& [A, B, C] = tiles;
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

/// Registers the matrices outside the measured time, for both peers.
template <class T>
Peer graph_peer(const GemmData<T>& data, const char* name,
                void (*multiply)(const GemmData<T>&, const typename GemmData<T>::Tiles&)) {
  const auto run = [&data, multiply] {
    wait_for_idle_threads();
    const auto tiles = data.tiles();
    return seconds_of([&] {
      multiply(data, tiles);
      if (tiles.C.mapped()) bring_home(tiles.C);
    });
  };
  return {name, run, [&data, name, run] { return data.verify(name, run); }};
}

}  // namespace

template <class T>
Peer tesela_gemm(const GemmData<T>& data) {
  return graph_peer<T>(data, "tesela", [](const GemmData<T>& d, const typename GemmData<T>::Tiles& tiles) {
    Graph g(d.runtime());
    gemm<T>(g, Op::none, Op::none, T(1), tiles.A, tiles.B, T(0), tiles.C,
            {.kernel = d.what().kernel, .bring_home = tiles.C.mapped()});
    g.wait();
  });
}

template <class T>
Peer starpu_gemm(const GemmData<T>& data) {
  return graph_peer<T>(data, "starpu",
                       [](const GemmData<T>&, const typename GemmData<T>::Tiles& tiles) { plain_graph<T>(tiles); });
}

template Peer tesela_gemm(const GemmData<float>&);
template Peer tesela_gemm(const GemmData<double>&);
template Peer starpu_gemm(const GemmData<float>&);
template Peer starpu_gemm(const GemmData<double>&);

}  // namespace tesela::bench
