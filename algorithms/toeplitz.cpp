#include "algorithms/toeplitz.hpp"

#include "codelets/toeplitz.hpp"

namespace tesela {
namespace {

template <class T>
index_t order_of(const HostMatrix<T>& t) {
  // Transforms of twice its length are planned with 31 bits.
  if (t.cols() != 1 || t.rows() > index_t{1} << 28)
    throw ArgumentError("Toeplitz", "t",
                        std::to_string(t.rows()) + " x " + std::to_string(t.cols()) +
                            "; it must be one column of at most 2^28 numbers");
  return t.rows();
}

}  // namespace

template <class T>
Toeplitz<T>::Toeplitz(Graph& g, const HostMatrix<T>& t)
    : host_(std::make_shared<const HostMatrix<T>>(t.clone())),
      t_(g.runtime(), order_of(t), 1, {std::max<index_t>(t.rows(), 1), 1}, "t"),
      spectrum_(g.runtime(), toeplitz_length(n()) / 2 + 1, 1, {toeplitz_length(n()) / 2 + 1, 1}, "spectrum") {
  if (n() == 0) return;
  t_.copy_from(t.data(), t.ld());
  g.insert<ToeplitzSpectrum<T>>({}, tile(), spectrum(), g.scratch<T>(work_rows(), 1));
}

template <class T>
double Toeplitz<T>::norm(double sigma) const {
  return toeplitz_norm_bound(n(), host_->data(), sigma);
}

template <class T>
void Toeplitz<T>::multiply(Graph& g, T alpha, T sigma, const TileMatrix<T>& X, T beta, const TileMatrix<T>& Y) const {
  constexpr auto routine = "Toeplitz::multiply";
  require_whole_columns(routine, "X", X, n());
  require_whole_columns(routine, "Y", Y, n());
  if (X.n() != Y.n() || (X.nt() > 1 && X.tile_shape().nb != Y.tile_shape().nb) || X.nt() != Y.nt())
    throw ArgumentError(routine, "Y",
                        std::to_string(Y.n()) + " columns, X has " + std::to_string(X.n()) + ", or other tiles than X");
  if (Y.shares_tiles(X)) throw ArgumentError(routine, "Y", "shares tiles with X");
  if (n() == 0) return;
  for (index_t j = 0; j < X.nt(); ++j)
    g.insert<ToeplitzMultiply<T>>({alpha, beta, sigma}, spectrum(), X(0, j), Y(0, j),
                                  g.scratch<T>(work_rows(), X(0, j).cols()));
}

template class Toeplitz<float>;
template class Toeplitz<double>;

}  // namespace tesela
