#pragma once

#include <tesela/codelets/mimo/internal/linear_decisions_body.hpp>
#include <tesela/codelets/mimo/internal/orders_subwarp_body.hpp>

// kbest of square QAM by groups of lanes with one path each. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

inline constexpr index_t most_lane_paths = warp_lanes, most_path_amplitudes = 16, most_path_size = 16;

TESELA_BOTH inline bool lanes_keep(ColumnOrder order, index_t m, index_t n, index_t keep) {
  return m <= most_path_size && n <= most_path_size && keep <= most_lane_paths &&
         (order == ColumnOrder::natural || order == ColumnOrder::norm || order == ColumnOrder::sqrd ||
          order == ColumnOrder::vblast || order == ColumnOrder::mmse_vblast);
}

TESELA_INLINE int ones_of(unsigned x) {
#if defined(__CUDA_ARCH__)
  return __popc(x);
#else
  return __builtin_popcount(x);
#endif
}

/// Data that the lanes of a warp share: the channels and signals that groups of S have factored, and the paths of some
/// of these, each searched by a group of G lanes.
template <int S, int G, class T>
struct PathMemory {
  static constexpr int groups = warp_lanes / G, factored = warp_lanes / S;
  static constexpr int signals = groups > factored ? groups : factored;

  Complex<T> r[signals][S * S], z[signals][S];  ///< R by columns
  double reach[signals];                        ///< ||y|| plus the largest ||H s||, scaled
  int exponent[signals], order[signals][S];
  Complex<T> symbol[S][warp_lanes];  ///< of each level's paths
  unsigned char cell[S][warp_lanes], parent[S][warp_lanes];
  unsigned char next[most_path_amplitudes][warp_lanes];  ///< children that a lane has used of each of its rows
  T head[most_path_amplitudes][warp_lanes];              ///< increment of the next child of each row, -1 for none
  T distance[2 * warp_lanes], kept[warp_lanes];
  int key[2 * warp_lanes];  ///< the path, its child's number and cell
  Complex<double> s[groups][S];
  double square[groups][most_path_size];
  int labels[groups][S], best[groups][S];
};

/// One part of a level's points: |e - r k|^2 for amplitudes k = 0 … last, in order of distance.
template <class T>
struct PathAxis {
  T e, r;
  int last, first, toward;

  TESELA_INLINE PathAxis(T left, T pivot, int highest) : e(left), r(pivot), last(highest), first(0), toward(1) {
    const T place = e / r;
    const T inside = place > 0 ? (place < static_cast<T>(last) ? place : static_cast<T>(last)) : T(0);  // false for NaN
    first = static_cast<int>(inside + T(0.5));
    toward = inside < static_cast<T>(first) ? -1 : 1;
  }
  /// Returns the amplitude of that number; number 0 is the nearest. First on both sides in turn, then on the remaining
  /// side.
  TESELA_INLINE int amplitude(int number) const {
    const int ahead = toward > 0 ? last - first : first, behind = last - ahead;
    const int both = ahead < behind ? ahead : behind, turn = (number + 1) / 2;
    const int off = number <= 2 * both ? (number % 2 != 0 ? turn : -turn)
                    : ahead > behind   ? number - both
                                       : both - number;
    return first + toward * off;
  }
  TESELA_INLINE T square(int number) const {
    const T off = e - r * static_cast<T>(amplitude(number));
    return off * off;
  }
};

/// Children of a path in order of distance, or only those with one real part. A row is the set of children with one
/// real part: in a visited row only the next imaginary part can be next, in the other rows only the first. If nothing
/// depends on the point, they are ordered by labels.
template <class T>
struct PathChildren {
  struct Child {
    T distance;
    int number, cell;  ///< cell: both amplitudes, the real one first; -1 for none
  };
  PathAxis<T> re, im;
  T before;
  int lowest, met = 1, number = 0;
  bool single;          ///< only the row `lowest`
  unsigned char* next;  ///< of row lowest + i at i warp_lanes
  T* head;

  TESELA_INLINE PathChildren(Complex<T> left, T pivot, T distance, int last, int row, bool alone, unsigned char* taken,
                             T* heads)
      : re(left.re, pivot, last),
        im(left.im, pivot, last),
        before(distance),
        lowest(row),
        single(alone),
        next(taken),
        head(heads) {
    next[0] = 0, head[0] = re.square(lowest) + im.square(0);
  }

