#pragma once

#include <tesela/codelets/mimo/internal/linear_decisions_body.hpp>
#include <tesela/codelets/mimo/internal/nway_tree_body.hpp>
#include <tesela/codelets/mimo/internal/orders_subwarp_body.hpp>

// nway of one signal by S lanes of a warp: they factor together, one stream's column each, and share a tree's
// candidates. Up to S streams of square QAM. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// Data that a signal's lanes share.
template <int S, class T>
struct NwayMemory {
  NwayTree<T, S> tree;
  Complex<double> gram[S * (S + 1)];  ///< H^H H, columns with a gap
  Complex<double> symbols[S];
};

template <int S, class T, class Warp>
struct SubwarpNway {
  using Number = Complex<double>;
  static constexpr int signals = warp_lanes / S;  ///< per warp

  const DetectionBatch<T>& all;
  Group<S, Warp> group;
  NwayMemory<S, T>& room;
  const int n;
  const index_t k;   ///< index of the signal
  const bool there;  ///< lanes beyond the last signal run along and write nothing
  const bool mine;   ///< the lane has a stream
  const ChannelView<T> view;
  const Complex<T>* const y;
  double first_explained = 0;  ///< of the first tree
  Number right{};              ///< the lane's element of H^H (y - H p), where p is the points' corner
  T least = endless<T>;
  int path[2 * S] = {};  ///< cells by places, of the least distance

  /// rooms: the warp's.
  TESELA_INLINE SubwarpNway(Warp& warp, const DetectionBatch<T>& batch, NwayMemory<S, T>* rooms, index_t first)
      : all(batch),
        group(warp),
        room(rooms[group.base / S]),
        n(batch.lists.n),
        k(first + group.base / S),
        there(k < batch.signals),
        mine(group.j < n),
        view(batch.channel(there ? k : 0)),
        y(batch.y + (there ? k : 0) * batch.ld_y) {}

  TESELA_INLINE void run() {
    const Exact<T> exact(exponent());
    const int rank = multiply(exact);
    long long nodes = 0;
    for (int t = 0; t < all.keep; ++t) {
      int enumerated = 0;
      for (int i = 0; i < n; ++i) enumerated = group.from(rank, i) == t ? i : enumerated;
      const double explained = plant(enumerated);
      if (t == 0) first_explained = explained;
      group.warp.sync();
      NwayTree<T, S> tree = room.tree;
      tree.explained = explained;
      tree.begin_at(first_explained);
      nodes += static_cast<long long>(n) * tree.amplitudes() * tree.amplitudes();
      tree.run(
          [&](T distance, const int* cells) {
            if (!(distance < least)) return;
            least = distance;
            TESELA_FLAT
            for (int c = 2 * tree.begin(); c < 2 * S; ++c) path[c] = cells[c];
          },
          group.j, S);
      group.warp.sync();
    }
    answer(exact, nodes);
  }

 private:
  TESELA_INLINE int exponent() const {
    if constexpr (sizeof(T) == 4) return 0;
    T largest = 0;
    for (index_t i = 0; mine && i < view.antennas; ++i) {
      const T size = size_of(view.h[i + group.j * view.ld]);
      largest = size > largest ? size : largest;
    }
    return exponent_of(group.largest(largest));
  }

  /// Computes H^H H and H^H y. Returns the number of streams that noise affects more than this lane's, measured by 1 /
  /// ((H^H H)^-1)(j, j).
  TESELA_INLINE int multiply(const Exact<T>& exact) {
    SubwarpOrder<Number, S, Warp> inverse(group.warp, n);
    TESELA_FLAT
    for (int i = 0; i < S; ++i) inverse.c[i] = {0, 0};
    TESELA_ROLLED
    for (index_t row = 0; row < view.antennas; ++row) {
      const Number x = mine ? exact(view.h[row + group.j * view.ld]) : Number{0, 0};
      right = plus_dot(right, x, exact(y[row]));
      TESELA_FLAT
      for (int i = 0; i < S; ++i)
        if (i < n) inverse.c[i] = plus_dot(inverse.c[i], group.from(x, i), x);
    }
    TESELA_FLAT
    for (int i = 0; i < S; ++i) {
      if (i >= n) continue;
      const double low = all.lists.axis(i, false).low;
      right = minus_product(right, conj(inverse.c[i]), Number{low, low});
      if (mine) gram(i, group.j) = inverse.c[i];
    }
    group.warp.sync();
    inverse.eliminate();
    const double pivot = mine && inverse.diag > 0 ? 1 / inverse.diag : 0;
    int rank = 0;
    for (int i = 0; i < n; ++i) {
      const double other = group.from(pivot, i);
      rank += other < pivot || (other == pivot && i < group.j) ? 1 : 0;
    }
    return mine ? rank : S;
  }
  TESELA_INLINE Number& gram(int i, int j) const { return room.gram[i + j * (S + 1)]; }

