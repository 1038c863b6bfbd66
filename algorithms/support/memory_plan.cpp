#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/runtime/errors.hpp>

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace tesela {
namespace {

double element_count(Shape shape) { return static_cast<double>(shape.rows) * static_cast<double>(shape.cols); }

std::string text_of(double value, int digits) {
  std::ostringstream text;
  text << std::setprecision(digits) << value;
  return text.str();
}

/// Returns both numbers of bytes in GiB, with enough digits to differ.
std::pair<std::string, std::string> gibibytes(double needed, double there) {
  constexpr double gib = 1 << 30;
  constexpr int all_digits = 17;
  for (int digits = 3;; ++digits) {
    const std::string a = text_of(needed / gib, digits), b = text_of(there / gib, digits);
    if (a != b || digits == all_digits) return {a + " GiB", b + " GiB"};
  }
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
  const double size = element_count(b.shape);
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
    elements += element_count({shape.first, shape.second}) * *std::max_element(counts.begin(), counts.end());
  return elements * static_cast<double>(element_);
}

std::string misfit(const MemoryPlan& plan, const MemoryRoom& room) {
  if (plan.gpus() > 0 && plan.largest_task() > room.gpu) {
    const auto [needed, there] = gibibytes(plan.largest_task(), room.gpu);
    return "one task needs at least " + needed + " of a GPU's memory; " + there +
           " may be used (STARPU_LIMIT_CUDA_MEM). Without GPUs it runs on cores";
  }
  if (const double host = plan.peak(MemoryPlan::host); host > room.host) {
    const auto [needed, there] = gibibytes(host, room.host);
    return (plan.is_least() ? "it takes at least " : "it takes ") + needed + " of the host's memory; " + there +
           " may be used";
  }
  return {};
}

bool fits_without_eviction(const MemoryPlan& plan, const MemoryRoom& room) {
  return misfit(plan, room).empty() && plan.gpu_peak() <= room.gpu;
}

}  // namespace tesela
