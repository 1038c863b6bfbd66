#pragma once

#include <tesela/codelets/tridiagonal/internal/row_status.hpp>
#include <tesela/codelets/tridiagonal/parallel_reduction.hpp>
#include <tesela/runtime/host_device.hpp>

// Reduction of one system by both variants of ReduceSystems. A Team is the system's threads: rank(), size(), and
// sync(), which all of them call. Internal to codelets/.

namespace tesela::kernels::parallel {

constexpr index_t no_failure = 0x7f7f7f7f7f7f7f7f;

template <class T>
TESELA_BOTH T size_of(T x) {
  return x < 0 ? -x : x;
}
template <class T>
TESELA_BOTH bool finite(T x) {
  return x - x == 0;
}
template <class T>
TESELA_BOTH bool usable(T d) {
  return d != 0 && finite(d);
}
/// Returns the larger number, or NaN if one is NaN.
template <class T>
TESELA_BOTH T larger(T a, T b) {
  return a >= b || a != a ? a : b;
}

template <class T>
struct Equation {
  T dl, d, du, b;
};

/// Every `step`-th row of a system, from `start` on.
template <class E>
struct Rows {
  E *dl, *d, *du, *b;
  index_t start, step, count;
  TESELA_BOTH index_t at(index_t k) const { return start + k * step; }
  /// Returns row k; elements that couple to nothing are not read.
  TESELA_BOTH auto operator()(index_t k) const {
    const index_t i = at(k);
    using T = std::remove_const_t<E>;
    return Equation<T>{k > 0 ? dl[i] : T(0), d[i], k + 1 < count ? du[i] : T(0), b[i]};
  }
};

/// Limit of the phases of failures, which are ordered by phase, then by row.
constexpr index_t phases = 160;

template <class T, class Team, class Note>
class System {
 public:
  TESELA_BOTH System(Team team, const Rows<const T>& rows, T* work, Note note)
      : team_(team), rows_(rows), work_(work), note_(note) {}

  /// Solves the system and returns the position of x in the work space.
  TESELA_BOTH const T* solve(ParallelReduction how, index_t cut) {
    const bool doubling = how == ParallelReduction::rd || how == ParallelReduction::cr_rd;
    if (how == ParallelReduction::pcr || how == ParallelReduction::rd || n() <= cut)
      return doubling ? recursive_doubling(rows_, work_) : reduce_all(rows_, work_);
    const Rows<T> own = copy(rows_, work_);
    int levels = 0;
    for (; n() >> levels > cut; ++levels) reduce(level(own, levels));
    const Rows<T> rest = level(own, levels);
    const Rows<const T> left{rest.dl, rest.d, rest.du, rest.b, rest.start, rest.step, rest.count};
    if (rest.count > 0) {
      const T* const x = doubling ? recursive_doubling(left, work_ + 4 * n()) : reduce_all(left, work_ + 4 * n());
      each(rest.count, [=](index_t k) { rest.b[rest.at(k)] = x[k]; });
    }
    while (levels > 0) substitute(level(own, --levels));
    return own.b;
  }

  /// Records values that are not finite and, if a bound is given, a residual above it. Then sets b = x.
  TESELA_BOTH void finish(const T* x, T bound, T* b) {
    each(n(), [&](index_t i) {
      if (!finite(x[i])) note_(phase_, i);
    });
    ++phase_;
    if (bound > 0) check(x, bound);
    each(n(), [=](index_t i) { b[i] = x[i]; });
  }

 private:
  TESELA_BOTH index_t n() const { return rows_.count; }

  template <class F>
  TESELA_BOTH void each(index_t count, F f) {
    for (index_t k = team_.rank(); k < count; k += team_.size()) f(k);
    team_.sync();
  }

  TESELA_BOTH static Rows<T> arrays(T* work, index_t m) {
    return {work, work + m, work + 2 * m, work + 3 * m, 0, 1, m};
  }
  TESELA_BOTH Rows<T> copy(const Rows<const T>& from, T* work) {
    const Rows<T> to = arrays(work, from.count);
    each(from.count, [=](index_t k) { store(to, k, from(k)); });
    return to;
  }
  TESELA_BOTH static void store(const Rows<T>& to, index_t k, const Equation<T>& e) {
    const index_t i = to.at(k);
    to.dl[i] = e.dl, to.d[i] = e.d, to.du[i] = e.du, to.b[i] = e.b;
  }

