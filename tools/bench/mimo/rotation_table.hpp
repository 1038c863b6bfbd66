#pragma once

#include <tesela/tiles/host_matrix.hpp>

namespace tesela::bench {

/// Factors R P for all orders P in lexicographic order by plane rotations, as Ramiro Sánchez 2010, Algorithms 4.7 and
/// 4.20, on the calling thread. The n^2 numbers of each are R, and below its diagonal one number per rotation
/// (Algorithm 4.10). r: n x n, upper triangular, n = 2, 4, 6, 8 or 10. packed: n^2 n!.
void rotation_table(const HostMatrix<double>& r, double* packed);

}  // namespace tesela::bench
