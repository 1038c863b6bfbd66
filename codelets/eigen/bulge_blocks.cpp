#include <tesela/codelets/eigen/bulge_blocks.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>
#include <complex>
#include <vector>

namespace tesela::kernels {
namespace {

/// Positions of the reflectors of a sweep among the tiles of a bundle.
template <class T>
class Kept {
 public:
  Kept(const BulgeBlocks& plan, index_t bundle, std::span<const In<T>> tiles)
      : plan_(plan.chase), tiles_(tiles), first_group_(plan.first_sweep(bundle) / plan.chase.group) {
    index_t tile = 0;
    for (index_t g = first_group_; g * plan_.group < plan.end_sweep(bundle); ++g) {
      tile_.push_back(tile - plan_.first_window(g));
      tile += plan_.last_window(g) - plan_.first_window(g) + 1;
    }
  }
  /// Returns a vector (b numbers) followed by tau.
  const T* operator()(index_t sweep, index_t hop) const {
    const index_t g = sweep / plan_.group, t = sweep % plan_.group, step = hop + t, w = plan_.window_of(g, step);
    const auto tile = static_cast<std::size_t>(tile_[static_cast<std::size_t>(g - first_group_)] + w);
    return &tiles_[tile](0, plan_.slot(g, w, t, step));
  }

 private:
  const BulgePlan& plan_;
  std::span<const In<T>> tiles_;
  index_t first_group_;
  std::vector<index_t> tile_;
};

/// Stores A, or its transpose, in panels of four rows: a is k x rows, both multiples of four.
template <class T>
void to_panels(const T* a, index_t k, index_t rows, T* panels) {
  for (index_t i = 0; i < k; i += 4)
    for (index_t j = 0; j < rows; ++j, panels += 4) std::copy_n(a + i + j * k, 4, panels);
}
template <class T>
void transpose_to_panels(const T* a, index_t k, index_t rows, T* panels) {
  for (index_t j = 0; j < rows; j += 4)
    for (index_t i = 0; i < k; ++i, panels += 4)
      for (index_t l = 0; l < 4; ++l) panels[l] = a[i + (j + l) * k];
}

/// Stores the conjugates of `first` and the transpose of `second`, both k x rows.
template <class T>
void store_complex(const T* first, const T* second, index_t k, index_t rows, T* factors) {
  std::transform(first, first + k * rows, factors, [](T x) { return conj(x); });
  T* const to = factors + k * rows;
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < rows; ++i) to[i + j * rows] = second[j + i * k];
}

/// Some columns of C's tiles, for the products of one block.
template <class T>
struct RowsOfTiles {
  std::span<const InOut<T>> tiles;
  index_t row, height, column, count;

  /// Calls f(element (i, column), rows, ld) for the pieces of rows begin … begin + size - 1 in the tiles.
  template <class F>
  void for_each_piece(index_t begin, index_t size, const F& f) const {
    for (index_t i = begin; i < begin + size;) {
      const index_t tile = (i - row) / height, top = i - row - tile * height,
                    rows = std::min(begin + size - i, height - top);
      const InOut<T>& c = tiles[static_cast<std::size_t>(tile)];
      f(&c(top, column), i - begin, rows, c.ld);
      i += rows;
    }
  }
};

/// Applies a bundle by BLAS, a strip of columns at a time.
template <class T>
void apply_complex(const typename ApplyBulgeBlocks<T>::Args& args, const In<T>& blocks, const Scratch<T>& work,
                   std::span<const InOut<T>> c) {
  const BulgeBlocks& p = args.plan;
  const index_t k = p.width, rows = p.length(), n = p.chase.n, hops = p.hops(args.bundle),
                strip = std::max<index_t>(work.rows * work.cols / (k + rows), 1);
  const bool forward = args.op == Op::none;
  for (index_t from = 0; from < c.front().cols; from += strip) {
    const RowsOfTiles<T> part{c, args.row, args.height, from, std::min(strip, c.front().cols - from)};
    T *const w = work.data, *const gathered = w + k * part.count;
    const auto apply = [&](const T* factors, T* x, index_t ld, index_t size) {
      blas::gemm(Op::none, Op::none, k, part.count, size, T(1), factors, k, x, ld, T(0), w, k);
      blas::gemm(Op::none, Op::none, size, part.count, k, T(-1), factors + k * rows, rows, w, k, T(1), x, ld);
    };
    for (index_t step = 0; step < hops; ++step)
      for (index_t q = 0; q < p.blocks; ++q) {
        const index_t hop = forward ? step : hops - 1 - step, block = forward ? p.blocks - 1 - q : q;
        if (!p.exists(args.bundle, block, hop)) continue;
        const index_t begin = p.chase.row(p.first_sweep(args.bundle, block), hop), size = std::min(rows, n - begin);
        const T* const factors = &blocks(0, p.column(block, hop));
        if ((begin - args.row) / args.height == (begin + size - 1 - args.row) / args.height) {
          part.for_each_piece(begin, size, [&](T* x, index_t, index_t, index_t ld) { apply(factors, x, ld, size); });
          continue;
        }
        const auto copy = [&](bool back) {
          part.for_each_piece(begin, size, [&](T* x, index_t at, index_t some, index_t ld) {
            for (index_t j = 0; j < part.count; ++j) {
              T* const own = gathered + at + j * size;
              back ? std::copy_n(own, some, x + j * ld) : std::copy_n(x + j * ld, some, own);
            }
          });
        };
        copy(false);
        apply(factors, gathered, size, size);
        copy(true);
      }
  }
}

}  // namespace

