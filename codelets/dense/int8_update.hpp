#pragma once

#include <tesela/runtime/codelet.hpp>

#include <span>

// Updates C -= A^T A by residues (int8_gemm.hpp) in two tasks, so that A is converted once and C may have many tiles.
// For compute capability 9.0.

namespace tesela::kernels {

/// Shapes of the residues of k x lines operands with elements of type T, for ToResidues and ResidueUpdate.
template <class T>
struct ResidueShapes {
  Shape bytes, exponents;  ///< tiles of std::uint8_t and int
  Shape squares, kept;     ///< work spaces in doubles
  ResidueShapes(index_t k, index_t lines);
};

/// Converts tiles A_k, one below the other, to residues: the columns from `column` on become lines. All but the last
/// tile have a multiple of 16 rows.
template <class T>
struct ToResidues {
  static constexpr auto name = "to_residues";
  static constexpr std::uint32_t color = 0x9fd8ea;
  struct Args {
    index_t column = 0;
  };
  static void cuda(CudaContext& context, const Args& args, Out<std::uint8_t> bytes, Out<int> exponents,
                   Scratch<double> squares, std::span<const In<T>> a);
};

/// Subtracts A^T A on and above its diagonal from tiles C_i, one below the other, of the same columns as A.
///
/// A      is `inner` x n, and its columns from `column` on were converted by ToResidues<T>. The rows of C are those of
///        A^T A from `row` >= column on. C's columns from `row` on are updated; the difference of the two is even.
/// C      at most 64 tiles; all but the last have a multiple of 256 rows. Up to 255 elements below the diagonal change
///        in each row. NaN or infinity in a column of A makes the row and the column of C NaN.
template <class T>
struct ResidueUpdate {
  static constexpr auto name = "residue_update";
  static constexpr std::uint32_t color = 0x2f9fd0;
  struct Args {
    index_t inner = 0, column = 0, row = 0;
  };
  static double flops(const Args& args, std::span<const Shape> all) {
    double rows = 0;
    for (const Shape& c : all.subspan(3)) rows += static_cast<double>(c.rows);
    const double columns = static_cast<double>(all[3].cols - args.row);
    return 2 * static_cast<double>(args.inner) * rows * (columns - rows / 2);
  }
  static void cuda(CudaContext& context, const Args& args, In<std::uint8_t> bytes, In<int> exponents,
                   Scratch<double> kept, std::span<const InOut<T>> c);
};

}  // namespace tesela::kernels