  TESELA_INLINE Child take(const BitLists& lists, int stream) {
    if (re.r == 0) return by_labels(lists, stream);
    T least = endless<T>;
    int row = -1;
    TESELA_ROLLED
    for (int i = 0; i < met; ++i) {
      const T d = head[i * warp_lanes];
      if (d >= 0 && (row < 0 || d < least)) least = d, row = i;
    }
    if (row < 0) return {endless<T>, 0, -1};
    const int taken = next[row * warp_lanes]++;
    head[row * warp_lanes] = taken < im.last ? re.square(lowest + row) + im.square(taken + 1) : T(-1);
    if (!single && row == met - 1 && met <= re.last) {
      next[met * warp_lanes] = 0, head[met * warp_lanes] = re.square(met) + im.square(0);
      ++met;
    }
    return {before + least, number++, re.amplitude(lowest + row) | im.amplitude(taken) << 4};
  }

 private:
  TESELA_BOTH Child by_labels(const BitLists& lists, int stream) {
    const int count = re.last + 1;
    if (number >= count * count) return {endless<T>, 0, -1};
    const auto place = [&](bool imaginary) {
      const SearchColumn& axis = lists.axis(stream, imaginary);
      int bits = 0, found = 0;
      for (int k = 0; k < axis.count; ++k) bits |= lists.points[axis.first + k].label;
      for (int k = 0; k < axis.count; ++k)
        if (lists.points[axis.first + k].label == (number & bits)) found = k;
      return found;
    };
    const int cell = place(false) | place(true) << 4;
    return {before + re.e * re.e + im.e * im.e, number++, cell};
  }
};

/// Searches signals: groups of S lanes order and factor channels, then groups of G search the signals.
template <int S, int G, class T, class Warp>
struct SubwarpPaths {
  using Number = Complex<T>;
  using Room = PathMemory<S, G, T>;
  Warp& warp;
  const DetectionBatch<T>& all;
  Room& room;
  Group<G, Warp> group;
  int m, n;

  TESELA_INLINE SubwarpPaths(Warp& w, const DetectionBatch<T>& batch, Room& memory)
      : warp(w), all(batch), room(memory), group(w), m(static_cast<int>(batch.view.antennas)), n(batch.lists.n) {}

  /// Searches Room::signals signals from `first` on.
  TESELA_INLINE void run(index_t first) {
    TESELA_ROLLED
    for (int s = 0; s < Room::signals; s += Room::factored) prepare(first, s);
    TESELA_ROLLED
    for (int s = 0; s < Room::signals; s += Room::groups) search(first, s + warp.lane() / G);
  }

 private:
  /// Prepares signals first + from …, each by S lanes.
  TESELA_INLINE void prepare(index_t first, int from) {
    const int signal = from + warp.lane() / S, steps = m < n ? m : n;
    const index_t k = first + signal;
    SubwarpColumns<Number, S, Warp> own(warp);
    const int j = own.group.j;
    const bool there = k < all.signals, mine = there && j < n;
    const ChannelView<T> view = all.channel(there ? k : 0);
    T largest = 0;
    TESELA_FLAT
    for (int i = 0; i < S; ++i) {
      own.x[i] = mine && i < m ? view.h[i + j * view.ld] : Number{};
      largest = size_of(own.x[i]) > largest ? size_of(own.x[i]) : largest;
    }
    const int exponent = exponent_of(own.group.largest(largest));
    const Scale<T> scale(exponent);
    Number z[S];
    T sum = 0, size = 0;
    TESELA_FLAT
    for (int i = 0; i < S; ++i) {
      own.x[i] = scale(own.x[i]), sum += norm(own.x[i]);
      z[i] = there && i < m ? scale(all.y[k * all.ld_y + i]) : Number{};
      size += norm(z[i]);
    }
    const double most = mine ? std::sqrt(static_cast<double>(sum)) * view.columns[j].largest : 0.0;
    const double reach = own.group.sum(most) + std::sqrt(static_cast<double>(size));
    move(own, source(own, sum, exponent));
    TESELA_FLAT
    for (int i = 0; i < S; ++i)
      if (i < steps) {
        if (all.order == ColumnOrder::sqrd) own.sort(i, n);
        own.reflect(i);
      }
    own.finish();
    own.adjoint(steps, z);
    TESELA_FLAT
    for (int i = 0; i < S; ++i) {
      room.r[signal][i + S * j] = i <= j && i < m ? own.x[i] : Number{};
      if (j == 0) room.z[signal][i] = i < m ? z[i] : Number{};
    }
    room.order[signal][j] = own.from;
    if (j == 0) room.exponent[signal] = exponent, room.reach[signal] = reach;
    warp.sync();
  }

