#pragma once

#include <tesela/codelets/eigen/bulge_plan.hpp>
#include <tesela/codelets/support/size_class.hpp>
#include <tesela/runtime/codelet.hpp>

#include <algorithm>
#include <span>

namespace tesela::kernels {

/// Performs one task of BulgePlan: the hops of group `group` in window `window`.
///
/// before   reflectors of the group's previous task; not read in the group's first task.
/// band     the tiles window - 1 and window (the existing ones; the first one starts at column `column`). Element B(i,
///          j), i >= j, is in row i - j of column j. Rows b + 1 … 2 b - 1 are room for the bulges; no element is read
///          there before a hop has written it.
/// Method   Hop k > 0 of sweep s works on blocks of b rows: E, left of the diagonal block D of the hop's rows. The
///          reflector of hop k - 1 is applied to E from the right. The hop's own reflector annihilates E's first column
///          and is applied to the rest of E from the left and to D from both sides. Hop 0 annihilates column s instead.
///          (Haidar, Ltaief, Dongarra, SC11; Lang, SIAM J. Sci. Comput. 14, 1993.)
template <class T>
struct ChaseBulges {
  static constexpr auto name = "chase_bulges";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args {
    BulgePlan plan;
    index_t group = 0, window = 0, column = 0;
    index_t hops() const {
      const index_t first = plan.first_step(group, window), end = plan.end_step(group, window);
      index_t sum = 0;
      for (index_t t = 0; t < plan.size(group); ++t) {
        const index_t past = plan.last_hop(plan.first_sweep(group) + t) + t + 1;
        sum += std::max<index_t>(std::min(end, past) - std::max(first, t), 0);
      }
      return sum;
    }
    std::uint64_t cost_key() const { return internal::size_class(hops()) | static_cast<std::uint64_t>(plan.b) << 10; }
  };
  static double flops(const Args& args, std::span<const Shape>) {
    const auto b = static_cast<double>(args.plan.b);
    return 12 * b * b * static_cast<double>(args.hops());
  }
  static void cpu(const Args& args, In<T> before, Out<T> reflectors, Scratch<T> work, std::span<const InOut<T>> band);
  /// Chases with either of two kernels, which give the same bits; b is at most largest_gpu_half_width.
  ///
  /// If one window holds everything (BulgePlan::whole()) and the device can run as many thread blocks as a sweep has
  /// hops, each block performs one hop of all sweeps and keeps its part of the band. Otherwise each block chases one
  /// sweep.
  static void cuda(CudaContext& context, const Args& args, In<T> before, Out<T> reflectors, Scratch<T> work,
                   std::span<const InOut<T>> band);
};

/// The widest band whose bulges a GPU chases and whose reflectors it applies: threads keep two b x b blocks.
inline constexpr index_t largest_gpu_half_width = 64;

/// Returns the numbers of T that one thread block needs for its messages if each block performs one hop of all sweeps.
constexpr index_t chase_message_size(index_t b) { return 8 * (b <= 32 ? 32 : 64) + 4; }

/// Returns the shape of ChaseBulges' Scratch: two vectors on a core; on a GPU messages, or one number for each sweep of
/// a group and one more.
inline Shape chase_work(const BulgePlan& plan) {
  const bool letters = plan.whole() && plan.sweeps() > 0 && plan.b <= largest_gpu_half_width;
  const index_t told = letters ? (plan.last_hop(0) + 1) * chase_message_size(plan.b) : 0;
  return {plan.b, std::max<index_t>(2, ceil_div(std::max(plan.group + 1, told), plan.b))};
}

}  // namespace tesela::kernels
