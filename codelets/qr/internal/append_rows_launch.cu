#include <tesela/codelets/qr/internal/append_rows_gram.cuh>
#include <tesela/codelets/qr/internal/append_rows_launch.cuh>
#include <tesela/codelets/qr/internal/append_rows_launch.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tesela::kernels {
namespace {

/// Most warps that stream A at once, on any device: determines the size of the stack of their triangles.
constexpr index_t most_warps = 2048;

/// Rows from which on A^T A is tried first.
constexpr index_t gram_rows = index_t{1} << 20;

/// Shapes by number of columns. A block needs registers for Rows x N doubles per lane.
template <class F>
int with_shape(index_t n, F f) {
  if (n <= 8) return f(AppendShape<8, 8, 12, 1>{});
  if (n <= 16) return f(AppendShape<16, 6, 8, 1>{});
  if (n <= 24) return f(AppendShape<24, 3, 8, 1>{});
  return f(AppendShape<32, 2, 8, 2>{});
}

index_t rounded_columns(index_t n) { return std::max<index_t>(8, ceil_div(n, 8) * 8); }

/// Warps of one launch and their distribution, over all multiprocessors first.
struct Spread {
  index_t grid = 1, per_block = 1;
  index_t warps() const { return grid * per_block; }
};

/// Returns one warp per `rows_each` rows, limited by the warps that the device runs at once.
template <class T, class S, bool weighted>
int spread(index_t m, index_t rows_each, Spread& result) {
  int device = 0, processors = 0, memory = 0;
  if (const int status = cudaGetDevice(&device)) return status;
  if (const int status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) return status;
  if (const int status = cudaDeviceGetAttribute(&memory, cudaDevAttrMaxSharedMemoryPerBlockOptin, device))
    return status;
  const index_t fit = std::min<index_t>(S::Warps, memory / static_cast<index_t>(sizeof(AppendWarp<T, S, weighted>)));
  if (fit < 1) return cudaErrorInvalidConfiguration;
  const index_t warps = std::clamp<index_t>(ceil_div(m, rows_each), 1, std::min(processors * fit, most_warps));
  result.per_block = ceil_div(warps, processors);
  result.grid = std::min(ceil_div(warps, result.per_block), most_warps / result.per_block);
  return cudaSuccess;
}

template <class T, class S, bool weighted>
int launch(CUstream_st* stream, const AppendProblem<T, S::N>& p, const Spread& s) {
  const auto kernel = append_rows_kernel<T, S, weighted>;
  const auto bytes = static_cast<std::size_t>(s.per_block) * sizeof(AppendWarp<T, S, weighted>);
  if (const int status =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)))
    return status;
  kernel<<<static_cast<unsigned>(s.grid), static_cast<unsigned>(32 * s.per_block), bytes, stream>>>(p);
  return cudaGetLastError();
}

template <class T, int N>
void aim(AppendProblem<T, N>& p, double* r, index_t ldr) {
  p.r_double = r, p.ldr = ldr;
}
template <class T, int N>
void aim(AppendProblem<T, N>& p, float* r, index_t ldr) {
  p.r_single = r, p.ldr = ldr;
}

/// Layout of the work space: two stacks of triangles in turn, or the sums of A^T A and R above an older one; and the
/// result of the kernel that forms A^T A.
template <class S, class T>
struct WorkSpace {
  static constexpr index_t square = S::N * S::N, size = (most_warps + 1) * square * 3 / 2 + square;
  double *first, *second;
  GramState* gram;

  explicit WorkSpace(const AppendRowsProblem<T>& problem)
      : first(problem.work),
        second(first + (most_warps + 1) * square),
        gram(reinterpret_cast<GramState*>(first + size)) {}
};

