#pragma once

#include <tesela/runtime/types.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tesela {

/// What an algorithm holds in memory, stage by stage, on the host and on every GPU: told by the algorithm before
/// anything is allocated.
class MemoryPlan {
 public:
  static constexpr int host = -1;  ///< as a place; GPUs count from 0

  /// Of elements of this size, in bytes.
  MemoryPlan(std::vector<std::string> stages, int gpus, std::size_t element);

  /// Blocks of one shape in the memory of `place`, from one stage to another.
  struct Blocks {
    int place = host;
    Shape shape = {};
    double at_once = 1;  ///< so many stand there together
    index_t first = 0, last = 0;
    /// Ones of a shape of their own follow them: none of these takes another's place. 0: the same shape every time.
    double ever = 0;
  };
  void hold(const Blocks& blocks);
  /// On every GPU, or with none on the host.
  void hold_on_each(Blocks blocks);
  /// A task has so many elements in a GPU's memory together: with less it never runs.
  void task(double elements);

  /// It tells only the least that it takes, where what it takes in all would take long to count.
  void make_least() { least_ = true; }
  bool is_least() const { return least_; }

  const std::vector<std::string>& stages() const { return stages_; }
  int gpus() const { return gpus_; }
  std::size_t element() const { return element_; }
  index_t stage(const std::string& name) const;
  index_t last_stage() const { return static_cast<index_t>(stages_.size()) - 1; }

  /// Bytes of a stage, and of the stage with the most.
  double bytes(index_t stage, int place) const;
  double peak(int place) const;
  /// The most that any GPU holds; 0 without.
  double gpu_peak() const;
  /// What a GPU's memory is taken for in the end while there is room: a block that ended keeps its place for the next
  /// one of its shape.
  double held(int gpu) const;
  /// Bytes that one task needs.
  double largest_task() const { return task_ * static_cast<double>(element_); }

 private:
  std::vector<std::string> stages_;
  int gpus_;
  std::size_t element_;
  std::vector<std::vector<double>> elements_;  // of each place, the host first, by stage
  std::vector<std::map<std::pair<index_t, index_t>, std::vector<double>>> counts_;  // of each GPU, by shape and stage
  std::vector<double> passed_;  // elements of each GPU in shapes that do not come again
  double task_ = 0;
  bool least_ = false;
};

/// What a machine has: bytes of the host and of each GPU.
struct MemoryRoom {
  double host = 0, gpu = 0;
};

/// Why it does not fit, in words; empty where it does: the host must hold all, a GPU what one task needs (other tiles
/// go to the host meanwhile).
std::string misfit(const MemoryPlan& plan, const MemoryRoom& room);

/// Whether all of it stays where it is wanted: nothing goes from a GPU to the host for want of room.
bool fits_whole(const MemoryPlan& plan, const MemoryRoom& room);

/// The largest n for which plan_of(n) tells all, and fits whole.
template <class PlanOf>
index_t largest_order(const MemoryRoom& room, const PlanOf& plan_of) {
  const auto fits = [&](index_t n) {
    const MemoryPlan plan = plan_of(n);
    return !plan.is_least() && fits_whole(plan, room);
  };
  index_t least = 0, most = 1;
  while (fits(most) && most < (index_t{1} << 30)) least = most, most *= 2;
  while (most - least > 1 + least / 1000) {
    const index_t middle = least + (most - least) / 2;
    (fits(middle) ? least : most) = middle;
  }
  return least;
}

}  // namespace tesela
