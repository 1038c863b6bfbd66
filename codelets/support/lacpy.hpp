#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Part of a matrix that is copied; the rest of the copy is zero.
enum class Part : std::uint8_t {
  all,        ///< the whole matrix
  upper,      ///< the upper trapezoid
  unit_lower  ///< the part below the diagonal, and ones on it: explicit Householder vectors
};

/// Copies a part of A to B (LAPACK lacpy). If B has fewer rows or columns than A, the first ones are copied, columns
/// from `column` on.
template <class T>
struct Lacpy {
  static constexpr auto name = "lacpy";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    Part part = Part::all;
    index_t below = 0;   ///< distance of B's first element below the diagonal: its row minus its column
    index_t column = 0;  ///< A's first column that is copied
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(part); }
  };
  static void cpu(const Args& args, In<T> a, Out<T> b);
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<T> b);
};

/// Sets A to the tile of a matrix with `diagonal` on its diagonal and zeros elsewhere (LAPACK laset).
template <class T>
struct Laset {
  static constexpr auto name = "laset";
  static constexpr std::uint32_t color = 0xccb974;
  struct Args {
    T diagonal = 0;
    index_t below = 0;  ///< distance of the first element below the diagonal: its row minus its column
  };
  static void cpu(const Args& args, Out<T> a);
  static void cuda(CudaContext& context, const Args& args, Out<T> a);
};

/// Does the same as Lacpy, in device memory. Returns a cudaError_t.
template <class T>
int lacpy(CUstream_st* stream, Part part, index_t below, const Block<const T>& a, const Block<T>& b);

/// Computes A -= B in device memory, B of A's shape. Returns a cudaError_t.
template <class T>
int subtract(CUstream_st* stream, const Block<T>& a, const T* b, index_t ldb);

}  // namespace tesela::kernels
