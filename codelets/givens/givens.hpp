#pragma once

#include <tesela/codelets/givens/givens_window.hpp>
#include <tesela/codelets/support/size_class.hpp>
#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/scalar.hpp>

#include <span>

namespace tesela::kernels {

// QR by plane rotations on blocks of columns. A tile holds all m rows of some columns. The rotation that annihilates an
// entry is stored in place of the entry as the scalar rho of rotation.hpp.
//
// `info` describes a panel: info(0) is its reach, the largest distance below the diagonal of an annihilated entry
// (zeros at the end of a column need no rotation); info(1) is the number of its rotations.

inline constexpr index_t max_givens_window = 32;  ///< columns whose rotations are applied to other columns in one pass

inline constexpr index_t givens_chunk = 64;  ///< steps whose rotations a core unpacks at a time

/// Returns the elements of the `work` of GivensPanel, GivensChainPanel and GivensApply on up to this many columns.
constexpr index_t givens_work_size(index_t columns, index_t window) { return (2 * givens_chunk + columns) * window; }

/// Makes columns col … col + width - 1 of the tile upper triangular, their diagonal beginning in row `row`, and applies
/// the rotations to the tile's later columns. width <= max_givens_window.
template <class T>
struct GivensPanel {
  static constexpr auto name = "givens_panel";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    Pivot pivot = Pivot::adjacent;
    index_t row = 0, col = 0, width = 0;
    index_t rows = 0;  ///< active: rows of the tile from `row` on
    int block = 128;   ///< threads per block on a GPU
    std::uint64_t cost_key() const {
      return internal::size_class(rows) | static_cast<std::uint64_t>(width) << 10 |
             static_cast<std::uint64_t>(block) << 20 | static_cast<std::uint64_t>(pivot) << 31 |
             static_cast<std::uint64_t>(col / max_givens_window) << 32;
    }
  };
  static double flops(const Args& args, Shape a, Shape, Shape) {
    const auto m = static_cast<double>(args.rows), k = static_cast<double>(args.width),
               rest = static_cast<double>(a.cols - args.col - args.width);
    return 6 * flops_each<T> * m * k * (k / 2 + rest);
  }
  static void cpu(const Args& args, InOut<T> a, Out<index_t> info, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, Out<index_t> info, Scratch<T> work);
};

/// Does the same with adjacent pivots. l(:, t) becomes column col + t at the start of its elimination, from row row + t
/// on; the rows above are undefined.
template <class T>
struct GivensChainPanel {
  static constexpr auto name = "givens_chain_panel";
  static constexpr std::uint32_t color = 0xdd8452;
  using Args = typename GivensPanel<T>::Args;
  static double flops(const Args& args, Shape a, Shape, Shape, Shape) { return GivensPanel<T>::flops(args, a, {}, {}); }
  static void cpu(const Args& args, InOut<T> a, Out<T> l, Out<index_t> info, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, Out<T> l, Out<index_t> info, Scratch<T> work);
};

/// Computes C = Q^H C, Q C, C Q or C Q^H, where Q^H is the product of the rotations of some columns.
///
/// source   packed: the rotations are unpacked from source(:, col) ….
///          chain: they are recomputed from the columns that a GivensChainPanel copied; only Q^H C and C Q are
///          possible, in the factorization's own direction.
/// C        m rows from the left, m columns from the right.
template <class T>
struct GivensApply {
  static constexpr auto name = "givens_apply";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    Side side = Side::left;
    Op op = adjoint<T>;
    Pivot pivot = Pivot::adjacent;
    bool chain = false;
    index_t row = 0, col = 0, width = 0;  ///< of the first column; more than `window` columns need one pass per window
    index_t window = max_givens_window;   ///< columns per pass
    index_t rows = 0;                     ///< active: m - row
    index_t diagonal = -1;  ///< >= 0: the source is a band (LAPACK's storage) and its tile has the diagonal in this row
    int block = 128;        ///< threads per block on a GPU
    /// Returns whether rotations run in the order of the elimination.
    bool forward() const { return (side == Side::left) == (op != Op::none); }
    std::uint64_t cost_key() const {
      return internal::size_class(rows) | static_cast<std::uint64_t>(width) << 10 |
             static_cast<std::uint64_t>(block) << 40 | static_cast<std::uint64_t>(side) << 50 |
             static_cast<std::uint64_t>(forward()) << 51 | static_cast<std::uint64_t>(diagonal >= 0) << 52 |
             static_cast<std::uint64_t>(chain) << 53 | static_cast<std::uint64_t>(pivot) << 54;
    }
  };
  static double flops(const Args& args, Shape, Shape, Shape c, Shape) {
    return 6.0 * flops_each<T> * static_cast<double>(args.rows) * static_cast<double>(args.width) *
           static_cast<double>(args.side == Side::left ? c.cols : c.rows);
  }
  static void cpu(const Args& args, In<T> source, In<index_t> info, InOut<T> c, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> source, In<index_t> info, InOut<T> c, Scratch<T> work);
};

/// Annihilates all columns of all tiles, one after the other, with adjacent pivots from the bottom upwards, in one
/// task. work holds 2 m numbers.
template <class T>
struct GivensSweep {
  static constexpr auto name = "givens_sweep";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    index_t nb = 1;   ///< columns of a tile
    int block = 128;  ///< threads per block on a GPU
  };
  static double flops(const Args&, std::span<const Shape> shapes) {
    double m = 0, n = 0;
    for (const Shape& s : shapes.subspan(2)) {
      m = static_cast<double>(s.rows);
      n += static_cast<double>(s.cols);
    }
    return flops_each<T> * (m >= n ? 3 * n * n * (m - n / 3) : 3 * m * m * (n - m / 3));
  }
  static void cpu(const Args& args, Out<index_t> info, Scratch<T> work, std::span<const InOut<T>> tiles);
  static void cuda(CudaContext& context, const Args& args, Out<index_t> info, Scratch<T> work,
                   std::span<const InOut<T>> tiles);
};

/// Factors an m x n band matrix with kl diagonals below and ku above, in LAPACK's storage with room for fill (gbtrf),
/// in O(kl (kl + ku) n) operations.
///
/// ab       element (i, j) is ab(kl + ku + i - j, j). R's kl + ku upper diagonals also use the kl rows on top, whose
///          old contents are ignored. The rotations, adjacent pivots from the bottom upwards, are packed into the kl
///          rows below.
template <class T>
struct GivensBand {
  static constexpr auto name = "givens_band";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    index_t m = 0, kl = 0, ku = 0;
  };
  static double flops(const Args& args, Shape ab, Shape) {
    return 6.0 * flops_each<T> * static_cast<double>(args.kl) * static_cast<double>(args.kl + args.ku) *
           static_cast<double>(ab.cols);
  }
  static void cpu(const Args& args, InOut<T> ab, Out<index_t> info);
  static void cuda(CudaContext& context, const Args& args, InOut<T> ab, Out<index_t> info);
};

}  // namespace tesela::kernels
