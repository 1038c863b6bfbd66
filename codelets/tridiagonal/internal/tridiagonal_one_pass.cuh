#pragma once

#include <tesela/codelets/tridiagonal/internal/tridiagonal_rows.cuh>

#include <limits>

// Solves long systems in columns with one pass over memory if the rows allow it. Internal to codelets/.
//
// Neighbouring groups of rows determine the two unknowns between them, up to multiples of the unknowns at their far
// ends. In most matrices these multiples decay from row to row. If they are below rounding, a block needs only its own
// rows and one more group on either side: it solves its rows and writes them. If any block finds larger multiples, the
// written rows are restored, and the system is solved in two passes.

namespace tesela::kernels::tridiagonal {

/// A window of a system in a block's shared memory: groups of neighbouring threads' rows. The first and the last group
/// belong to other windows.
constexpr int threads_of_window = 128, joins_of_group = 2, groups_of_window = threads_of_window >> joins_of_group,
              rows_of_group = each_row << joins_of_group, rows_of_window = rows_of_group * groups_of_window,
              own_rows_of_window = rows_of_window - 2 * rows_of_group;
static_assert(groups_of_window <= 32, "a warp has the seams between them");

/// Most windows, the first ones, that decide whether to try the others.
constexpr unsigned most_samples = 256;

enum class Window : unsigned { untouched, read, written };

/// Data that blocks share; initially zeros.
template <class T>
struct Windows {
  WindowCounts* counts;
  Window* states;
  T* outer;  ///< of window w: the assumed unknowns before and after it
  unsigned of_system, count, samples;
  bool packed;  ///< as in RowPartition
};

/// Contributions of other seams relative to an unknown that count as negligible: far below rounding. Unknowns below
/// smallest_decoupled count as smallest_decoupled, so that contributions that underflow are negligible too.
template <class T>
inline constexpr T negligible = std::numeric_limits<T>::epsilon() / 256;
template <class T>
inline constexpr T smallest_decoupled = std::numeric_limits<T>::min() / negligible<T>;

/// Returns whether the unknowns c, d of a joint are certain, given a, b of the previous seam and e, f of the next seam.
/// If all are, the equations (I - M) s = s0 of the seams, s0 the unknowns without contributions, have
/// ||D^-1 M D|| <= 2 negligible in the maximum norm, D = diag(|s0|). So each unknown of s equals s0 to a relative error
/// of 4 negligible, or to an underflow: elimination of the whole system with one more rounding in some unknowns.
template <class T>
__device__ bool certain(const Joint<T>& j, T a, T b, T c, T d, T e, T f) {
  const T own_c = fmax(fabs(c), smallest_decoupled<T>), own_d = fmax(fabs(d), smallest_decoupled<T>),
          own = fmax(own_c, own_d);
  const auto sum = [&](T by_a, T by_b, T by_e, T by_f) {
    return fabs(by_a) * fmax(fabs(a), own) + fabs(by_b) * fmax(fabs(b), own) + fabs(by_e) * fmax(fabs(e), own) +
           fabs(by_f) * fmax(fabs(f), own);
  };
  const T of_d = sum(j.ad, j.bd, j.ed, j.fd) * fabs(j.inverse_d),
          of_c = (sum(j.ac, j.bc, j.ec, j.fc) + fabs(j.dc) * of_d) * fabs(j.inverse_c);
  return j.inverse_c != T(0) && j.inverse_d != T(0) && of_c <= negligible<T> * own_c && of_d <= negligible<T> * own_d;
}

__device__ inline unsigned look(const void* p) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
/// Waits until `there` holds for *p; returns false after a limited number of tries. Blocks start windows in order, but
/// another block may be kept from running.
template <class There>
__device__ bool comes(const void* p, There there) {
  for (int tries = 0; tries < 1 << 16; ++tries)
    if (there(look(p))) return true;
  return false;
}

/// Unit of coupled samples in WindowCounts::sampled.
constexpr unsigned coupled_unit = 1 << 16;
__device__ inline unsigned samples_of(unsigned sampled) { return sampled % coupled_unit; }
__device__ inline bool coupled(unsigned sampled) { return sampled >= coupled_unit; }

/// A window's rows, including rows outside of the system.
template <class T>
struct WindowRows {
  index_t system, first_own, first, begin, end;
  bool has_before, has_behind;

  __device__ WindowRows(const DeviceRows<T>& in, const Windows<T>& windows, unsigned window)
      : system(window / windows.of_system),
        first_own(index_t{window % windows.of_system} * own_rows_of_window),
        first(first_own - rows_of_group),
        begin(max(first, index_t{0})),
        end(min(first + rows_of_window, in.rows)),
        has_before(window % windows.of_system > 0),
        has_behind((window + 1) % windows.of_system > 0) {}

