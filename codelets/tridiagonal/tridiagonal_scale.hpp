#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal.hpp>

#include <span>

namespace tesela::kernels {

// Equilibration of tridiagonal matrices by powers of two, without rounding: column j is multiplied by 2^g(j), then each
// row such that its largest entry lies in [1, 2). These kernels run only on cores; StarPU copies the tiles there.
//
// Exponents have the layout of the systems: n x k, or k x n with systems in rows. The bands of a single matrix have one
// system, which is common to all.

/// Computes exponents g of columns that follow every scaling of rows and columns of A by powers of two.
///
/// bands    tiles of dl, d and du in turn, along the systems.
/// Method   With the exponents a, b, c of dl, d, du, g(j+1) - g(j) is the mean of b(j) - c(j), which balances both
///          columns in row j, and a(j+1) - b(j+1), which balances them in row j + 1. If zeros leave neither, row j
///          balances columns j - 1 and j + 1; failing that, g stays. In a periodic system g must return to its start:
///          the surplus is removed in equal parts over the columns. Such sums may drift over a long system, so they are
///          centred. If their range exceeds twice the limit, they are shifted a little at each column to stay within
///          it.
template <class T>
struct TridiagonalExponents {
  static constexpr auto name = "tridiagonal_exponents";
  static constexpr std::uint32_t color = 0x8172b3;
  /// Limit of |g|, at which right-hand sides and solutions of ordinary size neither overflow nor vanish.
  static constexpr index_t limit = sizeof(real_t<T>) == 8 ? 600 : 75;
  struct Args {
    SystemsIn systems = SystemsIn::columns;
    bool periodic = false;
    auto cost_key() const { return static_cast<std::uint64_t>(systems); }
  };
  static void cpu(const Args& args, Out<index_t> exponents, std::span<const In<T>> bands);
};

/// Scales the bands of a tile that begins at row `first`. `rows` becomes the exponent by which each row was multiplied;
/// `exponents` belong to all columns. Elements outside a matrix that is not periodic become 0.
template <class T>
struct TridiagonalScale {
  static constexpr auto name = "tridiagonal_scale";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    SystemsIn systems = SystemsIn::columns;
    bool periodic = false;
    index_t first = 0;
    auto cost_key() const { return static_cast<std::uint64_t>(systems); }
  };
  static void cpu(const Args& args, In<T> dl, In<T> d, In<T> du, In<index_t> exponents, Out<T> scaled_dl,
                  Out<T> scaled_d, Out<T> scaled_du, Out<index_t> rows);
};

/// Sets sizes, 2 x systems, to the sizes of zeros, with which TridiagonalSize starts.
template <class T>
struct TridiagonalClearSize {
  static constexpr auto name = "tridiagonal_no_size";
  static constexpr std::uint32_t color = 0x937860;
  static constexpr index_t none = index_t{1} << 40;  ///< size of zeros
  struct Args {};
  static void cpu(const Args& args, Out<index_t> sizes);
};

/// Updates sizes(0, s) and (1, s) to the largest and the least exponent of 2^rows(i) b(i) in system s, without zeros,
/// over the tiles that are processed one after the other.
template <class T>
struct TridiagonalSize {
  static constexpr auto name = "tridiagonal_size";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    SystemsIn systems = SystemsIn::columns;
    auto cost_key() const { return static_cast<std::uint64_t>(systems); }
  };
  static void cpu(const Args& args, In<T> b, In<index_t> rows, InOut<index_t> sizes);
};

/// Scaling by TridiagonalScaleVector: b(i) of system s is multiplied by 2^p with p = e(first + i) - c for `rows`,
/// e(first + i) + c for `columns`, and -e(first + i) - c for `undo_columns`. c lies between the system's sizes, but at
/// most TridiagonalExponents' limit below the largest. So right-hand sides stay within the range of numbers, and the
/// results do not depend on powers of two as factors of A or B.
enum class ScaleBy : std::uint8_t { rows, columns, undo_columns };

/// Scales b. `info` becomes i + 1 + n s if the product is not finite.
template <class T>
struct TridiagonalScaleVector {
  static constexpr auto name = "tridiagonal_scale_vector";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {
    SystemsIn systems = SystemsIn::columns;
    index_t first = 0, n = 0;  ///< first row of the tile in its system, and equations of a system
    ScaleBy by = ScaleBy::rows;
    auto cost_key() const { return static_cast<std::uint64_t>(systems); }
  };
  static void cpu(const Args& args, InOut<T> b, In<index_t> exponents, In<index_t> sizes, InOut<int> info);
};

}  // namespace tesela::kernels
