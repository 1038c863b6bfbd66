#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal.hpp>

#include <span>

namespace tesela::kernels {

// Equilibration of tridiagonal matrices by powers of two, which round nothing: column j is multiplied by 2^g(j), and
// then each row such that its largest entry lies in [1, 2). These kernels have variants for cores only: StarPU brings
// the tiles there.
//
// Exponents stand as the systems do: n x k, or k x n with systems in rows. The bands of a single matrix have one system
// and hold for all.

/// Exponents g of columns that follow every scaling of rows and columns of A by powers of two: with a, b, c the
/// exponents of dl, d, du, g(j+1) - g(j) is the mean of b(j) - c(j), by which row j would have both columns alike, and
/// a(j+1) - b(j+1), by which row j + 1 would. Where zeros leave neither, row j decides between columns j - 1 and j + 1,
/// or else g stays. Of a periodic system g must come round to where it began: what it is off by is taken back a little
/// at each column. Such sums may run away over a long system: they are centred, and where their range exceeds twice the
/// limit, shifted a little at each column to stay within it.
/// `bands` are the tiles of dl, d and du in turn, along the systems.
template <class T>
struct TridiagonalExponents {
  static constexpr auto name = "tridiagonal_exponents";
  static constexpr std::uint32_t color = 0x8172b3;
  /// So far may g go that a right-hand side and a solution of ordinary size neither overflow nor vanish.
  static constexpr index_t limit = sizeof(T) == 8 ? 600 : 75;
  struct Args {
    SystemsIn systems = SystemsIn::columns;
    bool periodic = false;
    auto cost_key() const { return static_cast<std::uint64_t>(systems); }
  };
  static void cpu(const Args& args, Out<index_t> exponents, std::span<const In<T>> bands);
};

/// The scaled bands of a tile that begins at row `first`, and by which power of two each of its rows was multiplied.
/// `exponents` are those of all columns. What is outside a matrix that is not periodic becomes 0.
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

/// sizes, 2 x systems, becomes that of zeros: TridiagonalSize begins with it.
template <class T>
struct TridiagonalClearSize {
  static constexpr auto name = "tridiagonal_no_size";
  static constexpr std::uint32_t color = 0x937860;
  static constexpr index_t none = index_t{1} << 40;
  struct Args {};
  static void cpu(const Args& args, Out<index_t> sizes);
};

/// sizes(0, s) and (1, s) become the largest and the least exponent of 2^rows(i) b(i) in system s, over the tiles that
/// take it one after the other; without zeros.
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

/// How TridiagonalScaleVector scales: b(i) of system s is multiplied by 2^p with p = e(first + i) - c for `rows`,
/// e(first + i) + c for `columns`, and -e(first + i) - c for `undo_columns`, where c lies between the system's sizes,
/// but no more than TridiagonalExponents' limit below the largest. So right-hand sides stay within the range of
/// numbers, and what is computed is the same whatever power of two all of A or B are multiplied by.
enum class ScaleBy : std::uint8_t { rows, columns, undo_columns };

/// `info` becomes i + 1 + n s where the product is not finite.
template <class T>
struct TridiagonalScaleVector {
  static constexpr auto name = "tridiagonal_scale_vector";
  static constexpr std::uint32_t color = 0xda8bc3;
  struct Args {
    SystemsIn systems = SystemsIn::columns;
    index_t first = 0, n = 0;
    ScaleBy by = ScaleBy::rows;
    auto cost_key() const { return static_cast<std::uint64_t>(systems); }
  };
  static void cpu(const Args& args, InOut<T> b, In<index_t> exponents, In<index_t> sizes, InOut<int> info);
};

}  // namespace tesela::kernels
