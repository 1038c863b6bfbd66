#pragma once

#include <tesela/runtime/types.hpp>

#include <complex>

namespace tesela::lapack {

/// Solves B = A^-1 B from the result of getrf (lapack.hpp) for a complex A, n x n.
void getrs(index_t n, index_t r, const std::complex<double>* factors, index_t lda, const int* swaps,
           std::complex<double>* b, index_t ldb);

}  // namespace tesela::lapack
