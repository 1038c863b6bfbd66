#include <tesela/algorithms/toeplitz/shifted_toeplitz.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_condition.hpp>

namespace tesela {

using namespace kernels;

template <class T>
double toeplitz_condition_by_counting(Graph& g, const Toeplitz<T>& A, T sigma, double farthest) {
  const ShiftedToeplitz<T> shifted(g, A, sigma);
  constexpr auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  const auto distance = [](int i) { return eps * std::pow(4.0, i + 1); };
  const TileMatrix<double> shifts(g.runtime(), 2, 1, {1, 1}, "shifts"),
      report(g.runtime(), CauchyReport::rows, 4, {CauchyReport::rows, 2}, "report");
  const auto below = [&](index_t side) {
    const auto said = report(0, side).read();
    double count = 0;
    for (int part = 0; part < 2; ++part)
      if (cauchy_rows(A.n(), part) > 0) count += said(CauchyReport::negative, part);
    return count;
  };
  const auto has_eigenvalue = [&](int i) {
    for (const index_t side : {0, 1}) {
      shifts(side, 0).write()(0, 0) = (side == 0 ? -1 : 1) * distance(i) * shifted.norm;
      g.insert<CauchyCount<T>>({}, shifted.blocks(), shifts(side, 0), report(0, side),
                               g.scratch<T>(cauchy_table(A.n()), 1));
    }
    return below(0) != below(1);
  };
  const int distances = static_cast<int>(std::floor(std::log2(farthest / eps) / 2));
  int nearest = 0;
  for (int last = distances; nearest < last;) {
    const int middle = (nearest + last) / 2;
    if (has_eigenvalue(middle))
      last = middle;
    else
      nearest = middle + 1;
  }
  return nearest < distances ? 1 / distance(nearest) : 0;
}

TESELA_FUNCTIONS_FOR_REALS(toeplitz_condition_by_counting)

}  // namespace tesela
