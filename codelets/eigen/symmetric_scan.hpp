#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Scans a tile of a symmetric or Hermitian matrix at and below the matrix's diagonal. found = (largest magnitude, of a
/// part of complex numbers; row and column in the matrix of an element that is NaN or infinite, or -1; largest distance
/// from the diagonal of a nonzero element).
template <class T>
struct SymmetricScan {
  static constexpr auto name = "symmetric_scan";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    index_t first_row = 0, first_column = 0;  ///< of the tile, in the matrix
  };
  static void cpu(const Args& args, In<T> a, Out<double> found);
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<double> found);
};

/// Copies `count` columns `a_column` … of a tile of A to columns of a band from `band_column` on: element (i, j), i >=
/// j, in row i - j. Elements beyond the half-width are zero. Imaginary parts of the diagonal are dropped.
template <class T>
struct CopyBand {
  static constexpr auto name = "copy_band";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    index_t column = 0;                                                ///< index of the first column in the matrix
    index_t a_column = 0, band_column = 0, count = 0, half_width = 0;  ///< half_width: of the band
  };
  static void cpu(const Args& args, In<T> a, InOut<T> band);
  static void cuda(CudaContext& context, const Args& args, In<T> a, InOut<T> band);
};

/// Negates each column whose component of largest magnitude (the first of equals) is negative; a complex column is
/// multiplied by the number of magnitude 1 that makes this component positive.
template <class T>
struct TurnColumns {
  static constexpr auto name = "turn_columns";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {};
  static void cpu(const Args& args, InOut<T> x);
  static void cuda(CudaContext& context, const Args& args, InOut<T> x);
};

/// Computes X = diag(d) Y with complex d, n x 1, and real Y. T is complex.
template <class T>
struct PhaseRows {
  static constexpr auto name = "phase_rows";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    index_t first = 0;  ///< the tile's first row
  };
  static void cpu(const Args& args, In<T> d, In<real_t<T>> y, Out<T> x);
  static void cuda(CudaContext& context, const Args& args, In<T> d, In<real_t<T>> y, Out<T> x);
};

}  // namespace tesela::kernels
