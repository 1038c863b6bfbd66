#pragma once

#include <tesela/runtime/types.hpp>

#include <functional>
#include <type_traits>
#include <vector>

namespace tesela {

/// Returns a lower bound, rarely less than a third, of ||A||_1 for an A = A^T of order n, real or complex, that is
/// known by products with it (LAPACK lacon). S is double or std::complex<double>.
///
/// multiply  multiply(x) replaces x, n numbers, by A x. It is called four or five times, at most eleven.
/// Returns   infinity if a product is not finite, 0 for n = 0.
/// Method    W. Hager, SIAM J. Sci. Stat. Comput. 5 (1984); N. Higham, ACM TOMS 14 (1988).
template <class S = double>
double norm1_estimate(index_t n, const std::type_identity_t<std::function<void(std::vector<S>&)>>& multiply);

}  // namespace tesela
