#pragma once

#include <tesela/codelets/eigen/bulge_plan.hpp>
#include <tesela/codelets/support/size_class.hpp>
#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/scalar.hpp>

#include <algorithm>
#include <span>

namespace tesela::kernels {

/// Application of the reflectors of a chase. The reflectors of `width` consecutive sweeps at one hop k form a block
/// reflector I - V T V^H. V is a parallelogram of length() x width with explicit zeros: column t begins in row t.
/// `blocks` neighbouring blocks at each hop form a bundle of sweeps.
///
/// Q = (product of all reflectors of sweep 0) (product of all of sweep 1) …, and within a bundle
///
///     Q_bundle = … B(1, first) … B(1, last) B(0, first) … B(0, last),
///
/// where B(k, q) is block q at hop k. Reflectors that exchange their order have no rows in common.
struct BulgeBlocks {
  BulgePlan chase;
  index_t width = 4, blocks = 1;  ///< width: a multiple of 4

  TESELA_BOTH index_t bundles() const { return ceiling(chase.sweeps(), width * blocks); }  ///< number of bundles
  /// Return the first sweep of a block, and the sweep that follows a bundle.
  TESELA_BOTH index_t first_sweep(index_t bundle, index_t block = 0) const { return (bundle * blocks + block) * width; }
  TESELA_BOTH index_t end_sweep(index_t bundle) const {
    const index_t end = first_sweep(bundle + 1);
    return end < chase.sweeps() ? end : chase.sweeps();
  }
  /// Returns the largest number of hops of a bundle's sweeps.
  TESELA_BOTH index_t hops(index_t bundle) const { return chase.last_hop(first_sweep(bundle)) + 1; }
  /// Returns whether a block has sweeps that reach this hop.
  TESELA_BOTH bool exists(index_t bundle, index_t block, index_t hop) const {
    const index_t sweep = first_sweep(bundle, block);
    return sweep < chase.sweeps() && hop <= chase.last_hop(sweep);
  }
  /// Returns the rows of a block, rounded up.
  TESELA_BOTH index_t length() const { return ceiling(chase.b + width - 1, 4) * 4; }

