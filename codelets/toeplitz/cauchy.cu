#include <tesela/codelets/toeplitz/cauchy.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_pivot.cuh>

#include <algorithm>

// A group of thread blocks (one, or a cluster of up to 16) sweeps one block of C. All its rows stay in registers; a
// warp owns 32 R consecutive rows, so that its accesses to the table w are consecutive for every pivot. In every step a
// thread block finds its largest diagonal entry by keys that also contain the row (a barrier). The row's owner then
// publishes the row's g and h (a barrier, or within a cluster a message to every block, each of which selects the
// best).

namespace tesela::kernels {
namespace cauchy {
namespace {

/// Arguments of CauchyInvert and CauchyCount on the device. `inverse` may be null.
template <class T>
struct DeviceSweep {
  const T* c;
  index_t ld_c, n;
  const double* sigma;
  index_t shifts;
  T* inverse;
  index_t ld_inverse;
  double* report;
  index_t ld_report;
  T* table;  ///< cauchy_table(n) elements of work space
};

/// Storage of w(k). Mirrored: for k = 1 - ceil(n / 2) ... n. Folded: w(k) = w(n + 1 - k) = -w(-k), so reads may run
/// backwards: a third of the size in shared memory, and in global memory a larger part in the cache.
enum class Table : std::uint8_t { mirrored, folded, global };

struct SweepShape {
  int rows = 0;     ///< of a thread
  int warps = 0;    ///< of a thread block
  int cluster = 0;  ///< thread blocks for one block of C
  Table table = Table::global;
};

__host__ __device__ constexpr index_t first_half(index_t n) { return n - n / 2; }

/// First k of a table and its number of elements, for threads of r rows each. Nonexistent rows of the last warp read
/// zeros, or values that they ignore.
struct Range {
  index_t first, count;
};
__host__ __device__ constexpr Range table_range(index_t n, Table table, int r) {
  if (table == Table::mirrored) return {1 - first_half(n), 3 * first_half(n) + 32 * r + 1};
  return {-32 * r, (n + 1) / 2 + 64 * r + 2};
}

template <class T>
constexpr std::size_t table_bytes(index_t n, Table table, int r) {
  return table == Table::global ? 0 : static_cast<std::size_t>(table_range(n, table, r).count) * sizeof(T);
}

template <class T>
__global__ void fill_table(T* table, index_t n, Range range) {
  const index_t i = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
  if (i >= range.count) return;
  const index_t k = i + range.first, size = k < 0 ? -k : k, near = size < n + 1 - size ? size : n + 1 - size;
  const double w = near > 0 ? 1 / sinpi(static_cast<double>(near) / static_cast<double>(n + 1)) : 0;
  table[i] = static_cast<T>(k < 0 ? -w : w);
}

template <auto Value>
struct Constant {
  __device__ constexpr operator decltype(Value)() const { return Value; }
};

/// Calls f(0), f(1), ... with constants, so that the rows stay in registers.
template <int R, int First = 0, class F>
__device__ __forceinline__ void for_each_slot(const F& f) {
  if constexpr (First < R) {
    f(Constant<First>{});
    for_each_slot<R, First + 1>(f);
  }
}

/// Calls f(slot) with a constant, found by bisection; `slot` is the same for the whole warp.
template <int First, int Last, class F>
__device__ __forceinline__ void in_slot(unsigned slot, const F& f) {
  if constexpr (Last - First == 1) {
    f(Constant<First>{});
  } else {
    constexpr int middle = (First + Last) / 2;
    if (slot < middle)
      in_slot<First, middle>(slot, f);
    else
      in_slot<middle, Last>(slot, f);
  }
}

constexpr int most_threads(int rows) { return rows <= 4 ? 1024 : rows <= 8 ? 768 : 512; }

/// The rows of a thread, 32 apart from each other, in registers.
template <class T, int R>
struct Rows {
  T g[R], h[R], d[R];
  unsigned left = 0, best = no_row;  // rows that have not been pivots, and the key of the largest |d| among them

  /// Loads the rows; `row` points to the first one, and the block has `count` more rows from there on.
  __device__ __forceinline__ void load(const T* row, index_t ld, double sigma, int count) {
    for_each_slot<R>([&](auto i) {
      g[i] = h[i] = d[i] = T(0);
      if (32 * i >= count) return;
      g[i] = row[32 * i];
      h[i] = row[32 * i + ld];
      d[i] = row[32 * i + 2 * ld] - static_cast<T>(sigma);
      left |= 1u << i;
      best = max(best, slot_key(d[i], i));
    });
  }

