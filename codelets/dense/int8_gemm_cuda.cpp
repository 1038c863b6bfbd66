#include <tesela/codelets/dense/int8_gemm.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/dense/internal/int8_steps.hpp>
#include <tesela/codelets/dense/internal/int8_workspace.hpp>
#include <tesela/codelets/support/internal/cublas.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

namespace tesela::kernels {
namespace {

using namespace int8;

bool is_fast(int device) {
  int major = 0, minor = 0;
  return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess && major == 9 &&
         minor == 0;
}

/// Returns `count` lines from `first` on and their elements from l0 to l0 + k.
template <class T>
Lines<T> lines(const T* data, index_t ld, bool contiguous, index_t first, index_t count, index_t l0, index_t k) {
  return {data + (contiguous ? first * ld + l0 : first + l0 * ld), ld, contiguous, static_cast<int>(count),
          static_cast<int>(k)};
}

/// Multiplies one piece.
template <class T>
int multiply_piece(CUstream_st* stream, const Lines<T>& a, const Lines<T>& b, T alpha, T beta, T* c, index_t ldc,
                   std::byte* work) {
  const Workspace w(a.lines, b.lines, a.k, sizeof(T));
  const auto at = [&]<class P>(std::size_t offset, P*) { return reinterpret_cast<P*>(work + offset); };
  constexpr int count = moduli_for(sizeof(T));
  const Planes left{at(w.a, static_cast<std::uint8_t*>(nullptr)), at(w.rows, static_cast<int*>(nullptr)), a.lines};
  const Planes right{at(w.b, static_cast<std::uint8_t*>(nullptr)), at(w.columns, static_cast<int*>(nullptr)), b.lines};
  auto* const squares = at(w.squares, static_cast<double*>(nullptr));
  auto* const found = at(w.found, static_cast<int*>(nullptr));
  const auto depth = static_cast<int>(w.depth);
  if (const int status = cudaMemsetAsync(found, 0, sizeof *found, stream)) return status;
  for (const auto& [from, to] : {std::pair{a, left}, {b, right}}) {
    const OperandPart<T> whole{from};
    if (const int status = make_planes<T>(stream, {&whole, 1}, count, depth, to, squares, found)) return status;
  }
  const Piece<T> piece{c, ldc};
  Product<T> product{.a = left, .b = right, .m = a.lines, .n = b.lines, .k = a.k, .depth = depth, .count = count};
  product.alpha = alpha, product.beta = beta, product.pieces = {&piece, 1};
  product.kept = at(w.kept, static_cast<std::uint8_t*>(nullptr));
  if (const int status = multiply(stream, product)) return status;
  return repair(stream, a, b, left.exponents, right.exponents, found, alpha, beta, c, ldc);
}

}  // namespace

bool has_int8_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return false;
  for (int device = 0; device < count; ++device)
    if (!is_fast(device)) return false;
  return count > 0;
}

template <class T>
int gemm_int8(CUstream_st* stream, const GemmProblem<T>& p, const Int8Plan& plan, void* work) {
  int device = 0;
  if (const int status = cudaGetDevice(&device)) return status;
  if (!is_fast(device)) return cudaErrorNotSupported;
  if (p.k == 0 || p.alpha == 0) {
    GemmProblem<T> scaled = p;
    scaled.k = 0;
    return gemm_naive(stream, scaled, 32);
  }
  for (index_t j = 0; j < p.n; j += plan.n)
    for (index_t i = 0; i < p.m; i += plan.m)
      for (index_t l = 0; l < p.k; l += plan.k) {
        const index_t m = std::min(plan.m, p.m - i), n = std::min(plan.n, p.n - j), k = std::min(plan.k, p.k - l);
        if (const int status =
                multiply_piece(stream, lines(p.a, p.lda, p.op_a == Op::transpose, i, m, l, k),
                               lines(p.b, p.ldb, p.op_b == Op::none, j, n, l, k), p.alpha, l == 0 ? p.beta : T(1),
                               p.c + i + j * p.ldc, p.ldc, static_cast<std::byte*>(work)))
          return status;
      }
  return cudaSuccess;
}

template <class T>
void multiply(CudaContext& context, GemmKernel kernel, const GemmProblem<T>& p, Scratch<double> work) {
  if (kernel == GemmKernel::int8 || (kernel == GemmKernel::automatic && int8_wins(p.m, p.n, p.k))) {
    const std::size_t room = static_cast<std::size_t>(work.rows * work.cols) * sizeof(double);
    const Int8Plan plan = plan_int8(p.m, p.n, p.k, sizeof(T), room);
    const int status = plan.bytes <= room ? gemm_int8(context.stream(), p, plan, work.data) : cudaErrorNotSupported;
    if (status != cudaErrorNotSupported) return void(context.check(status, "gemm of residues"));
  }
  context.check(cublas::gemm(context.cublas(), p.op_a, p.op_b, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta,
                             p.c, p.ldc),
                "cublas gemm");
}

template <class T, template <class> class C>
void Int8Gemm<T, C>::cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, C<T> c, Scratch<double> work) {
  const index_t k = apply(args.op_a, a.shape()).cols;
  multiply<T>(context, GemmKernel::int8,
              {args.op_a, args.op_b, c.rows, c.cols, k, args.alpha, a.data, a.ld, b.data, b.ld,
               C<T>::mode == Mode::out ? T(0) : args.beta, c.data, c.ld},
              work);
}

template void multiply(CudaContext&, GemmKernel, const GemmProblem<float>&, Scratch<double>);
template void multiply(CudaContext&, GemmKernel, const GemmProblem<double>&, Scratch<double>);
template int gemm_int8(CUstream_st*, const GemmProblem<float>&, const Int8Plan&, void*);
template int gemm_int8(CUstream_st*, const GemmProblem<double>&, const Int8Plan&, void*);
template void Int8Gemm<float, InOut>::cuda(CudaContext&, const Args&, In<float>, In<float>, InOut<float>,
                                           Scratch<double>);
template void Int8Gemm<float, Out>::cuda(CudaContext&, const Args&, In<float>, In<float>, Out<float>, Scratch<double>);
template void Int8Gemm<double, InOut>::cuda(CudaContext&, const Args&, In<double>, In<double>, InOut<double>,
                                            Scratch<double>);
template void Int8Gemm<double, Out>::cuda(CudaContext&, const Args&, In<double>, In<double>, Out<double>,
                                          Scratch<double>);

}  // namespace tesela::kernels

#else

namespace tesela::kernels {
bool has_int8_devices() { return false; }
}  // namespace tesela::kernels

#endif
