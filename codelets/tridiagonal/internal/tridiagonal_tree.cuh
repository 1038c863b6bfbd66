#pragma once

#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/codelets/tridiagonal/internal/row_status.hpp>
#include <tesela/codelets/tridiagonal/internal/tridiagonal_launch.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_segment.hpp>

#include <algorithm>

// The elimination of tridiagonal_segment.hpp for one thread of a GPU: the same arithmetic with branches, and with
// exponents instead of quotients in the comparison of pivots. Then the common parts of the kernels that join segments.
// Internal to codelets/.

namespace tesela::kernels::tridiagonal {

/// Returns a weight that grows with log |x|: the exponent and the first digits of x, or of the larger part of a
/// complex x. (Doubling drops the sign and runs on units that comparisons, the bulk of these kernels, leave idle.)
__device__ inline unsigned weight(double x) { return static_cast<unsigned>(__double2hiint(x)) * 2u; }
__device__ inline unsigned weight(float x) { return static_cast<unsigned>(__float_as_int(x)) * 2u; }
template <class R>
__device__ inline unsigned weight(DeviceComplex<R> x) {
  return max(weight(x.re), weight(x.im));
}

/// Returns weight(2^exponent).
template <class T>
__device__ constexpr unsigned weight_of_power(int exponent) {
  return sizeof(real_t<T>) == 8 ? static_cast<unsigned>(exponent + 1023) << 21
                                : static_cast<unsigned>(exponent + 127) << 24;
}
/// Least weight of infinities and NaN.
template <class T>
inline constexpr unsigned not_finite_weight = sizeof(real_t<T>) == 8 ? 0xffe00000u : 0xff000000u;

template <class T>
__device__ inline unsigned weight(T a, T b, T c) {
  return max(max(weight(a), weight(b)), weight(c));
}
template <class T>
__device__ inline unsigned weight(const EndEquation<T>& row) {
  return max(weight(row.e, row.f, row.p), weight(row.q));
}

/// Returns 1 / p to the last bit or two, and 0 if p is too small to divide by.
__device__ inline double approximate_inverse(double p) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(p));
  const double error = fma(-p, r, 1.0);  // below 2^-20
  r = fma(r, fma(error, error, error), r);
  return weight(p) < weight_of_power<double>(-1000) ? 0.0 : r;
}
__device__ inline float approximate_inverse(float p) {
  return weight(p) < weight_of_power<float>(-120) ? 0.0f : __frcp_rn(p);
}
/// The square of |p| is computed for a p of size 1.
template <class R>
__device__ inline DeviceComplex<R> approximate_inverse(DeviceComplex<R> p) {
  constexpr int least = sizeof(R) == 8 ? -1000 : -120;
  const R scale = over_power(larger(fabs(p.re), fabs(p.im))), re = p.re * scale, im = p.im * scale,
          factor = approximate_inverse(fma(re, re, im * im));
  if (weight(p) < weight_of_power<R>(least)) return R(0);
  return {re * factor * scale, -im * factor * scale};
}

/// Scales as normalize() if the row's size requires it. Returns the weight of its largest coefficient.
template <class T>
__device__ inline unsigned fit(T& dl, T& d, T& du, T& b) {
  const unsigned size = weight(dl, d, du);
  constexpr int far = sizeof(real_t<T>) == 8 ? 100 : 12;
  constexpr unsigned low = weight_of_power<T>(-far), high = weight_of_power<T>(far);
  if (size - low <= high - low) return size;
  normalize(dl, d, du, b);
  return weight(dl, d, du);
}

template <class T>
__device__ inline void exchange(T& a, T& b) {
  const T old = a;
  a = b;
  b = old;
}

/// Forces a branch that most warps skip: without it the compiler would compute both ways and select.
__device__ inline void force_branch() { asm volatile(""); }

/// Returns whether any active thread of the warp asks for it, so that a warp takes or skips the branch as one.
__device__ inline bool any_lane(bool asks) { return __any_sync(__activemask(), asks) != 0; }

/// Returns x - a b, for real numbers in one instruction.
template <class T>
__device__ inline T less_product(T x, T a, T b) {
  if constexpr (is_complex<T>)
    return minus_product(x, a, b);
  else
    return fma(-a, b, x);
}

/// Row that eliminated x(k), solved for it: x(k) = r - q x(k+1) - (next ? t x(k+2) : e A + f B).
template <class T>
struct Solved {
  T e, f_or_t, q, r;
  bool next, zero;
};

