#include <tesela/codelets/tridiagonal/internal/tridiagonal_one_pass.cuh>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_segments.cuh>

// A thread block processes consecutive rows of one system, or whole systems. It loads them into shared memory, each
// thread reduces a few rows to a segment, and a binary tree joins the segments. The segments of the blocks are joined
// again, at least 256 at a time, until each system has one. The way back repeats a block's elimination from its rows,
// with the pivot rows stored in place of the rows, and substitutes.

namespace tesela::kernels::tridiagonal {
namespace {

template <class T>
__global__ void join_kernel(DeviceTiles<T> tiles, int count, index_t systems, Joint<T>* joints, index_t ld,
                            index_t first) {
  const index_t s = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
  if (s >= systems) return;
  Joint<T>* const own = joints + s * ld;
  Segment<T>& sofar = *reinterpret_cast<Segment<T>*>(own);  // nothing is joined to tile 0
  Segment<T> whole = first == 0 ? tiles.segments[0][s * tiles.next[0]] : sofar;
  for (int i = first == 0 ? 1 : 0; i < count; ++i)
    whole = join_device(whole, tiles.segments[i][s * tiles.next[i]], own[first + i]);
  sofar = whole;
}

template <class T>
__global__ void fill_kernel(const Joint<T>* joints, index_t ld, index_t tiles, index_t systems, bool periodic,
                            T* values, index_t next, int* info, index_t n) {
  const index_t s = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
  if (s >= systems) return;
  const Joint<T>* const own = joints + s * ld;
  T* const v = values + s * next;
  Ends<T> ends;
  bool regular = solve_ends(*reinterpret_cast<const Segment<T>*>(own), periodic, ends) != real_t<T>(0);
  v[0] = ends.a, v[1] = ends.b, v[2 * tiles] = ends.e, v[2 * tiles + 1] = ends.f;
  for (index_t i = tiles - 1; i > 0; --i) {
    const Joint<T> joint = own[i];
    regular = regular && joint.inverse_c != T(0) && joint.inverse_d != T(0);
    between(joint, Ends<T>{v[0], v[1], v[2 * i + 2], v[2 * i + 3]}, v[2 * i], v[2 * i + 1]);
  }
  if (!regular) report(info, 1 + n * s);
}

/// The levels above the rows, in a tile's work: the segments of the rows' blocks, then the segments of 512 of these,
/// and so on, until one block can join all. The first element of each system is free for other uses.
template <class T>
struct Levels {
  Level<T> level[8];
  index_t count[8];
  int size = 1;

