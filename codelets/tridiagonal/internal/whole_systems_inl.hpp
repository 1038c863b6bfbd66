// Several whole systems at once, one per lane, by Gaussian elimination with scaled partial pivoting (LAPACK gtsv,
// except that the pivot is the largest relative to its row). Included once for each vector unit. Internal to
// codelets/tridiagonal.
#include <tesela/codelets/tridiagonal/internal/dominance_inl.hpp>
#include <tesela/codelets/tridiagonal/internal/lane_transfer_inl.hpp>
#include <tesela/codelets/tridiagonal/internal/segment_vectors_inl.hpp>

#include <algorithm>
#include <memory>

#if defined(TESELA_WHOLE_SYSTEMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_WHOLE_SYSTEMS_INL
#undef TESELA_WHOLE_SYSTEMS_INL
#else
#define TESELA_WHOLE_SYSTEMS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::tridiagonal::HWY_NAMESPACE {

template <class T>
class WholeSystems {
  static constexpr int groups = 2;
  using N = Vec<T>;
  using Moves = Transfer<T, N, groups>;
  using Row = typename Moves::Vectors;

 public:
  static constexpr int lanes = Moves::lanes;
  /// Most rows of a system: U fits into a core's second-level cache.
  static constexpr index_t most_rows = (index_t{1} << 19) / (4 * groups * index_t{sizeof(N)});

  explicit WholeSystems(index_t rows)
      : upper_(std::make_unique_for_overwrite<UpperRow[]>(static_cast<std::size_t>(rows))) {}

  /// Solves the systems, none of them periodic; broken[l] is the row, counted from 1, where system l broke down, or 0.
  HWY_NOINLINE void solve(const Rows<T>& rows, Breakdown* broken) {
    if (!eliminate<false>(rows)) eliminate<true>(rows);
    substitute(rows, broken);
  }

 private:
  static constexpr index_t few = Moves::few;
  static constexpr int width = Moves::width;

  /// Row x(i) / inverse + q x(i+1) + t x(i+2) = r.
  struct UpperRow {
    N inverse[groups], q[groups], t[groups], r[groups];
  };

  /// Computes P A = L U, and r = L^-1 P b. Without `scales`, returns whether all numbers were in a range without
  /// intermediate overflow or underflow; a row scaled by a power of two gives the same bits.
  template <bool scales>
  HWY_INLINE bool eliminate(const Rows<T>& rows) {
    constexpr int exponent = sizeof(T) == 8 ? 200 : 24;
    const N zero = constant<N>(0), far = all(std::ldexp(T(1), exponent)), near = all(std::ldexp(T(1), -exponent));
    N p[groups], q[groups], r[groups], most = zero, least = far;
    for (int g = 0; g < groups; ++g) p[g] = q[g] = r[g] = zero;
    for (index_t first = 0; first < rows.rows; first += few) {
      const index_t count = std::min(few, rows.rows - first);
      typename Moves::Vectors dl[few], d[few], du[few], b[few];
      Moves::load(rows, first, count, dl, d, du, b);
      if (!scales && first > 0 && dominant(p, q, dl, d, du, b, count)) {
        eliminate_dominant(rows, first, count, dl, d, du, b, p, q, r);
        continue;
      }
      for (index_t i = 0; i < count; ++i) {
        Moves::foresee(rows, first + 4 * few, i);
        for (int g = 0; g < groups; ++g) {
          if constexpr (scales) normalize(dl[i][g], d[i][g], du[i][g], b[i][g]);
          const N size = larger(magnitude(dl[i][g]), larger(magnitude(d[i][g]), magnitude(du[i][g])));
          if constexpr (!scales) {
            most = hn::Max(most, hn::Max(size, magnitude(b[i][g])));
            least = hn::Min(least, size);
          }
          if (first + i == 0) {
            p[g] = d[i][g], q[g] = du[i][g], r[g] = b[i][g];
            continue;
          }
          const auto below = magnitude(dl[i][g]) * larger(magnitude(p[g]), magnitude(q[g])) > magnitude(p[g]) * size;
          UpperRow& row = upper_[static_cast<std::size_t>(first + i - 1)];
          const N inv = inverse(choose(below, dl[i][g], p[g])), l = choose(below, p[g], dl[i][g]) * inv;
          row.inverse[g] = inv;
          row.q[g] = choose(below, d[i][g], q[g]);
          row.t[g] = choose(below, du[i][g], zero);
          row.r[g] = choose(below, b[i][g], r[g]);
          p[g] = choose(below, q[g], d[i][g]) - l * row.q[g];
          q[g] = choose(below, zero, du[i][g]) - l * row.t[g];
          r[g] = choose(below, r[g], b[i][g]) - l * row.r[g];
        }
      }
    }
    UpperRow& row = upper_[static_cast<std::size_t>(rows.rows - 1)];
    for (int g = 0; g < groups; ++g) row.inverse[g] = inverse(p[g]), row.q[g] = row.t[g] = zero, row.r[g] = r[g];
    return scales || (hn::AllTrue(Tag<T>(), most <= far) && hn::AllTrue(Tag<T>(), least >= near));
  }

