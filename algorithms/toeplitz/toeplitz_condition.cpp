#include <tesela/algorithms/toeplitz/shifted_toeplitz.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_condition.hpp>

namespace tesela {

using namespace kernels;

template <class T>
double toeplitz_condition_by_counting(Graph& g, const Toeplitz<T>& A, T sigma) {
  constexpr index_t distances = 6;
  const ShiftedToeplitz<T> shifted(g, A, sigma);
  const auto distance = [](index_t i) {
    return static_cast<double>(std::numeric_limits<T>::epsilon()) * std::pow(4.0, static_cast<double>(i + 1));
  };
  const TileMatrix<double> shifts(g.runtime(), 2 * distances, 1, {1, 1}, "shifts"),
      report(g.runtime(), CauchyReport::rows, 4 * distances, {CauchyReport::rows, 2}, "report");
  for (index_t i = 0; i < 2 * distances; ++i) {
    shifts(i, 0).write()(0, 0) = (i % 2 == 0 ? -1 : 1) * distance(i / 2) * shifted.norm;
    g.insert<CauchyCount<T>>({}, shifted.blocks(), shifts(i, 0), report(0, i), g.scratch<T>(cauchy_table(A.n()), 1));
  }
  const auto below = [&](index_t i) {
    const auto said = report(0, i).read();
    double count = 0;
    for (int part = 0; part < 2; ++part)
      if (cauchy_rows(A.n(), part) > 0) count += said(CauchyReport::negative, part);
    return count;
  };
  for (index_t i = 0; i < distances; ++i)
    if (below(2 * i) != below(2 * i + 1)) return 1 / distance(i);
  return 0;
}

template double toeplitz_condition_by_counting(Graph&, const Toeplitz<float>&, float);
template double toeplitz_condition_by_counting(Graph&, const Toeplitz<double>&, double);

}  // namespace tesela
