#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal_fill.hpp>
#include <tesela/tiles/generator.hpp>

namespace tesela::bench {

/// Writes a generated matrix, column-major without gaps, to memory of device 0, and waits for it.
template <class T>
void generate(T* a, index_t rows, index_t cols, Generator<T> generator);

/// Writes the diagonals of generated tridiagonal matrices, one per column or per row, and waits. Elements outside the
/// matrices, in dl of the first equation and du of the last, are zero.
template <class T>
void generate(const kernels::TridiagonalRow<T*>& bands, index_t batch, bool in_rows,
              kernels::TridiagonalGenerator<T> generator);

}  // namespace tesela::bench
