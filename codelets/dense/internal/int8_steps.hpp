#pragma once

#include <tesela/runtime/types.hpp>

#include <cstdint>
#include <span>

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

/// A part of an operand: lines line, line + 1, … and their elements from k = at on.
template <class T>
struct OperandPart {
  Lines<T> from;
  int line = 0, at = 0;
};

/// Returns the doubles of make_planes()'s work space.
template <class T>
index_t squares_size(std::span<const OperandPart<T>> parts, int lines);

/// Enqueues the choice of powers of two that scale each line to a norm in (most / 2, most]; a line of zeros gets
/// `of_zeros`, one with NaN or infinity not_finite, and then `found`, unless null, becomes 1. Returns a cudaError_t.
template <class T>
int scale_lines(CUstream_st* stream, std::span<const OperandPart<T>> parts, int lines, double most, int of_zeros,
                int* exponents, double* work, int* found);

/// Enqueues the conversion: scales each line to a norm just below largest_norm(count, k) by a power of two, rounds to
/// integers and writes their residues, zeros up to `depth`. Lines with NaN or infinity get the exponent not_finite, and
/// `found`, unless null, becomes 1 if there is one. Returns a cudaError_t.
///
/// parts  stand side by side, either in k, at multiples of 16, or in lines.
template <class T>
int make_planes(CUstream_st* stream, std::span<const OperandPart<T>> parts, int count, int depth, const Planes& to,
                double* work, int* found);

/// A part of C in memory.
template <class T>
struct Piece {
  T* data = nullptr;
  index_t ld = 1;
};
inline constexpr int most_pieces = 64, unlimited = 1 << 30;

/// C := alpha A B + beta C of operands that are residues modulo the first `count` moduli.
template <class T>
struct Product {
  Planes a, b;
  int a_line = 0, b_line = 0;  ///< lines of C's first row and column
  int m = 0, n = 0;            ///< of C
  int k = 0, depth = 0;        ///< inner size, and the same rounded up to 16: bytes per line
  int count = 0;               ///< moduli: 14, 15 or 16 for double, 7 or 14 for float
  T alpha = 1, beta = 0;
  bool upper = false;   ///< elements below the diagonal of C may stay: 256 x 128 tiles below it do
  bool spread = false;  ///< elements in lines with NaN or infinity become NaN; otherwise they are not written
  int piece_rows = unlimited, piece_columns = unlimited;  ///< multiples of 256 and 128; rows or columns are unlimited
  std::span<const Piece<T>> pieces = {};                  ///< of C, at most most_pieces
  std::uint8_t* kept = nullptr;                           ///< residues of the tiles of C under work; Workspace::kept
};

/// Enqueues the product; compute capability 9.0. Returns a cudaError_t.
template <class T>
int multiply(CUstream_st* stream, const Product<T>& product);

/// Enqueues C := alpha A B + beta C by IEEE arithmetic for the elements in lines with NaN or infinity. Does nothing if
/// `found`, in device memory, is 0. Returns a cudaError_t.
template <class T>
int repair(CUstream_st* stream, const Lines<T>& a, const Lines<T>& b, const int* rows, const int* columns,
           const int* found, T alpha, T beta, T* c, index_t ldc);

/// Enqueues the conversion of lines to magnitudes of 16 bits (bfloat16), |x| 2^e rounded towards zero with zeros up to
/// `depth`, and their sums. Lines with the exponent not_finite become ones with the sum 0. Returns a cudaError_t.
template <class T>
int make_magnitudes(CUstream_st* stream, const Lines<T>& from, const int* exponents, int depth, void* to, float* sums);

/// Enqueues the search for the smallest of m x n products, and of products / (left + right) with left of its row and
/// right of its column: least[0] and least[1] decrease to them. No number is negative. Returns a cudaError_t.
int find_least(CUstream_st* stream, const float* products, int m, int n, const float* left, const float* right,
               float* least);

}  // namespace tesela::kernels::int8