  /// Returns the column that comes to this lane, for all orders except sqrd.
  TESELA_INLINE int source(SubwarpColumns<Number, S, Warp>& own, T square, int exponent) {
    const ColumnOrder kind = all.order;
    if (kind == ColumnOrder::natural || kind == ColumnOrder::sqrd) return own.group.j;
    SubwarpOrder<Number, S, Warp> sorted(warp, n);
    if (kind != ColumnOrder::norm) {
      sorted.vblast(m, own.x, kind == ColumnOrder::vblast ? T(0) : scaled_noise<T>(all.n0, exponent));
      return sorted.source();
    }
    TESELA_ROLLED
    for (int k = 0; k < n; ++k) sorted.choose(all.up ? square : -square, k);
    return sorted.source();
  }
  TESELA_INLINE void move(SubwarpColumns<Number, S, Warp>& own, int from) {
    TESELA_FLAT
    for (int i = 0; i < S; ++i) own.x[i] = own.group.from(own.x[i], from);
    own.from = own.group.from(own.from, from);
  }

  /// Searches one signal of each group, by all lanes.
  TESELA_INLINE void search(index_t first, int signal) {
    const index_t k = first + signal;
    long long nodes = 0;
    int count = k < all.signals ? 1 : 0;
    T distance = 0;
    TESELA_ROLLED
    for (int i = n - 1; i >= 0; --i) {
      const SearchColumn& axis = all.lists.axis(count > 0 ? room.order[signal][i] : 0, false);
      nodes += static_cast<long long>(count) * (all.keep > 1 ? axis.count * axis.count : 1);
      count = level(signal, i, count, distance, axis);
      distance = room.kept[warp.lane()];
      warp.sync();
    }
    if (count == 0 && group.j == 0 && k < all.signals) all.fail(k);  // distances are NaN
    choose(k, signal, count, distance, nodes);
  }

  TESELA_INLINE const Number& r(int signal, int i, int j) const { return room.r[signal][i + S * j]; }

  /// Returns the residual of z[i] after the lane's path, of level i + 1.
  TESELA_INLINE Number left_of(int signal, int i) const {
    Number left = room.z[signal][i];
    int path = warp.lane();
    TESELA_ROLLED
    for (int l = i + 1; l < n; ++l) {
      left = minus_product(left, r(signal, i, l), room.symbol[l][path]);
      path = group.base + room.parent[l][path];
    }
    return left;
  }

  TESELA_INLINE unsigned of_group(unsigned ballot) const {
    return G == warp_lanes ? ballot : ballot >> group.base & ((1u << (G % warp_lanes)) - 1);
  }

