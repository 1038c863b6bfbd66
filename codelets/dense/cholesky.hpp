#pragma once

#include <tesela/runtime/codelet.hpp>

#include <span>

namespace tesela::kernels {

/// Factors a Hermitian tile whose upper triangle is A's, A = R^H R (LAPACK potrf).
///
/// A        becomes R in the upper triangle, zeros below. Invalid if `minor` is positive, also on entry.
/// minor    1 x 1; becomes the order of the first leading minor of the matrix that is not positive or not finite. The
///          tile's first row is row `first` of the matrix.
template <class T>
struct Potrf {
  static constexpr auto name = "potrf";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    index_t first = 0;
  };
  static double flops(const Args&, Shape a, Shape) {
    const auto n = static_cast<double>(a.rows);
    return flops_each<T> * n * n * n / 3;
  }
  static void cpu(const Args& args, InOut<T> a, InOut<double> minor);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, InOut<double> minor);
};

/// Solves X = op(R)^-1 X (BLAS trsm) with R upper triangular, n x n; the strict lower triangle is not read. X has n
/// rows and takes part from `column` on. A zero on the diagonal gives infinities and NaN.
template <class T>
struct Trsm {
  static constexpr auto name = "trsm";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {
    Op op = Op::none;
    index_t column = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(op); }
  };
  static double flops(const Args& args, Shape r, Shape x) {
    return flops_each<T> * static_cast<double>(r.rows) * static_cast<double>(r.rows) *
           static_cast<double>(x.cols - args.column);
  }
  static void cpu(const Args& args, In<T> r, InOut<T> x);
  static void cuda(CudaContext& context, const Args& args, In<T> r, InOut<T> x);
};

/// Updates C -= S^H B, or C -= S B, with rows A of R in a Cholesky factorization A = R^H R.
///
/// A        its tiles may have more columns than rows. S are A's columns from `a_column` on, as many as the product
///          needs.
/// B, C     take part from `column` on.
template <class T>
struct RowUpdate {
  static constexpr auto name = "row_update";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    Op op = adjoint<T>;
    index_t a_column = 0, column = 0;
    bool symmetric = false;  ///< S^H B is Hermitian, C square: its strict lower triangle may stay
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(op) | (symmetric ? 4u : 0u); }
  };
  static double flops(const Args& args, Shape a, Shape b, Shape c) {
    const double whole = 2.0 * flops_each<T> * static_cast<double>(c.rows) * static_cast<double>(c.cols - args.column) *
                         static_cast<double>(args.op == Op::none ? b.rows : a.rows);
    return args.symmetric ? whole / 2 : whole;
  }
  static void cpu(const Args& args, In<T> a, In<T> b, InOut<T> c);
  static void cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, InOut<T> c);
};

/// Rows of a strip of RowGram, which skips strips below the diagonal.
inline constexpr index_t gram_strip = 2048;

/// Computes C(:, column:) = sum_k S_k Z_k^H for tiles A_k that stand side by side.
///
/// A_k      S_k are its rows from `row` on (C's rows), and Z_k its rows from `other_row` on (C's columns from `column`
///          on).
/// C        columns before `column` become zero, and so do, by whole strips, entries below the diagonal of
///          sum_k A_k A_k^H.
template <class T>
struct RowGram {
  static constexpr auto name = "row_gram";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    index_t row = 0, other_row = 0, column = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(column); }
  };
  static double flops(const Args& args, std::span<const Shape> all) {
    double inner = 0;
    for (const Shape& a : all.subspan(1)) inner += static_cast<double>(a.cols);
    double elements = 0;
    for_each_strip(args, all[0], [&](index_t, index_t rows, index_t, index_t columns) {
      elements += static_cast<double>(rows) * static_cast<double>(columns);
    });
    return 2 * flops_each<T> * elements * inner;
  }
  /// Calls f(row, rows, column, columns) for each part of C that is computed.
  template <class F>
  static void for_each_strip(const Args& args, Shape c, const F& f) {
    for (index_t i = 0; i < c.rows; i += gram_strip) {
      const index_t below = args.row + i - args.other_row, column = args.column + (below > 0 ? below : 0);
      if (column < c.cols) f(i, c.rows - i < gram_strip ? c.rows - i : gram_strip, column, c.cols - column);
    }
  }
  static void cpu(const Args& args, Out<T> c, std::span<const In<T>> a);
  static void cuda(CudaContext& context, const Args& args, Out<T> c, std::span<const In<T>> a);
};

/// Updates the next diagonal block of a Cholesky factorization A = R^H R without the tiles to its right.
///
/// a        row k; S = R(k, k)^-H a for the columns from `column` on that belong to the next diagonal block.
/// next     the block of `below` (row k + 1) from `column` on, minus S^H S.
/// V        the inverses of R(k, k)'s diagonal blocks, as in BlockTrsm. The work spaces have R(k, k)'s rows and
///          inverted_block rows.
template <class T>
struct CholeskyNextDiagonal {
  static constexpr auto name = "cholesky_link";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {
    index_t column = 0;
  };
  static double flops(const Args&, Shape r, Shape, Shape, Shape, Shape next, Shape, Shape) {
    const auto n = static_cast<double>(r.rows), w = static_cast<double>(next.rows);
    return flops_each<T> * n * w * (n + w);
  }
  static void cpu(const Args& args, In<T> r, In<T> v, In<T> a, In<T> below, Out<T> next, Scratch<T> s, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> r, In<T> v, In<T> a, In<T> below, Out<T> next,
                   Scratch<T> s, Scratch<T> work);
};

}  // namespace tesela::kernels
