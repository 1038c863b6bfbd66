#include <tesela/algorithms/least_squares/extended_qr.hpp>
#include <tesela/host/minimum_norm.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

template <class T>
HostMatrix<T> r_at_home(Graph& g, const auto& factors, TileShape tile) {
  HostMatrix<T> r(std::min(factors.m(), factors.n()), factors.n());
  const auto R = TileMatrix<T>::map(g.runtime(), r.data(), r.rows(), r.cols(), r.ld(), tile, "R");
  factors.extract_r(g, R);
  R.for_each_tile([&](const Tile<T>& t, index_t, index_t) { g.bring_home(t); });
  g.wait();
  R.bring_home();
  return r;
}

template <class T>
ExtendedQr<T> from_factors(Graph& g, const auto& factors, TileShape tile, const TileMatrix<T>& B) {
  HostMatrix<T> R = r_at_home<T>(g, factors, tile);
  FirstRows<T> qt_b = first_rows(B, R.rows());
  return {std::move(R), std::move(qt_b.rows), std::move(qt_b.norms_below)};
}

}  // namespace

template <class T>
FirstRows<T> first_rows(const TileMatrix<T>& B, index_t k) {
  FirstRows<T> parts{HostMatrix<T>(k, B.n()), std::vector<real_t<T>>(static_cast<std::size_t>(B.n()))};
  B.read_each_tile([&](const auto& block, index_t row, index_t col) {
    const index_t above = std::clamp<index_t>(k - row, 0, block.rows);
    for (index_t j = 0; j < block.cols; ++j) {
      const T* column = block.data + j * block.ld;
      if (above > 0) std::copy_n(column, above, &parts.rows(row, col + j));
      real_t<T>& norm = parts.norms_below[static_cast<std::size_t>(col + j)];
      if (above < block.rows) norm = std::hypot(norm, euclidean_norm(block.rows - above, column + above));
    }
  });
  return parts;
}

template <class T>
ExtendedQr<T> extended_qr(Graph& g, const QrFactorization<T>& factors, TileShape tile, const TileMatrix<T>& B) {
  return from_factors(g, factors, tile, B);
}

template <class T>
ExtendedQr<T> extended_qr(Graph& g, const GivensQr<T>& factors, TileShape tile, const TileMatrix<T>& B) {
  return from_factors(g, factors, tile, B);
}

template <class T>
ExtendedQr<T> extended_qr(Graph& g, const QrUpdater<T>& updater) {
  g.wait();
  const index_t n = updater.n(), r = updater.r();
  ExtendedQr<T> e{HostMatrix<T>::zeros(n, n), HostMatrix<T>::zeros(n, r), updater.residual_norms()};
  if (updater.rows() == 0) return e;
  const auto triangle = updater.triangle()(0, 0).read();
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) e.R(i, j) = triangle(i, j);
    for (index_t j = 0; j < r; ++j) e.C(i, j) = triangle(i, n + j);
  }
  return e;
}

template <class T>
bool all_finite(const ExtendedQr<T>& e) {
  return all_finite(e.R) && all_finite(e.C) &&
         std::all_of(e.residual_norms.begin(), e.residual_norms.end(),
                     [](real_t<T> norm) { return std::isfinite(norm); });
}

#define TESELA_INSTANTIATE(T)                                                                             \
  template ExtendedQr<T> extended_qr(Graph&, const QrFactorization<T>&, TileShape, const TileMatrix<T>&); \
  template ExtendedQr<T> extended_qr(Graph&, const QrUpdater<T>&);                                        \
  template ExtendedQr<T> extended_qr(Graph&, const GivensQr<T>&, TileShape, const TileMatrix<T>&);        \
  template bool all_finite(const ExtendedQr<T>&);                                                         \
  template FirstRows<T> first_rows(const TileMatrix<T>&, index_t);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