template <>
void ApplyBulgeBlocks<std::complex<float>>::cpu(const Args& args, In<std::complex<float>> blocks,
                                                Scratch<std::complex<float>> work,
                                                std::span<const InOut<std::complex<float>>> c) {
  apply_complex<std::complex<float>>(args, blocks, work, c);
}
template <>
void ApplyBulgeBlocks<std::complex<double>>::cpu(const Args& args, In<std::complex<double>> blocks,
                                                 Scratch<std::complex<double>> work,
                                                 std::span<const InOut<std::complex<double>>> c) {
  apply_complex<std::complex<double>>(args, blocks, work, c);
}

template <class T>
void FormBulgeBlocks<T>::cpu(const Args& args, Out<T> blocks, Scratch<T> work, std::span<const In<T>> reflectors) {
  const BulgeBlocks& p = args.plan;
  const index_t k = p.width, rows = p.length(), b = p.chase.b;
  const Kept<T> kept(p, args.bundle, reflectors);
  T *const v = work.data, *const vt = v + k * rows, *const products = vt + k * rows, *const t = products + k * k;
  for (index_t hop = 0; hop < p.hops(args.bundle); ++hop)
    for (index_t block = 0; block < p.blocks; ++block) {
      T* const factors = &blocks(0, p.column(block, hop));
      if (!p.exists(args.bundle, block, hop)) {
        std::fill_n(factors, p.column_size(), T(0));
        continue;
      }
      std::fill_n(v, k * rows, T(0));
      std::fill_n(t, k * k, T(0));
      for (index_t j = 0; j < k; ++j) {
        const index_t sweep = p.first_sweep(args.bundle, block) + j;
        if (sweep >= p.chase.sweeps() || hop > p.chase.last_hop(sweep)) break;
        const T* const x = kept(sweep, hop);
        for (index_t i = 0; i < b; ++i) v[j + (j + i) * k] = x[i];
        t[j + j * k] = x[b];
      }
      blas::gemm(Op::none, adjoint<T>, k, k, rows, T(1), v, k, v, k, T(0), products, k);  // conj(V^H V)
      for (index_t j = 1; j < k; ++j) {
        const T tau = t[j + j * k];
        for (index_t l = 0; l < j; ++l) {
          const T s = -tau * conj(products[l + j * k]);
          for (index_t i = 0; i <= l; ++i) t[i + j * k] += t[i + l * k] * s;
        }
      }
      blas::gemm(Op::transpose, Op::none, k, rows, k, T(1), t, k, v, k, T(0), vt, k);
      const bool forward = args.op == Op::none;
      if constexpr (is_complex<T>) {
        store_complex(forward ? v : vt, forward ? vt : v, k, rows, factors);
      } else {
        to_panels(forward ? v : vt, k, rows, factors);
        transpose_to_panels(forward ? vt : v, k, rows, factors + k * rows);
      }
    }
}

template struct FormBulgeBlocks<float>;
template struct FormBulgeBlocks<double>;
template struct FormBulgeBlocks<std::complex<float>>;
template struct FormBulgeBlocks<std::complex<double>>;

}  // namespace tesela::kernels
