#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/matrix_view.hpp>

namespace tesela {

/// Returns e for which reflectors of 2^-e A can be formed and applied: sums of m elements do not overflow, and rounding
/// errors are not subnormal. 0 for an A of moderate size, for A = 0 and for an A on a device.
///
/// a       m x n; NaN and infinities do not count. All cores read it once.
/// Source  LAPACK gels, which scales A and B.
template <class T>
[[nodiscard]] int range_exponent(const MatrixView<T>& a);

/// Scales A by 2^-e for e = range_exponent(a), or for 0 if there are several ranks or a thousand elements of A are of
/// moderate size; returns e. It reads no others then: a pass over A would take a tenth of the time of a QR
/// factorization on GPUs. Larger elements may then cause an overflow, which shows as not finite.
template <class T>
[[nodiscard]] int scale_into_range(const Runtime& runtime, const MatrixView<T>& a);

/// Computes A = 2^e A, or its upper trapezoid alone, in host memory. Returns 1 + j if column j of the result is the
/// first that is not finite. If e = 0, it neither reads nor writes.
template <class T>
Status scale_in_memory(const MatrixView<T>& a, int e, bool upper = false);

}  // namespace tesela
