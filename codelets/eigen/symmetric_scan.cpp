#include <tesela/codelets/eigen/symmetric_scan.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::kernels {

template <class T>
void SymmetricScan<T>::cpu(const Args& args, In<T> a, Out<double> found) {
  using Real = real_t<T>;
  Real largest = 0;
  found(1, 0) = found(2, 0) = -1;
  index_t half_width = 0;
  for (index_t j = 0; j < a.cols; ++j) {
    const T* const column = &a(0, j);
    const index_t diagonal = args.first_column + j - args.first_row, top = std::clamp<index_t>(diagonal, 0, a.rows);
    Real most = 0;
    index_t finite = 0;
    for (index_t i = top; i < a.rows; ++i) {
      const Real size = largest_part(column[i]);
      most = size > most ? size : most;
      finite += size <= std::numeric_limits<Real>::max() ? 1 : 0;
    }
    largest = std::max(largest, most);
    index_t last = a.rows - 1;
    while (last >= top && last > diagonal + half_width && column[last] == T(0)) --last;
    if (last >= top) half_width = std::max(half_width, last - diagonal);
    if (finite == a.rows - top || found(1, 0) >= 0) continue;
    const T* const bad = std::find_if(column + top, column + a.rows, [](T x) { return !is_finite(x); });
    found(1, 0) = static_cast<double>(args.first_row + (bad - column));
    found(2, 0) = static_cast<double>(args.first_column + j);
  }
  found(0, 0) = static_cast<double>(largest);
  found(3, 0) = static_cast<double>(half_width);
}

template <class T>
void CopyBand<T>::cpu(const Args& args, In<T> a, InOut<T> band) {
  for (index_t j = 0; j < args.count; ++j) {
    const index_t diagonal = args.column + j, rows = std::min(a.rows - diagonal, args.half_width + 1);
    std::copy_n(&a(diagonal, args.a_column + j), rows, &band(0, args.band_column + j));
    if constexpr (is_complex<T>) band(0, args.band_column + j) = band(0, args.band_column + j).real();
  }
}

template <class T>
void TurnColumns<T>::cpu(const Args&, InOut<T> x) {
  for (index_t j = 0; j < x.cols; ++j) {
    T* const column = &x(0, j);
    T* const most = std::max_element(column, column + x.rows, [](T a, T b) { return std::abs(a) < std::abs(b); });
    if constexpr (is_complex<T>) {
      const real_t<T> size = std::abs(*most);
      if (size == 0) continue;
      const T turn = conj(*most) / size;
      for (index_t i = 0; i < x.rows; ++i) column[i] = times(column[i], turn);
      *most = size;
    } else if (*most < 0) {
      for (index_t i = 0; i < x.rows; ++i) column[i] = -column[i];
    }
  }
}

template <class T>
void PhaseRows<T>::cpu(const Args& args, In<T> d, In<real_t<T>> y, Out<T> x) {
  for (index_t j = 0; j < x.cols; ++j)
    for (index_t i = 0; i < x.rows; ++i) x(i, j) = d(args.first + i, 0) * y(i, j);
}

TESELA_STRUCTS_FOR_NUMBERS(SymmetricScan, CopyBand, TurnColumns)
template struct PhaseRows<std::complex<float>>;
template struct PhaseRows<std::complex<double>>;

}  // namespace tesela::kernels
