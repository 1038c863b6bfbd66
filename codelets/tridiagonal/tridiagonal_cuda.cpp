#include <tesela/codelets/tridiagonal/tridiagonal.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/tridiagonal/internal/tridiagonal_launch.hpp>

namespace tesela::kernels {

using namespace tridiagonal;

namespace {

template <class T>
DeviceRows<T> device_rows(const SystemsTile& place, const Block<const T>& dl, const Block<const T>& d,
                          const Block<const T>& du, const Block<const T>& b) {
  const bool columns = place.systems == SystemsIn::columns;
  const auto strides = [&](const Block<const T>& tile, bool single) {
    return Strides{columns ? 1 : tile.ld, single ? 0 : columns ? tile.ld : 1};
  };
  const auto band = [&](const Block<const T>& tile) { return strides(tile, (columns ? tile.cols : tile.rows) == 1); };
  return {dl.data,
          d.data,
          du.data,
          const_cast<T*>(b.data),
          band(dl),
          band(d),
          band(du),
          strides(b, false),
          columns ? b.rows : b.cols,
          columns ? b.cols : b.rows,
          place.before,
          place.behind,
          place.n};
}

template <class T>
Block<const T> readable(const Block<T>& b) {
  return {b.data, b.rows, b.cols, b.ld};
}

}  // namespace

template <class T>
void TridiagonalSolve<T>::cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b,
                               Scratch<Segment<T>> work, InOut<int> info) {
  SystemsTile place = args;
  place.before = place.behind = args.periodic;
  const auto rows = device_rows<T>(place, dl, d, du, readable(b));
  const auto with = args.one_pass ? solve_in_one_pass<T> : solve<T>;
  context.check(with(context.stream(), rows, args.periodic, work.data, work.ld, info.data), "tridiagonal solve");
}

template <class T>
void TridiagonalReduce<T>::cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, In<T> b,
                                Out<Segment<T>> work, Out<Segment<T>> ends) {
  const auto rows = device_rows<T>(args, dl, d, du, b);
  context.check(reduce(context.stream(), rows, work.data, work.ld, ends.data, ends.ld), "tridiagonal reduce");
}

template <class T>
void TridiagonalJoin<T>::cuda(CudaContext& context, const Args& args, Out<T> values, Scratch<Joint<T>> joints,
                              InOut<int> info, std::span<const In<Segment<T>>> ends) {
  const auto tiles = static_cast<index_t>(ends.size());
  for (index_t first = 0; first < tiles; first += most_tiles) {
    DeviceTiles<T> some;
    const int count = static_cast<int>(tiles - first < most_tiles ? tiles - first : most_tiles);
    for (int i = 0; i < count; ++i) {
      const In<Segment<T>>& tile = ends[static_cast<std::size_t>(first + i)];
      some.segments[i] = tile.data;
      some.next[i] = tile.ld;
    }
    if (!context.check(join_tiles(context.stream(), some, count, values.cols, joints.data, joints.ld, first),
                       "tridiagonal join"))
      return;
  }
  context.check(fill_tiles<T>(context.stream(), joints.data, joints.ld, tiles, values.cols, args.periodic, values.data,
                              values.ld, info.data, args.n),
                "tridiagonal join");
}

template <class T>
void TridiagonalSubstitute<T>::cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b,
                                    InOut<Segment<T>> work, In<T> values, InOut<int> info) {
  const auto rows = device_rows<T>(args, dl, d, du, readable(b));
  const DeviceEnds<T> ends{values.data + 2 * args.tile, values.ld};
  context.check(substitute(context.stream(), rows, work.data, work.ld, ends, info.data), "tridiagonal substitute");
}

TESELA_CUDA_FOR_NUMBERS(TridiagonalSolve, TridiagonalReduce, TridiagonalJoin, TridiagonalSubstitute)

}  // namespace tesela::kernels

#endif