  Levels(index_t parts, Segment<T>* work, index_t ld) {
    level[0] = {work + 1, ld};
    count[0] = parts;
    for (; count[size - 1] > most_segments<T>; ++size) {
      level[size] = {level[size - 1].data + count[size - 1], ld};
      count[size] = ceil_div(count[size - 1], segments_of_block);
    }
  }
};

template <class T>
int reduce_levels(cudaStream_t stream, const DeviceRows<T>& in, const Levels<T>& levels, Level<T> ends, When<T> when) {
  for (int k = 0; k < levels.size; ++k) {
    const bool last = k + 1 == levels.size;
    if (last && ends.data == nullptr) break;
    const int status = launch_segments<T, Top::reduce>(stream, levels.level[k], levels.count[k], in.systems,
                                                       last ? levels.count[k] : segments_of_block,
                                                       last ? ends : levels.level[k + 1], {}, false, nullptr, 0, when);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

template <class T>
int substitute_levels(cudaStream_t stream, const DeviceRows<T>& in, const Levels<T>& levels, int from,
                      DeviceEnds<T> outer, int* info, When<T> when) {
  for (int k = from; k >= 0; --k) {
    const bool last = k + 1 == levels.size;
    const int status = launch_segments<T, Top::substitute>(
        stream, levels.level[k], levels.count[k], in.systems, last ? levels.count[k] : segments_of_block,
        last ? Level<T>{} : levels.level[k + 1], outer, false, info, in.n, when);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

template <class T>
int reduce_when(cudaStream_t stream, const DeviceRows<T>& in, Segment<T>* work, index_t ld, Level<T> ends,
                When<T> when) {
  const RowPartition partition = partition_rows(in);
  const Levels<T> levels(partition.parts, work, ld);
  const int status = launch_rows<T, Pass::reduce>(
      stream, in, partition, partition.chunks == 1 && ends.data != nullptr ? ends : levels.level[0], {}, false, nullptr,
      when);
  if (status != cudaSuccess || partition.chunks == 1) return status;
  return reduce_levels(stream, in, levels, ends, when);
}

/// Substitutes from the segments of the lower levels: computes the unknowns between them.
template <class T>
int solve_levels(cudaStream_t s, const DeviceRows<T>& in, const Levels<T>& levels, bool periodic, Level<T> ends,
                 DeviceEnds<T> outer, int* info, When<T> when) {
  const int top = levels.size - 1;
  const int status = launch_segments<T, Top::solve>(s, levels.level[top], levels.count[top], in.systems,
                                                    levels.count[top], ends, {}, periodic, info, in.n, when);
  return status == cudaSuccess ? substitute_levels(s, in, levels, top - 1, outer, info, when) : status;
}

/// Returns where the top level stores the unknowns around a system.
template <class T>
DeviceEnds<T> outer_ends(const Segment<T>* work, index_t ld) {
  return {reinterpret_cast<const T*>(work), ld * static_cast<index_t>(sizeof(Segment<T>) / sizeof(T))};
}

template <class T>
int solve_in_two_passes(cudaStream_t s, const DeviceRows<T>& in, const RowPartition& partition, bool periodic,
                        Segment<T>* work, index_t ld, int* info, When<T> when) {
  const Levels<T> levels(partition.parts, work, ld);
  const DeviceEnds<T> outer = outer_ends(work, ld);
  int status = reduce_when<T>(s, in, work, ld, {}, when);
  if (status == cudaSuccess) status = solve_levels<T>(s, in, levels, periodic, {work, ld}, outer, info, when);
  if (status != cudaSuccess) return status;
  return launch_rows<T, Pass::substitute>(s, in, partition, levels.level[0], outer, false, info, when);
}

/// Returns whether systems are long enough for windows and have the required layout.
template <class T>
bool fits_windows(const DeviceRows<T>& in, const RowPartition& partition) {
  return partition.columns && ceil_div(in.rows, index_t{own_rows_of_window}) * in.systems < INT32_MAX;
}

/// Solves in one pass, and reads the rows a second time only if they depend on distant rows.
template <class T>
int solve_in_windows(cudaStream_t s, const DeviceRows<T>& in, const RowPartition& partition, Segment<T>* work,
                     index_t ld, int* info) {
  const auto of_system = static_cast<unsigned>(ceil_div(in.rows, index_t{own_rows_of_window})),
             count = of_system * static_cast<unsigned>(in.systems);
  // The second half of the first element, which ends do not use, holds the counts.
  auto* const counts = reinterpret_cast<WindowCounts*>(&work->lower);
  auto* const outer = reinterpret_cast<T*>(work + 1);
  auto* const states = reinterpret_cast<Window*>(outer + 2 * index_t{count});
  const Windows<T> windows{counts, states, outer, of_system, count, std::min(count, most_samples), partition.packed};
  const When<T> when{nullptr, &counts->left};
  constexpr std::size_t shared = 4 * sizeof(T) * rows_of_window;
  index_t at_once = 0;
  int status = count_at_once(at_once, one_pass_kernel<T>, threads_of_window, shared);
  if (status == cudaSuccess)
    status = cudaMemsetAsync(
        work, 0, static_cast<std::size_t>(reinterpret_cast<char*>(states + count) - reinterpret_cast<char*>(work)), s);
  if (status == cudaSuccess)
    status =
        launch(one_pass_kernel<T>, std::min(index_t{count}, at_once), threads_of_window, shared, s, false, in, windows);
  if (status == cudaSuccess)
    status = launch(restore_kernel<T>, std::min(index_t{count}, at_once), threads_of_window, 0, s, true, in, windows);
  if (status != cudaSuccess) return status;
  return solve_in_two_passes(s, in, partition, false, work, ld, info, when);
}

}  // namespace

template <class T>
int reduce(void* stream, const DeviceRows<T>& in, Segment<T>* work, index_t ld, Segment<T>* ends, index_t next) {
  auto* const s = static_cast<cudaStream_t>(stream);
  const int status = cudaMemsetAsync(work, 1, sizeof(T), s);  // not zero: marks the tile as reduced by a GPU
  if (status != cudaSuccess) return status;
  return reduce_when<device_t<T>>(s, on_device(in), device_structures(work), ld, {device_structures(ends), next}, {});
}

template <class T>
int substitute(void* stream, const DeviceRows<T>& rows, Segment<T>* kept, index_t ld, DeviceEnds<T> outer, int* info) {
  using D = device_t<T>;
  auto* const s = static_cast<cudaStream_t>(stream);
  auto* const work = device_structures(kept);
  const DeviceRows<D> in = on_device(rows);
  const DeviceEnds<D> ends = on_device(outer);
  const RowPartition partition = partition_rows(in);
  const Levels<D> levels(partition.parts, work, ld);
  if (partition.chunks > 1) {
    // A core may have reduced the tile; its kept segments are not usable here.
    int status = reduce_when<D>(s, in, work, ld, {}, {reinterpret_cast<const D*>(work)});
    if (status == cudaSuccess) status = substitute_levels<D>(s, in, levels, levels.size - 1, ends, info, {});
    if (status != cudaSuccess) return status;
  }
  return launch_rows<D, Pass::substitute>(s, in, partition, levels.level[0], ends, false, info, {});
}

template <class T>
int solve(void* stream, const DeviceRows<T>& rows, bool periodic, Segment<T>* work, index_t ld, int* info) {
  using D = device_t<T>;
  auto* const s = static_cast<cudaStream_t>(stream);
  const DeviceRows<D> in = on_device(rows);
  const RowPartition partition = partition_rows(in);
  if (partition.chunks == 1) return launch_rows<D, Pass::solve>(s, in, partition, {}, {}, periodic, info, {});
  return solve_in_two_passes<D>(s, in, partition, periodic, device_structures(work), ld, info, {});
}

template <class T>
int solve_in_one_pass(void* stream, const DeviceRows<T>& in, bool periodic, Segment<T>* work, index_t ld, int* info) {
  if constexpr (!is_complex<T>) {
    const RowPartition partition = partition_rows(in);
    if (!periodic && partition.chunks > 1 && fits_windows(in, partition))
      return solve_in_windows(static_cast<cudaStream_t>(stream), in, partition, work, ld, info);
  }
  return solve(stream, in, periodic, work, ld, info);
}

template <class T>
int join_tiles(void* stream, const DeviceTiles<T>& tiles, int count, index_t systems, Joint<T>* joints, index_t ld,
               index_t first) {
  const auto blocks = static_cast<unsigned>(ceil_div(systems, index_t{128}));
  join_kernel<<<blocks, 128, 0, static_cast<cudaStream_t>(stream)>>>(on_device(tiles), count, systems,
                                                                     device_structures(joints), ld, first);
  return cudaGetLastError();
}

template <class T>
int fill_tiles(void* stream, const Joint<T>* joints, index_t ld, index_t tiles, index_t systems, bool periodic,
               T* values, index_t next, int* info, index_t n) {
  const auto blocks = static_cast<unsigned>(ceil_div(systems, index_t{128}));
  fill_kernel<<<blocks, 128, 0, static_cast<cudaStream_t>(stream)>>>(device_structures(joints), ld, tiles, systems,
                                                                     periodic, device_pointer(values), next, info, n);
  return cudaGetLastError();
}

TESELA_FUNCTIONS_FOR_NUMBERS(solve, solve_in_one_pass, reduce, substitute, join_tiles, fill_tiles)

}  // namespace tesela::kernels::tridiagonal
