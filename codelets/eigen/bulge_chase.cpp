#include <tesela/codelets/eigen/bulge_chase.hpp>

#include <complex>

#define HWY_TARGET_INCLUDE "tesela/codelets/eigen/bulge_chase.cpp"
#include <tesela/codelets/eigen/internal/band_columns_inl.hpp>
#include <tesela/codelets/eigen/internal/complex_reflector_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::eigen::HWY_NAMESPACE {
namespace {

/// Computes E = (I - conj(tau) v v^H) (E - y x^H).
template <class T>
struct FromBothSides {
  const BandColumns<T>& band;
  index_t row, column, rows;
  const T *y, *x, *v;
  T tau;
  template <int C>
  HWY_INLINE void at(index_t j) const {
    const BandRows<C, T> e(band, row, column + j);
    T dots[C] = {};
    update<C, T>(rows, e.a, y, x + j, v, dots);
    for (int c = 0; c < C; ++c) dots[c] = times(tau, dots[c]);
    subtract<C, false, T>(0, rows, e.a, v, dots, nullptr, nullptr);
  }
};

/// Computes y += D x for a symmetric or Hermitian D with its lower triangle in the band.
template <class T>
struct SymmetricMultiply {
  const BandColumns<T>& band;
  index_t row, rows;
  const T* x;
  T* y;
  template <int C>
  HWY_INLINE void at(index_t j) const {
    const BandRows<C, T> d(band, row, row + j);
    T dots[C] = {};
    for (index_t c = 0; c < C; ++c) {
      const T weight = x[j + c];
      y[j + c] += real_part(d.a[c][j + c]) * weight;
      for (index_t i = j + c + 1; i < j + C; ++i) {
        y[i] += times(d.a[c][i], weight);
        dots[c] += times(conj(d.a[c][i]), x[i]);
      }
    }
    multiply<C, true, T>(j + C, rows, d.a, x + j, y, x, dots);
    for (index_t c = 0; c < C; ++c) y[j + c] += dots[c];
  }
};

/// Computes D -= v w^H + w v^H.
template <class T>
struct RankTwo {
  const BandColumns<T>& band;
  index_t row, rows;
  const T *v, *w;
  template <int C>
  HWY_INLINE void at(index_t j) const {
    const BandRows<C, T> d(band, row, row + j);
    for (index_t c = 0; c < C; ++c)
      for (index_t i = j + c; i < j + C; ++i) d.a[c][i] -= times(v[i], conj(w[j + c])) + times(w[i], conj(v[j + c]));
    subtract<C, true, T>(j + C, rows, d.a, v, w + j, w, v + j);
  }
};

template <class T>
struct Chase {
  const BulgePlan& plan;
  BandColumns<T> band;
  T *y, *w;

  /// Performs one hop; `x` is the reflector of the sweep's previous hop, and `v` becomes this hop's.
  HWY_INLINE void hop(index_t sweep, index_t k, const T* x, T* v) const {
    const index_t b = plan.b, row = plan.row(sweep, k), rows = plan.length(sweep, k), left = k > 0 ? row - b : sweep;
    if (k > 0) {
      clear_bulge_room(sweep, row, left, rows);
      std::fill_n(y, rows, T(0));
      if (x[b] != T(0)) by_fours(0, b, Multiply<T>{band, row, left, rows, x, y});
      for (index_t i = 0; i < rows; ++i) y[i] = times(y[i], x[b]);
    }
    T* const first = band(left) + row;
    for (index_t i = 0; i < rows; ++i) v[i] = k > 0 ? first[i] - y[i] : first[i];
    std::fill(v + rows, v + b, T(0));
    first[0] = make_reflector(rows, v, v[b]);
    const T tau = v[b];
    if (k > 0 && (x[b] != T(0) || tau != T(0))) by_fours(1, b, FromBothSides<T>{band, row, left, rows, y, x, v, tau});
    if (tau != T(0)) reflect_diagonal_block(row, rows, v, tau);
  }

 private:
  /// Sets to zero the elements of the block left of row's diagonal block that no sweep has written.
  HWY_INLINE void clear_bulge_room(index_t sweep, index_t row, index_t left, index_t rows) const {
    if (sweep == 0)
      for (index_t j = 0; j + 1 < rows; ++j) std::fill_n(band(left + j) + row + j + 1, rows - j - 1, T(0));
    else if (rows == plan.b)
      for (index_t j = 0; j + 1 < rows; ++j) band(left + j)[row + rows - 1] = T(0);
  }

  HWY_INLINE void reflect_diagonal_block(index_t row, index_t rows, const T* v, T tau) const {
    std::fill_n(w, rows, T(0));
    by_fours(0, rows, SymmetricMultiply<T>{band, row, rows, v, w});
    const real_t<T> shift = real_t<T>(-0.5) * real_part(times(conj(tau), tau)) * real_part(dot<T>(rows, w, v));
    for (index_t i = 0; i < rows; ++i) w[i] = times(tau, w[i]) + shift * v[i];
    by_fours(0, rows, RankTwo<T>{band, row, rows, v, w});
  }
};

template <class T>
void chase(const typename ChaseBulges<T>::Args& args, const In<T>& before, const Out<T>& reflectors,
           const Scratch<T>& work, std::span<const InOut<T>> band) {
  const Chase<T> chase{args.plan, BandColumns<T>(band, args.column, 0), work.data, work.data + work.ld};
  const BulgePlan& plan = args.plan;
  const index_t group = args.group, window = args.window, sweep = plan.first_sweep(group),
                first = plan.first_step(group, window);
  for (index_t h = first; h < plan.end_step(group, window); ++h)
    for (index_t t = 0; t < plan.size(group) && t <= h; ++t) {
      const index_t k = h - t;
      if (k > plan.last_hop(sweep + t)) continue;
      const T* x = nullptr;
      if (k > 0)
        x = h > first ? &reflectors(0, plan.slot(group, window, t, h - 1))
                      : &before(0, plan.slot(group, window - 1, t, h - 1));
      chase.hop(sweep + t, k, x, &reflectors(0, plan.slot(group, window, t, h)));
    }
}

}  // namespace
}  // namespace tesela::kernels::eigen::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {
namespace eigen {
namespace {

template <class T>
auto best_chase() {
  return TESELA_BEST_TARGET(chase<T>);
}

}  // namespace
}  // namespace eigen

template <class T>
void ChaseBulges<T>::cpu(const Args& args, In<T> before, Out<T> reflectors, Scratch<T> work,
                         std::span<const InOut<T>> band) {
  eigen::best_chase<T>()(args, before, reflectors, work, band);
}

TESELA_STRUCTS_FOR_NUMBERS(ChaseBulges)

}  // namespace tesela::kernels
#endif