  /// Loads bands `from` … `to` - 1, the last of them B.
  __device__ void load(BulkCopy& copy, const DeviceRows<T>& in, T* rows, bool packed, int from, int to) const {
    const int before = static_cast<int>(begin - first), count = static_cast<int>(end - begin);
    const T* const bands[4] = {in.dl + begin + system * in.dl_at.system, in.d + begin + system * in.d_at.system,
                               in.du + begin + system * in.du_at.system, in.b + begin + system * in.b_at.system};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (k < from || k >= to) continue;
      if (packed && count * sizeof(T) % 16 == 0)
        copy.load_packed(rows + k * rows_of_window + before, bands[k], count);
      else
        copy.load(rows + k * rows_of_window + before, bands[k], count);
    }
  }
  __device__ void store(const DeviceRows<T>& in, const T* x, bool packed) const {
    const int count = static_cast<int>(min(index_t{own_rows_of_window}, in.rows - first_own));
    T* const out = in.b + first_own + system * in.b_at.system;
    if (packed && count * sizeof(T) % 16 == 0)
      BulkCopy::store_packed(out, x + rows_of_group, count);
    else
      BulkCopy::store(out, x + rows_of_group, count);
  }
};

template <class T>
__global__ void __launch_bounds__(threads_of_window)
    one_pass_kernel(const __grid_constant__ DeviceRows<T> in, const __grid_constant__ Windows<T> windows) {
  allow_next_kernel();
  extern __shared__ __align__(128) unsigned char of_block[];
  __shared__ std::uint64_t barrier;
  __shared__ Segment<T> of_groups[groups_of_window];
  __shared__ unsigned told[2];
  BulkCopy copy(&barrier);
  const int t = static_cast<int>(threadIdx.x), lane = t & 31, group = t >> joins_of_group;
  const bool in_group = (t & ((1 << joins_of_group) - 1)) != 0;
  T* const rows = reinterpret_cast<T*>(of_block);
  T* const mine = rows + t * each_row;
  const Own<T, 1> own{mine, mine + rows_of_window, mine + 2 * rows_of_window, mine + 3 * rows_of_window, each_row};
  WindowCounts& counts = *windows.counts;

  // Runs in thread 0. Windows are started in order: a block that waits until a later window's rows are read has not
  // started that window itself.
  bool worth = false;  // all samples are uncoupled
  const auto all_sampled = [&](unsigned value) { return samples_of(value) == windows.samples; };
  const auto begin_next = [&] {
    const unsigned next = atomicAdd(&counts.begun, 1);
    worth = worth || (comes(&counts.sampled, all_sampled) && !coupled(look(&counts.sampled)));
    if (!worth && next < windows.count) atomicAdd(&counts.left, 1);
    return worth ? next : windows.count;
  };
  if (t == 0) told[0] = atomicAdd(&counts.begun, 1);
  __syncthreads();
  unsigned window = told[0];
  if (window >= windows.count) return;
  WindowRows<T> place(in, windows, window);
  place.load(copy, in, rows, windows.packed, 0, 4);
  while (true) {
    copy.wait_loads();
    Window* const state = windows.states + window;
    // Conditions for writing X: the samples are uncoupled, and the neighbours have read their rows.
    const bool needed = window + 1 >= windows.samples;
    unsigned sampled = 0, before = 0, behind = 0;
    if (t == 0) {
      *reinterpret_cast<volatile unsigned*>(state) = static_cast<unsigned>(Window::read);
      sampled = look(&counts.sampled);
      before = look(place.has_before ? state - 1 : state), behind = look(place.has_behind ? state + 1 : state);
    }
    const index_t row = place.first + t * each_row;
    if (row <= 0 || row + each_row >= in.rows)  // a system continues with zeros beyond its ends
      for (int i = 0; i < each_row; ++i) {
        if (row + i == 0) own.dl[i] = T(0);
        if (row + i + 1 == in.rows) own.du[i] = T(0);
        if (row + i < 0 || row + i >= in.rows) own.dl[i] = own.du[i] = own.b[i] = T(0), own.d[i] = T(1);
      }
    unsigned nexts;
    int zero;
    Joint<T> joint, seam;
    const Segment<T> segment = join_lanes<0>(own.template reduce<true>(nexts, zero), joins_of_group, joint);
    if (!in_group) of_groups[group] = segment;
    __syncthreads();
    // Lane l of each warp has the seam between groups l and l + 1.
    constexpr int last = groups_of_window - 2;
    const int l = min(lane, last);
    join_device(of_groups[l], of_groups[l + 1], seam);
    T c, d;
    between(seam, {}, c, d);
    const T up_c = __shfl_up_sync(~0u, c, 1), up_d = __shfl_up_sync(~0u, d, 1), down_c = __shfl_down_sync(~0u, c, 1),
            down_d = __shfl_down_sync(~0u, d, 1);
    const T none(0);  // other windows check the unknowns beyond the outermost seams
    bool ok = __all_sync(~0u, certain(seam, lane > 0 ? up_c : none, lane > 0 ? up_d : none, c, d,
                                      lane < last ? down_c : none, lane < last ? down_d : none));
    const T outer_a = __shfl_sync(~0u, c, 0), outer_f = __shfl_sync(~0u, d, last);
    const int left = max(group - 1, 0), right = min(group, last);
    Ends<T> ends{__shfl_sync(~0u, c, left), __shfl_sync(~0u, d, left), __shfl_sync(~0u, c, right),
                 __shfl_sync(~0u, d, right)};
    bool free = false, begun = false;
    unsigned next = 0;
    if (t == 0) {
      worth = worth || sampled == windows.samples;
      free = (worth || !needed) && before > 0 && behind > 0;
      begun = free && window >= windows.samples;
      if (begun) next = begin_next();  // arrives while X is computed
    }
    if (ok) {
      ends = substitute_lanes<0>(ends, joins_of_group, joint);
      ok = own.fill(ends, nexts) && zero == 0 && (!in_group || (joint.inverse_c != T(0) && joint.inverse_d != T(0)));
      ok = ok || group == 0 || group == groups_of_window - 1;
    }
    BulkCopy::before_stores();
    ok = __syncthreads_and(ok) != 0;
    if (t == 0) {
      if (window < windows.samples) {
        atomicAdd(&counts.sampled, ok ? 1 : 1 + coupled_unit);
      }
      if (ok && !free) {
        const auto is_read = [](unsigned value) { return value > 0; };
        ok = worth || !needed || (comes(&counts.sampled, all_sampled) && !coupled(look(&counts.sampled)));
        ok = ok && (!place.has_before || comes(state - 1, is_read)) && (!place.has_behind || comes(state + 1, is_read));
      }
      atomicAdd(ok ? &counts.written : &counts.left, 1);
      told[0] = begun ? next : begin_next();
      told[1] = ok ? 1 : 0;
    }
    __syncthreads();
    if (told[1] != 0) {
      place.store(in, rows + 3 * rows_of_window, windows.packed);
      if (t == 0) {
        *state = Window::written;
        windows.outer[2 * window] = outer_a, windows.outer[2 * window + 1] = outer_f;
      }
    }
    window = told[0];
    if (window < windows.count) {
      place = WindowRows<T>(in, windows, window);
      place.load(copy, in, rows, windows.packed, 0, 3);
    }
    BulkCopy::wait_stores();
    BulkCopy::before_stores();  // and before B's next rows arrive
    if (window >= windows.count) return;
    place.load(copy, in, rows, windows.packed, 3, 4);
  }
}

