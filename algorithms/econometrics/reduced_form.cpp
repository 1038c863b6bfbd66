#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/econometrics/internal/model_variables.hpp>
#include <tesela/algorithms/econometrics/reduced_form.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {

HostMatrix<double> reduced_form(Graph& g, const ModelTriangle& triangle, const SimultaneousModel& model,
                                const SemOptions& options) {
  const index_t K = model.instruments, N = triangle.R.cols() - K;
  const detail::Variables v =
      detail::model_variables(g, triangle, K, false, detail::dependence_tolerance(triangle, options));
  std::vector<index_t> kept;
  for (index_t c = 0; c < K; ++c)
    if (std::find(v.dropped.begin(), v.dropped.end(), c) == v.dropped.end()) kept.push_back(c);
  HostMatrix<double> R(v.rows, v.rows), right(v.rows, N), P(K, N);
  for (index_t k = 0; k < v.rows; ++k) std::copy_n(&v.A(0, kept[static_cast<std::size_t>(k)]), v.rows, &R(0, k));
  for (index_t j = 0; j < N && v.rows > 0; ++j) std::copy_n(&v.A(0, K + j), v.rows, &right(0, j));
  triangular_solve(g, Op::none, R, right);
  std::fill_n(P.data(), P.size(), std::numeric_limits<double>::quiet_NaN());
  for (index_t j = 0; j < N; ++j)
    for (index_t k = 0; k < v.rows; ++k) {
      const index_t c = kept[static_cast<std::size_t>(k)];
      P(c, j) = std::ldexp(right(k, j),
                           v.exponents[static_cast<std::size_t>(K + j)] - v.exponents[static_cast<std::size_t>(c)]);
    }
  return P;
}

}  // namespace tesela
