#include <tesela/codelets/support/internal/multiversion.hpp>
#include <tesela/codelets/tridiagonal/internal/row_status.hpp>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_lanes.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal.hpp>

#include <memory>
#include <vector>

namespace tesela::kernels {
namespace tridiagonal {
namespace {

template <class T>
using Vectors = Lanes<T, typename VectorOf<T>::type, 2>;
template <class T>
using Numbers = Lanes<T, T, 1>;

/// One function of each kind: target_clones takes no template.
#define TESELA_TRIDIAGONAL_PASSES(T, L)                                                                            \
  TESELA_MULTIVERSION void forward(L<T>& lanes, const Rows<T>& rows, Segment<T>* kept, Segment<T>* segments) {     \
    lanes.forward(rows, kept, segments);                                                                           \
  }                                                                                                                \
  TESELA_MULTIVERSION void backward(L<T>& lanes, const Rows<T>& rows, const Segment<T>* kept, const Ends<T>* ends, \
                                    Breakdown* broken) {                                                           \
    lanes.backward(rows, kept, ends, broken);                                                                      \
  }
TESELA_TRIDIAGONAL_PASSES(float, Vectors)
TESELA_TRIDIAGONAL_PASSES(double, Vectors)
TESELA_TRIDIAGONAL_PASSES(float, Numbers)
TESELA_TRIDIAGONAL_PASSES(double, Numbers)

template <class T>
Rows<T> rows_of(const SystemsTile& place, const Block<const T>& dl, const Block<const T>& d, const Block<const T>& du,
                const Block<T>& b) {
  const bool columns = place.systems == SystemsIn::columns;
  const auto strides = [&](auto* data, index_t ld, bool many) {
    return Strided<std::remove_pointer_t<decltype(data)>>{data, columns ? 1 : ld,
                                                          !many     ? 0
                                                          : columns ? ld
                                                                    : index_t{1}};
  };
  const auto band = [&](const Block<const T>& block) {
    return strides(block.data, block.ld, (columns ? block.cols : block.rows) > 1);
  };
  return {band(dl), band(d),      band(du),    strides(b.data, b.ld, true), columns ? b.rows : b.cols,
          true,     place.before, place.behind};
}

template <class T>
Block<T> writable(const In<T>& tile) {
  return {const_cast<T*>(tile.data), tile.rows, tile.cols, tile.ld};
}

template <class T>
index_t systems_of(const SystemsTile& place, const Block<T>& b) {
  return place.systems == SystemsIn::columns ? b.cols : b.rows;
}

/// System s of a tile, and its rows from i on.
template <class T>
Rows<T> part(const Rows<T>& all, index_t s, index_t i, index_t rows) {
  Rows<T> r = all;
  r.dl = all.dl.from(i, s), r.d = all.d.from(i, s), r.du = all.du.from(i, s), r.b = all.b.from(i, s);
  r.rows = rows;
  return r;
}

/// Rows that depend on each other leave an equation without unknowns.
template <class T>
bool degenerate(const Segment<T>& segment) {
  return size_of(segment.upper) == T(0) || size_of(segment.lower) == T(0);
}

/// One system of a tile: a run of consecutive rows in each lane, and one more of what remains, as numbers. `kept` has
/// the runs' segments, then what the passes keep.
template <class T>
class OneSystem {
 public:
  static constexpr index_t lanes = Vectors<T>::lanes, runs = lanes + 1;
  OneSystem(const Rows<T>& all, index_t s) : all_(part(all, s, 0, all.rows)) {
    constexpr index_t line = 64 / index_t{sizeof(T)};
    index_t lines = all.rows / (lanes * line);
    if (lines > 16 && lines % 2 == 0) --lines;  // lanes 2^k lines apart would meet in few sets of the cache
    each_ = lines * line;
  }

  Segment<T> reduce(Segment<T>* kept) {
    on_runs(kept + runs, [&](auto& work, const Rows<T>& rows, index_t run, Segment<T>* blocks) {
      forward(work, rows, blocks, kept + run);
    });
    Segment<T> whole = kept[first()];
    Joint<T> joint;
    for (index_t l = first() + 1; l < last(); ++l) whole = join(whole, kept[l], joint);
    return whole;
  }

