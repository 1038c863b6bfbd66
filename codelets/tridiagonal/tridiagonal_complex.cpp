#include <tesela/codelets/tridiagonal/internal/tridiagonal_rows.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal.hpp>

#include <algorithm>
#include <vector>

// The variants of cores for complex numbers, one system and one row after another.

namespace tesela::kernels {

using namespace tridiagonal;
namespace {

/// Returns the segment of all rows; kept[k] becomes the segment of the rows before block k > 0. With `pivots`, appends
/// only the rows of block `block` to kept[block], and keeps the row that eliminated x(i - 1) for each row i.
template <class T>
Segment<T> append_rows(const Rows<T>& rows, Segment<T>* kept, PivotRow<T>* pivots = nullptr, index_t block = 0) {
  const index_t first = block * block_rows,
                end = pivots == nullptr ? rows.rows : std::min(first + block_rows, rows.rows);
  Segment<T> segment = block > 0 ? kept[block] : no_rows<T>();
  for (index_t i = first; i < end; ++i) {
    T dl = i > 0 || rows.before ? rows.dl(i, 0) : T(0), d = rows.d(i, 0),
      du = i + 1 < rows.rows || rows.behind ? rows.du(i, 0) : T(0), b = rows.b(i, 0);
    normalize(dl, d, du, b);
    if (pivots == nullptr && i > 0 && i % block_rows == 0) kept[i / block_rows] = segment;
    if (i == 0) {
      segment = one_row(dl, d, du, b);
      continue;
    }
    const PivotRow<T> pivot = append(segment, dl, d, du, b);
    if (pivots != nullptr) pivots[i - first] = pivot;
  }
  return segment;
}

/// Sets B to the unknowns between the ends. Returns the first row that breaks down, or 0.
template <class T>
Breakdown substitute(const Rows<T>& rows, Segment<T>* kept, const Ends<T>& ends) {
  PivotRow<T> pivots[block_rows];
  T next = ends.e, after = ends.f;
  Breakdown broken = 0;
  for (index_t block = ceil_div(rows.rows, block_rows) - 1; block >= 0; --block) {
    const index_t first = block * block_rows, end = std::min(first + block_rows, rows.rows);
    append_rows(rows, kept, pivots, block);  // reads B before its unknowns are written
    for (index_t i = end - 1; i >= first; --i) {
      rows.b(i, 0) = next;
      if (!is_finite(next)) broken = i + 1;
      if (i == 0) break;
      const PivotRow<T>& row = pivots[i - first];
      const T x = (row.r - row.e * ends.a - row.f * ends.b - row.q * next - row.t * after) * row.inverse;
      if (row.inverse == T(0)) broken = i;
      after = next;
      next = x;
    }
  }
  return broken;
}

template <class T>
void solve_systems(const typename TridiagonalSolve<T>::Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b,
                   InOut<int> info) {
  if (b.rows == 0 || b.cols == 0) return;
  SystemsTile place = args;
  place.before = place.behind = args.periodic;
  const Rows<T> all = rows_of<T>(place, dl, d, du, b);
  std::vector<Segment<T>> kept(static_cast<std::size_t>(ceil_div(all.rows, block_rows)));
  for (index_t s = 0; s < systems_of(place, b); ++s) {
    const Rows<T> rows = part(all, s, 0, all.rows);
    Ends<T> ends;
    const Segment<T> whole = append_rows(rows, kept.data());
    const bool regular = regular_pivot(solve_ends(whole, args.periodic, ends));
    const Breakdown broken = substitute(rows, kept.data(), ends);
    add(broken == 0 && !regular ? (degenerate(whole) ? all.rows : 1) : broken, place, s, info);
  }
}

template <class T>
void reduce_systems(const SystemsTile& args, In<T> dl, In<T> d, In<T> du, In<T> b, Out<Segment<T>> work,
                    Out<Segment<T>> ends) {
  const Rows<T> all = rows_of<T>(args, dl, d, du, writable(b));
  work(0, 0).upper.e = T(0);
  for (index_t s = 0; s < systems_of(args, b); ++s) ends(0, s) = append_rows(part(all, s, 0, all.rows), &work(1, s));
}

template <class T>
void substitute_systems(const typename TridiagonalSubstitute<T>::Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b,
                        InOut<Segment<T>> work, In<T> values, InOut<int> info) {
  const Rows<T> all = rows_of<T>(args, dl, d, du, b);
  const bool by_gpu = work(0, 0).upper.e != T(0);  // a GPU has kept all that it needs
  for (index_t s = 0; s < systems_of(args, b); ++s) {
    const Rows<T> rows = part(all, s, 0, all.rows);
    if (by_gpu) append_rows(rows, &work(1, s));
    const T* const v = &values(2 * args.tile, s);
    add(substitute(rows, &work(1, s), {v[0], v[1], v[2], v[3]}), args, s, info);
  }
}

}  // namespace

#define TESELA_SPECIALIZE(T)                                                                                    \
  template <>                                                                                                   \
  void TridiagonalSolve<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Scratch<Segment<T>>, \
                                InOut<int> info) {                                                              \
    solve_systems<T>(args, dl, d, du, b, info);                                                                 \
  }                                                                                                             \
  template <>                                                                                                   \
  void TridiagonalReduce<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, In<T> b, Out<Segment<T>> work,  \
                                 Out<Segment<T>> ends) {                                                        \
    reduce_systems<T>(args, dl, d, du, b, work, ends);                                                          \
  }                                                                                                             \
  template <>                                                                                                   \
  void TridiagonalSubstitute<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b,                 \
                                     InOut<Segment<T>> work, In<T> values, InOut<int> info) {                   \
    substitute_systems<T>(args, dl, d, du, b, work, values, info);                                              \
  }
TESELA_FOR_COMPLEX(TESELA_SPECIALIZE)

}  // namespace tesela::kernels
