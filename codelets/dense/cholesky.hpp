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

/// Computes R(k, k) in a Cholesky factorization A = R^H R of whole tile rows, without the tile rows themselves.
///
/// r        R(k - 1, k - 1); v its inverses, as in BlockTrsm.
/// a        A(k - 1, k) before its solve; S = r^-H a.
/// d        A(k, k) before the update by row k - 1; becomes the factor of d - S^H S, as by Potrf.
/// inverse  becomes the inverses of that factor (InvertBlocks).
/// s, work  work spaces with r's and inverted_block rows.
template <class T>
struct CholeskyDiagonal {
  static constexpr auto name = "cholesky_diagonal";
  static constexpr std::uint32_t color = 0xc44e52;
  using Args = typename Potrf<T>::Args;
  static double flops(const Args& args, Shape r, Shape, Shape, Shape d, Shape, Shape minor, Shape, Shape) {
    const auto n = static_cast<double>(r.rows), w = static_cast<double>(d.rows);
    return flops_each<T> * n * w * (n + w) + Potrf<T>::flops(args, d, minor);
  }
  static void cpu(const Args& args, In<T> r, In<T> v, In<T> a, InOut<T> d, Out<T> inverse, InOut<double> minor,
                  Scratch<T> s, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> r, In<T> v, In<T> a, InOut<T> d, Out<T> inverse,
                   InOut<double> minor, Scratch<T> s, Scratch<T> work);
};

/// Updates tile rows C_1, C_2, … of A in a Cholesky factorization A = R^H R: C_i -= S_i^H a on and above the diagonal,
/// with a row of R.
///
/// a        all columns of A. The diagonal block of C_i, and S_i, begin in column `column` + (i - 1) m, m: rows of a.
/// C        C_1's first `skipped` columns from its diagonal block on stay.
template <class T>
struct RowUpdateList {
  static constexpr auto name = "row_update_list";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    index_t column = 0, skipped = 0;
    std::uint64_t cost_key() const { return skipped > 0 ? 1 : 0; }
  };
  static double flops(const Args& args, std::span<const Shape> all) { return flops(args, all[0], all.subspan(1)); }
  static double flops(const Args& args, Shape a, std::span<const Shape> c) {
    double elements = -static_cast<double>(args.skipped * c[0].rows);
    for (index_t column = args.column; const Shape& row : c) {
      elements += static_cast<double>(row.rows * (a.cols - column));
      column += a.rows;
    }
    return 2 * flops_each<T> * static_cast<double>(a.rows) * elements;
  }
  static void cuda(CudaContext& context, const Args& args, In<T> a, std::span<const InOut<T>> c);
};

/// Updates C_1 and C_2 as RowUpdateList and copies the blocks of both above and on C_2's diagonal to `above` and
/// `diagonal`.
template <class T>
struct CholeskyAhead {
  static constexpr auto name = "cholesky_ahead";
  static constexpr std::uint32_t color = 0x4c72b0;
  using Args = typename RowUpdateList<T>::Args;
  static double flops(const Args& args, std::span<const Shape> all) {
    return RowUpdateList<T>::flops(args, all[0], all.subspan(3));
  }
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<T> above, Out<T> diagonal,
                   std::span<const InOut<T>> c);
};

}  // namespace tesela::kernels