  /// Returns the first row that broke down, counted from 1, or 0.
  Breakdown substitute(const Segment<T>* kept, const Ends<T>& whole) {
    Breakdown broken = 0, rows_broken[runs]{};
    const auto breaks = [&](Breakdown row) { broken = broken > 0 ? std::min(broken, row) : row; };
    Joint<T> joints[runs];
    Segment<T> sofar = kept[first()];
    for (index_t l = first(); l < last(); ++l) {
      if (l > first()) sofar = join(sofar, kept[l], joints[l]);
      if (degenerate(kept[l]) || degenerate(sofar)) breaks(begin(l + 1));
    }
    Ends<T> ends[runs];
    T e = whole.e, f = whole.f;
    for (index_t l = last() - 1; l >= first(); --l) {
      ends[l] = {whole.a, whole.b, e, f};
      if (l == first()) break;
      if (!degenerate(kept[l]) && joints[l].inverse_c == T(0)) breaks(begin(l));
      if (!degenerate(kept[l]) && joints[l].inverse_d == T(0)) breaks(begin(l) + 1);
      between(joints[l], {whole.a, whole.b, e, f}, ends[l].a, ends[l].b);
      e = ends[l].a, f = ends[l].b;
    }
    on_runs(kept + runs, [&](auto& work, const Rows<T>& rows, index_t run, const Segment<T>* blocks) {
      backward(work, rows, blocks, ends + run, rows_broken + run);
    });
    for (index_t l = first(); l < last(); ++l)
      if (rows_broken[l] > 0) breaks(begin(l) + rows_broken[l]);
    return broken;
  }

 private:
  index_t first() const { return each_ > 0 ? 0 : lanes; }
  index_t last() const { return begin(lanes) < all_.rows ? runs : lanes; }
  index_t begin(index_t run) const { return run < runs ? run * each_ : all_.rows; }

  /// Calls f for the lanes' runs and for what remains, with a place to keep things.
  template <class S, class F>
  void on_runs(S* kept, F f) {
    const auto from = [&](index_t run, index_t rows) {
      Rows<T> r = part(all_, 0, begin(run), rows);
      r.systems = false;
      for (Strided<const T>* band : {&r.dl, &r.d, &r.du}) band->lane = rows * band->row;
      r.b.lane = rows * r.b.row;
      r.before = all_.before || run > first();
      r.behind = all_.behind || (run == 0 && last() == runs);
      return r;
    };
    if (each_ > 0) f(vectors_, from(0, each_), index_t{0}, kept);
    if (last() == runs) f(numbers_, from(lanes, all_.rows - begin(lanes)), lanes, kept + Vectors<T>::kept(each_));
  }

  Rows<T> all_;
  index_t each_;
  Vectors<T> vectors_;
  Numbers<T> numbers_;
};

/// Segments that a core keeps of a system: of each run, and before each block.
index_t kept_segments(index_t equations) { return ceil_div(equations, block_rows) + OneSystem<float>::runs; }

/// The systems of a tile: as many at a time as there are lanes, if that reads memory in long runs, and others one by
/// one.
template <class T, class Several, class One>
void for_each_part(const Rows<T>& all, index_t systems, Several several, One one) {
  constexpr index_t lanes = Vectors<T>::lanes, many = 4096;
  index_t s = 0;
  if (all.b.lane == 1 || all.rows <= many)
    for (; s + lanes <= systems; s += lanes) several(s);
  for (; s < systems; ++s) one(s);
}

void add(index_t row, const SystemsTile& place, index_t system, InOut<int> info) {
  if (row > 0 && info(0, 0) == 0) info(0, 0) = row_status(row + place.n * system);
}

template <class T>
void solve(const SystemsTile& place, bool periodic, const Rows<T>& all, index_t systems, InOut<int> info) {
  constexpr index_t lanes = Vectors<T>::lanes;
  const auto across = std::make_unique<Vectors<T>>();
  std::vector<Segment<T>> kept(static_cast<std::size_t>(kept_segments(all.rows) * (systems >= lanes ? lanes : 1)));
  for_each_part<T>(
      all, systems,
      [&](index_t s) {
        const Rows<T> rows = part(all, s, 0, all.rows);
        Segment<T> whole[lanes];
        Ends<T> ends[lanes];
        Breakdown broken[lanes];
        forward(*across, rows, kept.data(), whole);
        bool regular[lanes];
        for (index_t l = 0; l < lanes; ++l) regular[l] = solve_ends(whole[l], periodic, ends[l]) != T(0);
        backward(*across, rows, kept.data(), ends, broken);
        for (index_t l = 0; l < lanes; ++l) {
          if (broken[l] == 0 && !regular[l]) broken[l] = degenerate(whole[l]) ? all.rows : 1;
          add(broken[l], place, s + l, info);
        }
      },
      [&](index_t s) {
        OneSystem<T> system(all, s);
        Ends<T> ends;
        const bool regular = solve_ends(system.reduce(kept.data()), periodic, ends) != T(0);
        const Breakdown broken = system.substitute(kept.data(), ends);
        add(broken > 0 || regular ? broken : 1, place, s, info);
      });
}

template <class T>
void reduce(const Rows<T>& all, index_t systems, const Block<Segment<T>>& work, Segment<T>* ends, index_t next) {
  constexpr index_t lanes = Vectors<T>::lanes;
  const auto across = std::make_unique<Vectors<T>>();
  for_each_part<T>(
      all, systems,
      [&](index_t s) {
        Segment<T> whole[lanes];
        forward(*across, part(all, s, 0, all.rows), &work(1, s), whole);
        for (index_t l = 0; l < lanes; ++l) ends[(s + l) * next] = whole[l];
      },
      [&](index_t s) { ends[s * next] = OneSystem<T>(all, s).reduce(&work(1, s)); });
}

template <class T>
void substitute(const SystemsTile& place, const Rows<T>& all, index_t systems, const Block<const Segment<T>>& work,
                const Block<const T>& values, index_t tile, InOut<int> info) {
  constexpr index_t lanes = Vectors<T>::lanes;
  const auto across = std::make_unique<Vectors<T>>();
  const auto ends_of = [&](index_t s) {
    const T* v = &values(2 * tile, s);
    return Ends<T>{v[0], v[1], v[2], v[3]};
  };
  for_each_part<T>(
      all, systems,
      [&](index_t s) {
        Ends<T> ends[lanes];
        Breakdown broken[lanes];
        for (index_t l = 0; l < lanes; ++l) ends[l] = ends_of(s + l);
        backward(*across, part(all, s, 0, all.rows), &work(1, s), ends, broken);
        for (index_t l = 0; l < lanes; ++l) add(broken[l], place, s + l, info);
      },
      [&](index_t s) { add(OneSystem<T>(all, s).substitute(&work(1, s), ends_of(s)), place, s, info); });
}

}  // namespace

index_t work_segments(index_t equations) { return 10 + kept_segments(equations); }  // a GPU keeps a few more

}  // namespace tridiagonal

using namespace tridiagonal;

template <class T>
void TridiagonalSolve<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Scratch<Segment<T>>,
                              InOut<int> info) {
  if (b.rows == 0 || b.cols == 0) return;
  SystemsTile place = args;
  place.before = place.behind = args.periodic;
  solve(place, args.periodic, rows_of<T>(place, dl, d, du, b), systems_of(args, b), info);
}

