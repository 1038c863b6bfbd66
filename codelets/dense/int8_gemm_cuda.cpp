#include <tesela/codelets/dense/int8_gemm.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/dense/internal/int8_moduli.hpp>
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

/// The parts of a work space.
struct Parts {
  Workspace w;
  std::byte* work;
  Planes left, right;
  double* squares;
  int* found;

  template <class T>
  Parts(const Lines<T>& a, const Lines<T>& b, int moduli, std::byte* space)
      : w(a.lines, b.lines, a.k, moduli),
        work(space),
        left{at<std::uint8_t>(w.a), at<int>(w.rows), a.lines},
        right{at<std::uint8_t>(w.b), at<int>(w.columns), b.lines},
        squares(at<double>(w.squares)),
        found(at<int>(w.found)) {}
  template <class P>
  P* at(std::size_t offset) const {
    return reinterpret_cast<P*>(work + offset);
  }
  int depth() const { return static_cast<int>(w.depth); }
};

/// A piece of a product.
template <class T>
struct Part {
  Lines<T> a, b;
  T alpha = 1, beta = 0;
  T* c = nullptr;
  index_t ldc = 1;
};

/// Calls f(part) for each piece until it returns an error.
template <class T, class F>
int for_each_piece(const GemmProblem<T>& p, const Int8Plan& plan, const F& f) {
  for (index_t j = 0; j < p.n; j += plan.n)
    for (index_t i = 0; i < p.m; i += plan.m)
      for (index_t l = 0; l < p.k; l += plan.k) {
        const index_t m = std::min(plan.m, p.m - i), n = std::min(plan.n, p.n - j), k = std::min(plan.k, p.k - l);
        const Part<T> part{lines(p.a, p.lda, p.op_a == Op::transpose, i, m, l, k),
                           lines(p.b, p.ldb, p.op_b == Op::none, j, n, l, k),
                           p.alpha,
                           l == 0 ? p.beta : T(1),
                           p.c + i + j * p.ldc,
                           p.ldc};
        if (const int status = f(part)) return status;
      }
  return cudaSuccess;
}

/// Multiplies one piece.
template <class T>
int multiply_piece(CUstream_st* stream, const Part<T>& p, int moduli, std::byte* work) {
  const Parts parts(p.a, p.b, moduli, work);
  if (const int status = cudaMemsetAsync(parts.found, 0, sizeof *parts.found, stream)) return status;
  for (const auto& [from, to] : {std::pair{p.a, parts.left}, {p.b, parts.right}}) {
    const OperandPart<T> whole{from};
    if (const int status = make_planes<T>(stream, {&whole, 1}, moduli, parts.depth(), to, parts.squares, parts.found))
      return status;
  }
  const Piece<T> piece{p.c, p.ldc};
  Product<T> product{.a = parts.left, .b = parts.right, .m = p.a.lines, .n = p.b.lines, .k = p.a.k};
  product.depth = parts.depth(), product.count = moduli;
  product.alpha = p.alpha, product.beta = p.beta, product.pieces = {&piece, 1};
  product.kept = parts.at<std::uint8_t>(parts.w.kept);
  if (const int status = multiply(stream, product)) return status;
  return repair(stream, p.a, p.b, parts.left.exponents, parts.right.exponents, parts.found, p.alpha, p.beta, p.c,
                p.ldc);
}

/// Measures the spread of a piece from above by a few percent, and waits for it. Scaled to norms of at most 1,
/// magnitudes with 8 bits are multiplied in columns that fit the space of the residues. Lines of zeros, or with NaN or
/// infinity, do not count.
template <class T>
int measure_spread(CUstream_st* stream, cublasContext* cublas, const Part<T>& p, int moduli, std::byte* work,
                   Spread& spread) {
  const Parts parts(p.a, p.b, moduli, work);
  const index_t depth = parts.w.depth, m = p.a.lines, n = p.b.lines;
  auto* const left = parts.at<std::uint16_t>(parts.w.a);
  auto* const right = left + ceil_div(m * depth, 128) * 128;
  auto* const products = reinterpret_cast<float*>(right + ceil_div(n * depth, 128) * 128);
  auto* const least = reinterpret_cast<float*>(parts.found);  // its part has 256 bytes
  const index_t room = reinterpret_cast<float*>(work + parts.w.rows) - products, columns = std::min(n, room / m);
  if (const int status = cudaMemsetAsync(least, 0x7f, 2 * sizeof *least, stream)) return status;
  for (const auto& [from, exponents] : {std::pair{p.a, parts.left.exponents}, {p.b, parts.right.exponents}}) {
    const OperandPart<T> whole{from};
    if (const int status =
            scale_lines<T>(stream, {&whole, 1}, from.lines, 1.0, not_finite, exponents, parts.squares, nullptr))
      return status;
  }
  auto* const left_sums = reinterpret_cast<float*>(parts.squares);  // the squares are no longer used
  float* const right_sums = left_sums + m;
  if (const int status = make_magnitudes(stream, p.a, parts.left.exponents, parts.depth(), left, left_sums))
    return status;
  if (const int status = make_magnitudes(stream, p.b, parts.right.exponents, parts.depth(), right, right_sums))
    return status;
  for (index_t j = 0; j < n; j += columns) {
    const index_t some = std::min(columns, n - j);
    const float one = 1, zero = 0;
    if (const int status =
            cublasGemmEx(cublas, CUBLAS_OP_T, CUBLAS_OP_N, p.a.lines, static_cast<int>(some), parts.depth(), &one, left,
                         CUDA_R_16BF, parts.depth(), right + j * depth, CUDA_R_16BF, parts.depth(), &zero, products,
                         CUDA_R_32F, p.a.lines, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT))
      return status;
    if (const int status =
            find_least(stream, products, p.a.lines, static_cast<int>(some), left_sums, right_sums + j, least))
      return status;
  }
  float found[2] = {};
  if (const int status = cudaMemcpyAsync(found, least, sizeof found, cudaMemcpyDeviceToHost, stream)) return status;
  if (const int status = cudaStreamSynchronize(stream)) return status;
  spread = {1.01 / static_cast<double>(found[0]), 1.02 / static_cast<double>(found[1])};
  return cudaSuccess;
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
  return for_each_piece(p, plan, [&](const Part<T>& part) {
    return multiply_piece(stream, part, plan.moduli, static_cast<std::byte*>(work));
  });
}

