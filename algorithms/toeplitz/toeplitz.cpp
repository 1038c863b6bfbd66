#include <tesela/algorithms/toeplitz/toeplitz.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {

using namespace kernels;
namespace {

template <class T>
index_t order_of(const HostMatrix<T>& t) {
  // Transforms of twice this length use 31-bit plans.
  require(t.cols() == 1 && t.rows() <= index_t{1} << 28, "Toeplitz", "t", t.shape(),
          "; it must be one column of at most 2^28 numbers");
  return t.rows();
}

template <class T>
std::span<const T> numbers(const HostMatrix<T>& t) {
  return {t.data(), static_cast<std::size_t>(t.rows())};
}

template <class T>
HostMatrix<T> at_unit(const HostMatrix<T>& t, int exponent) {
  HostMatrix<T> unit = t.clone();
  scale_by_power_of_two(std::span<T>(unit.data(), static_cast<std::size_t>(t.rows())), -exponent);
  return unit;
}

}  // namespace

template <class T>
Toeplitz<T>::Toeplitz(Graph& g, const HostMatrix<T>& t)
    : host_(std::make_shared<const HostMatrix<T>>(t.clone())),
      exponent_(exponent_of_largest(numbers(*host_))),
      t_(g.runtime(), order_of(t), 1, {std::max<index_t>(t.rows(), 1), 1}, "t"),
      spectrum_(g.runtime(), toeplitz_length(n()) / 2 + 1, 1, {toeplitz_length(n()) / 2 + 1, 1}, "spectrum") {
  if (n() == 0) return;
  const HostMatrix<T> unit = at_unit(t, exponent_);
  t_.copy_from(unit.data(), unit.ld());
  g.insert<ToeplitzSpectrum<T>>({}, tile(), spectrum(), g.scratch<T>(work_rows(), 1));
}

template <class T>
double Toeplitz<T>::norm(double sigma) const {
  return toeplitz_norm_bound(n(), host_->data(), sigma);
}

template <class T>
double Toeplitz<T>::unit_norm() const {
  return toeplitz_norm_bound(n(), at_unit(*host_, exponent_).data(), 0);
}

template <class T>
double Toeplitz<T>::unit_one_norm() const {
  return toeplitz_one_norm(n(), at_unit(*host_, exponent_).data());
}

template <class T>
HostMatrix<T> shifted_column(const Toeplitz<T>& A, T sigma) {
  HostMatrix<T> column = A.column().clone();
  if (A.n() > 0) column(0, 0) -= sigma;
  return column;
}

template <class T>
void Toeplitz<T>::multiply(Graph& g, T alpha, T sigma, const TileMatrix<T>& X, T beta, const TileMatrix<T>& Y) const {
  constexpr auto routine = "Toeplitz::multiply";
  require_whole_columns(routine, "X", X, n());
  require_whole_columns(routine, "Y", Y, n());
  require(X.n() == Y.n() && (X.nt() <= 1 || X.tile_shape().nb == Y.tile_shape().nb) && X.nt() == Y.nt(), routine, "Y",
          Y.n(), " columns, X has ", X.n(), ", or other tiles than X");
  require(!Y.shares_tiles(X), routine, "Y", "shares tiles with X");
  if (n() == 0) return;
  // Compute T - sigma I at the size of the larger one.
  const int exponent = std::max(exponent_, exponent_of_largest(std::span<const T>(&sigma, 1)));
  const T weight = std::ldexp(T(1), exponent_ - exponent), unit_sigma = std::ldexp(sigma, -exponent);
  for (index_t j = 0; j < X.nt(); ++j)
    g.insert<ToeplitzMultiply<T>>({std::ldexp(alpha, exponent), beta, unit_sigma, weight}, spectrum(), X(0, j), Y(0, j),
                                  g.scratch<T>(work_rows(), X(0, j).cols()));
}

TESELA_CLASSES_FOR_REALS(Toeplitz)
TESELA_FUNCTIONS_FOR_REALS(shifted_column)

}  // namespace tesela
