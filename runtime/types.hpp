#pragma once

#include <cstddef>
#include <cstdint>

namespace tesela {

/// Type of all sizes and indices: signed, so that differences and downward loops are safe.
using index_t = std::int64_t;

/// Returns i >= 0 as an index, or a size, of a container.
constexpr std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

/// Shape of a matrix or a tile: `rows` x `cols`.
struct Shape {
  index_t rows = 0;
  index_t cols = 0;
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Returns ceil(a / b) for a >= 0, b > 0, without overflow.
constexpr index_t ceil_div(index_t a, index_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// op(A): A itself (none), its transpose A^T, or its conjugate transpose A^H, which is A^T for a real matrix.
enum class Op : std::uint8_t { none, transpose, conjugate };

/// Side of the other matrix, left or right, that a triangular or orthogonal factor multiplies.
enum class Side : std::uint8_t { left, right };

/// Returns the shape of op(A).
constexpr Shape apply(Op op, Shape a) { return op == Op::none ? a : Shape{a.cols, a.rows}; }

}  // namespace tesela
