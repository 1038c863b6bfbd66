#pragma once

#include <tesela/algorithms/qr/qr.hpp>

namespace tesela {

/// Inserts A = R in the place of a factorization's A: zeros below the diagonal, so that Q is lost (extract_r leaves A
/// as it is, and takes another matrix).
template <class T>
void keep_r(Graph& g, const QrFactorization<T>& factorization);

}  // namespace tesela
