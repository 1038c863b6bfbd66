#include <tesela/codelets/eigen/sy2sb.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>

namespace tesela::kernels {

using blas::Triangle;

template <class T>
void Sy2sbPanel<T>::cpu(const Args& args, In<T> a, In<T> v, In<T> z, Out<T> p, InOut<T> band, Out<T> t,
                        Scratch<T> work) {
  const BandPanel& panel = args.panel;
  const index_t n = a.rows, m = n - panel.column, k = panel.at - panel.waiting, from = panel.column - panel.top;
  for (index_t j = 0; j < panel.width; ++j) {
    std::fill_n(&p(panel.column, j), j, T(0));  // above the diagonal
    std::copy_n(&a(panel.column + j, args.column + j), m - j, &p(panel.column + j, j));
  }
  if (k > 0)
    for (const auto& [left, right] : {std::pair{v, z}, std::pair{z, v}})
      blas::gemm<T>(Op::none, adjoint<T>, m, panel.width, k, -1, &left(from, panel.waiting), left.ld,
                    &right(from, panel.waiting), right.ld, 1, &p(panel.column, 0), p.ld);
  if (panel.vectors > 0) Geqrt<T>::cpu(args.qr(n), {p.data, p.rows, p.cols, p.ld}, t, work);
  for (index_t j = 0; j < panel.width; ++j)
    for (index_t i = panel.column + j; i < std::min(n, panel.column + j + args.half_width + 1); ++i)
      band(i - panel.column - j, args.band_column + j) = i > panel.column + j ? p(i, j) : T(real_part(p(i, j)));
  for (index_t j = 0; j < panel.vectors; ++j) {
    T* const column = &p(panel.row, j);
    std::fill_n(column, j, T(0));
    column[j] = 1;
  }
}

template <class T>
void Sy2sbSymm<T>::cpu(const Args& args, In<T> p, Out<T> w, std::span<const In<T>> a) {
  const BandPanel& panel = args.panel;
  const index_t n = w.rows, k = panel.vectors;
  for (index_t j = 0; j < k; ++j) std::fill_n(&w(panel.row, j), n - panel.row, T(0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const index_t begin = (args.first + static_cast<index_t>(i) * args.stride) * args.tile_width,
                  left = std::max(begin, panel.row), end = begin + a[i].cols;
    if (left >= end) continue;
    const T* const diagonal = &a[i](left, left - begin);
    blas::symm<T>(end - left, k, 1, diagonal, a[i].ld, &p(left, 0), p.ld, 1, &w(left, 0), w.ld);
    if (end >= n) continue;
    const T* const below = diagonal + (end - left);
    blas::gemm<T>(Op::none, Op::none, n - end, k, end - left, 1, below, a[i].ld, &p(left, 0), p.ld, 1, &w(end, 0),
                  w.ld);
    blas::gemm<T>(adjoint<T>, Op::none, end - left, k, n - end, 1, below, a[i].ld, &p(end, 0), p.ld, 1, &w(left, 0),
                  w.ld);
  }
}

template <class T>
void Sy2sbJoin<T>::cpu(const Args& args, In<T> t, In<T> p, InOut<T> v, InOut<T> z, Scratch<T> work,
                       std::span<const In<T>> w) {
  const BandPanel& panel = args.panel;
  const index_t k = panel.vectors, from = panel.row - panel.top, m = p.rows - panel.row,
                lacking = panel.at - panel.waiting;
  T *const mine = &v(from, panel.at), *const sum = &z(from, panel.at);
  for (index_t j = 0; j < k; ++j) {
    std::copy_n(&p(panel.row, j), m, mine + j * v.ld);
    T* const column = sum + j * z.ld;
    std::copy_n(&w[0](panel.row, j), m, column);
    for (std::size_t i = 1; i < w.size(); ++i) {
      const T* const part = &w[i](panel.row, j);
      for (index_t l = 0; l < m; ++l) column[l] += part[l];
    }
  }
  if (lacking > 0)
    for (const auto& [left, right] : {std::pair{v, z}, {z, v}}) {
      blas::gemm<T>(adjoint<T>, Op::none, lacking, k, m, 1, &right(from, panel.waiting), right.ld, mine, v.ld, 0,
                    work.data, lacking);
      blas::gemm<T>(Op::none, Op::none, m, k, lacking, -1, &left(from, panel.waiting), left.ld, work.data, lacking, 1,
                    sum, z.ld);
    }
  blas::trmm<T>(Side::right, Triangle::upper, Op::none, m, k, 1, t.data, t.ld, sum, z.ld);
  blas::gemm<T>(adjoint<T>, Op::none, k, k, m, 1, mine, v.ld, sum, z.ld, 0, work.data, k);
  blas::trmm<T>(Side::left, Triangle::upper, adjoint<T>, k, k, 1, t.data, t.ld, work.data, k);
  blas::gemm<T>(Op::none, Op::none, m, k, k, T(real_t<T>(-0.5)), mine, v.ld, work.data, k, 1, sum, z.ld);
}

namespace {

/// Copies the lower triangle, or its conjugates, to the upper one.
template <class T>
void mirror(index_t n, T* a, index_t ld) {
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < j; ++i) a[i + j * ld] = conj(a[j + i * ld]);
}

}  // namespace

template <class T>
void Sy2sbUpdate<T>::cpu(const Args& args, In<T> v, In<T> z, InOut<T> a) {
  const index_t end = args.tile_column + a.cols, columns = end - args.first, below = a.rows - end,
                k = args.end - args.begin;
  T* const diagonal = &a(args.first, args.first - args.tile_column);
  const auto at = [&](const In<T>& x, index_t row) { return &x(row - args.top, args.begin); };
  blas::syr2k<T>(columns, k, -1, at(v, args.first), v.ld, at(z, args.first), z.ld, diagonal, a.ld);
  if (args.mirrored) mirror(columns, diagonal, a.ld);
  if (below == 0) return;
  for (const auto& [left, right] : {std::pair{v, z}, std::pair{z, v}})
    blas::gemm<T>(Op::none, adjoint<T>, below, columns, k, -1, at(left, end), left.ld, at(right, args.first), right.ld,
                  1, diagonal + columns, a.ld);
}

template <class T>
void JoinReflectors<T>::cpu(const Args& args, In<T> v, Out<T> t, std::span<const In<T>> panels) {
  const index_t k = args.columns;
  // T12 = -T1 (V1^H V2) T2, one panel at a time.
  for (index_t at = 0, i = 0; at < k; at += args.half_width, ++i) {
    const index_t width = std::min(args.half_width, k - at);
    const In<T>& panel = panels[panels.size() > 1 ? static_cast<std::size_t>(i) : 0];
    const T* const own = panel.data + (panels.size() > 1 ? 0 : at * panel.ld);
    for (index_t j = 0; j < width; ++j) {
      std::fill_n(&t(0, at + j), k, T(0));
      std::copy_n(own + j * panel.ld, j + 1, &t(at, at + j));
    }
    if (at == 0) continue;
    T* const corner = &t(0, at);
    blas::gemm<T>(adjoint<T>, Op::none, at, width, v.rows, -1, v.data, v.ld, &v(0, at), v.ld, 0, corner, t.ld);
    blas::trmm<T>(Side::left, Triangle::upper, Op::none, at, width, 1, t.data, t.ld, corner, t.ld);
    blas::trmm<T>(Side::right, Triangle::upper, Op::none, at, width, 1, own, panel.ld, corner, t.ld);
  }
}

template <class T>
void Larfb<T>::cpu(const Args& args, In<T> v, In<T> t, InOut<T> c, Scratch<T> work, Scratch<double>) {
  const index_t k = args.columns, m = v.rows;
  T* const part = &c(args.top, 0);
  const Op op_of_t = args.op == Op::none ? Op::none : adjoint<T>;
  blas::gemm<T>(adjoint<T>, Op::none, k, c.cols, m, 1, v.data, v.ld, part, c.ld, 0, work.data, k);
  blas::trmm<T>(Side::left, Triangle::upper, op_of_t, k, c.cols, 1, t.data, t.ld, work.data, k);
  blas::gemm<T>(Op::none, Op::none, m, c.cols, k, -1, v.data, v.ld, work.data, k, 1, part, c.ld);
}

TESELA_STRUCTS_FOR_NUMBERS(Sy2sbPanel, Sy2sbSymm, Sy2sbJoin, Sy2sbUpdate, JoinReflectors, Larfb)

}  // namespace tesela::kernels
