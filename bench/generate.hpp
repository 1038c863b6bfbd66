#pragma once

#include "codelets/fill.hpp"

namespace tesela::bench {

/// Writes a generated matrix, column-major without gaps, into memory of device 0, and waits for it.
template <class T>
void generate(T* a, index_t rows, index_t cols, Generator<T> generator);

}  // namespace tesela::bench