  static HWY_INLINE bool dominant(const N* p, const N* q, const Row* dl, const Row* d, const Row* du, const Row* b,
                                  index_t count) {
    Dominance<T> dominance;
    for (int g = 0; g < groups; ++g) {
      dominance.add_equation(p[g], magnitude(q[g]));
      for (index_t i = 0; i < count; ++i) dominance.add_row(dl[i][g], d[i][g], du[i][g], b[i][g]);
    }
    return dominance.holds();
  }

  /// Eliminates rows without exchanges.
  HWY_INLINE void eliminate_dominant(const Rows<T>& rows, index_t first, index_t count, const Row* dl, const Row* d,
                                     const Row* du, const Row* b, N* p, N* q, N* r) {
    for (index_t i = 0; i < count; ++i) {
      Moves::foresee(rows, first + 4 * few, i);
      for (int g = 0; g < groups; ++g) {
        UpperRow& row = upper_[static_cast<std::size_t>(first + i - 1)];
        const N inv = constant<N>(1) / p[g], l = dl[i][g] * inv;
        row.inverse[g] = inv, row.q[g] = q[g], row.t[g] = constant<N>(0), row.r[g] = r[g];
        p[g] = d[i][g] - l * q[g];
        q[g] = du[i][g];
        r[g] = b[i][g] - l * r[g];
      }
    }
  }

  HWY_INLINE void substitute(const Rows<T>& rows, Breakdown* broken) {
    const N zero = constant<N>(0);
    N next[groups], after[groups], singular[groups], strange[groups];
    for (int g = 0; g < groups; ++g) next[g] = after[g] = singular[g] = strange[g] = zero;
    for (index_t first = (rows.rows - 1) / few * few; first >= 0; first -= few) {
      const index_t count = std::min(few, rows.rows - first);
      typename Moves::Vectors x[few];
      for (index_t i = count - 1; i >= 0; --i) {
        const UpperRow& row = upper_[static_cast<std::size_t>(first + i)];
        for (int g = 0; g < groups; ++g) {
          x[i][g] = (row.r[g] - row.q[g] * next[g] - row.t[g] * after[g]) * row.inverse[g];
          after[g] = next[g];
          next[g] = x[i][g];
          singular[g] = choose(row.inverse[g] == zero, constant<N>(1), singular[g]);
          strange[g] = strange[g] + (x[i][g] - x[i][g]);
        }
      }
      Moves::store(x, rows.b, first, count);
    }
    for (int g = 0; g < groups; ++g)
      for (int k = 0; k < width; ++k)
        broken[g * width + k] = lane<T>(singular[g], k) != T(0)     ? first_singular(rows.rows, g, k)
                                : !(lane<T>(strange[g], k) == T(0)) ? first_strange(rows, g * width + k)
                                                                    : 0;
  }

  Breakdown first_singular(index_t rows, int g, int k) const {
    index_t i = 0;
    while (i + 1 < rows && lane<T>(upper_[static_cast<std::size_t>(i)].inverse[g], k) != T(0)) ++i;
    return i + 1;
  }
  static Breakdown first_strange(const Rows<T>& rows, index_t l) {
    index_t i = 0;
    while (i + 1 < rows.rows && rows.b(i, l) - rows.b(i, l) == T(0)) ++i;
    return i + 1;
  }

  std::unique_ptr<UpperRow[]> upper_;
};

}  // namespace tesela::kernels::tridiagonal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
