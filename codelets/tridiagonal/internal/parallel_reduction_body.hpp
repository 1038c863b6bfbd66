#pragma once

#include <tesela/codelets/tridiagonal/internal/parallel_rows.hpp>
#include <tesela/codelets/tridiagonal/internal/recursive_doubling_body.hpp>
#include <tesela/codelets/tridiagonal/internal/row_status.hpp>
#include <tesela/codelets/tridiagonal/parallel_reduction.hpp>

// Reduction of one system by both variants of ReduceSystems. A Team is the system's threads: rank(), size(), and
// sync(), which all of them call. Internal to codelets/.

namespace tesela::kernels::parallel {

constexpr index_t no_failure = 0x7f7f7f7f7f7f7f7f;

/// Limit of the phases of failures, which are ordered by phase, then by row.
constexpr index_t phases = 1024;

template <class T, class Team, class Note>
class System {
  using Real = real_t<T>;

 public:
  TESELA_BOTH System(Team team, const Rows<const T>& rows, T* work, Note note)
      : team_(team), rows_(rows), work_(work), note_(note) {}

  /// Sets b = x by cyclic reduction.
  TESELA_BOTH void solve_by_reduction(const typename ReduceSystems<T>::Args& args, T* b) {
    const T* const x = solve(args, rows_, work_);
    require_finite(x);
    each(n(), [=](index_t i) { b[i] = x[i]; });
  }

  /// Sets b = x by recursive doubling. If the backward error exceeds bound / 8, or the error of a row 2 bound, corrects
  /// x by the solution of A y = b - A x, and records a backward error above the bound.
  TESELA_BOTH void solve_by_doubling(const typename ReduceSystems<T>::Args& args, T* b) {
    constexpr int most_corrections = 4;
    const Real bound = static_cast<Real>(args.bound);
    T *const x = work_, *const r = work_ + n(), *const rest = work_ + 2 * n();
    Real* const sizes = reinterpret_cast<Real*>(rest);
    const T* const first = solve(args, rows_, rest);
    each(n(), [=](index_t i) { x[i] = first[i]; });
    require_finite(x);
    Errors errors = residual(x, r, sizes);
    for (int k = 0; k < most_corrections && finite(errors.backward); ++k) {
      if (errors.backward <= bound / 8 && errors.row <= 2 * bound) break;
      const T* const y = solve(args, {rows_.dl, rows_.d, rows_.du, r, 0, 1, n()}, rest);
      each(n(), [=](index_t i) { x[i] += y[i]; });
      errors = residual(x, r, sizes);
    }
    if (team_.rank() == 0 && !(errors.backward <= bound)) note_(phase_, n() - 1);
    each(n(), [=](index_t i) { b[i] = x[i]; });
  }

 private:
  TESELA_BOTH index_t n() const { return rows_.count; }

  template <class F>
  TESELA_BOTH void each(index_t count, F f) {
    parallel::each(team_, count, f);
  }

  /// Returns x of a system with the matrix of rows_, in the work space.
  TESELA_BOTH const T* solve(const typename ReduceSystems<T>::Args& args, const Rows<const T>& rows, T* work) {
    const auto how = args.how;
    if (how == ParallelReduction::pcr || how == ParallelReduction::rd || n() <= args.cut)
      return solve_rest(how, rows, work);
    const Rows<T> own = copy(rows, work);
    int levels = 0;
    for (; n() >> levels > args.cut; ++levels) reduce(level(own, levels));
    const Rows<T> rest = level(own, levels);
    if (rest.count > 0) {
      const Rows<const T> left{rest.dl, rest.d, rest.du, rest.b, rest.start, rest.step, rest.count};
      const T* const x = solve_rest(how, left, work + 4 * n());
      each(rest.count, [=](index_t k) { rest.b[rest.at(k)] = x[k]; });
    }
    while (levels > 0) substitute(level(own, --levels));
    return own.b;
  }
  TESELA_BOTH const T* solve_rest(ParallelReduction how, const Rows<const T>& rows, T* work) {
    if (how == ParallelReduction::pcr || how == ParallelReduction::cr_pcr) return reduce_all(rows, work);
    const RecursiveDoubling<T, Team> doubling(team_, rows, work);
    const T* const x = doubling.solve([&](index_t row) { note_(phase_, row); });
    ++phase_;
    return x;
  }

  /// Records values that are not finite.
  TESELA_BOTH void require_finite(const T* x) {
    each(n(), [&](index_t i) {
      if (!finite(x[i])) note_(phase_, i);
    });
    ++phase_;
  }

  TESELA_BOTH static Rows<T> arrays(T* work, index_t m) {
    return {work, work + m, work + 2 * m, work + 3 * m, 0, 1, m};
  }
  /// Copies rows, scaled to one size.
  TESELA_BOTH Rows<T> copy(const Rows<const T>& from, T* work) {
    const Rows<T> to = arrays(work, from.count);
    each(from.count, [=](index_t k) { store(to, k, scaled(from(k))); });
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

  /// Errors ||D r|| / (||D A|| ||x|| + ||D b||), D: powers of two that bring rows to one size; and the largest
  /// |r(i)| / (|A| |x| + |b|)(i).
  struct Errors {
    Real backward, row;
  };

  /// Sets r = b - A x and returns its errors. v: 5 n numbers.
  TESELA_BOTH Errors residual(const T* x, T* r, Real* v) {
    each(n(), [&](index_t i) {
      const Equation<T> e = rows_(i);
      const T before = i > 0 ? x[i - 1] : T(0), behind = i + 1 < n() ? x[i + 1] : T(0);
      const Real scale = row_scale(e);
      const T below = e.dl * scale * before, own = e.d * scale * x[i], above = e.du * scale * behind;
      const T rest = e.b * scale - below - own - above;
      r[i] = rest / scale;
      v[5 * i] = size_of(rest);
      v[5 * i + 1] = (size_of(e.dl) + size_of(e.d) + size_of(e.du)) * scale;
      v[5 * i + 2] = size_of(x[i]), v[5 * i + 3] = size_of(e.b * scale);
      v[5 * i + 4] = over(size_of(rest), size_of(below) + size_of(own) + size_of(above) + v[5 * i + 3]);
    });
    for (index_t count = n(); count > 1;) {
      const index_t half = (count + 1) / 2;
      each(count - half, [=](index_t i) {
        for (int e = 0; e < 5; ++e) v[5 * i + e] = larger(v[5 * i + e], v[5 * (i + half) + e]);
      });
      count = half;
    }
    const Errors errors{over(v[0], v[1] * v[2] + v[3]), v[4]};
    team_.sync();  // before v is overwritten
    return errors;
  }
  TESELA_BOTH static Real over(Real error, Real size) { return error == 0 && finite(size) ? Real(0) : error / size; }

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
  if (args.how == ParallelReduction::rd || args.how == ParallelReduction::cr_rd)
    system.solve_by_doubling(args, x);
  else
    system.solve_by_reduction(args, x);
}

}  // namespace tesela::kernels::parallel