  /// Subtracts the multiple of pivot row p from all rows, and finds the next `best`. The thread's first row is base +
  /// lane, and w(k) is w[k - first_k].
  template <Table Kind>
  __device__ __forceinline__ void subtract(const Pivot<T>& pivot, int p, const T* __restrict__ w, int first_k, int n,
                                           int part, int base, int lane) {
    const T gp = pivot.g, hp = pivot.h, dp = pivot.d;
    best = no_row;
    // Positions of w(row + p + o) and w(row - p) for the thread's first row, and the distance to the next row's.
    unsigned sum = static_cast<unsigned>(base + p + part + 1 - first_k + lane);
    unsigned difference = static_cast<unsigned>(base - p - first_k + lane);
    [[maybe_unused]] unsigned sum_step = 32, difference_step = 32;
    bool backward = false;
    if constexpr (Kind != Table::mirrored) {
      if (base + p + part > n / 2)
        sum = static_cast<unsigned>(n - base - p - part - first_k - lane), sum_step = 0u - 32;
      backward = base - p <= -32 * R;
      if (backward) difference = static_cast<unsigned>(p - base - first_k - lane), difference_step = 0u - 32;
    }
    const auto update = [&](auto negative, auto reversed) {
      const T gq = reversed ? -gp : gp, hq = reversed ? -hp : hp;
      for_each_slot<R>([&](auto i) {
        T c = g[i] * hq - h[i] * gq;
        if constexpr (Kind == Table::mirrored) {
          c *= (w + sum)[32 * i] * (w + difference)[32 * i];
        } else {
          c *= w[sum] * w[difference];
          sum += sum_step;
          difference += difference_step;
        }
        const T l = negative ? -c : c, m = reversed ? -l : l;
        g[i] -= m * gq;
        h[i] -= m * hq;
        d[i] -= l * c;
        if (left >> i & 1) best = max(best, slot_key(d[i], i));
      });
    };
    if (!backward) {
      if (dp < T(0))
        update(Constant<true>{}, Constant<false>{});
      else
        update(Constant<false>{}, Constant<false>{});
    } else {
      if (dp < T(0))
        update(Constant<true>{}, Constant<true>{});
      else
        update(Constant<false>{}, Constant<true>{});
    }
  }

  /// Makes row `slot` of one lane the pivot's row of the inverse; scale = 1 / sqrt|d|.
  __device__ __forceinline__ void turn(unsigned slot, bool own, const Pivot<T>& pivot, T scale) {
    const T inverse = pivot.d < T(0) ? -scale : scale;
    in_slot<0, R>(slot, [&](auto i) {
      if (own) {
        g[i] = pivot.g * inverse;
        h[i] = pivot.h * inverse;
        d[i] = -inverse * scale;
      }
    });
  }
};

template <class T, int R, Table Kind, bool Cluster>
__global__ void __launch_bounds__(most_threads(R)) sweep_kernel(DeviceSweep<T> in, int cluster) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ Exchange<T> exchange;
  if constexpr (!Cluster) cluster = 1;
  const int lane = static_cast<int>(threadIdx.x % 32), rank = Cluster ? static_cast<int>(blockIdx.x) % cluster : 0;
  const index_t problem = blockIdx.x / static_cast<unsigned>(cluster), shift = problem / 2;
  const int part = static_cast<int>(problem % 2), n = static_cast<int>(in.n), half = static_cast<int>(first_half(n));
  const int rows = part == 0 ? half : n - half, first = part * half;
  const int of_block = static_cast<int>(threadIdx.x / 32) * 32 * R;  // the warp's rows among the thread block's rows
  const int start = rank * static_cast<int>(blockDim.x) * R, base = start + of_block;  // in total

  const int first_k = static_cast<int>(table_range(n, Kind, R).first);
  const T* __restrict__ w = in.table;
  if constexpr (Kind != Table::global) {
    T* const copy = reinterpret_cast<T*>(memory);
    const int count = static_cast<int>(table_range(n, Kind, R).count);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) copy[i] = in.table[i];
    w = copy;
  }

  Rows<T, R> own;
  own.load(in.c + first + base + lane, in.ld_c, in.sigma[shift], rows - base - lane);
  const unsigned offset = row_offset(static_cast<unsigned>(of_block + lane));
  exchange.start(cluster);