/// Joins `rows` rows of triangles until one is left. A warp joins at least four triangles, or a whole block. With
/// `gram`: only if its result is `when`.
template <class S, class T>
int join(CUstream_st* stream, const AppendRowsProblem<T>& problem, double* from, double* to, index_t rows,
         GramState* gram, int when) {
  constexpr index_t each = ceil_div(4 * S::N, S::block) * S::block;
  for (;;) {
    AppendProblem<double, S::N> p{};
    for (index_t c = 0; c < problem.n; ++c) p.column[c] = from + c * rows;
    p.m = rows;
    p.n = static_cast<int>(problem.n);
    p.aligned = rows % 2 == 0;
    p.gram = gram;
    p.when = when;
    Spread s;
    if (const int status = spread<double, S, false>(rows, each, s)) return status;
    const bool last = s.warps() == 1;
    if (last)
      aim(p, problem.r, problem.ldr);
    else
      p.stack = to, p.ld = s.warps() * S::N;
    const int status = launch<double, S, false>(stream, p, s);
    if (status != cudaSuccess || last) return status;
    rows = p.ld;
    std::swap(from, to);
  }
}

/// Enqueues the computation of R from A^T A if that is as accurate; the next launches of p then do nothing.
template <class S, class T>
int enqueue_gram(CUstream_st* stream, const AppendRowsProblem<T>& problem, const WorkSpace<S, T>& work,
                 AppendProblem<T, S::N>& p) {
  using G = GramShape<S::N>;
  int device = 0, processors = 0;
  if (const int status = cudaGetDevice(&device)) return status;
  if (const int status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) return status;
  if (const int status = cudaMemsetAsync(work.gram, 0, sizeof(GramState), stream)) return status;
  p.gram = work.gram;
  AppendProblem<T, S::N> q = p;
  q.sums = work.first;
  if (q.old != nullptr)
    q.stack = work.second, q.ld = 2 * S::N;
  else
    aim(q, problem.r, problem.ldr);
  const index_t grid = std::min<index_t>({processors, most_warps / G::warps, ceil_div(p.m, G::warps * G::rows)});
  gram_kernel<T, S::N><<<static_cast<unsigned>(grid), 32 * G::warps, 0, stream>>>(q);
  return cudaGetLastError();
}

template <class T, class S, bool weighted>
int run(CUstream_st* stream, const AppendRowsProblem<T>& problem) {
  const WorkSpace<S, T> work(problem);
  AppendProblem<T, S::N> p{};
  p.aligned = true;
  for (index_t c = 0; c < problem.n; ++c) {
    p.column[c] = problem.column[c];
    p.aligned = p.aligned && reinterpret_cast<std::uintptr_t>(p.column[c]) % 16 == 0;
  }
  p.m = problem.m;
  p.n = static_cast<int>(problem.n);
  p.weights = problem.weights;
  p.old = problem.before;
  p.ld_old = problem.ldr;
  if (!weighted && p.n > 0 && p.m >= gram_rows)
    if (const int status = enqueue_gram<S, T>(stream, problem, work, p)) return status;
  Spread s;
  if (const int status = spread<T, S, weighted>(p.m, S::block, s)) return status;
  const bool last = s.warps() == 1 && p.old == nullptr;
  if (last)
    aim(p, problem.r, problem.ldr);
  else
    p.stack = work.first, p.ld = (s.warps() + (p.old != nullptr ? 1 : 0)) * S::N;
  int status = launch<T, S, weighted>(stream, p, s);
  if (status != cudaSuccess || last) return status;
  status = join<S, T>(stream, problem, work.first, work.second, p.ld, p.gram, 0);
  if (status != cudaSuccess || p.gram == nullptr || p.old == nullptr) return status;
  return join<S, T>(stream, problem, work.second, work.first, 2 * S::N, p.gram, 1);
}

}  // namespace

index_t append_rows_work(index_t n) {
  const index_t N = rounded_columns(n);
  return (most_warps + 1) * N * N * 3 / 2 + N * N + static_cast<index_t>(sizeof(GramState) / sizeof(double));
}

template <class T>
int append_rows(CUstream_st* stream, const AppendRowsProblem<T>& problem) {
  return with_shape(problem.n, [&]<class S>(S) {
    return problem.weights != nullptr ? run<T, S, true>(stream, problem) : run<T, S, false>(stream, problem);
  });
}

template int append_rows<float>(CUstream_st*, const AppendRowsProblem<float>&);
template int append_rows<double>(CUstream_st*, const AppendRowsProblem<double>&);

}  // namespace tesela::kernels
