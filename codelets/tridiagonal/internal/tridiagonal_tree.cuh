#pragma once

#include <tesela/codelets/tridiagonal/internal/row_status.hpp>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_device.cuh>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_launch.hpp>

#include <algorithm>

// Common parts of the kernels that join segments. Internal to codelets/.

namespace tesela::kernels::tridiagonal {

/// Returns the least k such that 2^k >= x.
inline int log_of(index_t x) {
  int k = 0;
  while (index_t{1} << k < x) ++k;
  return k;
}

/// Allows the next kernel to start while this one ends, if the device supports it (sm_90). wait_for_previous() waits
/// before the previous kernel's results are read.
__device__ inline void allow_next_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
__device__ inline void wait_for_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Launches such a kernel with `shared` bytes of dynamic shared memory. `follows`: after another of these kernels.
template <class... Parameters, class... Args>
int launch(void (*kernel)(Parameters...), index_t blocks, int threads, std::size_t shared, cudaStream_t stream,
           bool follows, Args... args) {
  int status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  int device = 0, major = 0;
  if (status == cudaSuccess) status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (status != cudaSuccess) return status;
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = follows && major >= 9 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(args)...);
}

/// Returns the blocks of a kernel that a device runs at once.
template <class... Parameters>
int count_at_once(index_t& blocks, void (*kernel)(Parameters...), int threads, std::size_t shared) {
  int device = 0, processors = 0, each = 0;
  int status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (status == cudaSuccess) status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess) status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared);
  blocks = index_t{std::max(each, 1)} * processors;
  return status;
}

/// Condition of a kernel: it has nothing to do if `unless` is not zero or `left` is zero.
template <class T>
struct When {
  const T* unless = nullptr;
  const unsigned* left = nullptr;
  __device__ bool nothing() const { return (unless != nullptr && *unless != T(0)) || (left != nullptr && *left == 0); }
};

/// Segments or ends of each chunk of each system, shared between levels: element c of system s at data + c + s ld.
template <class T>
struct Level {
  Segment<T>* data;
  index_t ld;
};

/// Returns the unknowns at both sides of chunk c: after a level has been solved, each element begins with the unknowns
/// before it.
template <class T>
__device__ Ends<T> ends_of(const Level<T>& level, index_t c, index_t count, index_t s, const DeviceEnds<T>& outer) {
  const auto before = [&](index_t i) { return reinterpret_cast<const T*>(level.data + i + s * level.ld); };
  const T* whole = outer.values + s * outer.next;
  const T* const left = c == 0 ? whole : before(c);
  const T* const right = c + 1 == count ? whole + 2 : before(c + 1);
  return {left[0], left[1], right[0], right[1]};
}

__device__ inline void report(int* info, index_t row) {
  if (*static_cast<volatile int*>(info) == 0) atomicCAS(info, 0, row_status(row));
}

template <class T>
__device__ EndEquation<T> of_other(const EndEquation<T>& x, int step) {
  const auto get = [&](T number) { return __shfl_xor_sync(~0u, number, step); };
  return {get(x.e), get(x.f), get(x.p), get(x.q), get(x.r)};
}
template <class T>
__device__ EndEquation<T> choose_equation(bool which, const EndEquation<T>& b, const EndEquation<T>& a) {
  return {which ? b.e : a.e, which ? b.f : a.f, which ? b.p : a.p, which ? b.q : a.q, which ? b.r : a.r};
}

