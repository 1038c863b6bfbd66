// The loops of QR and LR iterations, written once for a core and a thread block. Internal to codelets/.
#include <tesela/codelets/iterations/internal/chains_inl.hpp>
#include <tesela/codelets/iterations/internal/orthogonal_factor_inl.hpp>
#include <tesela/codelets/iterations/iteration_steps.hpp>
#include <tesela/codelets/support/internal/shared_inl.hpp>

#if defined(TESELA_ITERATIONS_STEPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_ITERATIONS_STEPS_INL
#undef TESELA_ITERATIONS_STEPS_INL
#else
#define TESELA_ITERATIONS_STEPS_INL
#endif

TESELA_BEFORE_UNIT
namespace tesela::kernels::iterations::TESELA_UNIT {

/// Numbers of the loop that all threads of a team see, in addition to the arrays.
struct Shared {
  IterationProgress progress;
};

/// Arrays of an iteration.
template <class T>
struct Arrays {
  T* d;  ///< D in rows, n x stride; or a band, from its element (0, 0) on
  index_t stride;
  T* p;
  index_t p_rows, ldp;
  Rotation<T>* rotations;
  T* largest;  ///< n
  T* numbers;  ///< 2 n
  T* q;        ///< with Q formed: Q, R, another n x n matrix, then P Q; for LR steps U L
  index_t ld;  ///< of these
  Shared* shared;
};

/// Returns the larger number; NaN stays.
template <class T>
TESELA_STEP T larger_or_nan(T value, T most) {
  return most == most && !(value <= most) ? value : most;
}

/// Computes for each row the largest magnitude left of D's diagonal, or right of it, within a band.
template <class Team, class T>
TESELA_STEP void scan(const Team& team, const Chains<T>& c, StopTest stop, bool above, T* largest) {
  for (index_t i = team.rank; i < c.n; i += team.size) {
    T most = 0;
    if (above) {
      const index_t end = stop == StopTest::subdiagonal ? smaller(c.n, i + 2) : smaller(c.n, i + c.half + 1);
      for (index_t j = i + 1; j < end; ++j) most = larger_or_nan(std::abs(c.at(i, j)), most);
    } else {
      const index_t begin = larger(index_t{0}, stop == StopTest::subdiagonal ? i - 1 : i - c.half);
      for (index_t j = begin; j < i; ++j) most = larger_or_nan(std::abs(c.at(i, j)), most);
    }
    largest[i] = most;
  }
  team.sync();
}

/// Decides whether the iteration continues; all threads get the result.
template <class Team, class T>
TESELA_STEP bool go_on(const Team& team, const Arrays<T>& x, T negligible, bool deflate) {
  IterationProgress& progress = x.shared->progress;
  if (team.rank == 0) {
    while (deflate && progress.active > 1 && x.largest[progress.active - 1] <= negligible) {
      --progress.active;
      ++progress.deflations;
    }
    index_t remaining = 0;
    for (index_t i = 0; i < progress.active; ++i) remaining += x.largest[i] <= negligible ? 0 : 1;
    progress.converged = remaining == 0;
  }
  team.sync();
  const bool goes = !progress.ended();
  team.sync();
  return goes;
}

/// Returns the eigenvalue of the last 2 x 2 block that is nearest to its last element.
template <class T>
TESELA_STEP T wilkinson_shift(const Chains<T>& c) {
  if (c.n < 2) return c.at(0, 0);
  const T a = c.at(c.n - 2, c.n - 2), b = c.at(c.n - 1, c.n - 2), d = c.at(c.n - 1, c.n - 1), half = (a - d) / 2;
  if (b == 0) return d;
  // d - b^2 / (half +- sqrt(half^2 + b^2)), by ratios.
  const T ratio = half / b, root = std::sqrt(1 + ratio * ratio);
  constexpr T far = sizeof(T) == 8 ? T(1e16) : T(1e8);
  if (!(std::abs(ratio) < far)) return d - b / (2 * ratio);
  return d - b / (ratio + (ratio < 0 ? -root : root));
}

/// Computes the signs of R's diagonal.
template <class Team, class T>
TESELA_STEP void compute_signs(const Team& team, const Chains<T>& c, const Arrays<T>& x) {
  for (index_t i = team.rank; i < c.n; i += team.size) x.numbers[i] = c.at(i, i) < 0 ? T(-1) : T(1);
}

/// Computes D = S D S and P = P S with these signs.
template <class Team, class T>
TESELA_STEP void apply_signs(const Team& team, const Chains<T>& c, const Arrays<T>& x) {
  for (index_t j = team.group; j < c.n; j += team.groups) {
    const T sign = x.numbers[j];
    for (index_t i = j + team.lane; i < smaller(c.n, j + c.half + 1); i += team.lanes)
      c.at(j, i) *= sign * x.numbers[i];
    for (index_t i = team.lane; i < x.p_rows; i += team.lanes) x.p[i + j * x.ldp] *= sign;
  }
}

/// Computes D = R Q and P = P Q with Q formed; P Q goes through a copy.
template <class Team, class T>
TESELA_STEP index_t explicit_step(const Team& team, const Chains<T>& c, const Arrays<T>& x, StepFactor how) {
  const index_t ld = x.ld, n = c.n;
  Columns<T> columns{x.q, x.q + n * ld, n, ld, x.numbers};
  for (index_t j = team.group; j < n; j += team.groups)
    for (index_t i = team.lane; i < n; i += team.lanes) columns.column(j)[i] = c.at(j, i);
  team.sync();
  const index_t broken = how == StepFactor::householder ? householder(team, columns)
                         : how == StepFactor::mgs       ? modified_gram_schmidt(team, columns)
                         : how == StepFactor::cholesky_qr2
                             ? cholesky_qr2(team, columns)
                             : gram_schmidt(team, columns, how == StepFactor::cgs2 ? 2 : 1);
  if (broken > 0) return broken;
  // D is stored in rows, so columns in memory are D's rows; mirror() needs the product's lower triangle there.
  T* const product = columns.r + n * ld;
  team.product(n, n, n, columns.r, ld, columns.q, ld, product, ld);
  for (index_t j = team.group; j < n; j += team.groups)
    for (index_t i = j + team.lane; i < n; i += team.lanes) c.at(j, i) = product[i + j * ld];
  for (index_t i = team.rank; i < n; i += team.size) x.numbers[i] = columns.r[i + i * ld] < 0 ? T(-1) : T(1);
  team.sync();
  if (x.p_rows == 0) return 0;
  team.product(x.p_rows, n, n, x.p, x.ldp, columns.q, ld, product, x.p_rows | 1);
  for (index_t j = team.group; j < n; j += team.groups)
    for (index_t i = team.lane; i < x.p_rows; i += team.lanes) x.p[i + j * x.ldp] = product[i + j * (x.p_rows | 1)];
  team.sync();
  return 0;
}

template <class Team, class T>
TESELA_STEP void add_to_diagonal(const Team& team, const Chains<T>& c, T shift) {
  for (index_t i = team.rank; i < c.n; i += team.size) c.at(i, i) += shift;
  team.sync();
}

/// Runs the steps on D, P and progress; `order` is D's whole order.
template <class Team, class T>
TESELA_STEP void qr_loop(const Team& team, const typename QrSteps<T>::Args& args, index_t half, const Arrays<T>& x) {
  IterationProgress& progress = x.shared->progress;
  for (index_t step = 0;; ++step) {
    const index_t n = progress.active;
    const Chains<T> c{x.d, x.stride, n, smaller(half, larger(n - 1, index_t{0})), x.rotations};
    scan(team, c, args.stop, false, x.largest);
    if (!go_on(team, x, static_cast<T>(args.negligible), args.deflate) || step == args.steps) return;
    const index_t left = progress.active;  // the leading part may be smaller from here on
    const Chains<T> active{x.d, x.stride, left, smaller(half, left - 1), x.rotations};
    const T shift = args.wilkinson ? wilkinson_shift(active) : T(0);
    team.sync();
    if (shift != 0) add_to_diagonal(team, active, -shift);
    if (args.factor == StepFactor::givens) {
      factor(team.narrow(), active);
      team.sync();
      if (args.positive) compute_signs(team, active, x);
      turn(team, active);
      team.sync();
      multiply(team, active, x.p, x.p_rows, x.ldp);
      team.sync();
    } else if (const index_t broken = explicit_step(team, active, x, args.factor); broken > 0) {
      if (team.rank == 0) progress.broken = broken;
      team.sync();
      return;
    }
    if (args.positive) {
      apply_signs(team, active, x);
      team.sync();
    }
    mirror(team, active);
    team.sync();
    if (shift != 0) add_to_diagonal(team, active, shift);
    if (team.rank == 0) {
      ++progress.steps;
      if (args.factor == StepFactor::givens) progress.rotations += active.count();
    }
    team.sync();
  }
}

/// Factors the transpose of D, which c holds by rows, into L U in place, U's diagonal 1: U^T and L^T are the factors of
/// D with a unit lower triangle. With `cholesky` L = R, and U is not formed. Returns 0, or 1 + the row of a pivot that
/// is zero (or not positive) or NaN.
template <class Team, class T>
TESELA_STEP index_t eliminate(const Team& team, const Chains<T>& c, bool cholesky) {
  for (index_t k = 0; k < c.n; ++k) {
    const T pivot = c.at(k, k);
    team.sync();
    if (cholesky ? !(pivot > 0) : !(std::abs(pivot) > 0)) return k + 1;
    if (cholesky) {
      const T root = std::sqrt(pivot);
      for (index_t i = k + team.rank; i < c.n; i += team.size) c.at(i, k) /= root;
    } else {
      for (index_t j = k + 1 + team.rank; j < c.n; j += team.size) c.at(k, j) /= pivot;
    }
    team.sync();
    for (index_t i = k + 1 + team.group; i < c.n; i += team.groups) {
      const T left = c.at(i, k);
      const index_t end = cholesky ? i + 1 : c.n;
      for (index_t j = k + 1 + team.lane; j < end; j += team.lanes)
        c.at(i, j) -= left * (cholesky ? c.at(j, k) : c.at(k, j));
    }
    team.sync();
  }
  return 0;
}

/// Computes product(i, j) = sum over m >= max(i, j) of U(i, m) L(m, j), with the unit upper triangle U, or L^T with
/// `cholesky`.
template <class Team, class T>
TESELA_STEP void multiply_back(const Team& team, const Chains<T>& c, bool cholesky, T* product, index_t ld) {
  const auto left = [&](index_t i, index_t m) { return cholesky ? c.at(m, i) : m == i ? T(1) : c.at(i, m); };
  for (index_t i = team.group; i < c.n; i += team.groups) {
    T* const row = product + i * ld;
    if constexpr (Team::alone) {
      for (index_t j = 0; j < c.n; ++j) row[j] = 0;
      for (index_t m = i; m < c.n; ++m) team.axpy((cholesky ? smaller(i, m) : m) + 1, left(i, m), &c.at(m, 0), row);
    } else {
      for (index_t j = team.lane; j < (cholesky ? i + 1 : c.n); j += team.lanes) {
        T sum = 0;
        for (index_t m = larger(i, j); m < c.n; ++m) sum += left(i, m) * c.at(m, j);
        row[j] = sum;
      }
    }
  }
  team.sync();
}

template <class Team, class T>
TESELA_STEP void lr_loop(const Team& team, const typename LrSteps<T>::Args& args, index_t order, const Arrays<T>& x) {
  IterationProgress& progress = x.shared->progress;
  const Chains<T> c{x.d, x.stride, order, larger(order - 1, index_t{0}), nullptr};
  for (index_t step = 0;; ++step) {
    scan(team, c, args.stop, !args.cholesky, x.largest);
    if (!go_on(team, x, static_cast<T>(args.negligible), false) || step == args.steps) return;
    if (const index_t broken = eliminate(team, c, args.cholesky); broken > 0) {
      if (team.rank == 0) progress.broken = broken;
      team.sync();
      return;
    }
    multiply_back(team, c, args.cholesky, x.q, x.ld);
    for (index_t i = team.group; i < order; i += team.groups)
      for (index_t j = team.lane; j < order; j += team.lanes)
        c.at(i, j) = args.cholesky && j > i ? x.q[j * x.ld + i] : x.q[i * x.ld + j];
    team.sync();
    if (team.rank == 0) ++progress.steps;
    team.sync();
  }
}

}  // namespace tesela::kernels::iterations::TESELA_UNIT
TESELA_AFTER_UNIT

#endif
