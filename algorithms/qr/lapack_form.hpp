#pragma once

#include <tesela/tiles/host_matrix.hpp>

namespace tesela {

/// Converts A = Q R, m x n, to the form of LAPACK's geqrf.
///
/// a        R in its upper triangle, on the host; becomes LAPACK's R and, below, the vectors of its reflectors.
/// q        the first min(m, n) columns of Q; its contents are lost.
/// tau      min(m, n) numbers.
template <class T>
void to_lapack_form(index_t m, index_t n, T* a, index_t lda, HostMatrix<T>& q, T* tau);

}  // namespace tesela
