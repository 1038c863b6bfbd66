#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_refinement_body.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_refinement.hpp>

#include <algorithm>

namespace tesela::kernels {

using namespace tridiagonal;

namespace {

constexpr int threads = 256;

/// Arrangement of the threads of a block: `rows` threads for each of threads / rows systems. The threads of a system
/// are neighbours unless neighbours in memory are systems.
struct ThreadLayout {
  int rows, systems;
  bool rows_first;
  __device__ int row() const { return rows_first ? int(threadIdx.x) % rows : int(threadIdx.x) / systems; }
  __device__ int system() const { return rows_first ? int(threadIdx.x) / rows : int(threadIdx.x) % systems; }
};

ThreadLayout thread_layout(SystemsIn in, index_t rows, index_t systems) {
  const bool columns = in == SystemsIn::columns;
  const index_t most = columns ? std::min<index_t>(rows, threads) : std::min<index_t>(systems, 32);
  int first = 1;
  while (first < most) first *= 2;
  return columns ? ThreadLayout{first, threads / first, true} : ThreadLayout{threads / first, first, false};
}

/// Returns the number of blocks that share `count` pieces of work.
unsigned blocks_for(index_t count) { return static_cast<unsigned>(std::clamp<index_t>(count, 1, 65536)); }

template <class F>
__global__ void for_each_row(ThreadLayout how, index_t rows, index_t systems, F f) {
  const index_t chunks = (rows + misfit_rows - 1) / misfit_rows, groups = (systems + how.systems - 1) / how.systems;
  for (index_t piece = blockIdx.x; piece < chunks * groups; piece += gridDim.x) {
    const index_t s = piece / chunks * how.systems + how.system(), first = piece % chunks * misfit_rows;
    const index_t end = first + misfit_rows < rows ? first + misfit_rows : rows;
    if (s >= systems) continue;
    for (index_t e = first + how.row(); e < end; e += how.rows) f(e, s);
  }
}

template <class F>
void launch(CudaContext& context, SystemsIn in, Shape tile, const F& f) {
  const index_t rows = equations(in, tile), systems = count_systems(in, tile);
  const ThreadLayout how = thread_layout(in, std::min(rows, misfit_rows), systems);
  const unsigned blocks = blocks_for(misfits(rows) * ceil_div(systems, how.systems));
  for_each_row<<<blocks, threads, 0, context.stream()>>>(how, rows, systems, f);
}

/// Reduces the values of a system's threads to the worst, in its first thread.
template <class M>
__device__ M worst(ThreadLayout how, const M& own) {
  __shared__ __align__(16) unsigned char memory[threads * sizeof(M)];
  M* const all = reinterpret_cast<M*>(memory) + how.system() * how.rows;
  __syncthreads();  // the previous piece is finished
  all[how.row()] = own;
  for (int half = how.rows / 2; half > 0; half /= 2) {
    __syncthreads();
    if (how.row() < half) worsen(all[how.row()], all[how.row() + half]);
  }
  return all[how.row()];
}

template <class T>
__global__ void residuals(ThreadLayout how, index_t rows, index_t systems, ResidualRow<T> row,
                          SystemResidual<real_t<T>>* misfits, index_t chunks, index_t ld) {
  const index_t groups = (systems + how.systems - 1) / how.systems;
  for (index_t piece = blockIdx.x; piece < chunks * groups; piece += gridDim.x) {
    const index_t c = piece % chunks, s = piece / chunks * how.systems + how.system(), first = c * misfit_rows;
    const index_t end = first + misfit_rows < rows ? first + misfit_rows : rows;
    SystemResidual<real_t<T>> own{};
    if (s < systems)
      for (index_t e = first + how.row(); e < end; e += how.rows) worsen(own, row(e, s));
    own = worst(how, own);
    if (s < systems && how.row() == 0) misfits[c + s * ld] = own;
  }
}

/// Most tiles of one kernel launch.
constexpr int most_tiles = 100;
template <class T>
struct Tiles {
  const SystemResidual<T>* data[most_tiles];
  index_t rows[most_tiles], ld[most_tiles];
  int count;
};

/// Processes one system per block.
template <class T>
__global__ void gather(Tiles<T> tiles, bool begin, index_t systems, SystemResidual<T>* whole, index_t next) {
  const ThreadLayout how{threads, 1, true};
  for (index_t s = blockIdx.x; s < systems; s += gridDim.x) {
    SystemResidual<T> own{};
    for (int i = 0; i < tiles.count; ++i)
      for (index_t c = threadIdx.x; c < tiles.rows[i]; c += threads) worsen(own, tiles.data[i][c + s * tiles.ld[i]]);
    own = worst(how, own);
    if (threadIdx.x != 0) continue;
    if (!begin) worsen(own, whole[s * next]);
    whole[s * next] = own;
  }
}

template <class T>
__global__ void judge(typename TridiagonalEvaluate<T>::Args args, index_t systems, SystemResidual<T>* whole,
                      index_t next, Verdict<T>* verdict) {
  Verdict<T> own{};
  for (index_t s = threadIdx.x; s < systems; s += threads) {
    SystemResidual<T>& system = whole[s * next];
    system.correction = correction_for(system, args.tolerance, args.componentwise);
    worsen(own, verdict_on(system, args.n, s));
  }
  own = worst(ThreadLayout{threads, 1, true}, own);
  if (threadIdx.x == 0) *verdict = own;
}

}  // namespace

template <class T, class L>
void TridiagonalConvert<T, L>::cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, Out<L> to_dl,
                                    Out<L> to_d, Out<L> to_du) {
  launch(context, args.systems, d.shape(), on_device(convert_row<T, L>(args, dl, d, du, to_dl, to_d, to_du)));
}