  int step = 0;
  for (; step < rows; ++step) {
    const unsigned key = exchange.best_of_block(own.best + offset, step);
    const unsigned mine = row_of(key) - static_cast<unsigned>(of_block);
    if (mine < 32 * R) {
      T gp, hp, dp;
      in_slot<0, R>(mine / 32, [&](auto i) { gp = own.g[i], hp = own.h[i], dp = own.d[i]; });
      const T scale = inverse_root(fabs(dp));
      if (static_cast<int>(mine % 32) == lane) {
        exchange.own = {gp * scale, hp * scale, dp, key, start + static_cast<int>(row_of(key))};
        exchange.scale = scale;
      }
      if constexpr (Cluster) {
        __syncwarp();
        exchange.send(step, rank, cluster, lane);
      }
    }
    if constexpr (!Cluster) __syncthreads();
    const Pivot<T>& pivot = Cluster ? exchange.receive(step, cluster, lane) : exchange.own;
    if (!usable<T>(Cluster ? pivot.key : key)) break;
    if (base >= rows) continue;

    const int p = Cluster ? pivot.row : static_cast<int>(row_of(key));
    const unsigned here = static_cast<unsigned>(p - base);
    const bool inside = here < 32 * R, of_lane = static_cast<int>(here % 32) == lane;
    if (inside && of_lane) own.left &= ~(1u << here / 32);
    const Pivot<T> kept = pivot;
    own.template subtract<Kind>(kept, p, w, first_k, n, part, base, lane);
    if (inside) own.turn(here / 32, of_lane, kept, exchange.scale);
    if (threadIdx.x == 0) exchange.note(kept.d);
  }
  exchange.finish(cluster);

  if (rank == 0 && threadIdx.x == 0) {
    double* const out = in.report + problem * in.ld_report;
    out[CauchyReport::negative] = exchange.negative;
    out[CauchyReport::breakdown] = step < rows ? step + 1 : 0;
    out[CauchyReport::smallest_pivot] = rows > 0 ? from_leading_bits(exchange.smallest, T()) : 0;
    out[CauchyReport::largest] = from_leading_bits(exchange.largest, T());
  }
  if (in.inverse == nullptr) return;
#pragma unroll
  for (int i = 0; i < R; ++i) {
    const int a = base + 32 * i + lane;
    if (a >= rows) continue;
    T* const out = in.inverse + first + a + 3 * shift * in.ld_inverse;
    out[0] = -own.g[i];
    out[in.ld_inverse] = own.h[i];
    out[2 * in.ld_inverse] = -own.d[i];
  }
}

template <class T, int R, Table Kind>
int launch(cudaStream_t stream, const DeviceSweep<T>& in, const SweepShape& shape) {
  auto* const kernel = shape.cluster > 1 ? sweep_kernel<T, R, Kind, true> : sweep_kernel<T, R, Kind, false>;
  const std::size_t bytes = table_bytes<T>(in.n, Kind, R);
  cudaError_t status = cudaSuccess;
  if (bytes > 48 * 1024)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (status == cudaSuccess && shape.cluster > 8)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (status != cudaSuccess) return status;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(shape.cluster);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(2 * in.shifts * shape.cluster));
  config.blockDim = dim3(static_cast<unsigned>(32 * shape.warps));
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = shape.cluster > 1 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, in, shape.cluster);
}

template <class T, int R>
int launch(cudaStream_t stream, const DeviceSweep<T>& in, const SweepShape& shape) {
  const Range range = table_range(in.n, shape.table, R);
  fill_table<<<static_cast<unsigned>(ceil_div(range.count, index_t{256})), 256, 0, stream>>>(in.table, in.n, range);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return status;
  switch (shape.table) {
    case Table::mirrored: return launch<T, R, Table::mirrored>(stream, in, shape);
    case Table::folded: return launch<T, R, Table::folded>(stream, in, shape);
    default: return launch<T, R, Table::global>(stream, in, shape);
  }
}

template <class T>
int launch(cudaStream_t stream, const DeviceSweep<T>& in, const SweepShape& shape) {
  switch (shape.rows) {
    case 4: return launch<T, 4>(stream, in, shape);
    case 8: return launch<T, 8>(stream, in, shape);
    default: return launch<T, 16>(stream, in, shape);
  }
}

