#include <tesela/codelets/dense/block_trsm.hpp>
#include <tesela/codelets/dense/getrf.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace tesela::kernels {
namespace {

/// Exchanges rows first + i and swaps[i] in each column, for i < count.
template <class T>
void exchange(const Block<T>& a, index_t first, index_t count, const int* swaps) {
  for (index_t j = 0; j < a.cols; ++j) {
    T* const column = &a(0, j);
    for (index_t i = 0; i < count; ++i) std::swap(column[first + i], column[swaps[i]]);
  }
}

/// Plays one game of a tournament over `w` columns: replaces `rows` by the winners, in their order.
template <class T>
void play(const T* columns, index_t ld, index_t w, std::vector<index_t>& rows, std::vector<T>& copy) {
  const auto m = static_cast<index_t>(rows.size()), winners = std::min(m, w);
  copy.resize(static_cast<std::size_t>(m * w));
  const auto at = [&](index_t i, index_t j) -> T& { return copy[static_cast<std::size_t>(i + j * m)]; };
  for (index_t j = 0; j < w; ++j)
    for (index_t i = 0; i < m; ++i) at(i, j) = columns[rows[static_cast<std::size_t>(i)] + j * ld];
  for (index_t k = 0; k < winners; ++k) {
    index_t best = k;
    for (index_t i = k + 1; i < m; ++i)
      if (sum_of_parts(at(i, k)) > sum_of_parts(at(best, k))) best = i;
    std::swap(rows[static_cast<std::size_t>(k)], rows[static_cast<std::size_t>(best)]);
    for (index_t j = 0; j < w; ++j) std::swap(at(k, j), at(best, j));
    const T pivot = at(k, k);
    if (pivot == T(0)) continue;
    T* const multiples = &at(0, k);
    for (index_t i = k + 1; i < m; ++i) multiples[i] /= pivot;
    for (index_t j = k + 1; j < w; ++j) {
      T* const column = &at(0, j);
      const T above = column[k];
      for (index_t i = k + 1; i < m; ++i) column[i] -= times(multiples[i], above);
    }
  }
  rows.resize(static_cast<std::size_t>(winners));
}

/// Returns the rows from `first` on that win the tournament over `w` columns of m rows.
template <class T>
std::vector<index_t> tournament(const T* columns, index_t ld, index_t m, index_t first, index_t w) {
  std::vector<index_t> players(static_cast<std::size_t>(m - first)), group;
  std::iota(players.begin(), players.end(), first);
  std::vector<T> copy;
  for (bool last = false; !last;) {
    last = static_cast<index_t>(players.size()) <= tournament_rows;
    auto winners = players.begin();  // the end of the winners never overtakes the rows that still have to play
    for (auto from = players.begin(); from != players.end();) {
      const auto to = from + std::min<std::ptrdiff_t>(tournament_rows, players.end() - from);
      group.assign(from, to);
      play(columns, ld, w, group, copy);
      winners = std::copy(group.begin(), group.end(), winners);
      from = to;
    }
    players.erase(winners, players.end());
  }
  return players;
}

template <class T>
struct Panel {
  Block<T> a;
  index_t row;
  Pivoting pivoting;
  int* swaps;
  double& zero;

  void choose(index_t first, index_t w) {
    const index_t diagonal = row + first;
    std::vector<index_t> winners = tournament(&a(0, first), a.ld, a.rows, diagonal, w);
    for (index_t i = 0; i < w; ++i) {
      const index_t at = winners[static_cast<std::size_t>(i)];
      swaps[first + i] = static_cast<int>(at);
      for (index_t& later : winners)  // follows the row that this exchange moves away from the diagonal
        if (later == diagonal + i) later = at;
    }
    exchange(a, diagonal, w, swaps + first);
  }

