#pragma once

#include <tesela/codelets/tridiagonal/internal/system_view.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_refinement.hpp>
#include <tesela/tiles/generator.hpp>

#include <cmath>

// Work of the refinement kernels on row e of system s, for cores and GPUs. Internal to codelets/.

namespace tesela::kernels::tridiagonal {

/// Returns |x|.
template <class T>
TESELA_BOTH inline real_t<T> absolute(T x) {
  if constexpr (is_complex<T>)
    return std::hypot(x.real(), x.imag());
  else
    return std::fabs(x);
}

/// Returns x in the precision of L.
template <class L, class T>
TESELA_BOTH inline L in_precision_of(T x) {
  if constexpr (is_complex<T>)
    return L(static_cast<real_t<L>>(x.real()), static_cast<real_t<L>>(x.imag()));
  else
    return static_cast<L>(x);
}

template <class T>
TESELA_BOTH inline real_t<T> power_for_row(T dl, T d, T du) {
  const real_t<T> size = larger(absolute(dl), larger(absolute(d), absolute(du)));
  return size == 0 ? real_t<T>(1) : over_power(size);
}

/// Merges another misfit into that of a system or of some rows. A NaN residual stays.
template <class T>
TESELA_BOTH inline void worsen(SystemResidual<T>& a, const SystemResidual<T>& b) {
  if (!(b.residual <= a.residual) && a.residual == a.residual) a.residual = b.residual, a.row = b.row;
  if (!(b.componentwise <= a.componentwise) && a.componentwise == a.componentwise) a.componentwise = b.componentwise;
  a.matrix = larger(a.matrix, b.matrix);
  a.margin = a.margin < b.margin ? a.margin : b.margin;
  a.solution = larger(a.solution, b.solution);
  a.right = larger(a.right, b.right);
}

template <class T, class L>
struct ConvertRow {
  SystemView<const T> dl, d, du;
  SystemView<L> to_dl, to_d, to_du;
  index_t last;
  bool before, behind;

  TESELA_BOTH void operator()(index_t e, index_t s) const {
    const T below = e > 0 || before ? dl(e, s) : T(0), above = e < last || behind ? du(e, s) : T(0), mid = d(e, s);
    const real_t<T> power = power_for_row(below, mid, above);
    to_dl(e, s) = in_precision_of<L>(below * power);
    to_d(e, s) = in_precision_of<L>(mid * power);
    to_du(e, s) = in_precision_of<L>(above * power);
  }
};

template <class T>
struct ResidualRow {
  using Real = real_t<T>;
  SystemView<const T> dl, d, du, before, x, after, b;
  SystemView<T> r;  ///< null: not stored
  index_t last, last_before, first;
  bool has_before, has_after;
  std::uint64_t probe;
  static constexpr Real least = 16 * std::numeric_limits<Real>::min();

  /// Returns a number uniform in [1/2, 3/2), of either sign.
  TESELA_BOTH Real random_factor(index_t row, index_t s) const {
    const Real u = Generator<Real>{.seed = probe}.uniform(row, s);
    return u < Real(0) ? u - Real(0.5) : u + Real(0.5);
  }