template <class T>
int gemm_componentwise(CUstream_st* stream, cublasContext* cublas, const GemmProblem<T>& p, const Int8Plan& plan,
                       void* work) {
  int device = 0;
  if (const int status = cudaGetDevice(&device)) return status;
  if (p.k == 0 || p.alpha == 0 || !is_fast(device)) return gemm_int8(stream, p, plan, work);
  auto* const space = static_cast<std::byte*>(work);
  return for_each_piece(p, plan, [&](const Part<T>& part) -> int {
    Spread spread;
    if (const int status = measure_spread(stream, cublas, part, plan.moduli, space, spread)) return status;
    const int moduli = moduli_for_spread(sizeof(T), part.a.k, spread);
    count_componentwise_piece(moduli);
    if (moduli > 0) return multiply_piece(stream, part, moduli, space);
    return cublas::gemm<T>(cublas, p.op_a, p.op_b, part.a.lines, part.b.lines, part.a.k, part.alpha, part.a.data,
                           part.a.ld, part.b.data, part.b.ld, part.beta, part.c, part.ldc);
  });
}

template <class T>
void multiply(CudaContext& context, [[maybe_unused]] GemmKernel kernel, const GemmProblem<T>& p,
              [[maybe_unused]] Scratch<double> work, [[maybe_unused]] int moduli) {
  if constexpr (!is_complex<T>)
    if (kernel == GemmKernel::int8 || (kernel == GemmKernel::automatic && int8_wins(p.m, p.n, p.k))) {
      const std::size_t room = static_cast<std::size_t>(work.rows * work.cols) * sizeof(double);
      const Int8Plan plan = plan_int8(p.m, p.n, p.k, moduli, room);
      const int status = plan.bytes <= room ? gemm_int8(context.stream(), p, plan, work.data) : cudaErrorNotSupported;
      if (status != cudaErrorNotSupported) return void(context.check(status, "gemm of residues"));
    }
  context.check(cublas::gemm(context.cublas(), p.op_a, p.op_b, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta,
                             p.c, p.ldc),
                "cublas gemm");
}

template <class T, template <class> class C>
void Int8Gemm<T, C>::cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, C<T> c, Scratch<double> work) {
  const GemmProblem<T> p{args.op_a, args.op_b, c.rows, c.cols, apply(args.op_a, a.shape()).cols,           args.alpha,
                         a.data,    a.ld,      b.data, b.ld,   C<T>::mode == Mode::out ? T(0) : args.beta, c.data,
                         c.ld};
  const bool normwise = args.accuracy == GemmAccuracy::normwise;
  const std::size_t room = static_cast<std::size_t>(work.rows * work.cols) * sizeof(double);
  const Int8Plan plan = plan_int8(p.m, p.n, p.k, most_moduli_for(sizeof(T)), room);
  const int status = normwise || plan.bytes > room
                         ? cudaErrorNotSupported
                         : gemm_componentwise(context.stream(), context.cublas(), p, plan, work.data);
  if (status != cudaErrorNotSupported) return void(context.check(status, "componentwise gemm"));
  multiply<T>(context, normwise ? GemmKernel::int8 : GemmKernel::cublas, p, work);
}

TESELA_FUNCTIONS_FOR_REALS(gemm_int8, gemm_componentwise)
template void multiply(CudaContext&, GemmKernel, const GemmProblem<float>&, Scratch<double>, int);
template void multiply(CudaContext&, GemmKernel, const GemmProblem<double>&, Scratch<double>, int);
template void multiply(CudaContext&, GemmKernel, const GemmProblem<std::complex<float>>&, Scratch<double>, int);
template void multiply(CudaContext&, GemmKernel, const GemmProblem<std::complex<double>>&, Scratch<double>, int);
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
