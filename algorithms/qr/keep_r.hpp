#pragma once

#include <tesela/algorithms/qr/qr.hpp>

namespace tesela {

/// Inserts A = R, with zeros below the diagonal, into the matrix that was factored. Q is lost. extract_r copies R into
/// another matrix instead.
template <class T>
void keep_r(Graph& g, const QrFactorization<T>& factorization);

}  // namespace tesela
