#pragma once

#include <tesela/tesela.hpp>

/// Columns of unit length: kernels on tiles, and the loop that inserts them.
namespace normalize {

using namespace tesela;

/// Adds the squares of each column of a tile to a row: sums(j) += sum_i a(i, j)^2.
struct AddSquares {
  static constexpr auto name = "add_squares";
  static constexpr auto color = 0x4c72b0u;
  struct Args {};
  static double flops(const Args&, Shape a, Shape) { return 2.0 * static_cast<double>(a.rows * a.cols); }
  static void cpu(const Args&, In<double> a, Commute<double> sums);
  static void cuda(CudaContext&, const Args&, In<double> a, Commute<double> sums);
};

/// Divides each column of a tile by the square root of its sum; a column of zeros stays.
struct DivideByRoots {
  static constexpr auto name = "divide_by_roots";
  static constexpr auto color = 0xdd8452u;
  struct Args {};
  static double flops(const Args&, Shape, Shape a) { return static_cast<double>(a.rows * a.cols); }
  static void cpu(const Args&, In<double> sums, InOut<double> a);
  static void cuda(CudaContext&, const Args&, In<double> sums, InOut<double> a);
};

/// Sets a row to zero.
struct Clear {
  static constexpr auto name = "clear";
  struct Args {};
  static void cpu(const Args&, Out<double> row);
  static void cuda(CudaContext&, const Args&, Out<double> row);
};

/// Inserts tasks that divide each column of A by its length.
///
/// A, sums  m x n, and 1 x n with tiles of the same width. The squares of entries must not over- or underflow.
void normalize_columns(Graph&, const TileMatrix<double>& A, const TileMatrix<double>& sums);

}  // namespace normalize
