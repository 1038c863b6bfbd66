#pragma once

#include <tesela/runtime/types.hpp>

#include <functional>
#include <vector>

namespace tesela {

/// A lower bound, rarely less than a third, of ||A||_1 for a symmetric A of order n that is known by its products:
/// multiply(x) makes x, n numbers, A x. It is asked for four or five, eleven at most. Infinite where a product is not
/// finite, 0 for n = 0.
///
/// As LAPACK's lacon. Source: W. Hager, SIAM J. Sci. Stat. Comput. 5 (1984); N. Higham, ACM TOMS 14 (1988).
double norm1_estimate(index_t n, const std::function<void(std::vector<double>&)>& multiply);

}  // namespace tesela
