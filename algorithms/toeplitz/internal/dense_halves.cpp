#include <tesela/algorithms/support/insert_or_run.hpp>
#include <tesela/algorithms/toeplitz/internal/dense_halves.hpp>
#include <tesela/codelets/toeplitz/toeplitz_dense.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::detail {

template <class T>
DensePairs<T> dense_pairs(Graph& g, const SineToeplitz<T>& A, index_t first, index_t count) {
  DensePairs<T> dense{{}, OneTile<T>(g.runtime(), {A.n(), A.n()}, "vectors")};
  const OneTile<double> values(g.runtime(), {A.n(), 3}, "values");
  insert_or_run<ToeplitzDense<T>>(g, {}, {}, A.column(), *dense.vectors, *values);
  const auto pairs = (*values).read();
  if (std::isnan(pairs(0, 0))) return dense;
  for (index_t j = first; j < std::min(A.n(), first + count); ++j)
    dense.values.push_back({pairs(j, 0), pairs(j, 1), pairs(j, 2) > 0 ? 0U : 1U, 0, j});
  return dense;
}

template DensePairs<float> dense_pairs(Graph&, const SineToeplitz<float>&, index_t, index_t);
template DensePairs<double> dense_pairs(Graph&, const SineToeplitz<double>&, index_t, index_t);

}  // namespace tesela::detail
