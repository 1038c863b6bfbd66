#include <tesela/codelets/tridiagonal/tridiagonal.hpp>

#include <memory>
#include <vector>

#define HWY_TARGET_INCLUDE "tesela/codelets/tridiagonal/tridiagonal.cpp"
#include <tesela/codelets/tridiagonal/internal/tridiagonal_one_pass_inl.hpp>
#include <tesela/codelets/tridiagonal/internal/whole_systems_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::tridiagonal::HWY_NAMESPACE {
namespace {

/// Solves the systems of a tile: one per lane at a time if that reads long contiguous pieces of memory, the others one
/// by one.
template <class T, class Several, class One>
void for_each_part(const Rows<T>& all, index_t systems, Several several, One one) {
  constexpr index_t lanes = Vectors<T>::lanes, many = 4096;
  index_t s = 0;
  if (all.b.lane == 1 || all.rows <= many)
    for (; s + lanes <= systems; s += lanes) several(s);
  for (; s < systems; ++s) one(s);
}

template <class T>
void solve(const SystemsTile& place, bool periodic, const Rows<T>& all, index_t systems, InOut<int> info) {
  constexpr index_t lanes = Vectors<T>::lanes;
  static_assert(lanes == WholeSystems<T>::lanes);
  const bool by_rows = !periodic && all.rows <= WholeSystems<T>::most_rows;
  WholeSystems<T> run_concurrently(by_rows && systems >= lanes ? all.rows : 0);
  const auto across = std::make_unique<Vectors<T>>();
  std::vector<Segment<T>> kept(static_cast<std::size_t>(1 + kept_segments(all.rows) * (systems >= lanes ? lanes : 1)));
  for_each_part<T>(
      all, systems,
      [&](index_t s) {
        const Rows<T> rows = part(all, s, 0, all.rows);
        Breakdown broken[lanes];
        if (by_rows) {
          run_concurrently.solve(rows, broken);
          for (index_t l = 0; l < lanes; ++l) add(broken[l], place, s + l, info);
          return;
        }
        Segment<T> whole[lanes];
        Ends<T> ends[lanes];
        across->forward(rows, kept.data(), whole);
        bool regular[lanes];
        for (index_t l = 0; l < lanes; ++l) regular[l] = regular_pivot(solve_ends(whole[l], periodic, ends[l]));
        across->backward(rows, kept.data(), ends, broken);
        for (index_t l = 0; l < lanes; ++l) {
          if (broken[l] == 0 && !regular[l]) broken[l] = degenerate(whole[l]) ? all.rows : 1;
          add(broken[l], place, s + l, info);
        }
      },
      [&](index_t s) {
        const Rows<T> system = part(all, s, 0, all.rows);
        Ends<T> ends;
        Breakdown broken = 0;
        const bool regular = regular_pivot(solve_ends(reduce_and_solve(system, kept.data(), broken), periodic, ends));
        broken = earlier(broken, substitute_rest(system, kept.data(), ends));
        add(broken > 0 || regular ? broken : 1, place, s, info);
      });
}

/// Reduces the systems; `reduce_one` is called with a system and the kept segments.
template <class T, class ReduceOne>
void reduce_each(const Rows<T>& all, index_t systems, const Block<Segment<T>>& work, Segment<T>* ends, index_t next,
                 ReduceOne reduce_one) {
  constexpr index_t lanes = Vectors<T>::lanes;
  const auto across = std::make_unique<Vectors<T>>();
  for_each_part<T>(
      all, systems,
      [&](index_t s) {
        Segment<T> whole[lanes];
        across->forward(part(all, s, 0, all.rows), &work(1, s), whole);
        for (index_t l = 0; l < lanes; ++l) ends[(s + l) * next] = whole[l];
      },
      [&](index_t s) { ends[s * next] = reduce_one(s, part(all, s, 0, all.rows), &work(1, s)); });
}

/// Reduces without solving any rows.
template <class T>
void reduce(const Rows<T>& all, index_t systems, const Block<Segment<T>>& work, Segment<T>* ends, index_t next) {
  reduce_each(all, systems, work, ends, next, [](index_t, const Rows<T>& system, Segment<T>* kept) {
    kept[0] = Filled<T>{}.packed();
    return OneSystem<T>(system, 0).reduce(kept + 1);
  });
}

template <class T>
void reduce_and_solve_systems(const SystemsTile& place, const Rows<T>& all, index_t systems,
                              const Block<Segment<T>>& work, Segment<T>* ends, index_t next, InOut<int> info) {
  reduce_each(all, systems, work, ends, next, [&](index_t s, const Rows<T>& system, Segment<T>* kept) {
    Breakdown broken = 0;
    const Segment<T> whole = reduce_and_solve(system, kept, broken);
    add(broken, place, s, info);
    return whole;
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
        across->backward(part(all, s, 0, all.rows), &work(1, s), ends, broken);
        for (index_t l = 0; l < lanes; ++l) add(broken[l], place, s + l, info);
      },
      [&](index_t s) { add(substitute_rest(part(all, s, 0, all.rows), &work(1, s), ends_of(s)), place, s, info); });
}

}  // namespace
}  // namespace tesela::kernels::tridiagonal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {
namespace tridiagonal {
namespace {

template <class T>
void solve(const SystemsTile& place, bool periodic, const Rows<T>& all, index_t systems, InOut<int> info) {
  TESELA_BEST_TARGET(solve<T>)(place, periodic, all, systems, info);
}
template <class T>
void reduce(const Rows<T>& all, index_t systems, const Block<Segment<T>>& work, Segment<T>* ends, index_t next) {
  TESELA_BEST_TARGET(reduce<T>)(all, systems, work, ends, next);
}
template <class T>
void reduce_and_solve_systems(const SystemsTile& place, const Rows<T>& all, index_t systems,
                              const Block<Segment<T>>& work, Segment<T>* ends, index_t next, InOut<int> info) {
  TESELA_BEST_TARGET(reduce_and_solve_systems<T>)(place, all, systems, work, ends, next, info);
}
template <class T>
void substitute(const SystemsTile& place, const Rows<T>& all, index_t systems, const Block<const Segment<T>>& work,
                const Block<const T>& values, index_t tile, InOut<int> info) {
  TESELA_BEST_TARGET(substitute<T>)(place, all, systems, work, values, tile, info);
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
void TridiagonalReduceAndSolve<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Out<Segment<T>> work,
                                       Out<Segment<T>> ends, InOut<int> info) {
  work(0, 0).upper.e = 0;
  reduce_and_solve_systems(args, rows_of<T>(args, dl, d, du, b), systems_of(args, b), work, ends.data, ends.ld, info);
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
  if (work(0, 0).upper.e != T(0)) {  // a GPU has kept all that it needs
    own.resize(static_cast<std::size_t>(work.rows * systems + systems));
    const Block<Segment<T>> all{own.data(), work.rows, systems, work.rows};
    reduce(rows, systems, all, own.data() + work.rows * systems, index_t{1});
    kept = {own.data(), work.rows, systems, work.rows};
  }
  substitute(args, rows, systems, kept, values, args.tile, info);
}

TESELA_STRUCTS_FOR_REALS(TridiagonalSolve, TridiagonalReduce, TridiagonalReduceAndSolve, TridiagonalSubstitute)
TESELA_STRUCTS_FOR_NUMBERS(TridiagonalJoin)

}  // namespace tesela::kernels
#endif
