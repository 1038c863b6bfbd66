#include <tesela/codelets/tridiagonal/internal/row_status.hpp>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_one_pass.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal.hpp>

#include <cmath>
#include <memory>
#include <vector>

namespace tesela::kernels {
namespace tridiagonal {
namespace {

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

/// What solve_ends answers of a system whose last unknown has a pivot; one that is infinite would leave it zero.
template <class T>
bool regular_pivot(T pivot) {
  return pivot != T(0) && std::isfinite(pivot);
}

template <class T>
void solve(const SystemsTile& place, bool periodic, const Rows<T>& all, index_t systems, InOut<int> info) {
  constexpr index_t lanes = Vectors<T>::lanes;
  const auto across = std::make_unique<Vectors<T>>();
  std::vector<Segment<T>> kept(static_cast<std::size_t>(1 + kept_segments(all.rows) * (systems >= lanes ? lanes : 1)));
  for_each_part<T>(
      all, systems,
      [&](index_t s) {
        const Rows<T> rows = part(all, s, 0, all.rows);
        Segment<T> whole[lanes];
        Ends<T> ends[lanes];
        Breakdown broken[lanes];
        forward(*across, rows, kept.data(), whole);
        bool regular[lanes];
        for (index_t l = 0; l < lanes; ++l) regular[l] = regular_pivot(solve_ends(whole[l], periodic, ends[l]));
        backward(*across, rows, kept.data(), ends, broken);
        for (index_t l = 0; l < lanes; ++l) {
          if (broken[l] == 0 && !regular[l]) broken[l] = degenerate(whole[l]) ? all.rows : 1;
          add(broken[l], place, s + l, info);
        }
      },
      [&](index_t s) {
        const Rows<T> system = part(all, s, 0, all.rows);
        Ends<T> ends;
        Breakdown broken = 0;
        const bool regular = regular_pivot(solve_ends(reduce_and_fill(system, kept.data(), broken), periodic, ends));
        broken = earlier(broken, substitute_rest(system, kept.data(), ends));
        add(broken > 0 || regular ? broken : 1, place, s, info);
      });
}

/// `reduce_one` is called with a system and what to keep of it.
template <class T, class ReduceOne>
void reduce(const Rows<T>& all, index_t systems, const Block<Segment<T>>& work, Segment<T>* ends, index_t next,
            ReduceOne reduce_one) {
  constexpr index_t lanes = Vectors<T>::lanes;
  const auto across = std::make_unique<Vectors<T>>();
  for_each_part<T>(
      all, systems,
      [&](index_t s) {
        Segment<T> whole[lanes];
        forward(*across, part(all, s, 0, all.rows), &work(1, s), whole);
        for (index_t l = 0; l < lanes; ++l) ends[(s + l) * next] = whole[l];
      },
      [&](index_t s) { ends[s * next] = reduce_one(s, part(all, s, 0, all.rows), &work(1, s)); });
}

/// Without filling anything in.
template <class T>
void reduce(const Rows<T>& all, index_t systems, const Block<Segment<T>>& work, Segment<T>* ends, index_t next) {
  reduce(all, systems, work, ends, next, [](index_t, const Rows<T>& system, Segment<T>* kept) {
    kept[0] = Filled<T>{}.packed();
    return OneSystem<T>(system, 0).reduce(kept + 1);
  });
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
      [&](index_t s) { add(substitute_rest(part(all, s, 0, all.rows), &work(1, s), ends_of(s)), place, s, info); });
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
void TridiagonalReduceAndFill<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Out<Segment<T>> work,
                                      Out<Segment<T>> ends, InOut<int> info) {
  work(0, 0).upper.e = 0;
  reduce(rows_of<T>(args, dl, d, du, b), systems_of(args, b), work, ends.data, ends.ld,
         [&](index_t s, const Rows<T>& system, Segment<T>* kept) {
           Breakdown broken = 0;
           const Segment<T> whole = reduce_and_fill(system, kept, broken);
           add(broken, args, s, info);
           return whole;
         });
}

template <class T>
void TridiagonalJoin<T>::cpu(const Args& args, Out<T> values, Scratch<Joint<T>> joints, InOut<int> info,
                             std::span<const In<Segment<T>>> ends) {
  const auto tiles = static_cast<index_t>(ends.size());
  for (index_t s = 0; s < values.cols; ++s) {
    Segment<T> whole = ends[0](0, s);
    for (index_t i = 1; i < tiles; ++i) whole = join(whole, ends[static_cast<std::size_t>(i)](0, s), joints(i, s));
    Ends<T> outer;
    bool regular = regular_pivot(solve_ends(whole, args.periodic, outer));
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
template struct TridiagonalReduceAndFill<float>;
template struct TridiagonalReduceAndFill<double>;
template struct TridiagonalJoin<float>;
template struct TridiagonalJoin<double>;
template struct TridiagonalSubstitute<float>;
template struct TridiagonalSubstitute<double>;

}  // namespace tesela::kernels