  TESELA_BOTH SystemResidual<Real> operator()(index_t e, index_t s) const {
    T below = 0, above = 0, left = 0, right = 0;
    if (e > 0)
      below = dl(e, s), left = x(e - 1, s);
    else if (has_before)
      below = dl(e, s), left = before(last_before, s);
    if (e < last)
      above = du(e, s), right = x(e + 1, s);
    else if (has_after)
      above = du(e, s), right = after(0, s);
    const T mid = d(e, s), own = x(e, s), wanted = b(e, s);
    const Real power = power_for_row(below, mid, above);
    // Scaled first: a product of large numbers must not overflow if the scaled product does not.
    const T p = below * power * left, q = mid * power * own, t = above * power * right, rhs = wanted * power;
    const Real terms = absolute(p) + absolute(q) + absolute(t) + absolute(rhs);
    const T misses = probe != 0 ? T(terms * random_factor(first + e, s)) : rhs - p - q - t;
    if (r.data != nullptr) r(e, s) = misses;
    SystemResidual<Real> misfit;
    misfit.residual = absolute(misses);
    misfit.matrix = absolute(below * power) + absolute(mid * power) + absolute(above * power);
    misfit.margin = 2 * absolute(mid * power) - misfit.matrix;
    misfit.solution = absolute(own);
    misfit.right = absolute(rhs);
    misfit.row = first + e;
    if (terms < least && power < Real(1)) {
      // Large coefficients scaled the other terms out of range: the unscaled row decides.
      const T left_of = below * left, own_of = mid * own, right_of = above * right;
      const Real size = absolute(left_of) + absolute(own_of) + absolute(right_of) + absolute(wanted);
      misfit.componentwise = absolute(wanted - left_of - own_of - right_of) / larger(size, Real(least));
      return misfit;
    }
    misfit.componentwise = misfit.residual / larger(terms, Real(least));
    return misfit;
  }
};

/// Returns the factor that scales a system's residual to size 1 for the next correction; 0 if it needs none, or if its
/// error is not finite.
template <class T>
TESELA_BOTH inline T correction_for(const SystemResidual<T>& whole, T tolerance, T componentwise) {
  const T error = whole.backward_error();
  const bool finite = error * T(0) == T(0);
  if ((error <= tolerance && whole.componentwise <= componentwise) || !finite) return T(0);
  return over_power(whole.residual);
}

template <class T>
TESELA_BOTH inline Verdict<T> verdict_on(const SystemResidual<T>& whole, index_t n, index_t s) {
  const T error = whole.backward_error();
  const bool open = whole.correction != T(0);
  return {error, n * s + whole.row + 1, open ? 1 : 0, open ? error : T(0), whole.componentwise};
}

template <class T, class L>
struct DemoteElement {
  SystemView<const T> r;
  const SystemResidual<real_t<T>>* whole;
  index_t next;
  SystemView<L> y;
  TESELA_BOTH void operator()(index_t e, index_t s) const {
    const real_t<T> factor = whole[s * next].correction;
    y(e, s) = factor == 0 ? L(0) : in_precision_of<L>(r(e, s) * factor);
  }
};

template <class T, class L>
struct CorrectElement {
  SystemView<const L> y;
  const SystemResidual<real_t<T>>* whole;
  index_t next;
  SystemView<T> x;
  TESELA_BOTH void operator()(index_t e, index_t s) const {
    const real_t<T> factor = whole[s * next].correction;
    if (factor != 0) x(e, s) += in_precision_of<T>(y(e, s)) / factor;
  }
};

template <class T>
struct SelectBetterElement {
  SystemView<const T> y;
  const SystemResidual<real_t<T>>*of_y, *of_x;
  index_t next_y, next_x;
  SystemView<T> x;
  TESELA_BOTH void operator()(index_t e, index_t s) const {
    if (better(of_y[s * next_y], of_x[s * next_x])) x(e, s) = y(e, s);
  }
};

// From the kernels' parameters:

template <class T>
SelectBetterElement<T> select_better_element(SystemsIn in, const Block<T>& x, const Block<const T>& y,
                                             const Block<const SystemResidual<real_t<T>>>& of_x,
                                             const Block<const SystemResidual<real_t<T>>>& of_y) {
  return {system_view<const T>(in, y), of_y.data, of_x.data, of_y.ld, of_x.ld, system_view<T>(in, x)};
}

template <class T, class L>
ConvertRow<T, L> convert_row(const SystemsTile& place, const Block<const T>& dl, const Block<const T>& d,
                             const Block<const T>& du, const Block<L>& to_dl, const Block<L>& to_d,
                             const Block<L>& to_du) {
  const auto in = place.systems;
  return {system_view(in, dl),          system_view(in, d),    system_view(in, du),
          system_view(in, to_dl),       system_view(in, to_d), system_view(in, to_du),
          equations(in, d.shape()) - 1, place.before,          place.behind};
}

template <class T>
ResidualRow<T> residual_row(const typename TridiagonalResidual<T>::Args& args, const Block<const T>& dl,
                            const Block<const T>& d, const Block<const T>& du, const Block<const T>& before,
                            const Block<const T>& x, const Block<const T>& after, const Block<const T>& b,
                            std::span<const Out<T>> r) {
  const auto in = args.systems;
  return {channel_view(in, dl),
          channel_view(in, d),
          channel_view(in, du),
          system_view(in, before),
          system_view(in, x),
          system_view(in, after),
          system_view(in, b),
          r.empty() ? SystemView<T>{} : system_view<T>(in, r.front()),
          equations(in, x.shape()) - 1,
          equations(in, before.shape()) - 1,
          args.first,
          args.before,
          args.behind,
          args.probe};
}

}  // namespace tesela::kernels::tridiagonal
