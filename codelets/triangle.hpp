#pragma once

#include "codelets/fill.hpp"

namespace tesela {

/// A block of columns of the identity, the first of them column `column` (LAPACK laset).
template <class T>
struct Identity {
  static constexpr auto name = "identity";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    index_t row = 0, column = 0;
  };
  static void cpu(const Args& args, Out<T> a) noexcept;
  static void cuda(CudaContext& context, const Args& args, Out<T> a) noexcept;
};

/// R = the upper trapezoid of A with zeros below (LAPACK lacpy and laset); A's first column is column `column` of the
/// whole matrix. R has at most as many rows as A, or any number where A is a band with `diagonal` diagonals above.
template <class T>
struct UpperTrapezoid {
  static constexpr auto name = "upper_trapezoid";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    index_t column = 0;
    index_t diagonal = -1;  ///< A is a band: element (i, j) is a(diagonal + i - j, j)
  };
  static void cpu(const Args& args, In<T> a, Out<T> r) noexcept;
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<T> r) noexcept;
};

namespace detail {

template <class T>
TESELA_BOTH inline T upper_element(const T* a, index_t ld, index_t column, index_t diagonal, index_t i, index_t j) {
  if (i > column + j || (diagonal >= 0 && column + j - i > diagonal)) return T(0);
  return diagonal >= 0 ? a[diagonal + i - (column + j) + j * ld] : a[i + j * ld];
}

}  // namespace detail

}  // namespace tesela
