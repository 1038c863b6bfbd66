#pragma once

#include <tesela/codelets/tridiagonal/internal/parallel_rows.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_segment.hpp>

// Recursive doubling (H. S. Stone, J. ACM 20, 1973): A = L U by three scans. Internal to codelets/.

namespace tesela::kernels::parallel {

/// Solves one system. The leading minors q of A, with rows scaled by powers of two, follow
///
///     (q(k), q(k-1)) = C(k) (q(k-1), q(k-2)),   C(k) = (d(k), -dl(k) du(k-1); 1, 0).
///
/// A scan multiplies these matrices. Pivots are ratios p(k) = q(k) / q(k-1), so a power of two may scale each product.
/// Two scans of steps x -> g x + h, whose g are quotients of L and U, substitute forwards and backwards. None of the
/// products grows if A is dominant.
template <class T, class Team>
class RecursiveDoubling {
  using Real = real_t<T>;

 public:
  /// work: 8 numbers per row.
  TESELA_BOTH RecursiveDoubling(Team team, const Rows<const T>& rows, T* work)
      : team_(team), rows_(rows), work_(work) {}

  /// Returns x, in the work space. Calls note(i) for a row i whose pivot is zero or not finite.
  template <class Note>
  TESELA_BOTH const T* solve(Note note) const {
    const index_t m = rows_.count;
    T *minors = work_, *work = work_ + 4 * m;
    multiply(minors, work);
    T* const pivots = work;
    each(m, [&](index_t k) {
      const T p = minors[4 * k] / minors[4 * k + 2];
      if (!usable(p)) note(rows_.at(k));
      pivots[k] = p;
    });
    T *g = minors, *other = minors + 2 * m;
    each(m, [&](index_t k) {
      const Equation<T> e = scaled(rows_(k));
      g[k] = k > 0 ? -e.dl / pivots[k - 1] : T(0);
      g[m + k] = e.b;
    });
    scan(g, other, [](index_t k, index_t apart) { return k - apart; });
    each(m, [&](index_t k) {
      other[k] = -scaled(rows_(k)).du / pivots[k];
      other[m + k] = g[m + k] / pivots[k];
    });
    scan(other, g, [](index_t k, index_t apart) { return k + apart; });
    return other + m;
  }

 private:
  template <class F>
  TESELA_BOTH void each(index_t count, F f) const {
    parallel::each(team_, count, f);
  }

  /// Sets matrix k of `from` to C(k) … C(0), times a power of two.
  TESELA_BOTH void multiply(T*& from, T*& to) const {
    const index_t m = rows_.count;
    each(m, [&, c = from](index_t k) {
      const Equation<T> e = scaled(rows_(k));
      c[4 * k] = e.d, c[4 * k + 1] = k > 0 ? -e.dl * scaled(rows_(k - 1)).du : T(0);
      c[4 * k + 2] = 1, c[4 * k + 3] = 0;
    });
    for (index_t apart = 1; apart < m; apart *= 2) {
      each(m, [=, p = from, c = to](index_t k) {
        const T *const a = p + 4 * k, *const b = a - 4 * apart;
        T entries[4] = {a[0], a[1], a[2], a[3]};
        if (k >= apart) {
          entries[0] = a[0] * b[0] + a[1] * b[2], entries[1] = a[0] * b[1] + a[1] * b[3];
          entries[2] = a[2] * b[0] + a[3] * b[2], entries[3] = a[2] * b[1] + a[3] * b[3];
        }
        const Real size = size_of(entries[0]) + size_of(entries[1]) + size_of(entries[2]) + size_of(entries[3]);
        const Real scale = tridiagonal::over_power(size);
        for (int i = 0; i < 4; ++i) c[4 * k + i] = entries[i] * scale;
      });
      T* const old = from;
      from = to, to = old;
    }
  }

  /// Composes steps x -> g x + h, stored as m numbers g and m numbers h, with all steps before them. The step before
  /// step k is neighbour(k, 1). A negligible g becomes 0, since products of small numbers would be subnormal, which
  /// takes a core a hundred cycles.
  template <class Neighbour>
  TESELA_BOTH void scan(T*& from, T*& to, Neighbour neighbour) const {
    constexpr Real negligible = sizeof(Real) == 8 ? Real(0x1p-511) : Real(0x1p-63);  // root of the least normal number
    const index_t m = rows_.count;
    for (index_t apart = 1; apart < m; apart *= 2) {
      each(m, [=, p = from, c = to](index_t k) {
        const index_t before = neighbour(k, apart);
        const bool exists = before >= 0 && before < m;
        const T g = exists ? p[k] * p[before] : p[k];
        c[k] = size_of(g) < negligible ? T(0) : g;
        c[m + k] = exists ? p[m + k] + p[k] * p[m + before] : p[m + k];
      });
      T* const old = from;
      from = to, to = old;
    }
  }

  Team team_;
  Rows<const T> rows_;
  T* work_;
};

}  // namespace tesela::kernels::parallel