  void columns(index_t first, index_t w) {
    if (zero > 0) return;
    if (pivoting == Pivoting::tournament) choose(first, w);
    const index_t diagonal = row + first, end = diagonal + w;
    const Block<T> s{&a(diagonal, first), w, w, a.ld};
    for (index_t k = 0; k < w; ++k) {
      const T pivot = s(k, k);
      if (pivot == T(0) || !is_finite(pivot)) {
        zero = static_cast<double>(diagonal + k + 1);
        return;
      }
      for (index_t i = k + 1; i < w; ++i) s(i, k) /= pivot;
      for (index_t j = k + 1; j < w; ++j)
        for (index_t i = k + 1; i < w; ++i) s(i, j) -= times(s(i, k), s(k, j));
    }
    if (end < a.rows) blas::trsm_right(a.rows - end, w, s.data, a.ld, &a(end, first), a.ld);
  }

  void update(index_t first, index_t left, index_t right) {
    if (zero > 0) return;
    const index_t diagonal = row + first, below = diagonal + left;
    T* const u = &a(diagonal, first + left);
    blas::solve_unit_lower(Op::none, left, right, &a(diagonal, first), a.ld, u, a.ld);
    blas::gemm<T>(Op::none, Op::none, a.rows - below, right, left, -1, &a(below, first), a.ld, u, a.ld, 1,
                  &a(below, first + left), a.ld);
  }
};

}  // namespace

template <class T>
void Getrf<T>::cpu(const Args& args, InOut<T> a, Out<T> v, Out<int> swaps, InOut<double> zero, Scratch<int>) {
  for (index_t i = 0; i < a.cols; ++i) swaps(i, 0) = static_cast<int>(args.row + i);
  Panel<T> panel{a, args.row, args.pivoting, swaps.data, zero(0, 0)};
  factor_by_halves(panel, 0, a.cols);
  if (v.rows >= a.cols && v.cols == a.cols)
    InvertBlocks<T>::cpu({blas::Triangle::unit_lower}, {{&a(args.row, 0), a.cols, a.cols, a.ld}}, v);
}

template <class T>
void LuUpdate<T>::cpu(const Args& args, In<T> a, In<T>, In<int> swaps, InOut<T> c, Scratch<T>) {
  const index_t w = a.cols, below = args.row + w, end = args.end > 0 ? args.end : c.rows;
  if (args.pivoting != Pivoting::none) exchange(c, args.row, w, swaps.data);
  T* const u = &c(args.row, 0);
  blas::solve_unit_lower(Op::none, w, c.cols, &a(args.row, 0), a.ld, u, c.ld);
  if (below < end)
    blas::gemm<T>(Op::none, Op::none, end - below, c.cols, w, -1, &a(below, 0), a.ld, u, c.ld, 1, &c(below, 0), c.ld);
}

template <class T>
void Laswp<T>::cpu(const Args& args, InOut<T> a, In<int> swaps) {
  exchange(a, args.row, swaps.rows, swaps.data);
}

template <class T>
void LuSubstitute<T>::cpu(const Args& args, In<T> a, InOut<T> x) {
  const index_t w = a.cols, row = args.row, below = row + w;
  T* const part = &x(row, 0);
  if (args.upper) {
    blas::trsm(Op::none, w, x.cols, &a(row, 0), a.ld, part, x.ld);
    if (row > 0) blas::gemm<T>(Op::none, Op::none, row, x.cols, w, -1, a.data, a.ld, part, x.ld, 1, x.data, x.ld);
    return;
  }
  blas::solve_unit_lower(Op::none, w, x.cols, &a(row, 0), a.ld, part, x.ld);
  if (below < x.rows)
    blas::gemm<T>(Op::none, Op::none, x.rows - below, x.cols, w, -1, &a(below, 0), a.ld, part, x.ld, 1, &x(below, 0),
                  x.ld);
}

TESELA_STRUCTS_FOR_NUMBERS(Getrf, LuUpdate, Laswp, LuSubstitute)

}  // namespace tesela::kernels
