#pragma once

#include <tesela/codelets/dense/int8_gemm.hpp>

#include <span>

// Updates C -= A B by residues (int8_gemm.hpp) in two kinds of tasks, so that an operand is converted once for many
// tiles of C. For compute capability 9.0.

namespace tesela::kernels {

/// Shapes of the residues of an operand with `lines` rows or columns of k elements of type T: tiles of std::uint8_t and
/// int, and the work space of ToResidues in doubles.
template <class T>
struct ResidueShapes {
  Shape bytes, exponents, squares;  ///< of the residues, of their lines' exponents, and of the work space
  ResidueShapes(index_t k, index_t lines, int moduli = moduli_for(sizeof(T)));
};

/// Returns the doubles of ResidueUpdate's work space.
index_t residue_work(int moduli);

/// Converts a block of each tile A_1, A_2, … to residues: its rows from `row` on and its columns from `column` on. If
/// the blocks stand side by side in the inner size, all but the last have a multiple of 16 there.
template <class T>
struct ToResidues {
  static constexpr auto name = "to_residues";
  static constexpr std::uint32_t color = 0x9fd8ea;
  struct Args {
    Op op = Op::none;                       ///< none: rows of the block are lines; transpose: columns are
    bool more_lines = false;                ///< each tile adds lines; otherwise it adds to the inner size
    index_t row = 0, rows = 0, column = 0;  ///< no `rows`: to the last one
    int moduli = moduli_for(sizeof(T));     ///< number of moduli
    std::uint64_t cost_key() const {
      return static_cast<std::uint64_t>(op) | (more_lines ? 2u : 0u) | static_cast<std::uint64_t>(moduli) << 2;
    }
  };
  static void cuda(CudaContext& context, const Args& args, Out<std::uint8_t> bytes, Out<int> exponents,
                   Scratch<double> squares, std::span<const In<T>> a);
};

/// Subtracts products of residues, C -= A B, from tiles C_1, C_2, … from their row `row` and column `column` on. NaN or
/// infinity in a line of A or B makes the row or column of C NaN.
///
/// C  at most most_tiles tiles of one shape, except the last. They stand side by side, with a multiple of 128 columns.
/// If `symmetric`, C is on and above the diagonal of A^T A, and the tiles
///    stand one below the other, with a multiple of 256 rows; up to 255 elements below the diagonal change in a row.
template <class T>
struct ResidueUpdate {
  static constexpr auto name = "residue_update";
  static constexpr std::uint32_t color = 0x2f9fd0;
  static constexpr index_t most_tiles = 64;
  struct Args {
    index_t inner = 0, a_lines = 0, b_lines = 0;  ///< sizes of the operands
    index_t a_line = 0, b_line = 0;               ///< lines of C's first row and column; even
    index_t row = 0, column = 0;
    bool symmetric = false;
    int moduli = moduli_for(sizeof(T));  ///< number of moduli
    std::uint64_t cost_key() const {
      return static_cast<std::uint64_t>(inner) << 8 | static_cast<std::uint64_t>(moduli);
    }
  };
  static Shape size(const Args& args, std::span<const Shape> c) {  ///< shape of all tiles of C together
    Shape sum{};
    for (const Shape& tile : c) sum.rows += tile.rows, sum.cols += tile.cols;
    return args.symmetric ? Shape{sum.rows, args.b_lines - args.b_line} : Shape{c[0].rows - args.row, sum.cols};
  }
  static double flops(const Args& args, std::span<const Shape> all) {
    const Shape c = size(args, all.subspan(5));
    const double m = static_cast<double>(c.rows), n = static_cast<double>(c.cols);
    return 2 * static_cast<double>(args.inner) * m * (args.symmetric ? n - m / 2 : n);
  }
  static void cuda(CudaContext& context, const Args& args, In<std::uint8_t> a, In<int> a_exponents, In<std::uint8_t> b,
                   In<int> b_exponents, Scratch<double> work, std::span<const InOut<T>> c);
};

}  // namespace tesela::kernels
