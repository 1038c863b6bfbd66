#include <tesela/codelets/qr/append_rows.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/qr/internal/append_rows_launch.hpp>
#include <tesela/codelets/support/internal/cublas.hpp>

#include <cusolverDn.h>

// Up to append_rows_cols columns of real numbers need one pass of our kernel over A. Others use the vendor's geqrf on R
// above blocks of A's rows.

namespace tesela::kernels {
namespace {

index_t rows_at_once(index_t n) { return std::max<index_t>(16384, 4 * n); }

template <class T>
int geqrf_size(cusolverDnContext* handle, int m, int n, T* a, int* lwork) {
  return by_type<T, cusolverDnSgeqrf_bufferSize, cusolverDnDgeqrf_bufferSize, cusolverDnCgeqrf_bufferSize,
                 cusolverDnZgeqrf_bufferSize>(handle, m, n, cublas::numbers(a), m, lwork);
}
template <class T>
int geqrf(cusolverDnContext* handle, int m, int n, T* a, T* tau, T* work, int lwork, int* info) {
  using cublas::numbers;
  return by_type<T, cusolverDnSgeqrf, cusolverDnDgeqrf, cusolverDnCgeqrf, cusolverDnZgeqrf>(
      handle, m, n, numbers(a), m, numbers(tau), numbers(work), lwork, info);
}

/// Whether our kernel appends rows of n columns.
template <class T>
bool in_one_pass(index_t n) {
  return !is_complex<T> && n <= append_rows_cols;
}

/// Work tile of a wide task.
template <class T>
struct WideWork {
  index_t n, m;  // rows of R and A together
  int lwork = 0;
  int status;

  WideWork(const CudaContext& context, index_t columns) : n(columns), m(columns + rows_at_once(columns)) {
    T* none = nullptr;
    status = geqrf_size(context.cusolver(), static_cast<int>(m), static_cast<int>(n), none, &lwork);
  }
  index_t elements() const { return m * n + n + lwork; }
  index_t doubles() const { return ceil_div(elements() * index_t{sizeof(T)} + (n + 2) * index_t{sizeof(int)}, 8) + 2; }
};

template <class T>
void append_wide(const CudaContext& context, const Block<T>& r, bool exists, double* memory,
                 std::span<const In<T>> tiles, const T* weights) {
  const WideWork<T> work(context, r.cols);
  if (!context.check(work.status, "cusolver geqrf_bufferSize")) return;
  T* const a = reinterpret_cast<T*>(memory);
  T* const tau = a + work.m * work.n;
  T* const space = tau + work.n;
  int* const exponents = reinterpret_cast<int*>(memory + ceil_div(work.elements() * index_t{sizeof(T)}, 8) + 1);
  int* const info = exponents + work.n;

  const index_t m = tiles.front().rows;
  index_t row = 0;
  do {
    const index_t rows = std::min(m - row, work.m - work.n);
    const StackedRows<T> stacked{a, work.n, rows, work.n + rows, exponents};
    bool ok = context.check(stack_triangle(context.stream(), stacked, exists ? r.data : nullptr, r.ld), "copy of R");
    index_t column = 0;
    for (const In<T>& tile : tiles) {
      if (rows > 0)
        ok = ok && context.check(stack_rows(context.stream(), stacked, column, tile.cols, tile.data + row, tile.ld,
                                            weights != nullptr ? weights + row : nullptr),
                                 "copy of A");
      column += tile.cols;
    }
    ok = ok && context.check(scale_columns(context.stream(), stacked), "scaling") &&
         context.check(geqrf(context.cusolver(), static_cast<int>(stacked.ld), static_cast<int>(work.n), a, tau, space,
                             work.lwork, info),
                       "cusolver geqrf") &&
         context.check(unstack_triangle(context.stream(), stacked, r.data, r.ld), "copy of R back");
    if (!ok) return;
    exists = true;
    row += rows;
  } while (row < m);
}

template <class T>
void append_narrow(const CudaContext& context, const Block<T>& r, bool exists, double* memory,
                   std::span<const In<T>> tiles, const T* weights) {
  AppendRowsProblem<T> problem;
  problem.weights = weights;
  index_t column = 0;
  for (const In<T>& tile : tiles)
    for (index_t j = 0; j < tile.cols; ++j) problem.column[column++] = &tile(0, j);
  problem.m = tiles.front().rows;
  problem.n = r.cols;
  problem.before = exists ? r.data : nullptr;
  problem.r = r.data;
  problem.ldr = r.ld;
  problem.work = memory;
  context.check(append_rows(context.stream(), problem), "append_rows");
}

}  // namespace

template <class T>
index_t internal::append_rows_device_work(index_t n) {
  const CudaContext context("append_rows");
  if (context.cusolver() == nullptr) return 0;
  return in_one_pass<T>(n) ? append_rows_work(n) : WideWork<T>(context, n).doubles();
}

template <class T, template <class> class R>
void AppendRows<T, R>::cuda(CudaContext& context, const Args& args, R<T> r, Scratch<double> work,
                            std::span<const In<T>> a) {
  constexpr bool exists = R<T>::mode != Mode::out;
  const T* const weights = args.weighted ? a.back().data : nullptr;
  if (args.weighted) a = a.first(a.size() - 1);
  if (!in_one_pass<T>(r.cols)) return append_wide<T>(context, r, exists, work.data, a, weights);
  if constexpr (!is_complex<T>) append_narrow(context, r, exists, work.data, a, weights);
}

#define TESELA_INSTANTIATE(T)                                               \
  template index_t internal::append_rows_device_work<T>(index_t);           \
  template decltype(AppendRows<T, InOut>::cuda) AppendRows<T, InOut>::cuda; \
  template decltype(AppendRows<T, Out>::cuda) AppendRows<T, Out>::cuda;
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela::kernels

#endif
