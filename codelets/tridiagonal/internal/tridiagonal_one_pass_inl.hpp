// Solves one long system on a core, in one pass over memory if its rows allow it. Two neighbouring stretches of rows
// determine the two unknowns between them, up to multiples of the unknowns at their far ends. In most matrices these
// multiples decay. Once they are below the smallest normal number, the two unknowns are known before all others, and
// the stretch before them is solved while its pivot rows are still in the cache. Included once for each vector unit.
// Internal to codelets/tridiagonal.
#include <tesela/codelets/tridiagonal/internal/tridiagonal_system_inl.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#if defined(TESELA_TRIDIAGONAL_ONE_PASS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_TRIDIAGONAL_ONE_PASS_INL
#undef TESELA_TRIDIAGONAL_ONE_PASS_INL
#else
#define TESELA_TRIDIAGONAL_ONE_PASS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::tridiagonal::HWY_NAMESPACE {

/// Consecutive rows, with their pivot rows until they are solved.
template <class T>
class Stretch {
 public:
  /// Pivot rows of two stretches fit into a core's second-level cache. A lane of 64-byte vectors has an odd number of
  /// lines.
  static constexpr index_t rows = sizeof(T) == 8 ? 16 * 248 : 32 * 240;
  using Pivots = Lanes<T, Vec<T>, 2, rows / Vectors<T>::lanes>;
  static constexpr index_t lanes = Pivots::lanes, each = rows / lanes;

  Segment<T> reduce(const Rows<T>& system, index_t first) {
    rows_ = part(system, 0, first, each);
    rows_.systems = false;
    for (Strided<const T>* band : {&rows_.dl, &rows_.d, &rows_.du}) band->lane = each * band->row;
    rows_.b.lane = each * rows_.b.row;
    rows_.before = system.before || first > 0;
    rows_.behind = system.behind || first + rows < system.rows;
    pivots_.forward_here(rows_, segments_);
    return join_runs(segments_, 0, lanes);
  }

  /// Returns the first row that broke down, counted from 1, or 0.
  Breakdown substitute(const Ends<T>& whole) {
    const auto begin = [](index_t run) { return run * each; };
    Ends<T> ends[lanes];
    Breakdown broken[lanes]{}, first = ends_of_runs(segments_, 0, lanes, whole, begin, ends);
    pivots_.backward_here(rows_, ends, broken);
    for (index_t l = 0; l < lanes; ++l)
      if (broken[l] > 0) first = earlier(first, begin(l) + broken[l]);
    return first;
  }

 private:
  Pivots pivots_;
  Rows<T> rows_;
  Segment<T> segments_[lanes];
};

/// Returns whether the unknowns of a joint depend on its two halves alone: their dependence on other unknowns
/// underflows.
template <class T>
bool certain(const Joint<T>& j) {
  const auto coupling = [](T a, T b, T e, T f, T inverse) {
    return (std::abs(a) + std::abs(b) + std::abs(e) + std::abs(f)) * std::abs(inverse);
  };
  const T c = coupling(j.ac, j.bc, j.ec, j.fc, j.inverse_c), d = coupling(j.ad, j.bd, j.ed, j.fd, j.inverse_d);
  const T all = c + d + std::abs(j.dc * j.inverse_c) * d;
  return j.inverse_c != T(0) && j.inverse_d != T(0) && all <= std::numeric_limits<T>::min();
}

/// The rows [begin, end) of a system that are solved. The first kept segment stores these numbers.
template <class T>
struct Filled {
  index_t begin = 0, end = 0;    ///< of whole stretches; 0, 0 for none
  T at_begin[2]{}, at_end[2]{};  ///< the unknowns before and after these positions

