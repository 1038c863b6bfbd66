#include <tesela/codelets/dense/int8_gemm.hpp>
#include <tesela/codelets/eigen/internal/copy_diagonals.cuh>
#include <tesela/codelets/eigen/sy2sb.hpp>
#include <tesela/codelets/support/internal/mirror.cuh>
#include <tesela/codelets/support/internal/panel_products.cuh>

#include <utility>

namespace tesela::kernels {
namespace {

using internal::each, internal::gather, internal::Products, internal::UnitLower;

template <class T>
struct CopyPanelAndT {
  const T* a;
  index_t lda;
  T* p;
  index_t ldp;
  __device__ void operator()(index_t i, index_t j) const { p[i + j * ldp] = i >= j ? a[i + j * lda] : T(0); }
};

template <class T>
struct CopyTriangle {
  const T* from;
  index_t ld_from;
  T* to;
  index_t ld_to;
  __device__ void operator()(index_t i, index_t j) const { to[i + j * ld_to] = i <= j ? from[i + j * ld_from] : T(0); }
};

/// Order of the squares: the kernel's shared memory is limited to 48 KiB.
template <class T>
constexpr int larft_square = sizeof(T) == 16 ? 32 : 64;

/// Computes the diagonal squares of T, which hold V^H V, from the reflectors' factors (LAPACK larft), one row per
/// thread.
template <class T>
__global__ void larft_squares_kernel(index_t columns, const T* tau, index_t tau_ld, T* t, index_t ld) {
  constexpr int most = larft_square<T>;
  __shared__ T dots[most][most + 1];  // V^H V above the diagonal; on it and below, T transposed
  const index_t first = index_t{blockIdx.x} * most;
  const int k = static_cast<int>(columns - first < most ? columns - first : most), i = static_cast<int>(threadIdx.x);
  t += first + first * ld;
  tau += first * tau_ld;
  for (int j = 0; j < k; ++j)
    if (i < j) dots[i][j] = t[i + j * ld];
  __syncthreads();
  if (i >= k) return;
  for (int j = 0; j < k; ++j) {
    T sum = i == j ? T(-1) : T(0);
    for (int l = i; l < j; ++l) sum = plus_product(sum, dots[l][i], dots[l][j]);
    const T element = i <= j ? -tau[j * tau_ld] * sum : T(0);
    if (i <= j) dots[j][i] = element;
    t[i + j * ld] = element;
  }
}

template <class T>
struct ClearBelow {
  T* a;
  index_t ld;
  __device__ void operator()(index_t i, index_t j) const {
    if (i > j) a[i + j * ld] = 0;
  }
};

}  // namespace

template <class T>
void Sy2sbPanel<T>::cuda(CudaContext& context, const Args& args, In<T> a, In<T> v, In<T> z, Out<T> p, InOut<T> band,
                         Out<T> t, Scratch<T> work) {
  const BandPanel& panel = args.panel;
  const index_t n = a.rows, m = n - panel.column, k = panel.at - panel.waiting, from = panel.column - panel.top;
  each(context, m, panel.width,
       CopyPanelAndT<device_t<T>>{device_pointer(&a(panel.column, args.column)), a.ld,
                                  device_pointer(&p(panel.column, 0)), p.ld});
  if (k > 0)
    for (const auto& [left, right] : {std::pair{v, z}, std::pair{z, v}})
      Products<T>{context}.gemm(Op::none, adjoint<T>, m, panel.width, k, -1, &left(from, panel.waiting), left.ld,
                                &right(from, panel.waiting), right.ld, 1, &p(panel.column, 0), p.ld);
  if (panel.vectors > 0) Geqrt<T>::cuda(context, args.qr(n), {p.data, p.rows, p.cols, p.ld}, t, work);
  each(context, args.half_width + 1, panel.width,
       CopyDiagonals<device_t<T>>{device_pointer(&p(panel.column, 0)), p.ld, device_pointer(&band(0, args.band_column)),
                                  band.ld, m});
  if (panel.vectors > 0)
    each(context, panel.vectors, panel.vectors, UnitLower<device_t<T>>{device_pointer(&p(panel.row, 0)), p.ld});
}

template <class T>
void Sy2sbSymm<T>::cuda(CudaContext& context, const Args& args, In<T> p, Out<T> w, std::span<const In<T>> a) {
  if (!args.mirrored)
    return static_cast<void>(context.check(cudaErrorInvalidValue, "sy2sb_symm: needs both triangles"));
  const BandPanel& panel = args.panel;
  const Products<T> products{context};
  const index_t n = w.rows, k = panel.vectors;
  bool begun = false;
  const auto clear = [&] {
    context.check(cudaMemset2DAsync(&w(panel.row, 0), static_cast<std::size_t>(w.ld) * sizeof(T), 0,
                                    static_cast<std::size_t>(n - panel.row) * sizeof(T), static_cast<std::size_t>(k),
                                    context.stream()),
                  "cudaMemset2D");
    begun = true;
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    const index_t begin = (args.first + static_cast<index_t>(i) * args.stride) * args.tile_width,
                  left = std::max(begin, panel.row), end = begin + a[i].cols;
    if (left >= end) continue;
    if (!begun && left > panel.row) clear();  // the first product does not write all of W
    const T* const square = &a[i](left, left - begin);
    products.gemm(Op::none, Op::none, n - left, k, end - left, 1, square, a[i].ld, &p(left, 0), p.ld,
                  begun ? T(1) : T(0), &w(left, 0), w.ld);
    begun = true;
    if (end < n)
      products.gemm(adjoint<T>, Op::none, end - left, k, n - end, 1, square + (end - left), a[i].ld, &p(end, 0), p.ld,
                    1, &w(left, 0), w.ld);
  }
  if (!begun) clear();
}

template <class T>
void Sy2sbJoin<T>::cuda(CudaContext& context, const Args& args, In<T> t, In<T> p, InOut<T> v, InOut<T> z,
                        Scratch<T> work, std::span<const In<T>> w) {
  const BandPanel& panel = args.panel;
  const Products<T> products{context};
  const index_t k = panel.vectors, from = panel.row - panel.top, m = p.rows - panel.row,
                lacking = panel.at - panel.waiting;
  T *const mine = &v(from, panel.at), *const sum = &z(from, panel.at);
  gather<false>(context, m, k, &p(panel.row, 0), p.ld, mine, v.ld);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const T* const part = &w[i](panel.row, 0);
    i == 0 ? gather<false>(context, m, k, part, w[i].ld, sum, z.ld)
           : gather<true>(context, m, k, part, w[i].ld, sum, z.ld);
  }
  if (lacking > 0)
    for (const auto& [left, right] : {std::pair{v, z}, {z, v}}) {
      products.gemm(adjoint<T>, Op::none, lacking, k, m, 1, &right(from, panel.waiting), right.ld, mine, v.ld, 0,
                    work.data, lacking);
      products.gemm(Op::none, Op::none, m, k, lacking, -1, &left(from, panel.waiting), left.ld, work.data, lacking, 1,
                    sum, z.ld);
    }
  products.trmm(Side::right, Op::none, m, k, t.data, t.ld, sum, z.ld);
  products.gemm(adjoint<T>, Op::none, k, k, m, 1, mine, v.ld, sum, z.ld, 0, work.data, k);
  products.trmm(Side::left, adjoint<T>, k, k, t.data, t.ld, work.data, k);
  products.gemm(Op::none, Op::none, m, k, k, T(real_t<T>(-0.5)), mine, v.ld, work.data, k, 1, sum, z.ld);
}

