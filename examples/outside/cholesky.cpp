// A tiled Cholesky factorization A = L L^T outside Tesela's tree: four kernels, one loop, one check.
//
//   cholesky [N [TILE [ROW [DAG]]]]
//
// factors a random symmetric positive definite matrix of order N in tiles of TILE x TILE. A ROW above 0 makes that
// diagonal entry negative, so that the factorization must stop there. DAG is a file for the task graph.
// Exit code: 0 done, 1 not positive definite or a wrong factor, 2 wrong use, 3 no worker or memory.
#include <tesela/tesela.hpp>

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#if TESELA_HAVE_CUDA
#include <cublas_v2.h>

#include <cusolverDn.h>
#endif

namespace mine {

using namespace tesela;
using namespace tesela::kernels;

int i32(index_t n) { return static_cast<int>(n); }  // BLAS counts in int

/// LAPACK potrf: A = L L^T in a diagonal tile. `info` becomes 0, or the row of the tile at which A is not positive
/// definite.
struct Potrf {
  static constexpr auto name = "potrf";
  static constexpr auto color = 0xc44e52u;
  struct Args {};
  static double flops(const Args&, Shape a, Shape, Shape, Shape) { return std::pow(a.rows, 3) / 3; }
  static void cpu(const Args&, InOut<double> a, Scratch<double>, In<int> before, Out<int> info) {
    const bool go_on = *before.data == 0;
    *info.data = go_on ? LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', i32(a.rows), a.data, i32(a.ld)) : *before.data;
  }
  static void cuda(CudaContext&, const Args&, InOut<double> a, Scratch<double> work, In<int>, Out<int> info);
  static index_t work_size(index_t n);  // work space of the CUDA variant, in elements
};

/// BLAS trsm: B = B L^-T, a tile below the diagonal.
struct Trsm {
  static constexpr auto name = "trsm";
  static constexpr auto color = 0x55a868u;
  struct Args {};
  static double flops(const Args&, Shape, Shape b, Shape) { return std::pow(b.cols, 2) * static_cast<double>(b.rows); }
  static void cpu(const Args&, In<double> l, InOut<double> b, In<int> info) {
    if (*info.data != 0) return;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, i32(b.rows), i32(b.cols), 1, l.data,
                i32(l.ld), b.data, i32(b.ld));
  }
  static void cuda(CudaContext&, const Args&, In<double> l, InOut<double> b, In<int>);
};

/// BLAS syrk: C = C - A A^T, a tile on the diagonal.
struct Syrk {
  static constexpr auto name = "syrk";
  static constexpr auto color = 0x8172b2u;
  struct Args {};
  static double flops(const Args&, Shape a, Shape, Shape) { return std::pow(a.rows, 2) * static_cast<double>(a.cols); }
  static void cpu(const Args&, In<double> a, InOut<double> c, In<int> info) {
    if (*info.data != 0) return;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, i32(c.rows), i32(a.cols), -1, a.data, i32(a.ld), 1, c.data,
                i32(c.ld));
  }
  static void cuda(CudaContext&, const Args&, In<double> a, InOut<double> c, In<int>);
};

/// BLAS gemm: C = C - A B^T, a tile below the diagonal.
struct Gemm {
  static constexpr auto name = "gemm";
  static constexpr auto color = 0x4c72b0u;
  struct Args {};
  static double flops(const Args&, Shape a, Shape b, Shape, Shape) {
    return 2 * static_cast<double>(a.rows) * static_cast<double>(a.cols) * static_cast<double>(b.rows);
  }
  static void cpu(const Args&, In<double> a, In<double> b, InOut<double> c, In<int> info) {
    if (*info.data != 0) return;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, i32(c.rows), i32(c.cols), i32(a.cols), -1, a.data, i32(a.ld),
                b.data, i32(b.ld), 1, c.data, i32(c.ld));
  }
  static void cuda(CudaContext&, const Args&, In<double> a, In<double> b, InOut<double> c, In<int>);
};

#if TESELA_HAVE_CUDA
// A CUDA variant enqueues work and returns, so it cannot read a status first. After a failure GPUs still run the later
// tasks, whose results do not matter: wait() returns the first nonzero status.
constexpr auto lower = CUBLAS_FILL_MODE_LOWER;
constexpr double one = 1, minus_one = -1;

