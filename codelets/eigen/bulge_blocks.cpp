#include <tesela/codelets/eigen/bulge_blocks.hpp>
#include <tesela/host/blas.hpp>

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

}  // namespace

template <class T>
void FormBulgeBlocks<T>::cpu(const Args& args, Out<T> blocks, Scratch<T> work, std::span<const In<T>> reflectors) {
  const BulgeBlocks& p = args.plan;
  const BulgeBlocks of_parts = plan_of_parts<T>(p);
  const index_t k = p.width, rows = of_parts.length() / parts_of<T>, b = p.chase.b;
  const Kept<T> kept(p, args.bundle, reflectors);
  T *const v = work.data, *const vt = v + k * rows, *const products = vt + k * rows, *const t = products + k * k;
  for (index_t hop = 0; hop < p.hops(args.bundle); ++hop)
    for (index_t block = 0; block < p.blocks; ++block) {
      auto* const factors = reinterpret_cast<real_t<T>*>(&blocks(0, p.column(block, hop)));
      if (!p.exists(args.bundle, block, hop)) {
        std::fill_n(factors, of_parts.column_size(), real_t<T>(0));
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
      const T *const first = forward ? v : vt, *const second = forward ? vt : v;
      for (index_t r = 0; r < rows; ++r)
        for (index_t j = 0; j < k; ++j) {
          store_in_panels(factors, of_parts.length(), j, r, conj(first[j + r * k]));
          store_in_panels(factors + of_parts.column_size() / 2, of_parts.width, r, j, second[j + r * k]);
        }
    }
}

TESELA_STRUCTS_FOR_NUMBERS(FormBulgeBlocks)

}  // namespace tesela::kernels