  /// Real elements of a bundle's tile per block. The column column() holds the adjoint of the first factor (width x
  /// length()), and then the second factor (length() x width). C -= second (first^H C) applies the block: the factors
  /// are V and V T, or V T and V for Q^H. Each factor is stored in panels of four rows, a panel column by column, so
  /// that products read both without gaps. Factors of nonexistent blocks are zero, up to the bundle's last hop.
  TESELA_BOTH index_t column_size() const { return 2 * width * length(); }
  TESELA_BOTH index_t columns() const { return bundles() > 0 ? hops(0) * blocks : 0; }
  TESELA_BOTH index_t column(index_t block, index_t hop) const { return hop * blocks + block; }
};

/// Real numbers of an element.
template <class T>
inline constexpr index_t parts_of = is_complex<T> ? 2 : 1;

/// Returns the plan of the parts of complex numbers: a complex C is a real matrix of twice as many rows, in the same
/// memory, and a factor has the block (x, -y; y, x) for its element x + i y. So the kernels for real numbers apply
/// complex blocks, with as many operations. Rows are counted from -1, because BulgePlan::row() begins with row 1.
template <class T>
TESELA_BOTH BulgeBlocks plan_of_parts(BulgeBlocks p) {
  if constexpr (is_complex<T>) {
    p.chase.n = 2 * p.chase.n - 1;
    p.chase.b *= 2;
    p.width *= 2;
  }
  return p;
}

/// Returns the elements of a block's column in a bundle's tile.
template <class T>
index_t factor_rows(const BulgeBlocks& p) {
  return plan_of_parts<T>(p).column_size() / parts_of<T>;
}

/// Stores x as element (i, j) of a factor of `columns` columns of real numbers.
template <class T>
TESELA_BOTH void store_in_panels(real_t<T>* factor, index_t columns, index_t i, index_t j, T x) {
  const auto store = [&](index_t row, index_t column, real_t<T> part) {
    factor[row / 4 * 4 * columns + 4 * column + row % 4] = part;
  };
  if constexpr (is_complex<T>) {
    store(2 * i, 2 * j, x.real());
    store(2 * i, 2 * j + 1, -x.imag());
    store(2 * i + 1, 2 * j, x.imag());
    store(2 * i + 1, 2 * j + 1, x.real());
  } else {
    store(i, j, x);
  }
}

/// Most tiles of a column of C on a GPU: their addresses are kernel parameters.
inline constexpr index_t most_gpu_row_tiles = 128;

/// Largest width of blocks, and most rows of a bundle's hop and of the next one, for a GPU.
inline constexpr index_t widest_gpu_block = 32, most_gpu_ring_rows = 256;

/// Returns whether a GPU's kernels are large enough for these blocks of real numbers, and its shared memory for the
/// rows of a hop.
TESELA_BOTH inline bool gpu_applies(const BulgeBlocks& p) {
  return p.chase.b <= 64 && p.width <= widest_gpu_block && p.length() <= 96 &&
         (p.blocks - 1) * p.width + p.length() + p.chase.b <= most_gpu_ring_rows;
}

/// Computes the factors of all blocks of a bundle from the reflectors of the chase (LAPACK larft). The list has the
/// tiles of all groups with sweeps of the bundle, group after group, window after window.
template <class T>
struct FormBulgeBlocks {
  static constexpr auto name = "form_bulge_blocks";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    BulgeBlocks plan;    ///< blocks of the chase
    index_t bundle = 0;  ///< number of the bundle
    Op op = Op::none;
    std::uint64_t cost_key() const { return internal::size_class(plan.hops(bundle)); }
  };
  static double flops(const Args& args, std::span<const Shape>) {
    const BulgeBlocks& p = args.plan;
    const auto k = static_cast<double>(p.width), rows = static_cast<double>(p.length()),
               blocks = static_cast<double>(p.hops(args.bundle) *
                                            ceil_div(p.end_sweep(args.bundle) - p.first_sweep(args.bundle), p.width));
    return blocks * (4 * k * k * rows + k * k * k / 3);
  }
  static void cpu(const Args& args, Out<T> blocks, Scratch<T> work, std::span<const In<T>> reflectors);
  static void cuda(CudaContext& context, const Args& args, Out<T> blocks, Scratch<T> work,
                   std::span<const In<T>> reflectors);
};
/// Returns the shape of FormBulgeBlocks' Scratch. A plan of parts may have two more rows of complex numbers.
inline Shape form_bulge_blocks_work(const BulgeBlocks& p) { return {p.width, 2 * (p.length() + 2 + p.width)}; }

/// Computes C = Q_bundle C or Q_bundle^H C for some columns of C in tiles of `height` rows. The first tile begins in
/// row `row`, at or above the bundle's first row.
template <class T>
struct ApplyBulgeBlocks {
  static constexpr auto name = "apply_bulge_blocks";
  static constexpr std::uint32_t color = 0x55a868;
  struct Args {
    BulgeBlocks plan;    ///< blocks of the chase
    index_t bundle = 0;  ///< number of the bundle
    Op op = Op::none;
    index_t row = 0, height = 1;
    std::uint64_t cost_key() const { return internal::size_class(plan.hops(bundle)); }
  };
  /// Counts the operations of the reflectors themselves: 4 per element and column.
  static double flops(const Args& args, std::span<const Shape> tiles) {
    const BulgePlan& p = args.plan.chase;
    double elements = 0;
    for (index_t s = args.plan.first_sweep(args.bundle); s < args.plan.end_sweep(args.bundle); ++s)
      elements += static_cast<double>(p.n - 1 - s);
    return 4 * elements * static_cast<double>(tiles.back().cols);
  }
  static void cpu(const Args& args, In<T> blocks, Scratch<T> work, std::span<const InOut<T>> c);
  static void cuda(CudaContext& context, const Args& args, In<T> blocks, Scratch<T> work, std::span<const InOut<T>> c);
};
/// Returns the shape of ApplyBulgeBlocks' Scratch of real numbers.
Shape apply_bulge_blocks_work(const BulgeBlocks& plan, std::size_t element_size);
/// Returns the shape for T.
template <class T>
Shape apply_bulge_blocks_work(const BulgeBlocks& plan) {
  const Shape real = apply_bulge_blocks_work(plan_of_parts<T>(plan), sizeof(real_t<T>));
  return {real.rows, ceil_div(real.cols, parts_of<T>)};
}

}  // namespace tesela::kernels
