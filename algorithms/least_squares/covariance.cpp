#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/dense/triangular_solve.hpp>
#include <tesela/algorithms/least_squares/covariance.hpp>
#include <tesela/codelets/least_squares/minimum_norm.hpp>

#include <cmath>

namespace tesela {

using namespace kernels;
namespace {

/// R^-T of a triangle whose columns are near 1: row j of it stands for 2^-exponents[j] times that.
template <class T>
struct Inverse {
  HostMatrix<T> transposed;
  std::vector<int> exponents;
};

template <class T>
Inverse<T> invert(Graph& g, const LeastSquares<T>& answer) {
  HostMatrix<T> R = answer.triangle.clone(), Y = HostMatrix<T>::zeros(R.rows(), R.cols());
  const std::vector<int> exponents = scale_columns(R);
  for (index_t j = 0; j < Y.cols(); ++j) Y(j, j) = 1;
  triangular_solve(g, Op::transpose, R, Y);  // column j is row j of R^-1
  return {std::move(Y), exponents};
}

std::size_t unknown(const std::vector<index_t>& pivots, index_t j) {
  return static_cast<std::size_t>(pivots.empty() ? j : pivots[static_cast<std::size_t>(j)]);
}

}  // namespace

template <class T>
HostMatrix<T> covariance(Graph& g, const LeastSquares<T>& answer) {
  const index_t n = answer.triangle.cols();
  if (n == 0) return {};
  const Inverse<T> inverse = invert(g, answer);
  HostMatrix<T> product(n, n), V(n, n);
  const TileShape tile{std::min<index_t>(n, 512), std::min<index_t>(n, 512)};
  const auto Y = TileMatrix<T>::map(g.runtime(), inverse.transposed.data(), n, n, n, tile, "Y");
  const auto P = TileMatrix<T>::map(g.runtime(), product.data(), n, n, n, tile, "V");
  gemm(g, Op::transpose, Op::none, T(1), Y, Y, T(0), P);
  g.wait();
  P.bring_home();
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i)
      V(static_cast<index_t>(unknown(answer.pivots, i)), static_cast<index_t>(unknown(answer.pivots, j))) =
          std::ldexp(product(std::min(i, j), std::max(i, j)),
                     -inverse.exponents[static_cast<std::size_t>(i)] - inverse.exponents[static_cast<std::size_t>(j)]);
  return V;
}

template <class T>
std::vector<T> standard_errors(Graph& g, const LeastSquares<T>& answer) {
  if (answer.triangle.cols() == 0) return {};
  const Inverse<T> inverse = invert(g, answer);
  const std::vector<T> norms = column_norms(inverse.transposed);
  std::vector<T> errors(norms.size());
  for (std::size_t j = 0; j < norms.size(); ++j)
    errors[unknown(answer.pivots, static_cast<index_t>(j))] = std::ldexp(norms[j], -inverse.exponents[j]);
  return errors;
}

template HostMatrix<float> covariance(Graph&, const LeastSquares<float>&);
template HostMatrix<double> covariance(Graph&, const LeastSquares<double>&);
template std::vector<float> standard_errors(Graph&, const LeastSquares<float>&);
template std::vector<double> standard_errors(Graph&, const LeastSquares<double>&);

}  // namespace tesela
