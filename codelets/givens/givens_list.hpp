#pragma once

#include <tesela/codelets/support/size_class.hpp>
#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/scalar.hpp>

#include <cstdint>

namespace tesela::kernels {

// QR by plane rotations in any order. The eliminations of a panel are a column of integers: the number S of stages, S +
// 1 offsets of the stages' first eliminations, then row, pivot and column of each elimination. Columns are counted
// within the panel. The eliminations of one stage change different rows.

/// Eliminates columns col … col + width - 1 of the tile as the list prescribes, packs the rotations, and applies them
/// to the tile's later columns. width <= max_givens_window.
template <class T>
struct GivensListPanel {
  static constexpr auto name = "givens_list_panel";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    index_t col = 0, width = 0;  ///< first column of the panel, and its number of columns
    index_t rows = 0;            ///< active: rows of the tile from the first column's diagonal row on
    int block = 128;             ///< threads per block on a GPU
    std::uint64_t cost_key() const {
      return internal::size_class(rows) | static_cast<std::uint64_t>(width) << 10 |
             static_cast<std::uint64_t>(block) << 20 | static_cast<std::uint64_t>(col / 32) << 32;
    }
  };
  static double flops(const Args& args, Shape a, Shape) {
    const auto m = static_cast<double>(args.rows), k = static_cast<double>(args.width),
               rest = static_cast<double>(a.cols - args.col - args.width);
    return 6 * flops_each<T> * m * k * (k / 2 + rest);
  }
  static void cpu(const Args& args, InOut<T> a, In<std::int32_t> list);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, In<std::int32_t> list);
};

/// Computes C = Q^H C, Q C, C Q or C Q^H with the rotations of a GivensListPanel, packed in v(:, col) ….
template <class T>
struct GivensListApply {
  static constexpr auto name = "givens_list_apply";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    Side side = Side::left;
    Op op = adjoint<T>;
    index_t col = 0, width = 0;  ///< first column of the panel, and its number of columns
    index_t rows = 0;            ///< active: rows of the tile from the first column's diagonal row on
    int block = 128;             ///< threads per block on a GPU
    /// Returns whether rotations run in the order of the elimination.
    bool forward() const { return (side == Side::left) == (op != Op::none); }
    std::uint64_t cost_key() const {
      return internal::size_class(rows) | static_cast<std::uint64_t>(width) << 10 |
             static_cast<std::uint64_t>(block) << 20 | static_cast<std::uint64_t>(side) << 32 |
             static_cast<std::uint64_t>(forward()) << 33;
    }
  };
  static double flops(const Args& args, Shape, Shape, Shape c) {
    return 6.0 * flops_each<T> * static_cast<double>(args.rows) * static_cast<double>(args.width) *
           static_cast<double>(args.side == Side::left ? c.cols : c.rows);
  }
  static void cpu(const Args& args, In<T> v, In<std::int32_t> list, InOut<T> c);
  static void cuda(CudaContext& context, const Args& args, In<T> v, In<std::int32_t> list, InOut<T> c);
};

namespace internal {

/// Parts of such a column of integers.
struct RotationList {
  const std::int32_t* data;
  TESELA_BOTH std::int32_t stages() const { return data[0]; }
  TESELA_BOTH std::int32_t begin(std::int32_t stage) const { return data[1 + stage]; }
  TESELA_BOTH std::int32_t end(std::int32_t stage) const { return data[2 + stage]; }
  TESELA_BOTH const std::int32_t* entry(std::int32_t e) const { return data + 2 + stages() + index_t{3} * e; }
};

}  // namespace internal

}  // namespace tesela::kernels
