#pragma once

#include <tesela/runtime/types.hpp>

#include <complex>

namespace tesela::lapack {

/// Solves the problems of sygvd (lapack.hpp) for Hermitian matrices (LAPACK hegvd).
template <class Real>
int sygvd(int kind, index_t n, std::complex<Real>* a, index_t lda, std::complex<Real>* b, index_t ldb, Real* w,
          bool vectors = true);

}  // namespace tesela::lapack