  /// Replaces a group's `count` paths by their nearest children, the paths of level i, nearest first; returns their
  /// number. In each round lanes deliver their nearest child if it is no farther than every lane's second child: no
  /// other child can be nearer. At the root each lane has a row of children.
  TESELA_INLINE int level(int signal, int i, int count, T distance, const SearchColumn& axis) {
    const int own = warp.lane(), stream = count > 0 ? room.order[signal][i] : 0;
    const T low = static_cast<T>(axis.low), step = static_cast<T>(axis.step);
    const T pivot = count > 0 ? real(r(signal, i, i)) : T(1);
    const bool rows = i == n - 1 && pivot * step != 0, there = group.j < (rows ? axis.count : 1) * count;
    const Number left = there ? left_of(signal, i) : Number{};
    using Children = PathChildren<T>;
    Children children({left.re - pivot * low, left.im - pivot * low}, pivot * step, distance, axis.count - 1,
                      rows && there ? group.j : 0, rows, &room.next[0][own], &room.head[0][own]);
    typename Children::Child now{endless<T>, 0, -1}, then = now;
    if (there) now = children.take(all.lists, stream), then = children.take(all.lists, stream);
    const int from = rows ? 0 : group.j, base = own / G * 2 * G;
    int total = 0;
    for (bool more = there || count > 0;;) {
      T bound = then.distance;
      TESELA_FLAT
      for (int d = 1; d < G; d *= 2) {
        const T other = group.from(bound, group.j ^ d);
        bound = other < bound ? other : bound;
      }
      const bool given = more && now.cell >= 0 && now.distance <= bound;
      const unsigned ballot = warp.ballot(given), givers = of_group(ballot);
      if (ballot == 0) break;
      if (given) {
        const int slot = base + total + ones_of(givers & ((1u << group.j) - 1));
        room.distance[slot] = now.distance;
        room.key[slot] = from << 20 | now.number << 8 | now.cell;
        now = then, then = children.take(all.lists, stream);
      }
      total += ones_of(givers);
      more = more && givers != 0 && total < all.keep;
    }
    warp.sync();
    TESELA_ROLLED
    for (int c = group.j; c < total; c += G) {
      const T mine = room.distance[base + c];
      const int key = room.key[base + c];
      int rank = 0;
      for (int other = 0; other < total; ++other) {
        const T d = room.distance[base + other];
        rank += d < mine || (d == mine && room.key[base + other] < key) ? 1 : 0;
      }
      if (rank >= all.keep) continue;
      const int to = group.base + rank;
      room.kept[to] = mine;
      room.parent[i][to] = static_cast<unsigned char>(key >> 20);
      room.cell[i][to] = static_cast<unsigned char>(key);
      room.symbol[i][to] = {low + step * static_cast<T>(key & 15), low + step * static_cast<T>(key >> 4 & 15)};
    }
    warp.sync();
    return total < all.keep ? total : all.keep;
  }

  /// Chooses, among the paths that rounding cannot distinguish from the nearest, the nearest by ||y - H s|| in double.
  TESELA_INLINE void choose(index_t k, int signal, int count, T distance, long long nodes) {
    const bool present = count > 0;
    const index_t at = present ? k : 0;
    const ChannelView<T> view = all.channel(at);
    const Scale<double> scale(present ? room.exponent[signal] : 0);
    const int own = warp.lane() / G;
    const double reach = present ? room.reach[signal] : 0, steps = static_cast<double>(n + 4);
    const double tie = 2 * steps * 2.3e-16 * reach, slack = 4 * steps * rounding_of<T> * reach;
    const T least = group.from(distance, 0);
    const bool near = group.j < count &&
                      std::sqrt(static_cast<double>(distance)) <= std::sqrt(static_cast<double>(least)) + 2 * slack;
    Found found;
    unsigned those = of_group(warp.ballot(near));
    for (; warp.any(those != 0); those &= those - 1) {
      for (int l = group.j; those != 0 && l < n; l += G) {  // the point of level l
        int path = group.base + lowest_of(those);
        for (int above = 0; above < l; ++above) path = group.base + room.parent[above][path];
        const int stream = room.order[signal][l], cell = room.cell[l][path];
        const SearchColumn &re = all.lists.axis(stream, false), &im = all.lists.axis(stream, true);
        room.s[own][stream] = {re.low + (cell & 15) * re.step, im.low + (cell >> 4) * im.step};
        room.labels[own][stream] =
            all.lists.points[re.first + (cell & 15)].label | all.lists.points[im.first + (cell >> 4)].label;
      }
      warp.sync();
      for (int i = group.j; those != 0 && i < m; i += G) {  // one antenna; as distance_of()
        const Complex<T> heard = all.y[at * all.ld_y + i];
        Complex<double> left = scale(Complex<double>{heard.re, heard.im});
        for (int j = 0; j < n; ++j) {
          const Complex<T> h = view.h[i + j * view.ld];
          left = left - scale(Complex<double>{h.re, h.im}) * room.s[own][j];
        }
        room.square[own][i] = norm(left);
      }
      warp.sync();
      if (group.j == 0 && those != 0) {
        double sum = 0;
        for (int i = 0; i < m; ++i) sum += room.square[own][i];
        update_best(found, std::sqrt(sum), tie, n, room.labels[own], room.best[own]);
      }
      warp.sync();
    }
    for (int j = group.j; present && j < n; j += G) all.labels[k * all.ld_labels + j] = room.best[own][j];
    if (present && group.j == 0) {
      SearchReport report;
      report.distance = std::ldexp(found.distance, room.exponent[signal]);
      report.nodes = nodes;
      all.reports[k * all.ld_reports] = report;
    }
    warp.sync();
  }
};

}  // namespace tesela::kernels::mimo
