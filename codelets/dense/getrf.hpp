#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Pivoting of an LU factorization: none (diagonal entries), or by a tournament.
enum class Pivoting : std::uint8_t { none, tournament };

/// Columns whose pivots are chosen together, and rows of a group. In each group, elimination with partial pivoting
/// chooses as many winners as there are columns. The winners then play each other until one group is left (Grigori,
/// Demmel, Xiang, "CALU: a communication optimal LU factorization algorithm", SIAM J. Matrix Anal. Appl. 32, 2011).
inline constexpr index_t tournament_columns = 32, tournament_rows = 512;

/// Returns the numbers of Getrf's work: the rows of U of a tournament's last game, and two lists of winners.
template <class T>
constexpr index_t getrf_work(index_t rows) {
  return tournament_columns * tournament_columns * static_cast<index_t>(sizeof(T) / sizeof(int)) + rows / 8 + 128;
}

/// Factors the columns A of a matrix, P A = L U (LAPACK getrf), from row `row` on, where their diagonal starts; the
/// rows above are final.
///
/// A        becomes U, and the unit lower L below it. Its contents are invalid if `zero` is positive, also on entry.
/// V        A's columns, rows as in InvertBlocks; becomes the inverses of the adjoints of L's diagonal blocks, unless V
///          has one column.
/// swaps    row row + i was exchanged with row swaps(i); without pivoting the two are equal.
/// zero     1 x 1; becomes the position in the matrix, counted from 1, of the first pivot that is zero or not finite.
/// work     getrf_work<T>(rows of A) numbers.
template <class T>
struct Getrf {
  static constexpr auto name = "getrf";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    index_t row = 0;
    Pivoting pivoting = Pivoting::none;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(pivoting); }
  };
  static double flops(const Args& args, Shape a, Shape, Shape, Shape, Shape) {
    const auto m = static_cast<double>(a.rows - args.row), n = static_cast<double>(a.cols);
    return flops_each<T> * n * n * (m - n / 3);
  }
  static void cpu(const Args& args, InOut<T> a, Out<T> v, Out<int> swaps, InOut<double> zero, Scratch<int> work);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, Out<T> v, Out<int> swaps, InOut<double> zero,
                   Scratch<int> work);
};

/// Updates the columns C to the right of the columns A, which are factored from row `row` on.
///
/// C        its rows are exchanged, its rows of U become L^-1 C, and L times them is subtracted from the rows below, up
///          to row `end` if that is positive.
/// work     inverted_block rows and C's columns.
template <class T>
struct LuUpdate {
  static constexpr auto name = "lu_update";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    index_t row = 0;
    Pivoting pivoting = Pivoting::none;
    index_t end = 0;
  };
  static double flops(const Args& args, Shape a, Shape, Shape, Shape c, Shape) {
    const auto w = static_cast<double>(a.cols), m = static_cast<double>((args.end > 0 ? args.end : c.rows) - args.row);
    return flops_each<T> * w * static_cast<double>(c.cols) * (2 * m - w);
  }
  static void cpu(const Args& args, In<T> a, In<T> v, In<int> swaps, InOut<T> c, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> a, In<T> v, In<int> swaps, InOut<T> c,
                   Scratch<T> work);
};

/// Exchanges A's rows row + i and swaps(i), one pair after the other (LAPACK laswp).
template <class T>
struct Laswp {
  static constexpr auto name = "laswp";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    index_t row = 0;
  };
  static void cpu(const Args& args, InOut<T> a, In<int> swaps);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, In<int> swaps);
};

/// Performs one step of a substitution with the columns A, which are factored from row `row` on.
///
/// X        rows become L^-1 X, and L times them is subtracted from the rows below. `upper`: rows become U^-1 X, and U
///          times them is subtracted from the rows above.
template <class T>
struct LuSubstitute {
  static constexpr auto name = "lu_substitute";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {
    index_t row = 0;
    bool upper = false;
    std::uint64_t cost_key() const { return upper ? 1 : 0; }
  };
  static double flops(const Args& args, Shape a, Shape x) {
    const auto w = static_cast<double>(a.cols),
               others = static_cast<double>(args.upper ? args.row : a.rows - args.row - a.cols);
    return flops_each<T> * w * static_cast<double>(x.cols) * (w + 2 * others);
  }
  static void cpu(const Args& args, In<T> a, InOut<T> x);
  static void cuda(CudaContext& context, const Args& args, In<T> a, InOut<T> x);
};

/// Factors `count` columns from `first` on into L U by halves (Toledo 1997): factors the left half, solves for U to its
/// right, subtracts their product, factors the right half. `panel` performs each of these steps.
template <class Panel>
void factor_by_halves(Panel& panel, index_t first, index_t count) {
  if (count <= tournament_columns) return panel.columns(first, count);
  const index_t left = ceil_div(count, 2 * tournament_columns) * tournament_columns, right = count - left;
  factor_by_halves(panel, first, left);
  panel.update(first, left, right);
  factor_by_halves(panel, first + left, right);
}

}  // namespace tesela::kernels
