// A QR step by chains of rotations on a symmetric matrix D, dense or a band, in rows: element (i, j) is d[i stride +
// j]. Chain k annihilates column k below the diagonal, from the bottom upwards; its rotation r acts on rows k + r and k
// + r + 1. Internal to codelets/.
#include <tesela/codelets/givens/rotation.hpp>
#include <tesela/codelets/iterations/internal/team.hpp>
#include <tesela/codelets/support/internal/shared_inl.hpp>

#include <type_traits>

#if defined(TESELA_ITERATIONS_CHAINS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_ITERATIONS_CHAINS_INL
#undef TESELA_ITERATIONS_CHAINS_INL
#else
#define TESELA_ITERATIONS_CHAINS_INL
#endif

TESELA_BEFORE_UNIT
namespace tesela::kernels::iterations::TESELA_UNIT {

template <class T>
TESELA_STEP T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
TESELA_STEP T larger(T a, T b) {
  return a > b ? a : b;
}

/// The leading part of D that takes part in steps, and its chains.
template <class T>
struct Chains {
  T* d;
  index_t stride, n, half;  ///< half-width, at most n - 1
  Rotation<T>* rotations;

  TESELA_STEP T& at(index_t i, index_t j) const { return d[i * stride + j]; }
  TESELA_STEP index_t bottom(index_t k) const { return smaller(n - 1, k + half); }
  /// Returns the first rotation of chain k; chains near the end are shorter than `half`.
  TESELA_STEP Rotation<T>* chain(index_t k) const {
    const index_t shorter = larger(index_t{0}, k - n + half);
    return rotations + k * half - shorter * (shorter + 1) / 2;
  }
  TESELA_STEP index_t count() const { return static_cast<index_t>(chain(n - 1) - rotations); }
};

/// Rotates two rows from column j on: four columns per lane at a time, so that their loads do not wait for stores.
template <class Team, class T>
TESELA_STEP void rotate_together(const Team& team, const Rotation<T>& x, T* upper, T* lower, index_t j, index_t end) {
  for (j += team.lane; j < end; j += 4 * team.lanes) {
    T u[4], l[4];
    TESELA_UNROLL
    for (int b = 0; b < 4; ++b) {
      const bool there = j + b * team.lanes < end;
      u[b] = there ? upper[j + b * team.lanes] : T(0);
      l[b] = there ? lower[j + b * team.lanes] : T(0);
    }
    TESELA_UNROLL
    for (int b = 0; b < 4; ++b) {
      rotate(x, u[b], l[b]);
      if (j + b * team.lanes >= end) continue;
      upper[j + b * team.lanes] = u[b];
      lower[j + b * team.lanes] = l[b];
    }
  }
}

/// Computes a rotation as givens() does, except for roundings. On a GPU, if squares neither overflow nor lose digits,
/// the critical path has one reciprocal root instead of three quotients and two roots. c and s are then corrected such
/// that c^2 + s^2 = 1 to twice the digits, except for their own rounding, so that a million rotations do not shrink a
/// vector.
template <class T>
TESELA_STEP Annihilation<T> annihilation(T a, T b) {
#ifdef __CUDA_ARCH__
  constexpr T least = sizeof(T) == 8 ? T(1e-270) : T(1e-25), most = 1 / least;
  const T squares = fma(a, a, b * b);
  if (b != 0 && squares > least && squares < most) {
    const T size = std::abs(b) >= std::abs(a) ? b : a, over = copysign(rsqrt(squares), size);
    Annihilation<T> x;
    x.rotation = {a * over, b * over};
    const T off = fma(x.rotation.c, x.rotation.c, fma(x.rotation.s, x.rotation.s, T(-1))) / -2;
    x.rotation.c = fma(x.rotation.c, off, x.rotation.c);
    x.rotation.s = fma(x.rotation.s, off, x.rotation.s);
    x.r = fma(x.rotation.c, a, x.rotation.s * b);
    return x;
  }
#endif
  return givens(a, b);
}

/// Annihilates element (i, k) against the row above.
template <class Team, class T>
TESELA_STEP void annihilate(const Team& team, const Chains<T>& c, index_t k, index_t i, bool present) {
  T* const upper = &c.at(i - 1, 0);
  T* const lower = &c.at(i, 0);
  Annihilation<T> x;
  if (present) x = annihilation(upper[k], lower[k]);
  team.together();
  if (!present) return;
  const index_t end = smaller(c.n, k + 2 * c.half + 1);
  if constexpr (Team::alone)
    for (index_t j = k + 1; j < end; ++j) rotate(x.rotation, upper[j], lower[j]);
  else
    rotate_together(team, x.rotation, upper, lower, k + 1, end);
  if (team.lane > 0) return;
  upper[k] = x.r;
  lower[k] = 0;
  c.chain(k)[i - 1 - k] = x.rotation;
}

/// Replaces D by R, with zeros below the diagonal. A core computes chain after chain; a team computes stages, in which
/// rotations of neighbouring chains follow each other two rows apart.
template <class Team, class T>
TESELA_STEP void factor(const Team& team, const Chains<T>& c) {
  if constexpr (Team::alone) {
    for (index_t k = 0; k + 1 < c.n; ++k)
      for (index_t i = c.bottom(k); i > k; --i) annihilate(team, c, k, i, true);
  } else {
    for (index_t stage = c.n - 1 - c.half; stage <= 2 * (c.n - 2); ++stage) {
      const index_t first = larger(index_t{0}, stage - c.n + 2),
                    last = smaller(smaller(stage / 2, stage - c.n + 1 + c.half), c.n - 2);
      for (index_t base = first; base <= last; base += team.groups) {
        const index_t k = base + team.group;
        const bool present = k <= last;
        annihilate(team, c, present ? k : last, c.n - 1 - stage + 2 * (present ? k : last), present);
      }
      team.sync();
    }
  }
}

/// Copies R for the application of the rotations: W = R in columns, W(i, j) in the place of D(j, i), zeros below W's
/// diagonal. Only within the band.
template <class Team, class T>
TESELA_STEP void turn(const Team& team, const Chains<T>& c) {
  for (index_t i = team.group; i < c.n; i += team.groups) {
    const index_t end = smaller(c.n, i + c.half + 1), fill = smaller(c.n, i + 2 * c.half + 1);
    for (index_t j = i + 1 + team.lane; j < fill; j += team.lanes) {
      if (j < end) c.at(j, i) = c.at(i, j);
      c.at(i, j) = 0;
    }
  }
}

/// Copies D from W's lower triangle.
template <class Team, class T>
TESELA_STEP void mirror(const Team& team, const Chains<T>& c) {
  for (index_t i = team.group; i < c.n; i += team.groups)
    for (index_t j = larger(index_t{0}, i - c.half) + team.lane; j < i; j += team.lanes) c.at(i, j) = c.at(j, i);
}

/// Chains whose rotations one pass over a row applies; limited by the registers.
inline constexpr index_t chains_together = 4;

template <class T>
TESELA_STEP void get(T& v, const T* from) {
  v = *from;
}
template <class T>
TESELA_STEP void put(const T& v, T* to) {
  *to = v;
}
/// Returns a b + c; fused on a GPU, so that the last operand to arrive waits for one operation only.
template <class T>
TESELA_STEP T multiply_add(T a, T b, T c) {
#ifdef __CUDA_ARCH__
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}
template <class T>
TESELA_STEP void meet(const Rotation<T>& x, T& value, T& carried) {
  const T upper = value, lower = carried;
  carried = multiply_add(x.c, upper, x.s * lower);
  value = multiply_add(-x.s, upper, x.c * lower);
}
#ifdef __CUDACC__
/// Runs all chains_together cells at once: cell t reads element j + t, so no cell waits for another. Processes elements
/// first … last downwards; they are loaded long before their use, in case their memory is distant.
template <class T>
TESELA_STEP void skewed_pass(const Rotation<T>* const* x, T* carried, index_t first, index_t last, T* row,
                             index_t step) {
  constexpr auto w = static_cast<int>(chains_together);
  constexpr int ahead = 8;
  T next[ahead], value[w];  // elements that enter each cell next
  const auto load = [&](index_t j) { return j >= last ? row[j * step] : T(0); };
  TESELA_UNROLL
  for (int u = 0; u < ahead; ++u) next[u] = load(first - u);
  const auto tick = [&](T loaded, index_t at, auto all) {
    value[0] = loaded;
#pragma unroll
    for (int t = w - 1; t >= 0; --t) {
      if (!decltype(all)::value && (at + t > first || at + t < last)) continue;
      meet(x[t][at + t], value[t], carried[t]);
      if (t + 1 < w)
        value[t + 1] = value[t];
      else
        row[(at + t + w) * step] = value[t];
    }
  };
  for (index_t j = first; j > last - w; j -= ahead) {
    T now[ahead];
#pragma unroll
    for (int u = 0; u < ahead; ++u) {
      now[u] = next[u];
      next[u] = load(j - ahead - u);
    }
    if (j + w <= first + 1 && j - ahead + 1 >= last) {
#pragma unroll
      for (int u = 0; u < ahead; ++u) tick(now[u], j - u, std::true_type{});
    } else {
#pragma unroll
      for (int u = 0; u < ahead; ++u) tick(now[u], j - u, std::false_type{});
    }
  }
}
#endif

/// Applies chains k … k + width - 1, at most chains_together, from the right to a row or a strip of rows. Elements
/// stream downwards through cells, one per chain, each of which holds the value that its chain carries upwards. Column
/// j is at row + j step.
template <class V, class T>
TESELA_STEP void pass(const Chains<T>& c, index_t k, index_t width, T* row, index_t step) {
  constexpr auto w = static_cast<int>(chains_together);
  const index_t last = c.n - 1, from = c.bottom(k);
  const Rotation<T>* x[w];
  V carried[w];
  TESELA_UNROLL
  for (int t = 0; t < w; ++t) {
    x[t] = c.chain(k + (t < width ? t : 0)) - k;
    if (t < width && from + t <= last)
      get(carried[t], row + (from + t) * step);
    else
      carried[t] = V{};
  }
  index_t j = from - 1;
  for (; j >= k && (width < w || j + w > last); --j) {
    V v;
    get(v, row + (j)*step);
    const index_t cells = smaller(width, last - j);
    TESELA_UNROLL
    for (int t = 0; t < w; ++t) {
      if (t < cells) meet(x[t][j], v, carried[t]);
      if (t == cells && cells < width) carried[t] = v;
    }
    if (cells == width) put(v, row + (j + width) * step);
  }
#ifdef __CUDACC__
  if (j >= k) skewed_pass(x, carried, j, k, row, step);
#else
  for (; j >= k; --j) {
    V v;
    get(v, row + (j)*step);
    TESELA_UNROLL
    for (int t = 0; t < w; ++t) meet(x[t][j], v, carried[t]);
    put(v, row + (j + w) * step);
  }
#endif
  TESELA_UNROLL
  for (int t = 0; t < w; ++t)
    if (t < width) put(carried[t], row + (k + t) * step);
}

/// Applies all chains from `first` to `last` to one row or strip.
template <class V, class T>
TESELA_STEP void pass_all(const Chains<T>& c, index_t first, index_t last, T* row, index_t step) {
  for (index_t k = first; k <= last; k += chains_together)
    pass<V>(c, k, smaller(chains_together, last - k + 1), row, step);
}

/// Replaces W's lower triangle by R Q's. Row i needs only chains 0 … i, because the later chains change elements
/// right of the diagonal. A row of W is a column of D's memory.
template <class T>
TESELA_STEP void turn_row(const Chains<T>& c, index_t i) {
  pass_all<T>(c, larger(index_t{0}, i - c.half), smaller(i, c.n - 2), c.d + i, c.stride);
}

/// Computes R Q in W, and P Q in P.
template <class Team, class T>
TESELA_STEP void multiply(const Team& team, const Chains<T>& c, T* p, index_t p_rows, index_t ldp) {
  if constexpr (Team::alone) {
    using Strip = typename Team::Strip;
    constexpr index_t rows = Strip::rows;
    index_t i = 0;
    if (c.half == c.n - 1)
      for (; i + rows <= c.n; i += rows) pass_all<Strip>(c, 0, smaller(i + rows - 1, c.n - 2), c.d + i, c.stride);
    for (; i < c.n; ++i) turn_row(c, i);
    for (i = 0; i + rows <= p_rows; i += rows) pass_all<Strip>(c, 0, c.n - 2, p + i, ldp);
    for (; i < p_rows; ++i) pass_all<T>(c, 0, c.n - 2, p + i, ldp);
  } else {
    for (index_t i = team.rank; i < c.n + p_rows; i += team.size)
      if (i < c.n)
        turn_row(c, i);
      else
        pass_all<T>(c, 0, c.n - 2, p + (i - c.n), ldp);
  }
}

}  // namespace tesela::kernels::iterations::TESELA_UNIT
TESELA_AFTER_UNIT

#endif
