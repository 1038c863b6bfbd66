#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/runtime/errors.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>

namespace tesela {
namespace {

double elements_of(Shape shape) { return static_cast<double>(shape.rows) * static_cast<double>(shape.cols); }

std::string text_of(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::string gibibytes(double bytes) {
  const double all = std::ceil(bytes / (1 << 30) * 10);
  if (all > 1e15) return text_of(all / 10) + " GiB";
  const auto tenths = static_cast<std::int64_t>(all);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

}  // namespace

MemoryPlan::MemoryPlan(std::vector<std::string> stages, int gpus, std::size_t element)
    : stages_(std::move(stages)),
      gpus_(gpus),
      element_(element),
      elements_(static_cast<std::size_t>(gpus) + 1, std::vector<double>(stages_.size())),
      counts_(static_cast<std::size_t>(gpus)),
      passed_(static_cast<std::size_t>(gpus)) {}

void MemoryPlan::hold(const Blocks& b) {
  const double size = elements_of(b.shape);
  for (index_t s = b.first; s <= b.last; ++s)
    elements_[static_cast<std::size_t>(b.place + 1)][static_cast<std::size_t>(s)] += b.at_once * size;
  if (b.place == host) return;
  const auto gpu = static_cast<std::size_t>(b.place);
  if (b.ever > 0) {
    passed_[gpu] += b.ever * size;
    return;
  }
  auto& counts = counts_[gpu][{b.shape.rows, b.shape.cols}];
  counts.resize(stages_.size());
  for (index_t s = b.first; s <= b.last; ++s) counts[static_cast<std::size_t>(s)] += b.at_once;
}

void MemoryPlan::hold_on_each(Blocks blocks) {
  for (blocks.place = gpus_ > 0 ? 0 : host; blocks.place < gpus_; ++blocks.place) {
    hold(blocks);
    if (blocks.place == host) return;
  }
}

void MemoryPlan::task(double elements) { task_ = std::max(task_, elements); }

index_t MemoryPlan::stage(const std::string& name) const {
  const auto found = std::find(stages_.begin(), stages_.end(), name);
  if (found == stages_.end()) throw ArgumentError("MemoryPlan::stage", "name", name);
  return found - stages_.begin();
}

double MemoryPlan::bytes(index_t stage, int place) const {
  return static_cast<double>(element_) *
         elements_[static_cast<std::size_t>(place + 1)][static_cast<std::size_t>(stage)];
}

double MemoryPlan::peak(int place) const {
  double most = 0;
  for (index_t s = 0; s <= last_stage(); ++s) most = std::max(most, bytes(s, place));
  return most;
}

double MemoryPlan::gpu_peak() const {
  double most = 0;
  for (int gpu = 0; gpu < gpus_; ++gpu) most = std::max(most, peak(gpu));
  return most;
}

double MemoryPlan::held(int gpu) const {
  double elements = passed_[static_cast<std::size_t>(gpu)];
  for (const auto& [shape, counts] : counts_[static_cast<std::size_t>(gpu)])
    elements += elements_of({shape.first, shape.second}) * *std::max_element(counts.begin(), counts.end());
  return elements * static_cast<double>(element_);
}

std::string misfit(const MemoryPlan& plan, const MemoryRoom& room) {
  if (plan.gpus() > 0 && plan.largest_task() > room.gpu)
    return "one task needs at least " + gibibytes(plan.largest_task()) + " of a GPU's memory, of which " +
           gibibytes(room.gpu) + " may be used (STARPU_LIMIT_CUDA_MEM); without GPUs it runs on cores";
  if (const double host = plan.peak(MemoryPlan::host); host > room.host)
    return (plan.is_least() ? "it takes at least " : "it takes ") + gibibytes(host) +
           " of the host's memory, of which there are " + gibibytes(room.host);
  return {};
}

bool fits_whole(const MemoryPlan& plan, const MemoryRoom& room) {
  return misfit(plan, room).empty() && plan.gpu_peak() <= room.gpu;
}

}  // namespace tesela
