// Factors a small square matrix A = Q R with Q formed. The columns of A, q + j ld, become those of Q; R(i, j) is r[i +
// j ld], with zeros below its diagonal. Each function returns 0, or 1 + the column whose remainder is zero or NaN (with
// Cholesky: whose pivot is not positive). Internal to codelets/.
#include <tesela/codelets/iterations/internal/team.hpp>
#include <tesela/codelets/support/internal/shared_inl.hpp>

#include <cmath>

#if defined(TESELA_ITERATIONS_ORTHOGONAL_FACTOR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_ITERATIONS_ORTHOGONAL_FACTOR_INL
#undef TESELA_ITERATIONS_ORTHOGONAL_FACTOR_INL
#else
#define TESELA_ITERATIONS_ORTHOGONAL_FACTOR_INL
#endif

TESELA_BEFORE_UNIT
namespace tesela::kernels::iterations::TESELA_UNIT {

/// Columns in memory, and 2 n numbers that all threads see.
template <class T>
struct Columns {
  T* q;
  T* r;
  index_t n, ld;
  T* shared;
  TESELA_STEP T* column(index_t j) const { return q + j * ld; }
};

template <class Team, class T>
TESELA_STEP void clear_r(const Team& team, const Columns<T>& a) {
  for (index_t j = team.group; j < a.n; j += team.groups)
    for (index_t i = team.lane; i < a.n; i += team.lanes) a.r[i + j * a.ld] = 0;
  team.sync();
}

/// Returns ||x||_2 to all lanes of a group, also if squares underflow.
template <class Team, class T>
TESELA_STEP T norm_of(const Team& team, index_t n, const T* x) {
  constexpr T small = sizeof(T) == 8 ? T(1e-140) : T(1e-14);
  const T norm = std::sqrt(team.dot(n, x, x));
  if (!(norm < small)) return norm;
  const T larger = T(1) / small / small;
  T sum = 0;
  for (index_t i = team.lane; i < n; i += team.lanes) sum += (larger * x[i]) * (larger * x[i]);
  return std::sqrt(team.sum(sum)) / larger;
}

/// Computes the reflectors: v_1 = 1, the rest of v in its column below the diagonal, and tau in shared[k].
template <class Team, class T>
TESELA_STEP index_t householder(const Team& team, const Columns<T>& a) {
  clear_r(team, a);
  T* const tau = a.shared;
  for (index_t k = 0; k < a.n; ++k) {
    const index_t rest = a.n - k - 1;
    T* const v = a.column(k) + k + 1;
    const T head = a.column(k)[k], beta = head > 0 ? -norm_of(team, rest + 1, v - 1) : norm_of(team, rest + 1, v - 1),
            down = head - beta;
    const bool reflects = rest > 0 && down != 0;
    team.sync();
    for (index_t i = team.rank; reflects && i < rest; i += team.size) v[i] /= down;
    if (team.rank == 0) {
      a.r[k + k * a.ld] = reflects ? beta : head;
      tau[k] = reflects ? (beta - head) / beta : T(0);
    }
    team.sync();
    for (index_t j = k + 1 + team.group; j < a.n; j += team.groups) {
      T* const y = a.column(j) + k;
      const T sum = (y[0] + team.dot(rest, v, y + 1)) * tau[k];
      team.together();
      if (team.lane == 0) y[0] -= sum, a.r[k + j * a.ld] = y[0];
      team.axpy(rest, -sum, v, y + 1);
    }
    team.sync();
  }
  // Column j of Q is the product of the reflectors 0 … j and the unit vector.
  T* const formed = a.r + a.n * a.ld;
  for (index_t j = team.group; j < a.n; j += team.groups) {
    T* const y = formed + j * a.ld;
    for (index_t i = team.lane; i < a.n; i += team.lanes) y[i] = i == j ? T(1) : T(0);
    team.together();
    for (index_t k = j; k >= 0; --k) {
      const index_t rest = a.n - k - 1;
      const T* const v = a.column(k) + k + 1;
      const T sum = (y[k] + team.dot(rest, v, y + k + 1)) * tau[k];
      team.together();
      if (team.lane == 0) y[k] -= sum;
      team.axpy(rest, -sum, v, y + k + 1);
      team.together();
    }
  }
  team.sync();
  for (index_t j = team.group; j < a.n; j += team.groups)
    for (index_t i = team.lane; i < a.n; i += team.lanes) a.column(j)[i] = formed[i + j * a.ld];
  team.sync();
  return 0;
}

/// Normalizes the remainder of column k; all threads know the norm.
template <class Team, class T>
TESELA_STEP T normalize(const Team& team, const Columns<T>& a, index_t k) {
  const T norm = norm_of(team, a.n, a.column(k));
  team.sync();
  for (index_t i = team.rank; norm > 0 && i < a.n; i += team.size) a.column(k)[i] /= norm;
  if (team.rank == 0) a.r[k + k * a.ld] = norm;
  team.sync();
  return norm;
}

/// Orthogonalizes by classical Gram-Schmidt, `passes` times for each column.
template <class Team, class T>
TESELA_STEP index_t gram_schmidt(const Team& team, const Columns<T>& a, int passes) {
  clear_r(team, a);
  for (index_t k = 0; k < a.n; ++k) {
    for (int pass = 0; pass < passes; ++pass) {
      for (index_t j = team.group; j < k; j += team.groups) {
        const T sum = team.dot(a.n, a.column(j), a.column(k));
        if (team.lane == 0) a.shared[j] = sum, a.r[j + k * a.ld] += sum;
      }
      team.sync();
      if constexpr (Team::alone) {
        for (index_t j = 0; j < k; ++j) team.axpy(a.n, -a.shared[j], a.column(j), a.column(k));
      } else {
        for (index_t i = team.rank; i < a.n; i += team.size) {
          T left = a.column(k)[i];
          for (index_t j = 0; j < k; ++j) left -= a.shared[j] * a.column(j)[i];
          a.column(k)[i] = left;
        }
      }
      team.sync();
    }
    if (!(normalize(team, a, k) > 0)) return k + 1;
  }
  return 0;
}

/// Orthogonalizes by modified Gram-Schmidt: each column is subtracted from those right of it.
template <class Team, class T>
TESELA_STEP index_t modified_gram_schmidt(const Team& team, const Columns<T>& a) {
  clear_r(team, a);
  for (index_t k = 0; k < a.n; ++k) {
    if (!(normalize(team, a, k) > 0)) return k + 1;
    for (index_t j = k + 1 + team.group; j < a.n; j += team.groups) {
      const T sum = team.dot(a.n, a.column(k), a.column(j));
      team.together();
      if (team.lane == 0) a.r[k + j * a.ld] = sum;
      team.axpy(a.n, -sum, a.column(k), a.column(j));
    }
    team.sync();
  }
  return 0;
}

/// Replaces the upper triangle of a symmetric matrix by R, A = R^T R; by rows, right-looking.
template <class Team, class T>
TESELA_STEP index_t cholesky_upper(const Team& team, T* a, index_t n, index_t ld) {
  for (index_t k = 0; k < n; ++k) {
    const T pivot = a[k + k * ld];
    team.sync();
    if (!(pivot > 0)) return k + 1;
    const T root = std::sqrt(pivot);
    for (index_t j = k + team.rank; j < n; j += team.size) a[k + j * ld] /= root;
    team.sync();
    for (index_t j = k + 1 + team.group; j < n; j += team.groups)
      for (index_t i = k + 1 + team.lane; i <= j; i += team.lanes) a[i + j * ld] -= a[k + i * ld] * a[k + j * ld];
    team.sync();
  }
  return 0;
}

/// Factors A = (A R^-1) R with R^T R = A^T A, twice; the second R is written to `formed`.
template <class Team, class T>
TESELA_STEP index_t cholesky_qr2(const Team& team, const Columns<T>& a) {
  T* const second = a.r + a.n * a.ld;
  for (int turn = 0; turn < 2; ++turn) {
    T* const r = turn == 0 ? a.r : second;
    for (index_t j = team.group; j < a.n; j += team.groups)
      for (index_t i = 0; i < a.n; ++i) {
        const T sum = i <= j ? team.dot(a.n, a.column(i), a.column(j)) : T(0);
        if (team.lane == 0) r[i + j * a.ld] = sum;
      }
    team.sync();
    if (const index_t broken = cholesky_upper(team, r, a.n, a.ld); broken > 0) return broken;
    if constexpr (Team::alone) {
      for (index_t j = 0; j < a.n; ++j) {
        for (index_t m = 0; m < j; ++m) team.axpy(a.n, -r[m + j * a.ld], a.column(m), a.column(j));
        team.scale(a.n, 1 / r[j + j * a.ld], a.column(j));
      }
    } else {
      for (index_t i = team.rank; i < a.n; i += team.size)
        for (index_t j = 0; j < a.n; ++j) {
          T left = a.column(j)[i];
          for (index_t m = 0; m < j; ++m) left -= r[m + j * a.ld] * a.column(m)[i];
          a.column(j)[i] = left / r[j + j * a.ld];
        }
    }
    team.sync();
  }
  // R = second first, both upper triangular: column by column from the top, because each element needs no rows above
  // it.
  for (index_t j = team.group; j < a.n; j += team.groups)
    for (index_t i = 0; i <= j; ++i) {
      T sum = 0;
      for (index_t m = i + team.lane; m <= j; m += team.lanes) sum += second[i + m * a.ld] * a.r[m + j * a.ld];
      sum = team.sum(sum);
      team.together();
      if (team.lane == 0) a.r[i + j * a.ld] = sum;
    }
  team.sync();
  return 0;
}

}  // namespace tesela::kernels::iterations::TESELA_UNIT
TESELA_AFTER_UNIT

#endif