  /// Returns rows step - 1, 2 step - 1, … of all.
  TESELA_BOTH static Rows<T> level(const Rows<T>& own, int levels) {
    const index_t step = index_t{1} << levels;
    return {own.dl, own.d, own.du, own.b, step - 1, step, own.count >> levels};
  }

  /// Returns row k after the elimination of its neighbours `apart` rows away.
  template <class From>
  TESELA_BOTH Equation<T> without_neighbours(const From& rows, index_t k, index_t apart) {
    Equation<T> own = rows(k);
    const auto remove = [&](index_t neighbour, bool before) {
      const Equation<T> other = rows(neighbour);
      if (!usable(other.d)) note_(phase_, rows.at(neighbour));
      const T factor = (before ? own.dl : own.du) / other.d;
      own.d -= factor * (before ? other.du : other.dl);
      own.b -= factor * other.b;
      (before ? own.dl : own.du) = -factor * (before ? other.dl : other.du);
    };
    if (k >= apart) remove(k - apart, true);
    if (k + apart < rows.count) remove(k + apart, false);
    return own;
  }

  /// Eliminates the two neighbours from every odd row.
  TESELA_BOTH void reduce(const Rows<T>& rows) {
    each(rows.count / 2, [&](index_t k) { store(rows, 2 * k + 1, without_neighbours(rows, 2 * k + 1, 1)); });
    ++phase_;
  }
  /// Substitutes in the even rows, after the odd rows' b has become x.
  TESELA_BOTH void substitute(const Rows<T>& rows) {
    each((rows.count + 1) / 2, [&](index_t k) {
      const index_t j = 2 * k;
      const Equation<T> e = rows(j);
      if (!usable(e.d)) note_(phase_, rows.at(j));
      T x = e.b;
      if (j > 0) x -= e.dl * rows.b[rows.at(j - 1)];
      if (j + 1 < rows.count) x -= e.du * rows.b[rows.at(j + 1)];
      rows.b[rows.at(j)] = x / e.d;
    });
    ++phase_;
  }

  TESELA_BOTH const T* reduce_all(const Rows<const T>& rows, T* work) {
    const index_t m = rows.count;
    Rows<T> from = copy(rows, work), to = arrays(work + 4 * m, m);
    for (index_t apart = 1; apart < m; apart *= 2) {
      each(m, [&](index_t k) {
        const Equation<T> own = from(k);
        if (!usable(own.d)) note_(phase_, rows.at(k));
        store(to, k, away(from, own, k, apart));
      });
      ++phase_;
      const Rows<T> old = from;
      from = to, to = old;
    }
    each(m, [&](index_t k) {
      if (!usable(from.d[k])) note_(phase_, rows.at(k));
      from.b[k] /= from.d[k];
    });
    ++phase_;
    return from.b;
  }
  /// Returns row k after the elimination of the rows `apart` away, whose own neighbours are 2 apart away. Bad diagonals
  /// are recorded by their own rows.
  TESELA_BOTH static Equation<T> away(const Rows<T>& rows, Equation<T> own, index_t k, index_t apart) {
    T dl = 0, du = 0;
    if (k >= apart) {
      const index_t i = k - apart;
      const T factor = rows.dl[k] / rows.d[i];
      own.d -= factor * rows.du[i], own.b -= factor * rows.b[i], dl = -factor * rows.dl[i];
    }
    if (k + apart < rows.count) {
      const index_t i = k + apart;
      const T factor = rows.du[k] / rows.d[i];
      own.d -= factor * rows.dl[i], own.b -= factor * rows.b[i], du = -factor * rows.du[i];
    }
    return {dl, own.d, du, own.b};
  }

