#pragma once

#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <ucontext.h>
#include <vector>

namespace tesela::test {

/// Runs the lanes of a warp in turn on one host thread: a lane runs until it needs values of other lanes, then the next
/// lane runs. All lanes must take part in the same exchanges in the same order. A lane starts by ucontext and switches
/// by longjmp, which needs no system call.
class HostWarp {
 public:
  static constexpr int lanes = 32;

  /// Runs body() for each lane.
  static void run(const std::function<void(HostWarp&)>& body) {
    HostWarp warp(body);
    warp.all_lanes();
  }

  int lane() const { return now_; }
  int reread_lane() const { return now_; }
  template <class T>
  T from(T x, int source) {
    exchange(&x, sizeof(T));
    T found;
    std::memcpy(&found, slot(source), sizeof(T));
    return found;
  }
  unsigned ballot(bool x) {
    exchange(&x, sizeof(bool));
    unsigned bits = 0;
    for (int l = 0; l < lanes; ++l) bits |= *reinterpret_cast<const bool*>(slot(l)) ? 1U << l : 0U;
    return bits;
  }
  bool any(bool x) { return ballot(x) != 0; }
  void sync() { ballot(false); }

 private:
  static constexpr std::size_t stack_bytes = 64 * 1024;
  struct Lane {
    ucontext_t context{};
    std::jmp_buf place{};
    std::unique_ptr<char[]> stack;
    int asked = 0;
    bool begun = false, done = false;
    alignas(16) unsigned char slots[2][16];
  };

  explicit HostWarp(const std::function<void(HostWarp&)>& body) : body_(body), all_(lanes) {}
  HostWarp(const HostWarp&) = delete;
  HostWarp& operator=(const HostWarp&) = delete;

  static void begin(unsigned high, unsigned low) {
    auto* const warp =
        reinterpret_cast<HostWarp*>((static_cast<std::uintptr_t>(high) << 32) | static_cast<std::uintptr_t>(low));
    warp->body_(*warp);
    warp->all_[static_cast<std::size_t>(warp->now_)].done = true;
    _longjmp(warp->caller_, 1);
  }
  [[gnu::noinline]] void enter(Lane& lane) {
    if (_setjmp(caller_) != 0) return;
    if (lane.begun) _longjmp(lane.place, 1);
    lane.begun = true;
    setcontext(&lane.context);
  }
  [[gnu::noinline]] void leave(Lane& lane) {
    if (_setjmp(lane.place) == 0) _longjmp(caller_, 1);
  }
  void all_lanes() {
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    for (Lane& lane : all_) {
      lane.stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
      getcontext(&lane.context);
      lane.context.uc_stack.ss_sp = lane.stack.get();
      lane.context.uc_stack.ss_size = stack_bytes;
      makecontext(&lane.context, reinterpret_cast<void (*)()>(&HostWarp::begin), 2, static_cast<unsigned>(self >> 32),
                  static_cast<unsigned>(self));
    }
    for (bool more = true; more;) {
      more = false;
      for (now_ = 0; now_ < lanes; ++now_) {
        Lane& lane = all_[static_cast<std::size_t>(now_)];
        if (lane.done) continue;
        enter(lane);
        more = more || !lane.done;
      }
      for (const Lane& lane : all_)
        if (lane.done != all_[0].done || lane.asked != all_[0].asked)
          throw std::logic_error("HostWarp: lanes have diverged");
    }
  }
  void exchange(const void* mine, std::size_t bytes) {
    Lane& lane = all_[static_cast<std::size_t>(now_)];
    if (bytes > 16) throw std::logic_error("HostWarp: too large");
    ++lane.asked;
    std::memcpy(lane.slots[lane.asked % 2], mine, bytes);
    leave(lane);
  }
  const unsigned char* slot(int lane) const {
    return all_[static_cast<std::size_t>(lane)].slots[all_[static_cast<std::size_t>(now_)].asked % 2];
  }

  const std::function<void(HostWarp&)>& body_;
  std::vector<Lane> all_;
  std::jmp_buf caller_{};
  int now_ = 0;
};

}  // namespace tesela::test