  /// Builds the tree whose last stream is `enumerated`, as NwayTree::prepare() does; returns its `explained`.
  TESELA_INLINE double plant(int enumerated) {
    const int j = group.j;
    const auto stream = [&](int i) { return i == n - 1 ? enumerated : i == enumerated ? n - 1 : i; };
    int from = mine ? stream(j) : 0;
    Number c[S];
    TESELA_FLAT
    for (int i = 0; i < S; ++i) c[i] = mine && i < n ? gram(stream(i), from) : Number{0, 0};
    double diagonal = mine ? gram(from, from).re : 0, pivot = 0;
    Number b = group.from(right, from);
    const double largest = group.largest(diagonal);
    const int exponent = exponent_of(largest) / 2;
    double explained = 0;
    TESELA_FLAT
    for (int s = 0; s < S; ++s) {
      if (s >= n) continue;
      const int next = shortest(s, diagonal, from);
      if (group.warp.any(next != s)) {
        const int source = j == s ? next : j == next ? s : j;
        diagonal = group.from(diagonal, source), from = group.from(from, source), b = group.from(b, source);
        TESELA_FLAT
        for (int i = 0; i < S; ++i) c[i] = group.from(c[i], source);
        TESELA_FLAT
        for (int i = s + 1; i < S; ++i) swap_if(i == next, c[s], c[i]);
      }
      const int column = group.from(from, s);
      const double square = pivot_square<T>(group.from(diagonal, s), gram(column, column).re, largest, n);
      const double inverse = square > 0 ? inverse_root(square) : 0;
      const Number known = inverse * group.from(b, s);
      explained += norm(known);
      if (j == s) pivot = square * inverse, b = known;
      if (j > s) c[s] = inverse * c[s], diagonal -= norm(c[s]), b -= conj(c[s]) * known;
      TESELA_FLAT
      for (int i = s + 1; i < S; ++i) {
        if (i >= n) continue;
        const Number other = group.from(c[s], i);
        if (j > s) c[i] -= conj(other) * c[s];
      }
    }
    write(c, b, pivot, from, exponent);
    return std::ldexp(explained, -2 * exponent);
  }

  /// Returns the place that comes to place s: among places s … n - 2 the shortest, the first stream's in a tie.
  TESELA_INLINE int shortest(int s, double diagonal, int from) const {
    int place = group.j;
    bool candidate = group.j >= s && group.j < n - 1;
    TESELA_FLAT
    for (int d = 1; d < S; d *= 2) {
      const double other = group.from(diagonal, group.j ^ d);
      const int theirs = group.from(from, group.j ^ d), at = group.from(place, group.j ^ d);
      const bool any = group.from(candidate ? 1 : 0, group.j ^ d) != 0;
      if (any && (!candidate || other < diagonal || (other == diagonal && theirs < from)))
        diagonal = other, from = theirs, place = at;
      candidate = candidate || any;
    }
    return group.from(candidate ? place : s, 0);  // NaN lengths must not make lanes differ
  }

  TESELA_INLINE void write(const Number* c, Number b, double pivot, int from, int exponent) {
    NwayTree<T, S>& tree = room.tree;
    const BitLists& lists = all.lists;
    const SearchColumn& own = lists.axis(from, false);
    const int first = S - n, place = first + group.j;
    const double step = pivot * own.step, inverse = step > 0 ? 1 / step : 0;
    TESELA_FLAT
    for (int i = 0; i < S; ++i) {
      const double of_row = group.from(inverse, i);
      if (mine && i < group.j) tree.r[tree.place(first + i, place)] = rounded<Complex<T>>((own.step * of_row) * c[i]);
    }
    if (group.j == 0) tree.first = first;
    if (!mine) return;
    tree.weight[place] = static_cast<T>(std::ldexp(step * step, -2 * exponent));
    tree.last[place] = static_cast<T>(own.count - 1);
    tree.cell[place] = own.first - lists.columns[n].first;
    tree.z[place] = rounded<Complex<T>>(inverse * b);
  }

  /// Writes the report and the labels, one lane per stream.
  TESELA_INLINE void answer(const Exact<T>& exact, long long nodes) {
    int winner = group.j;
    TESELA_FLAT
    for (int d = 1; d < S; d *= 2) {
      const T other = group.from(least, group.j ^ d);
      const int theirs = group.from(winner, group.j ^ d);
      if (other < least || (other == least && theirs < winner)) least = other, winner = theirs;
    }
    const bool known = least < endless<T>;  // false if distances are NaN
    const BitLists& lists = all.lists;
    const SearchPoint* const amplitudes = lists.points + lists.columns[n].first;
    const int stream = mine ? group.j : 0;
    const SearchColumn &re = lists.axis(stream, false), &im = lists.axis(stream, true);
    const int first = re.first - lists.columns[n].first;
    int label = known ? 0 : -1;
    Number symbol{0, 0};
    TESELA_FLAT
    for (int c = 0; c < S; ++c) {
      // The cells determine the stream of a place.
      const int cell_re = group.from(path[2 * c], winner), cell_im = group.from(path[2 * c + 1], winner);
      const int of_re = cell_re - first, of_im = cell_im - first - re.count;
      if (!known || c < S - n || of_re < 0 || of_re >= re.count) continue;
      label = amplitudes[cell_re].label | amplitudes[cell_im].label;
      symbol = {re.low + of_re * re.step, im.low + of_im * im.step};
    }
    if (mine) room.symbols[group.j] = symbol;
    group.warp.sync();
    double sum = 0;
    for (index_t i = group.j; i < view.antennas; i += S) {
      Number left = exact(y[i]);
      for (int j = 0; j < n; ++j) left = minus_product(left, exact(view.h[i + j * view.ld]), room.symbols[j]);
      sum += norm(left);
    }
    sum = group.sum(sum);
    if (!there) return;
    if (mine) all.labels[k * all.ld_labels + group.j] = label;
    if (group.j > 0) return;
    SearchReport report;
    report.nodes = nodes;
    if (known)
      report.distance = std::ldexp(std::sqrt(sum), exact.exponent);
    else
      report.flags = SearchReport::failed;
    all.reports[k * all.ld_reports] = report;
  }
};

}  // namespace tesela::kernels::mimo