template <class T>
void TridiagonalReduce<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, In<T> b, Out<Segment<T>> work,
                               Out<Segment<T>> ends) {
  work(0, 0).upper.e = 0;
  reduce(rows_of<T>(args, dl, d, du, writable(b)), systems_of(args, b), work, ends.data, ends.ld);
}

template <class T>
void TridiagonalJoin<T>::cpu(const Args& args, Out<T> values, Scratch<Joint<T>> joints, InOut<int> info,
                             std::span<const In<Segment<T>>> ends) {
  const auto tiles = static_cast<index_t>(ends.size());
  for (index_t s = 0; s < values.cols; ++s) {
    Segment<T> whole = ends[0](0, s);
    for (index_t i = 1; i < tiles; ++i) whole = join(whole, ends[static_cast<std::size_t>(i)](0, s), joints(i, s));
    Ends<T> outer;
    bool regular = solve_ends(whole, args.periodic, outer) != T(0);
    values(0, s) = outer.a, values(1, s) = outer.b;
    values(2 * tiles, s) = outer.e, values(2 * tiles + 1, s) = outer.f;
    for (index_t i = tiles - 1; i > 0; --i) {
      regular = regular && joints(i, s).inverse_c != T(0) && joints(i, s).inverse_d != T(0);
      between(joints(i, s), {outer.a, outer.b, values(2 * i + 2, s), values(2 * i + 3, s)}, values(2 * i, s),
              values(2 * i + 1, s));
    }
    add(regular ? 0 : 1, args, s, info);
  }
}

template <class T>
void TridiagonalSubstitute<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, InOut<Segment<T>> work,
                                   In<T> values, InOut<int> info) {
  const index_t systems = systems_of(args, b);
  const auto rows = rows_of<T>(args, dl, d, du, b);
  Block<const Segment<T>> kept{work.data, work.rows, work.cols, work.ld};
  std::vector<Segment<T>> own;
  if (work(0, 0).upper.e != T(0)) {  // a GPU kept what it needs itself
    own.resize(static_cast<std::size_t>(work.rows * systems + systems));
    const Block<Segment<T>> all{own.data(), work.rows, systems, work.rows};
    reduce(rows, systems, all, own.data() + work.rows * systems, 1);
    kept = {own.data(), work.rows, systems, work.rows};
  }
  substitute<T>(args, rows, systems, kept, values, args.tile, info);
}

template struct TridiagonalSolve<float>;
template struct TridiagonalSolve<double>;
template struct TridiagonalReduce<float>;
template struct TridiagonalReduce<double>;
template struct TridiagonalJoin<float>;
template struct TridiagonalJoin<double>;
template struct TridiagonalSubstitute<float>;
template struct TridiagonalSubstitute<double>;

}  // namespace tesela::kernels