  Segment<T> packed() const {
    return {{static_cast<T>(end / Stretch<T>::rows), at_begin[0], at_begin[1], T(0), T(0)},
            {T(0), at_end[0], at_end[1], T(0), T(0)}};
  }
  static Filled unpacked(const Segment<T>& s) {
    const index_t end = static_cast<index_t>(s.upper.e) * Stretch<T>::rows;
    return {end > 0 ? Stretch<T>::rows : 0, end, {s.upper.f, s.upper.p}, {s.lower.f, s.lower.p}};
  }
};

/// Rows [begin, end) of a system.
template <class T>
Rows<T> cut(const Rows<T>& system, index_t begin, index_t end) {
  Rows<T> rows = part(system, 0, begin, end - begin);
  rows.before = system.before || begin > 0;
  rows.behind = system.behind || end < system.rows;
  return rows;
}

/// Solves stretches while the unknowns between them are certain. `sofar` becomes the segment of the rows before
/// Filled::end, unless that is 0.
template <class T>
Filled<T> fill_stretches(const Rows<T>& system, Segment<T>& sofar, Breakdown& broken) {
  constexpr index_t rows = Stretch<T>::rows;
  const auto stretches = std::make_unique_for_overwrite<Stretch<T>[]>(2);
  Filled<T> filled;
  Segment<T> before = stretches[0].reduce(system, 0);
  Joint<T> joint;
  for (index_t k = 1; (k + 1) * rows <= system.rows; ++k) {
    const Segment<T> behind = stretches[k % 2].reduce(system, k * rows);
    join(before, behind, joint);
    Ends<T> seam{};
    between(joint, {}, seam.a, seam.b);
    if (!certain(joint) || degenerate(before) || degenerate(behind) || !std::isfinite(seam.a) || !std::isfinite(seam.b))
      break;
    if (k == 1) {
      sofar = before;
      filled.begin = rows;
      filled.at_begin[0] = seam.a, filled.at_begin[1] = seam.b;
    } else {
      const Breakdown row = stretches[(k - 1) % 2].substitute({filled.at_end[0], filled.at_end[1], seam.a, seam.b});
      if (row > 0) broken = earlier(broken, (k - 1) * rows + row);
      sofar = join(sofar, before, joint);
    }
    filled.end = k * rows;
    filled.at_end[0] = seam.a, filled.at_end[1] = seam.b;
    before = behind;
  }
  return filled;
}

/// Returns the segment of a long system's rows, and may solve some of them. `kept` has 1 + kept_segments elements, for
/// substitute_rest.
template <class T>
Segment<T> reduce_and_solve(const Rows<T>& system, Segment<T>* kept, Breakdown& broken) {
  Segment<T> sofar{};
  Filled<T> filled;
  if (system.b.row == 1 && system.rows >= 8 * Stretch<T>::rows) filled = fill_stretches(system, sofar, broken);
  kept[0] = filled.packed();
  const Segment<T> rest = OneSystem<T>(cut(system, filled.end, system.rows), 0).reduce(kept + 1);
  Joint<T> joint;
  return filled.end > 0 ? join(sofar, rest, joint) : rest;
}

/// Solves the rows that reduce_and_solve did not solve. Returns the first row that broke down, counted from 1, or 0.
template <class T>
Breakdown substitute_rest(const Rows<T>& system, const Segment<T>* kept, const Ends<T>& whole) {
  const auto filled = Filled<T>::unpacked(kept[0]);
  OneSystem<T> rest(cut(system, filled.end, system.rows), 0);
  if (filled.end == 0) return rest.substitute(kept + 1, whole);
  OneSystem<T> first(cut(system, 0, filled.begin), 0);
  std::vector<Segment<T>> again(static_cast<std::size_t>(kept_segments(filled.begin)));
  first.reduce(again.data());
  const Breakdown row = rest.substitute(kept + 1, {filled.at_end[0], filled.at_end[1], whole.e, whole.f});
  return earlier(first.substitute(again.data(), {whole.a, whole.b, filled.at_begin[0], filled.at_begin[1]}),
                 row > 0 ? filled.end + row : 0);
}

}  // namespace tesela::kernels::tridiagonal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