void Potrf::cuda(CudaContext& context, const Args&, InOut<double> a, Scratch<double> work, In<int>, Out<int> info) {
  context.check(
      cusolverDnDpotrf(context.cusolver(), lower, i32(a.rows), a.data, i32(a.ld), work.data, i32(work.rows), info.data),
      "cusolverDnDpotrf");
}
void Trsm::cuda(CudaContext& context, const Args&, In<double> l, InOut<double> b, In<int>) {
  context.check(cublasDtrsm(context.cublas(), CUBLAS_SIDE_RIGHT, lower, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, i32(b.rows),
                            i32(b.cols), &one, l.data, i32(l.ld), b.data, i32(b.ld)),
                "cublasDtrsm");
}
void Syrk::cuda(CudaContext& context, const Args&, In<double> a, InOut<double> c, In<int>) {
  context.check(cublasDsyrk(context.cublas(), lower, CUBLAS_OP_N, i32(c.rows), i32(a.cols), &minus_one, a.data,
                            i32(a.ld), &one, c.data, i32(c.ld)),
                "cublasDsyrk");
}
void Gemm::cuda(CudaContext& context, const Args&, In<double> a, In<double> b, InOut<double> c, In<int>) {
  context.check(cublasDgemm(context.cublas(), CUBLAS_OP_N, CUBLAS_OP_T, i32(c.rows), i32(c.cols), i32(a.cols),
                            &minus_one, a.data, i32(a.ld), b.data, i32(b.ld), &one, c.data, i32(c.ld)),
                "cublasDgemm");
}
#endif

index_t Potrf::work_size([[maybe_unused]] index_t n) {
  int size = 0;
#if TESELA_HAVE_CUDA
  CudaContext context(name);
  if (context.cusolver() != nullptr)
    context.check(cusolverDnDpotrf_bufferSize(context.cusolver(), lower, i32(n), nullptr, i32(n), &size),
                  "its workspace");
#endif
  return std::max(size, 1);
}

/// Inserts the factorization of A; reads and writes only the lower triangle.
void cholesky(Graph& g, const TileMatrix<double>& A) {
  const index_t nt = A.nt(), nb = A.tile_shape().nb;
  const Tile<double> work = g.scratch<double>(Potrf::work_size(std::min(nb, A.n())), 1);
  Tile<int> info = g.status();
  for (index_t k = 0; k < nt; ++k) {
    const Tile<int> before = std::exchange(info, g.status(k * nb));
    g.insert<Potrf>(urgent, {}, A(k, k), work, before, info);
    for (index_t i = k + 1; i < nt; ++i) g.insert<Trsm>({}, A(k, k), A(i, k), info);
    for (index_t j = k + 1; j < nt; ++j) {
      g.insert<Syrk>({}, A(j, k), A(j, j), info);
      for (index_t i = j + 1; i < nt; ++i) g.insert<Gemm>({}, A(i, k), A(j, k), A(i, j), info);
    }
  }
}

/// Returns ||A - L L^T||_F / ||A||_F from the lower triangles of n x n matrices.
double residual(index_t n, std::vector<double> a, std::vector<double> l) {
  if (n == 0) return 0;
  const auto norm_of_a = [&] {
    return LAPACKE_dlansy_work(LAPACK_COL_MAJOR, 'F', 'L', i32(n), a.data(), i32(n), nullptr);
  };
  const double norm = norm_of_a();
  for (index_t j = 0; j < n; ++j) std::fill_n(&l[j * n], j, 0.0);
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, i32(n), i32(n), -1, l.data(), i32(n), 1, a.data(), i32(n));
  return norm_of_a() / norm;
}

int run(index_t n, index_t tile, index_t row, const char* dag) {
  if (n < 0 || row < 0 || row > n) throw ArgumentError("cholesky", "N or ROW", "negative, or ROW above N");
  // The dominant diagonal makes A positive definite. Nothing may read the NaNs above it.
  std::vector<double> a(n * n, std::nan(""));
  std::mt19937_64 random(1);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j; i < n; ++i)
      a[i + j * n] = i == j ? static_cast<double>(n) : std::uniform_real_distribution(-1.0, 1.0)(random);
  if (row > 0) a[(row - 1) * (n + 1)] = -1;
  std::vector<double> l = a;

  openblas_set_num_threads(1);  // StarPU's workers use all cores
  Runtime runtime;
  Graph g(runtime, {.record = dag != nullptr});
  const auto A = TileMatrix<double>::map(runtime, l.data(), n, n, std::max<index_t>(n, 1), {tile, tile});
  cholesky(g, A);
  const Status status = g.wait();
  A.bring_home();
  if (dag != nullptr) g.write_dot(dag);

  std::cout << g.tasks() << " tasks on " << runtime.cpus() << " cores and " << runtime.gpus() << " GPUs ("
            << runtime.scheduler() << "): ";
  if (!status.ok()) {
    std::cout << "not positive definite, info = " << status.info << '\n';
    return 1;
  }
  const double measured = residual(n, a, l),
               bound = static_cast<double>(n + 1) * std::numeric_limits<double>::epsilon();
  std::cout << "||A - L L^T|| / ||A|| = " << measured << ", bound " << bound << '\n';
  return measured <= bound ? 0 : 1;
}

}  // namespace mine

int main(int argc, char** argv) try {
  const auto number = [&](int i, long otherwise) { return i < argc ? std::stol(argv[i]) : otherwise; };
  return mine::run(number(1, 2000), number(2, 250), number(3, 0), argc > 4 ? argv[4] : nullptr);
} catch (const tesela::EnvironmentError& error) {
  std::cerr << "cholesky: " << error.what() << '\n';
  return 3;
} catch (const std::exception& error) {
  std::cerr << "cholesky [N [TILE [ROW [DAG]]]]: " << error.what() << '\n';
  return 2;
}