/// Joins the segments of 2^levels lanes of a warp, 2^Across apart, by a binary tree in registers. Every lane gets the
/// result; lane k of them keeps the joint between lanes k - 1 and k.
template <int Across, class T>
__device__ Segment<T> join_lanes(Segment<T> mine, int levels, Joint<T>& joint) {
  const int k = (static_cast<int>(threadIdx.x) & 31) >> Across;
  for (int step = 1; step < 1 << levels; step *= 2) {
    const bool right = (k & step) != 0;
    const Segment<T> other{of_other(mine.upper, step << Across), of_other(mine.lower, step << Across)};
    const Segment<T> first{choose_equation(right, other.upper, mine.upper),
                           choose_equation(right, other.lower, mine.lower)},
        second{choose_equation(right, mine.upper, other.upper), choose_equation(right, mine.lower, other.lower)};
    Joint<T> made;
    mine = join_device(first, second, made);
    if ((k & (2 * step - 1)) == step) joint = made;
  }
  return mine;
}

/// Computes, on the way back, the unknowns around each lane's segment from those around all lanes' segments.
template <int Across, class T>
__device__ Ends<T> substitute_lanes(Ends<T> ends, int levels, const Joint<T>& joint) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  for (int step = 1 << levels >> 1; step > 0; step /= 2) {
    T c, d;
    between(joint, ends, c, d);
    const int apart = step << Across, holder = (lane & ~(2 * apart - (1 << Across))) | apart;
    c = __shfl_sync(~0u, c, holder);
    d = __shfl_sync(~0u, d, holder);
    if ((lane & apart) != 0)
      ends.a = c, ends.b = d;
    else
      ends.e = c, ends.f = d;
  }
  return ends;
}

/// The tree over 2^levels threads of one or several warps; every warp computes the part above the warps. The threads
/// are 2^Across apart, and there are 2^Across trees.
template <class T, int Across>
class Tree {
 public:
  /// `shared` has room for 2^Across segments of each warp and is used by nothing else. All threads of the block call
  /// this together.
  __device__ Tree(int levels, Segment<T>* shared)
      : in_warp_(min(levels, 5 - Across)),
        above_(levels - in_warp_),
        warp_(static_cast<int>(threadIdx.x >> 5) & ((1 << above_) - 1)),
        shared_(shared) {}

  __device__ Segment<T> join(const Segment<T>& mine) {
    const Segment<T> whole = join_lanes<Across>(mine, in_warp_, in_lane_);
    if (above_ == 0) return whole;
    const int warp = static_cast<int>(threadIdx.x >> 5);
    if (number() == 0) shared_[(warp << Across) + tree()] = whole;
    __syncthreads();
    const int other = warp - warp_ + (number() & ((1 << above_) - 1));
    return join_lanes<Across>(shared_[(other << Across) + tree()], above_, of_warp_);
  }

  __device__ Ends<T> fill(Ends<T> ends) const {
    if (above_ > 0) {
      const Ends<T> of_warps = substitute_lanes<Across>(ends, above_, of_warp_);
      const auto get = [&](T x) { return __shfl_sync(~0u, x, (warp_ << Across) + tree()); };
      ends = {get(of_warps.a), get(of_warps.b), get(of_warps.e), get(of_warps.f)};
    }
    return substitute_lanes<Across>(ends, in_warp_, in_lane_);
  }

  /// Computes the unknowns; calls report(k) if the unknowns before the rows of the thread k positions earlier could not
  /// be computed.
  template <class Report>
  __device__ void breakdowns(Report report) const {
    const auto broken = [](const Joint<T>& joint) { return joint.inverse_c == T(0) || joint.inverse_d == T(0); };
    if ((number() & ((1 << in_warp_) - 1)) != 0 && broken(in_lane_)) report(0);
    if (warp_ > 0 && number() == warp_ && broken(of_warp_)) report(warp_);
  }

 private:
  /// Returns this thread's tree; number() returns its index in the warp among the tree's threads.
  __device__ static int tree() { return static_cast<int>(threadIdx.x) & ((1 << Across) - 1); }
  __device__ static int number() { return (static_cast<int>(threadIdx.x) & 31) >> Across; }

  int in_warp_, above_, warp_;
  Segment<T>* shared_;
  Joint<T> in_lane_{}, of_warp_{};
};

}  // namespace tesela::kernels::tridiagonal
