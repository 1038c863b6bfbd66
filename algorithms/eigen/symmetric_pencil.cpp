#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/eigen/internal/count_pivots.hpp>
#include <tesela/algorithms/eigen/internal/scan.hpp>
#include <tesela/algorithms/eigen/internal/square_pair.hpp>
#include <tesela/algorithms/eigen/symmetric_pencil.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/runtime/require.hpp>

#include <cmath>
#include <limits>
#include <numbers>

namespace tesela {

using namespace kernels;
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// The relative error of a product and a sum: a complex product has 2 sqrt 2 times the error of a real one.
template <class T>
constexpr double epsilon = (is_complex<T> ? 2 * std::numbers::sqrt2 : 1) * std::numeric_limits<real_t<T>>::epsilon();

/// Returns ||A 2^-exponent||_F of a symmetric or Hermitian matrix from its lower triangle.
template <class T>
double frobenius(const TileMatrix<T>& A, int exponent) {
  double squares = 0;
  for (index_t J = 0; J < A.nt(); ++J)
    for (index_t I = J; I < A.nt(); ++I) {
      const auto a = A(I, J).read();
      for (index_t j = 0; j < a.cols; ++j)
        for (index_t i = I == J ? j : 0; i < a.rows; ++i) {
          const auto x = times_power_of_two(with_parts<T, double>(a(i, j)), -exponent);
          squares += (I == J && i == j ? 1 : 2) * std::norm(x);
        }
    }
  return std::sqrt(squares);
}

/// Returns the full matrix A 2^-exponent from A's lower triangle.
template <class T>
TileMatrix<T> whole(Graph& g, const TileMatrix<T>& A, int exponent) {
  const TileMatrix<T> F(g.runtime(), A.n(), A.n(), A.tile_shape(), "F");
  for (index_t j = 0; j < A.nt(); ++j)
    for (index_t i = j; i < A.nt(); ++i) {
      g.insert<Lacpy<T>>(on_gpu, {}, A(i, j), F(i, j));
      if (exponent != 0) g.insert<ScalePowerOfTwo<T>>(on_gpu, {-exponent}, F(i, j));
      if (i == j)
        g.insert<MirrorTile<T>>(on_gpu, {}, F(i, i));
      else
        g.insert<CopyBlock<T, Out>>(on_gpu, {.rows = F(j, i).rows(), .columns = F(j, i).cols(), .op = adjoint<T>},
                                    F(i, j), F(j, i));
    }
  return F;
}

/// Returns B A B.
template <class T>
TileMatrix<T> between(Graph& g, const TileMatrix<T>& A, const TileMatrix<T>& B) {
  const TileMatrix<T> W(g.runtime(), A.n(), A.n(), A.tile_shape(), "W");
  gemm<T>(g, Op::none, Op::none, 1, A, B, 0, W);
  gemm<T>(g, Op::none, Op::none, 1, B, W, 0, A);
  g.wait();
  return A;
}

/// Returns a positive lower bound of B's eigenvalues, at most four times too small; 0 if inertias do not prove that B
/// is positive definite. `norm` is an upper bound of the eigenvalues.
template <class T>
double least_eigenvalue(Graph& g, const TileMatrix<T>& B, double norm) {
  double proved = 0;
  for (int few = 0, many = std::numeric_limits<real_t<T>>::digits + 1; few < many;) {
    const int halvings = (few + many) / 2;
    const auto tau = static_cast<double>(static_cast<real_t<T>>(std::ldexp(norm, -halvings)));
    const SymmetricInertia inertia = symmetric_inertia(g, B, tau);
    if (inertia.below == 0 && inertia.uncertainty < tau / 2) {
      proved = tau - inertia.uncertainty;
      many = halvings;
    } else {
      few = halvings + 1;
    }
  }
  return proved;
}

}  // namespace

template <class T>
SymmetricPencil<T>::SymmetricPencil(Graph& g, GeneralizedKind kind, const TileMatrix<T>& A, const TileMatrix<T>& B)
    : kind_(kind), m_(A), b_(B) {
  detail::require_square_pair("SymmetricPencil", A, B);
  const detail::Scan of_a = detail::scan(g, A), of_b = detail::scan(g, B);
  if (of_a.row >= 0 || of_b.row >= 0) return;
  const int a_exponent = of_a.exponent(), b_exponent = of_b.exponent();
  const double norm_a = frobenius(A, a_exponent), norm_b = frobenius(B, b_exponent);
  constexpr double more = 1 + 1e-6;  // covers the rounding errors of the norms
  if (kind == GeneralizedKind::ax_lambda_bx) {
    const double norm = std::ldexp(norm_b, b_exponent);
    least_ = least_eigenvalue(g, B, norm);
    condition_ = more * norm / least_;
    bound_ = more * std::ldexp(norm_a, a_exponent) / least_;
    return;
  }
  exponent_ = a_exponent + b_exponent;
  b_ = whole(g, B, b_exponent);
  m_ = between(g, whole(g, A, a_exponent), b_);
  least_ = least_eigenvalue(g, b_, norm_b);
  condition_ = more * norm_b / least_;
  bound_ = more * norm_a * norm_b;
  m_error_ = 2 * static_cast<double>(A.n() + 2) * epsilon<T> * norm_b * norm_a * norm_b;
}

template <class T>
SymmetricInertia SymmetricPencil<T>::inertia(Graph& g, double sigma) const {
  require(!std::isnan(sigma), "SymmetricPencil::inertia", "sigma", "NaN");
  const double wanted = std::ldexp(sigma, -exponent_);
  if (std::isinf(sigma) || (least_ > 0 && std::abs(wanted) > bound_)) return {sigma < 0 ? 0 : m_.n(), 0};
  if (!(least_ > 0)) return {0, m_.n() > 0 ? infinity : 0};
  const auto shift = static_cast<real_t<T>>(wanted);
  SymmetricInertia found = detail::count_pivots<T>(
      g, m_.n(), m_.tile_shape().nb, [&](const TileMatrix<T>& S, index_t i, index_t j, const Priority& priority) {
        g.insert<ShiftedPair<T>>(priority, {shift}, m_(i, j), b_(i, j), S(i, j));
      });
  // An error E of M changes a value by at most ||E|| / (least eigenvalue of B).
  const double lost = static_cast<double>(m_.n()) *
                      static_cast<double>(std::numeric_limits<real_t<T>>::min()),  // underflow
      moved = (found.uncertainty + m_error_ + lost) / least_ + std::abs(wanted - static_cast<double>(shift));
  found.uncertainty = std::ldexp(moved, exponent_);
  return found;
}

template <class T>
double SymmetricPencil<T>::error_scale(double norm) const {
  if (!(least_ > 0)) return infinity;
  return kind_ == GeneralizedKind::ax_lambda_bx ? condition_ * norm : std::max(norm, std::ldexp(bound_, exponent_));
}

template <class T>
Certificate certify_spectrum(Graph& g, const SymmetricPencil<T>& pencil, std::span<const double> values,
                             double accuracy, index_t shifts, std::uint64_t seed) {
  return detail::certify<T>(values, accuracy, shifts, seed, [&](double sigma) { return pencil.inertia(g, sigma); });
}

#define TESELA_INSTANTIATE(T)                                                                                        \
  template class SymmetricPencil<T>;                                                                                 \
  template Certificate certify_spectrum(Graph&, const SymmetricPencil<T>&, std::span<const double>, double, index_t, \
                                        std::uint64_t);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
