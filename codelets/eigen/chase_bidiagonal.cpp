#include <tesela/codelets/eigen/chase_bidiagonal.hpp>

#include <algorithm>
#include <complex>

#define HWY_TARGET_INCLUDE "tesela/codelets/eigen/chase_bidiagonal.cpp"
#include <tesela/codelets/eigen/internal/band_columns_inl.hpp>
#include <tesela/codelets/eigen/internal/complex_reflector_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::eigen::HWY_NAMESPACE {
namespace {

/// Computes E = (I - conj(tau) u u^H) E; E's first element is (row, column).
template <class T>
struct FromLeft {
  const BandColumns<T>& band;
  index_t row, column, rows;
  const T* u;
  T tau;
  template <int C>
  HWY_INLINE void at(index_t j) const {
    const BandRows<C, T> e(band, row, column + j);
    T dots[C];
    for (int c = 0; c < C; ++c) dots[c] = times(tau, dot<T>(rows, e.a[c], u));
    subtract<C, false, T>(0, rows, e.a, u, dots, nullptr, nullptr);
  }
};

/// Computes E -= y v^H.
template <class T>
struct RankOne {
  const BandColumns<T>& band;
  index_t row, column, rows;
  const T *y, *v;
  template <int C>
  HWY_INLINE void at(index_t j) const {
    subtract<C, false, T>(0, rows, BandRows<C, T>(band, row, column + j).a, y, v + j, nullptr, nullptr);
  }
};

template <class T>
struct BidiagonalHops {
  const BulgePlan& plan;
  BandColumns<T> band;
  T* y;

  /// Performs one hop; `before` is the row reflector of the sweep's previous hop, u and v become this hop's reflectors
  /// of rows and columns.
  HWY_INLINE void hop(index_t sweep, index_t k, const T* before, T* u, T* v) const {
    const index_t b = plan.b, row = plan.row(sweep, k), size = plan.length(sweep, k), top = k > 0 ? row - b : sweep,
                  above = row - top - 1, rows = above + size;  // rows of E without the first, and of D
    clear_room(sweep, k, row, size);
    if (k > 0 && before[b] != T(0)) by_fours(0, size, FromLeft<T>{band, top, row, b, before, before[b]});
    for (index_t j = 0; j < size; ++j) v[j] = conj(band(row + j)[top]);
    std::fill(v + size, v + b, T(0));
    band(row)[top] = make_reflector(size, v, v[b]);
    for (index_t j = 1; j < size; ++j) band(row + j)[top] = 0;
    if (v[b] != T(0)) {
      std::fill_n(y, rows, T(0));
      by_fours(0, size, Multiply<T>{band, top + 1, row, rows, v, y});
      for (index_t i = 0; i < rows; ++i) y[i] = times(y[i], v[b]);
      by_fours(0, size, RankOne<T>{band, top + 1, row, rows, y, v});
    }
    T* const first = band(row) + row;
    std::copy_n(first, size, u);
    std::fill(u + size, u + b, T(0));
    first[0] = make_reflector(size, u, u[b]);
    std::fill_n(first + 1, size - 1, T(0));
    if (u[b] != T(0)) by_fours(1, size, FromLeft<T>{band, row, row, size, u, u[b]});
  }

 private:
  /// Sets to zero the elements of E and D outside the band that no earlier hop of this place has written: all in the
  /// first sweep, later those in the last column of E and in the last row of D.
  HWY_INLINE void clear_room(index_t sweep, index_t k, index_t row, index_t size) const {
    const index_t b = plan.b;
    for (index_t j = 0; j < size; ++j) {
      T* const column = band(row + j) + row;
      const bool last = j + 1 == size && size == b;
      if (sweep == 0) std::fill_n(column + j + 1, size - j - 1, T(0));
      if (sweep > 0 && size == b && j + 1 < size) column[size - 1] = 0;
      if (k > 0 && (sweep == 0 || last)) std::fill_n(column - b, j, T(0));
    }
  }
};

template <class T>
void chase_bidiagonal(const typename ChaseBidiagonal<T>::Args& args, const In<T>& before, const Out<T>& left,
                      const Out<T>& right, const Scratch<T>& work, std::span<const InOut<T>> band) {
  const BulgePlan& plan = args.plan;
  const BidiagonalHops<T> hops{plan, BandColumns<T>(band, args.column, 2 * plan.b - 1), work.data};
  const index_t group = args.group, window = args.window, sweep = plan.first_sweep(group),
                first = plan.first_step(group, window);
  for (index_t h = first; h < plan.end_step(group, window); ++h)
    for (index_t t = 0; t < plan.size(group) && t <= h; ++t) {
      const index_t k = h - t;
      if (k > plan.last_hop(sweep + t)) continue;
      const T* previous = nullptr;
      if (k > 0)
        previous = h > first ? &left(0, plan.slot(group, window, t, h - 1))
                             : &before(0, plan.slot(group, window - 1, t, h - 1));
      const index_t slot = plan.slot(group, window, t, h);
      hops.hop(sweep + t, k, previous, &left(0, slot), &right(0, slot));
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
auto best_bidiagonal_chase() {
  return TESELA_BEST_TARGET(chase_bidiagonal<T>);
}

}  // namespace
}  // namespace eigen

template <class T>
void ChaseBidiagonal<T>::cpu(const Args& args, In<T> before, Out<T> left, Out<T> right, Scratch<T> work,
                             std::span<const InOut<T>> band) {
  eigen::best_bidiagonal_chase<T>()(args, before, left, right, work, band);
}

TESELA_STRUCTS_FOR_NUMBERS(ChaseBidiagonal)

}  // namespace tesela::kernels
#endif
