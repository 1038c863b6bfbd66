#pragma once

#include <tesela/runtime/types.hpp>

#include <cstddef>
#include <cstdint>

struct CUstream_st;

// The steps of a product by residues, which gemm_int8() enqueues in this order.

namespace tesela::kernels::int8 {

/// The lines of an operand as residues: rows of op(A) or columns of op(B), each contiguous in k.
struct Planes {
  std::uint8_t* bytes = nullptr;  ///< [modulus][line][k], signed
  int* exponents = nullptr;       ///< line x was multiplied by 2^exponents[x], or not_finite
  int lines = 0;                  ///< exponents has room for this number rounded up to 256
};

/// The rows of op(A) or the columns of op(B): lines of k elements in device memory.
template <class T>
struct Lines {
  const T* data = nullptr;
  index_t ld = 1;
  bool contiguous = true;  ///< k is contiguous and lines are ld apart; otherwise the reverse
  int lines = 0, k = 0;
};

/// Enqueues the conversion: scales each line to a norm just below largest_norm(count, k) by a power of two, rounds to
/// integers and writes their residues, zeros up to `depth`. Lines with NaN or infinity get the exponent not_finite, and
/// `found` becomes 1 if there is one. Returns a cudaError_t.
///
/// work  3 from.lines norm_parts(from.k) doubles.
template <class T>
int make_planes(CUstream_st* stream, const Lines<T>& from, int count, int depth, const Planes& to, double* work,
                int* found);

/// C := alpha A B + beta C of operands that are residues modulo the first `count` moduli. Elements in lines with NaN or
/// infinity are not written.
template <class T>
struct Product {
  Planes a, b;
  int k = 0, depth = 0;  ///< inner size, and the same rounded up to 16: bytes per line
  int count = 0;         ///< moduli: 14 for double, 7 for float
  T alpha = 1, beta = 0;
  T* c = nullptr;
  index_t ldc = 1;
  std::uint8_t* kept = nullptr;  ///< residues of the tiles of C under work; Workspace::kept
};

/// Enqueues the product; compute capability 9.0. Returns a cudaError_t.
template <class T>
int multiply(CUstream_st* stream, const Product<T>& product);

/// Enqueues C := alpha A B + beta C by IEEE arithmetic for the elements in lines with NaN or infinity. Does nothing if
/// `found`, in device memory, is 0. Returns a cudaError_t.
template <class T>
int repair(CUstream_st* stream, const Lines<T>& a, const Lines<T>& b, const int* rows, const int* columns,
           const int* found, T alpha, T beta, T* c, index_t ldc);

}  // namespace tesela::kernels::int8