template <class T>
void TridiagonalResidual<T>::cuda(CudaContext& context, const Args& args, In<T> dl, In<T> d, In<T> du, In<T> before,
                                  In<T> x, In<T> after, In<T> b, Out<SystemResidual<real_t<T>>> result,
                                  std::span<const Out<T>> r) {
  const index_t rows = equations(args.systems, x.shape()), systems = count_systems(args.systems, x.shape());
  const ThreadLayout how = thread_layout(args.systems, std::min(rows, misfit_rows), systems);
  const unsigned blocks = blocks_for(result.rows * ceil_div(systems, how.systems));
  residuals<<<blocks, threads, 0, context.stream()>>>(
      how, rows, systems, on_device(residual_row<T>(args, dl, d, du, before, x, after, b, r)), result.data, result.rows,
      result.ld);
}

template <class T>
void TridiagonalEvaluate<T>::cuda(CudaContext& context, const Args& args, Out<SystemResidual<T>> whole,
                                  Out<Verdict<T>> verdict, std::span<const In<SystemResidual<T>>> tiles) {
  for (std::size_t first = 0; first < tiles.size(); first += most_tiles) {
    Tiles<T> some{};
    some.count = static_cast<int>(std::min<std::size_t>(tiles.size() - first, most_tiles));
    for (int i = 0; i < some.count; ++i) {
      const In<SystemResidual<T>>& tile = tiles[first + static_cast<std::size_t>(i)];
      some.data[i] = tile.data, some.rows[i] = tile.rows, some.ld[i] = tile.ld;
    }
    gather<<<blocks_for(whole.cols), threads, 0, context.stream()>>>(some, first == 0, whole.cols, whole.data,
                                                                     whole.ld);
  }
  judge<T><<<1, threads, 0, context.stream()>>>(args, whole.cols, whole.data, whole.ld, verdict.data);
}

template <class T>
void TridiagonalSelectBetter<T>::cuda(CudaContext& context, const Args& args, InOut<T> x, In<T> y,
                                      In<SystemResidual<real_t<T>>> of_x, In<SystemResidual<real_t<T>>> of_y) {
  launch(context, args.systems, x.shape(), on_device(select_better_element<T>(args.systems, x, y, of_x, of_y)));
}

template <class T, class L>
void TridiagonalDemote<T, L>::cuda(CudaContext& context, const Args& args, In<T> r, In<SystemResidual<real_t<T>>> whole,
                                   Out<L> y) {
  launch(context, args.systems, y.shape(),
         on_device(DemoteElement<T, L>{system_view<const T>(args.systems, r), whole.data, whole.ld,
                                       system_view<L>(args.systems, y)}));
}

template <class T, class L>
void TridiagonalCorrect<T, L>::cuda(CudaContext& context, const Args& args, In<L> y,
                                    In<SystemResidual<real_t<T>>> whole, InOut<T> x) {
  launch(context, args.systems, x.shape(),
         on_device(CorrectElement<T, L>{system_view<const L>(args.systems, y), whole.data, whole.ld,
                                        system_view<T>(args.systems, x)}));
}

TESELA_CUDA_FOR_NUMBERS(TridiagonalResidual, TridiagonalSelectBetter)
#define TESELA_INSTANTIATE(T)                                                       \
  template decltype(TridiagonalConvert<T, T>::cuda) TridiagonalConvert<T, T>::cuda; \
  template decltype(TridiagonalDemote<T, T>::cuda) TridiagonalDemote<T, T>::cuda;   \
  template decltype(TridiagonalCorrect<T, T>::cuda) TridiagonalCorrect<T, T>::cuda;
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)
#define TESELA_INSTANTIATE_MIXED(T, L)                                              \
  template decltype(TridiagonalConvert<T, L>::cuda) TridiagonalConvert<T, L>::cuda; \
  template decltype(TridiagonalDemote<T, L>::cuda) TridiagonalDemote<T, L>::cuda;   \
  template decltype(TridiagonalCorrect<T, L>::cuda) TridiagonalCorrect<T, L>::cuda;
TESELA_INSTANTIATE_MIXED(double, float)
TESELA_INSTANTIATE_MIXED(std::complex<double>, std::complex<float>)
TESELA_CUDA_FOR_REALS(TridiagonalEvaluate)

}  // namespace tesela::kernels