  /// Solves by recursive doubling: (x(k+1), x(k), 1) = C(k) … C(0) (x(0), 0, 1), with x(m) = 0 after the last row.
  TESELA_BOTH const T* recursive_doubling(const Rows<const T>& rows, T* work) {
    const index_t m = rows.count;
    T *from = work, *to = work + 6 * m;
    each(m, [&](index_t k) {
      const Equation<T> e = rows(k);
      const T next = k + 1 < m ? e.du : T(1);
      if (!usable(next)) note_(phase_, rows.at(k));
      T* const c = from + 6 * k;
      c[0] = -e.d / next, c[1] = -e.dl / next, c[2] = e.b / next, c[3] = 1, c[4] = c[5] = 0;
    });
    ++phase_;
    for (index_t apart = 1; apart < m; apart *= 2) {
      each(m, [=](index_t k) {
        const T* const p = from + 6 * k;
        T* const c = to + 6 * k;
        if (k < apart) {
          for (int e = 0; e < 6; ++e) c[e] = p[e];
          return;
        }
        const T* const q = p - 6 * apart;
        for (int row = 0; row < 6; row += 3) {
          c[row] = p[row] * q[0] + p[row + 1] * q[3];
          c[row + 1] = p[row] * q[1] + p[row + 1] * q[4];
          c[row + 2] = p[row] * q[2] + p[row + 1] * q[5] + p[row + 2];
        }
      });
      T* const old = from;
      from = to, to = old;
    }
    each(m, [&](index_t k) {
      const T* const last = from + 6 * (m - 1);
      if (k == 0 && !usable(last[0])) note_(phase_, rows.at(m - 1));
      const T first = -last[2] / last[0];
      to[k] = k == 0 ? first : from[6 * (k - 1)] * first + from[6 * (k - 1) + 2];
    });
    ++phase_;
    return to;
  }

  /// Checks ||A x - b|| / (||A|| ||x|| + ||b||) in maximum norms.
  TESELA_BOTH void check(const T* x, T bound) {
    T* const v = x == work_ + 6 * n() ? work_ : x == work_ ? work_ + n() : work_ + 4 * n();  // not where x is
    each(n(), [&](index_t i) {
      const Equation<T> e = rows_(i);
      const T before = i > 0 ? x[i - 1] : T(0), behind = i + 1 < n() ? x[i + 1] : T(0);
      v[4 * i] = size_of(e.dl * before + e.d * x[i] + e.du * behind - e.b);
      v[4 * i + 1] = size_of(e.dl) + size_of(e.d) + size_of(e.du);
      v[4 * i + 2] = size_of(x[i]), v[4 * i + 3] = size_of(e.b);
    });
    for (index_t count = n(); count > 1;) {
      const index_t half = (count + 1) / 2;
      each(count - half, [=](index_t i) {
        for (int e = 0; e < 4; ++e) v[4 * i + e] = larger(v[4 * i + e], v[4 * (i + half) + e]);
      });
      count = half;
    }
    const T size = v[1] * v[2] + v[3];
    if (team_.rank() == 0 && !(v[0] <= bound * size && finite(size))) note_(phase_, n() - 1);
    team_.sync();
  }

  Team team_;
  Rows<const T> rows_;
  T* work_;
  Note note_;
  index_t phase_ = 0;
};

/// Returns the failures of several systems as one number.
TESELA_BOTH inline index_t failure_at(index_t system, index_t phase, index_t row, index_t n) {
  return (system * phases + phase) * n + row;
}
TESELA_BOTH inline int failure_status(index_t failure, index_t n) {
  return failure == no_failure ? 0 : row_status(failure % n + 1 + n * (failure / (n * phases)));
}

/// Returns column s of a tile.
template <class Block>
TESELA_BOTH auto* column(const Block& block, index_t s) {
  return block.data + (block.cols == 1 ? 0 : s * block.ld);
}

/// Solves system s of a tile. Calls note(p, i) if row i fails in phase p.
template <class T, class Team, class Note>
TESELA_BOTH void solve_system(const typename ReduceSystems<T>::Args& args, const Block<const T>& dl,
                              const Block<const T>& d, const Block<const T>& du, const Block<T>& b, index_t s, T* work,
                              Team team, Note note) {
  T* const x = column(b, s);
  System<T, Team, Note> system(team, {column(dl, s), column(d, s), column(du, s), x, 0, 1, b.rows}, work, note);
  system.finish(system.solve(args.how, args.cut), static_cast<T>(args.bound), x);
}

}  // namespace tesela::kernels::parallel
