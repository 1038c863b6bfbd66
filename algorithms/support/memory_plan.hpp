#pragma once

#include <tesela/runtime/runtime.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tesela {

/// Returns the workers for matrices of T, also for plans. Complex numbers have neither products by residues nor Sytrd
/// on GPUs, as if a rank had no GPU.
template <class T>
WorkerCounts workers_for(const Runtime& runtime) {
  WorkerCounts workers(runtime);
  workers.gpus_on_all_ranks = workers.gpus_on_all_ranks && !is_complex<T>;
  return workers;
}

/// Memory of an algorithm, stage by stage, on the host and on every GPU, computed before any allocation.
class MemoryPlan {
 public:
  static constexpr int host = -1;  ///< place of the host; GPUs count from 0

  /// Makes an empty plan. `element`: bytes of an element.
  MemoryPlan(std::vector<std::string> stages, int gpus, std::size_t element);

  /// Blocks of one shape in the memory of `place`, from stage `first` to stage `last`.
  struct Blocks {
    int place = host;
    Shape shape = {};
    double at_once = 1;  ///< number of blocks at a time
    index_t first = 0, last = 0;
    /// Number of blocks with distinct shapes over time, which cannot reuse memory; 0 if all blocks have one shape.
    double ever = 0;
  };
  /// Adds blocks.
  void hold(const Blocks& blocks);
  /// Adds blocks on every GPU; without GPUs on the host.
  void hold_on_each(Blocks blocks);
  /// Adds a task that needs this number of elements in a GPU's memory at once; with less memory it cannot run.
  void task(double elements);

  /// Marks the plan as a lower bound, for sizes whose full count would take long.
  void mark_lower_bound() { least_ = true; }
  bool is_least() const { return least_; }

  const std::vector<std::string>& stages() const { return stages_; }  ///< names, in order
  int gpus() const { return gpus_; }                                  ///< number of GPUs
  std::size_t element() const { return element_; }                    ///< bytes of an element
  index_t stage(const std::string& name) const;                       ///< index of a name
  /// Returns the index of the last stage.
  index_t last_stage() const { return static_cast<index_t>(stages_.size()) - 1; }

  /// Return the bytes of a stage, and of the stage with the most.
  double bytes(index_t stage, int place) const;
  double peak(int place) const;
  /// Returns the largest peak of a GPU; 0 without GPUs.
  double gpu_peak() const;
  /// Returns the bytes that a GPU has allocated at the end if memory suffices: memory of a finished block is kept for
  /// the next block of its shape.
  double held(int gpu) const;
  /// Returns the bytes of the largest task.
  double largest_task() const { return task_ * static_cast<double>(element_); }

 private:
  std::vector<std::string> stages_;
  int gpus_;
  std::size_t element_;
  std::vector<std::vector<double>> elements_;  // by place (the host first) and stage
  // number of blocks by GPU, shape and stage
  std::vector<std::map<std::pair<index_t, index_t>, std::vector<double>>> counts_;
  std::vector<double> passed_;  // elements of each GPU in shapes that do not recur
  double task_ = 0;
  bool least_ = false;
};

/// Available bytes of the host and of each GPU.
struct MemoryRoom {
  double host = 0, gpu = 0;  ///< bytes of the host, and of each GPU
};

/// Returns in words why a plan does not fit; empty if it fits. The host must hold all of its blocks; a GPU must hold
/// one task, because other tiles can move to the host.
std::string misfit(const MemoryPlan& plan, const MemoryRoom& room);

/// Returns whether the plan fits without moving tiles from a GPU to the host.
bool fits_without_eviction(const MemoryPlan& plan, const MemoryRoom& room);

/// Returns the largest n whose plan plan_of(n) is a full count and fits whole.
template <class PlanOf>
index_t largest_order(const MemoryRoom& room, const PlanOf& plan_of) {
  const auto fits = [&](index_t n) {
    const MemoryPlan plan = plan_of(n);
    return !plan.is_least() && fits_without_eviction(plan, room);
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
