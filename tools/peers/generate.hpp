#pragma once

#include <tesela/codelets/tridiagonal/tridiagonal_fill.hpp>
#include <tesela/tiles/generator.hpp>

namespace tesela::bench {

/// Writes a generated matrix, column-major without gaps, into memory of device 0, and waits for it.
template <class T>
void generate(T* a, index_t rows, index_t cols, Generator<T> generator);

/// Likewise the diagonals of generated tridiagonal matrices, one in each column or in each row, with zeros outside the
/// matrices: in dl of the first equation and du of the last.
template <class T>
void generate(const kernels::TridiagonalRow<T*>& bands, index_t batch, bool in_rows,
              kernels::TridiagonalGenerator<T> generator);

}  // namespace tesela::bench
