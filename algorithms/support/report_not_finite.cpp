#include <tesela/algorithms/support/report_not_finite.hpp>
#include <tesela/codelets/support/not_finite.hpp>

#include <algorithm>

namespace tesela {

template <class T>
void report_not_finite(Graph& g, const TileMatrix<T>& A, FinitePart part) {
  const auto [mb, nb] = A.tile_shape();
  const bool upper = part == FinitePart::upper, lower = part == FinitePart::lower;
  for (index_t j = 0; A.mt() > 0 && j < A.nt(); ++j) {
    const Tile<int> status = g.status(j * nb);
    const index_t last_column = j * nb + A(0, j).cols() - 1, rows = upper ? last_column / mb + 1 : A.mt();
    for (index_t i = lower ? j * nb / mb : 0; i < std::min(rows, A.mt()); ++i)
      g.insert<kernels::NotFinite<T>>({upper, lower, i * mb, j * nb}, A(i, j), status);
  }
}

template void report_not_finite(Graph&, const TileMatrix<float>&, FinitePart);
template void report_not_finite(Graph&, const TileMatrix<double>&, FinitePart);

}  // namespace tesela