template <class T>
void Sy2sbUpdate<T>::cuda(CudaContext& context, const Args& args, In<T> v, In<T> z, InOut<T> a) {
  // The lower triangle by blocks of columns, each from its diagonal square on.
  constexpr index_t most = 2048;
  const Products<T> products{context};
  const index_t end = args.tile_column + a.cols, k = args.end - args.begin;
  const auto at = [&](const In<T>& x, index_t row) { return &x(row - args.top, args.begin); };
  for (index_t j = args.first; j < end; j += most)
    for (const auto& [left, right] : {std::pair{v, z}, std::pair{z, v}})
      products.gemm(Op::none, adjoint<T>, a.rows - j, std::min(most, end - j), k, -1, at(left, j), left.ld,
                    at(right, j), right.ld, 1, &a(j, j - args.tile_column), a.ld);
  if (args.mirrored) mirror(context, end - args.first, &a(args.first, args.first - args.tile_column), a.ld);
}

template <class T>
void JoinReflectors<T>::cuda(CudaContext& context, const Args& args, In<T> v, Out<T> t, std::span<const In<T>> panels) {
  const Products<T> products{context};
  const index_t k = args.columns, b = args.half_width, ld = t.ld;
  // S = V^H V, then T12 = -T1 S12 T2 for neighbours of doubling size; T2^T S12^T is kept below the diagonal for a
  // while.
  products.gemm(adjoint<T>, Op::none, k, k, v.rows, 1, v.data, v.ld, v.data, v.ld, 0, t.data, ld);
  constexpr int square = larft_square<device_t<T>>;
  const bool single = b == 1 && k > 1 && panels.size() == 1;
  if (single) {
    larft_squares_kernel<<<static_cast<unsigned>(ceil_div(k, square)), square, 0, context.stream()>>>(
        k, device_pointer(panels[0].data), panels[0].ld, device_pointer(t.data), ld);
    context.check(cudaGetLastError(), "join_reflectors");
  } else {
    for (index_t at = 0, i = 0; at < k; at += b, ++i) {
      const In<T>& panel = panels[panels.size() > 1 ? static_cast<std::size_t>(i) : 0];
      const T* const own = panel.data + (panels.size() > 1 ? 0 : at * panel.ld);
      const index_t width = std::min(b, k - at);
      each(context, width, width,
           CopyTriangle<device_t<T>>{device_pointer(own), panel.ld, device_pointer(&t(at, at)), ld});
    }
  }
  for (index_t s = single ? square : b; s < k; s *= 2) {
    for (index_t at = 0; at + s < k; at += 2 * s) {
      const index_t next = at + s, width = std::min(s, k - next);
      T *const s12 = &t(at, next), *const turned = &t(next, at);
      products.gemm(Op::transpose, Op::transpose, width, s, width, 1, &t(next, next), ld, s12, ld, 0, turned, ld);
      products.gemm(Op::none, Op::transpose, s, width, s, -1, &t(at, at), ld, turned, ld, 0, s12, ld);
    }
    each(context, k, k, ClearBelow<device_t<T>>{device_pointer(t.data), ld});
  }
}

template <class T>
void Larfb<T>::cuda(CudaContext& context, const Args& args, In<T> v, In<T> t, InOut<T> c, Scratch<T> work,
                    Scratch<double> products) {
  const index_t k = args.columns, m = v.rows, n = c.cols;
  T *const part = &c(args.top, 0), *const projected = work.data, *const turned = work.data + k * n;
  const auto gemm = [&](const GemmProblem<T>& problem) { multiply<T>(context, args.kernel, problem, products); };
  gemm({adjoint<T>, Op::none, k, n, m, 1, v.data, v.ld, part, c.ld, 0, projected, k});
  gemm({args.op == Op::none ? Op::none : adjoint<T>, Op::none, k, n, k, 1, t.data, t.ld, projected, k, 0, turned, k});
  gemm({Op::none, Op::none, m, n, k, -1, v.data, v.ld, turned, k, 1, part, c.ld});
}

TESELA_CUDA_FOR_NUMBERS(Sy2sbPanel, Sy2sbSymm, Sy2sbJoin, Sy2sbUpdate, JoinReflectors, Larfb)

}  // namespace tesela::kernels