/// Restores B from X in the written windows if some windows could not be written.
template <class T>
__global__ void __launch_bounds__(threads_of_window)
    restore_kernel(const __grid_constant__ DeviceRows<T> in, const __grid_constant__ Windows<T> windows) {
  allow_next_kernel();
  wait_for_previous();
  if (windows.counts->left == 0 || windows.counts->written == 0) return;
  __shared__ T x[own_rows_of_window + 2];
  for (unsigned window = blockIdx.x; window < windows.count; window += gridDim.x) {
    if (windows.states[window] != Window::written) continue;
    const index_t system = window / windows.of_system, first = index_t{window % windows.of_system} * own_rows_of_window;
    const int rows = static_cast<int>(min(index_t{own_rows_of_window}, in.rows - first));
    T* const b = in.b + first + system * in.b_at.system;
    for (int i = static_cast<int>(threadIdx.x); i < rows; i += threads_of_window) x[i + 1] = b[i];
    if (threadIdx.x == 0) x[0] = windows.outer[2 * window], x[rows + 1] = windows.outer[2 * window + 1];
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < rows; i += threads_of_window) {
      const index_t row = first + i;
      const T dl = row > 0 ? in.dl[row + system * in.dl_at.system] : T(0),
              du = row + 1 < in.rows ? in.du[row + system * in.du_at.system] : T(0);
      b[i] = fma(dl, x[i], fma(in.d[row + system * in.d_at.system], x[i + 1], du * x[i + 2]));
    }
    __syncthreads();
  }
}

}  // namespace tesela::kernels::tridiagonal
