#pragma once

#include <tesela/runtime/types.hpp>

#include <functional>
#include <vector>

namespace tesela {

/// Returns a lower bound, rarely less than a third, of ||A||_1 for a symmetric A of order n that is known by products
/// with it (LAPACK lacon).
///
/// multiply  multiply(x) replaces x, n numbers, by A x. It is called four or five times, at most eleven.
/// Returns   infinity if a product is not finite, 0 for n = 0.
/// Method    W. Hager, SIAM J. Sci. Stat. Comput. 5 (1984); N. Higham, ACM TOMS 14 (1988).
double norm1_estimate(index_t n, const std::function<void(std::vector<double>&)>& multiply);

}  // namespace tesela
