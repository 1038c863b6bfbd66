#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/least_squares/covariance.hpp>
#include <tesela/host/minimum_norm.hpp>

#include <cmath>

namespace tesela {

using namespace kernels;
namespace {

/// R^-H of a triangle whose columns are near 1; the true column j is 2^-exponents[j] times column j.
template <class T>
struct Inverse {
  HostMatrix<T> adjoint;
  std::vector<int> exponents;
};

template <class T>
Inverse<T> invert(Graph& g, const LeastSquares<T>& answer) {
  HostMatrix<T> R = answer.triangle.clone(), Y = HostMatrix<T>::zeros(R.rows(), R.cols());
  const std::vector<int> exponents = scale_columns(R);
  for (index_t j = 0; j < Y.cols(); ++j) Y(j, j) = 1;
  triangular_solve(g, adjoint<T>, R, Y);  // column j is row j of R^-1, conjugated
  return {std::move(Y), exponents};
}

std::size_t unknown(const std::vector<index_t>& pivots, index_t j) {
  return static_cast<std::size_t>(pivots.empty() ? j : pivots[static_cast<std::size_t>(j)]);
}

/// Returns Y^H Y.
template <class T>
HostMatrix<T> gram(Graph& g, const HostMatrix<T>& rows) {
  const index_t k = rows.rows(), n = rows.cols();
  if (k == 0) return HostMatrix<T>::zeros(n, n);
  HostMatrix<T> product(n, n);
  const auto at_most = [](index_t size) { return std::clamp<index_t>(size, 1, 512); };
  const auto Y = TileMatrix<T>::map(g.runtime(), rows.data(), k, n, rows.ld(), {at_most(k), at_most(n)}, "Y");
  const auto P = TileMatrix<T>::map(g.runtime(), product.data(), n, n, n, {at_most(n), at_most(n)}, "V");
  gemm(g, adjoint<T>, Op::none, T(1), Y, Y, T(0), P);
  g.wait();
  P.bring_home();
  return product;
}

/// Returns L^H with columns near 1; the true column i is 2^-exponents[i] times column i.
template <class T>
Inverse<T> adjoint_of(const HostMatrix<T>& L) {
  HostMatrix<T> Y(L.cols(), L.rows());
  for (index_t j = 0; j < L.cols(); ++j)
    for (index_t i = 0; i < L.rows(); ++i) Y(j, i) = conj(L(i, j));
  std::vector<int> exponents = scale_columns(Y);
  for (int& e : exponents) e = -e;
  return {std::move(Y), std::move(exponents)};
}

template <class T>
HostMatrix<T> covariance_of(Graph& g, const Inverse<T>& inverse, const std::vector<index_t>& pivots) {
  const HostMatrix<T> product = gram(g, inverse.adjoint);
  const index_t n = product.rows();
  HostMatrix<T> V(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i) {
      const T element = i == j ? T(real_part(product(i, j))) : product(i, j);
      const auto row = static_cast<index_t>(unknown(pivots, i)), column = static_cast<index_t>(unknown(pivots, j));
      V(row, column) = times_power_of_two(
          element, -inverse.exponents[static_cast<std::size_t>(i)] - inverse.exponents[static_cast<std::size_t>(j)]);
      if (i < j) V(column, row) = conj(V(row, column));
    }
  return V;
}

template <class T>
std::vector<real_t<T>> errors_of(const Inverse<T>& inverse, const std::vector<index_t>& pivots) {
  const std::vector<real_t<T>> norms = column_norms(inverse.adjoint);
  std::vector<real_t<T>> errors(norms.size());
  for (std::size_t j = 0; j < norms.size(); ++j)
    errors[unknown(pivots, static_cast<index_t>(j))] = std::ldexp(norms[j], -inverse.exponents[j]);
  return errors;
}

}  // namespace

template <class T>
HostMatrix<T> covariance(Graph& g, const LeastSquares<T>& answer) {
  if (answer.triangle.cols() == 0) return {};
  return covariance_of(g, invert(g, answer), answer.pivots);
}

template <class T>
std::vector<real_t<T>> standard_errors(Graph& g, const LeastSquares<T>& answer) {
  if (answer.triangle.cols() == 0) return {};
  return errors_of(invert(g, answer), answer.pivots);
}

template <class T>
HostMatrix<T> covariance(Graph& g, const Glm<T>& answer) {
  return answer.spread.rows() == 0 ? HostMatrix<T>() : covariance_of(g, adjoint_of(answer.spread), {});
}

template <class T>
std::vector<real_t<T>> standard_errors(Graph&, const Glm<T>& answer) {
  return answer.spread.rows() == 0 ? std::vector<real_t<T>>() : errors_of(adjoint_of(answer.spread), {});
}

template <class T>
HostMatrix<T> covariance(Graph& g, const GeneralizedLeastSquares<T>& answer) {
  if (answer.spread.rows() == 0) return covariance(g, static_cast<const LeastSquares<T>&>(answer));
  return covariance_of(g, adjoint_of(answer.spread), {});
}

template <class T>
std::vector<real_t<T>> standard_errors(Graph& g, const GeneralizedLeastSquares<T>& answer) {
  if (answer.spread.rows() == 0) return standard_errors(g, static_cast<const LeastSquares<T>&>(answer));
  return errors_of(adjoint_of(answer.spread), {});
}

#define TESELA_INSTANTIATE(T)                                                      \
  template HostMatrix<T> covariance(Graph&, const LeastSquares<T>&);               \
  template HostMatrix<T> covariance(Graph&, const Glm<T>&);                        \
  template HostMatrix<T> covariance(Graph&, const GeneralizedLeastSquares<T>&);    \
  template std::vector<real_t<T>> standard_errors(Graph&, const LeastSquares<T>&); \
  template std::vector<real_t<T>> standard_errors(Graph&, const Glm<T>&);          \
  template std::vector<real_t<T>> standard_errors(Graph&, const GeneralizedLeastSquares<T>&);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