/// Appends a row, like append(), after fit(), which has returned `size`. The best pivot has the least distance from its
/// row's size.
template <class T>
__device__ inline Solved<T> append_row(Segment<T>& s, T dl, T d, T du, T b, unsigned size) {
  const unsigned lower = weight(s.lower) - weight(s.lower.p), upper = weight(s.upper) - weight(s.upper.p);
  if (size - weight(dl) < min(lower, upper)) {
    const T inv = approximate_inverse(dl), q = d * inv, t = du * inv, r = b * inv;
    s.upper = {s.upper.e, s.upper.f, less_product(s.upper.q, s.upper.p, q), less_product(T(0), s.upper.p, t),
               less_product(s.upper.r, s.upper.p, r)};
    s.lower = {s.lower.e, s.lower.f, less_product(s.lower.q, s.lower.p, q), less_product(T(0), s.lower.p, t),
               less_product(s.lower.r, s.lower.p, r)};
    return {T(0), t, q, r, true, inv == T(0)};
  }
  const auto eliminate = [&](const EndEquation<T> pivot, const EndEquation<T> other) -> Solved<T> {
    const T inv = approximate_inverse(pivot.p), e = pivot.e * inv, f = pivot.f * inv, q = pivot.q * inv,
            r = pivot.r * inv;
    s.upper = {less_product(other.e, other.p, e), less_product(other.f, other.p, f), less_product(other.q, other.p, q),
               T(0), less_product(other.r, other.p, r)};
    s.lower = {less_product(T(0), dl, e), less_product(T(0), dl, f), less_product(d, dl, q), du,
               less_product(b, dl, r)};
    return {e, f, q, r, false, inv == T(0)};
  };
  // One branch for each case, so that no registers are exchanged.
  if (upper < lower) {
    force_branch();
    const Solved<T> x = eliminate(s.upper, s.lower);
    force_branch();
    return x;
  }
  return eliminate(s.lower, s.upper);
}

/// Returns the segment of two rows.
template <class T>
__device__ inline Segment<T> two_rows(T dl0, T d0, T du0, T b0, T dl1, T d1, T du1, T b1) {
  return {{dl0, d0, du0, T(0), b0}, {T(0), dl1, d1, du1, b1}};
}

namespace joining {

/// Returns how far a row's number in Column is below its largest number.
template <int Column, class T>
__device__ inline unsigned lack(const JoinRow<T>& row) {
  return max(weight(row.c[0], row.c[1], row.c[2]), weight(row.c[3], row.c[4], row.c[5])) - weight(row.c[Column]);
}

/// Eliminates as eliminate().
template <int Last, int Column, class T>
__device__ inline T eliminate_quickly(JoinRow<T>* rows) {
  unsigned least = lack<Column>(rows[Last]);
#pragma unroll
  for (int i = 0; i < Last; ++i) {
    const unsigned other = lack<Column>(rows[i]);
    if (any_lane(other < least)) {
      force_branch();
      if (other < least) exchange(rows[i], rows[Last]);
      least = min(least, other);
    }
  }
  const T inv = approximate_inverse(rows[Last].c[Column]);
#pragma unroll
  for (int i = 0; i < Last; ++i) {
    const T factor = rows[i].c[Column] * inv;
#pragma unroll
    for (int k = 0; k < 6; ++k)
      if (k > Column || k < 2) rows[i].c[k] = less_product(rows[i].c[k], factor, rows[Last].c[k]);
    rows[i].c[Column] = T(0);
    rows[i].r = less_product(rows[i].r, factor, rows[Last].r);
  }
  return inv;
}

}  // namespace joining

/// Joins as join().
template <class T>
__device__ inline Segment<T> join_device(const Segment<T>& first, const Segment<T>& second, Joint<T>& joint) {
  const T zero(0);
  joining::JoinRow<T> rows[4] = {
      {{first.upper.e, first.upper.f, first.upper.p, first.upper.q, zero, zero}, first.upper.r},
      {{zero, zero, second.lower.e, second.lower.f, second.lower.p, second.lower.q}, second.lower.r},
      {{zero, zero, second.upper.e, second.upper.f, second.upper.p, second.upper.q}, second.upper.r},
      {{first.lower.e, first.lower.f, first.lower.p, first.lower.q, zero, zero}, first.lower.r}};
  const T inverse_c = joining::eliminate_quickly<3, 2>(rows), inverse_d = joining::eliminate_quickly<2, 3>(rows);
  const auto &c = rows[3], &d = rows[2];
  joint = {c.c[0], c.c[1], c.c[3], c.c[4], c.c[5], c.r, inverse_c, d.c[0], d.c[1], d.c[4], d.c[5], d.r, inverse_d};
  return {{rows[0].c[0], rows[0].c[1], rows[0].c[4], rows[0].c[5], rows[0].r},
          {rows[1].c[0], rows[1].c[1], rows[1].c[4], rows[1].c[5], rows[1].r}};
}

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
  const auto get = [&](T number) { return shuffle_xor(number, step); };
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
    c = from_lane(c, holder);
    d = from_lane(d, holder);
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
      const auto get = [&](T x) { return from_lane(x, (warp_ << Across) + tree()); };
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