/// Properties of a device.
struct Device {
  int multiprocessors = 0, shared = 0, shared_of_block = 0, most_of_cluster = 1;

  static int ask(Device& d) {
    int device = 0, major = 0;
    cudaError_t status = cudaGetDevice(&device);
    const auto get = [&](int& value, cudaDeviceAttr what) {
      if (status == cudaSuccess) status = cudaDeviceGetAttribute(&value, what, device);
    };
    get(d.multiprocessors, cudaDevAttrMultiProcessorCount);
    get(d.shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    get(d.shared_of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    get(major, cudaDevAttrComputeCapabilityMajor);
    d.most_of_cluster = major == 9 ? 16 : 1;
    return status;
  }
};

/// Returns the fastest shape by estimate; a shape without rows if there is none. The cycles of a step are measured on
/// an H200: 750 for the choice of a pivot, 350 more within a cluster, and additional cycles for each 32 rows of a
/// multiprocessor, depending on the table, or 50 for each row of a thread if its warps are too few.
template <class T>
SweepShape suitable_shape(index_t n, index_t shifts, const Device& device) {
  SweepShape best;
  double least = 0;
  const auto consider = [&](int r, int cluster, Table table) {
    const index_t warps = ceil_div(ceil_div(first_half(n), index_t{cluster}), index_t{32 * r});
    const auto bytes = static_cast<index_t>(table_bytes<T>(n, table, r)) + 3 * 1024;
    const index_t on_each = std::min<index_t>(most_threads(r) / (32 * warps), device.shared / bytes);
    if (on_each == 0 || bytes > device.shared_of_block) return;
    // Larger clusters leave some multiprocessors unused.
    const index_t usable = cluster > 2 ? device.multiprocessors * 15 / 16 / cluster * cluster : device.multiprocessors;
    const index_t blocks = 2 * shifts * cluster;
    const index_t together = std::min(on_each, ceil_div(blocks, index_t{device.multiprocessors}));
    const bool near = static_cast<index_t>(table_bytes<T>(n, Table::folded, r)) < device.shared * 3 / 4;
    const double cost = table == Table::mirrored ? 5.7 : table == Table::folded ? 7.3 : near ? 8.5 : 15;
    const double rows = static_cast<double>(r), all_rows = static_cast<double>(together * warps * r);
    const double step = 750 + (cluster > 1 ? 350 : 0) + std::max(cost * all_rows, 50 * rows);
    const double cycles = static_cast<double>(ceil_div(blocks, std::max<index_t>(on_each * usable, 1))) * step;
    if (best.rows != 0 && cycles >= least) return;
    least = cycles;
    best = {r, static_cast<int>(warps), cluster, table};
  };
  for (const int r : {4, 8, 16})
    for (int cluster = 1; cluster <= device.most_of_cluster; cluster *= 2)
      for (const Table table : {Table::mirrored, Table::folded, Table::global}) consider(r, cluster, table);
  return best;
}

/// Enqueues the whole elimination on a stream; returns a cudaError_t.
template <class T>
int sweep(cudaStream_t stream, const DeviceSweep<T>& in) {
  if (in.n == 0 || in.shifts == 0) return cudaSuccess;
  Device device;
  const int status = Device::ask(device);
  if (status != cudaSuccess) return status;
  const SweepShape shape = suitable_shape<T>(in.n, in.shifts, device);
  return shape.rows == 0 ? cudaErrorInvalidValue : launch(stream, in, shape);
}

}  // namespace
}  // namespace cauchy

template <class T>
void CauchyInvert<T>::cuda(CudaContext& context, const Args&, In<T> c, In<double> sigma, Out<T> inverse,
                           Out<double> report, Scratch<T> table) {
  context.check(cauchy::sweep<T>(context.stream(), {c.data, c.ld, c.rows, sigma.data, sigma.rows, inverse.data,
                                                    inverse.ld, report.data, report.ld, table.data}),
                "cauchy invert");
}

template <class T>
void CauchyCount<T>::cuda(CudaContext& context, const Args&, In<T> c, In<double> sigma, Out<double> report,
                          Scratch<T> table) {
  context.check(cauchy::sweep<T>(context.stream(), {c.data, c.ld, c.rows, sigma.data, sigma.rows, nullptr, 0,
                                                    report.data, report.ld, table.data}),
                "cauchy count");
}

TESELA_CUDA_FOR_REALS(CauchyInvert, CauchyCount)

}  // namespace tesela::kernels
