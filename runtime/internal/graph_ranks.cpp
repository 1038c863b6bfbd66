#include <tesela/runtime/internal/graph_impl.hpp>
#include <tesela/runtime/internal/ranks.hpp>
#include <tesela/runtime/internal/stop_requests.hpp>

#include <algorithm>
#include <cstring>

// A graph whose tasks run on several ranks. Each rank inserts all tasks and records which rank has each tile; it
// submits only its own tasks and messages.

namespace tesela {
namespace {

std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
  h = (h ^ value) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

std::uint64_t mix(std::uint64_t h, const char* word) {
  for (; *word != 0; ++word) h = mix(h, static_cast<std::uint64_t>(*word));
  return h;
}

bool writes(Mode mode) {
  return mode == Mode::out || mode == Mode::inout || mode == Mode::commute || mode == Mode::reduce;
}
bool reads(Mode mode) { return mode != Mode::out && mode != Mode::scratch; }

}  // namespace

int Graph::Impl::rank_of(const Insertion& task) const {
  for (std::size_t b = 0; b < task.data.size(); ++b)
    if (const int place = task.data[b]->whereabouts().place(); writes(mode_of(task, b)) && place >= 0) return place;
  int reader = -1;
  for (std::size_t b = 0; b < task.data.size(); ++b) {
    const detail::TileLocation& where = task.data[b]->whereabouts();
    if (!reads(mode_of(task, b)) || where.holder() < 0) continue;
    if (!where.everywhere()) return where.holder();
    if (reader < 0) reader = where.holder();
  }
  // All ranks have the tiles that it reads.
  if (task.priority.device >= 0) return task.priority.device % state->ranks;
  if (reader >= 0) return reader;
  for (std::size_t b = 0; b < task.data.size(); ++b)
    if (writes(mode_of(task, b))) return task.data[b]->default_owner();
  return 0;
}

std::uint32_t Graph::Impl::kernel_of(const char* name) {
  const auto known = std::find_if(kernels.begin(), kernels.end(), [=](const Named& k) { return k.name == name; });
  if (known == kernels.end()) {
    kernels.push_back({name, mix(0, name)});
    return static_cast<std::uint32_t>(kernels.size() - 1);
  }
  return static_cast<std::uint32_t>(known - kernels.begin());
}

bool Graph::Impl::meet(const Insertion& task) {
  const std::uint32_t kernel = kernel_of(task.codelet->name());
  std::uint64_t& hash = inserted_hash;
  hash = mix(mix(hash, kernels[kernel].hash), task.cost_key);
  for (const detail::Data* data : task.data) {
    const auto [rows, columns] = data->shape();
    hash = mix(hash, data->id ^ static_cast<std::uint64_t>(rows) << 20 ^ static_cast<std::uint64_t>(columns) << 42);
  }
  inserted.push_back({static_cast<std::uint32_t>(hash >> 32), kernel});

  const int where = rank_of(task);
  state->limit_received(where);  // before the first tile for this task arrives
  for (std::size_t b = 0; b < task.data.size(); ++b)
    if (reads(mode_of(task, b))) task.data[b]->send_to(where, task.priority.value, tasks);
  for (std::size_t b = 0; b < task.data.size(); ++b)
    if (writes(mode_of(task, b))) task.data[b]->record_write_at(where);
  return where == state->rank;
}

void Graph::Impl::require_same_graph() {
  const std::vector<detail::RankReport> reports =
      detail::exchange_reports(*state, {.tasks = inserted.size(), .hash = inserted_hash});
  const auto same = [&](const detail::RankReport& r) {
    return r.tasks == reports.front().tasks && r.hash == reports.front().hash;
  };
  if (std::all_of(reports.begin(), reports.end(), same)) {
    inserted_hash = 0;
    return inserted.clear();
  }
  // Finds the first task that differs: the ranks exchange their hashes, and then the kernel of that task.
  std::string hashes(inserted.size() * sizeof(std::uint32_t), '\0');
  for (std::size_t t = 0; t < inserted.size(); ++t)
    std::memcpy(hashes.data() + t * sizeof(std::uint32_t), &inserted[t].hash, sizeof(std::uint32_t));
  const std::vector<std::string> all = state->messages->gather(hashes);
  std::size_t equal = all.front().size();
  for (const std::string& other : all) {
    const auto length = std::min(equal, other.size());
    equal = static_cast<std::size_t>(
        std::mismatch(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(length), all.front().begin()).first -
        other.begin());
  }
  const std::size_t task = equal / sizeof(std::uint32_t);
  const std::vector<std::string> tasks_there =
      state->messages->gather(task < inserted.size() ? kernels[inserted[task].kernel].name : "none");
  std::string list;
  for (std::size_t r = 0; r < tasks_there.size(); ++r)
    list += (r == 0 ? "" : ", ") + tasks_there[r] + " on rank " + std::to_string(r);
  throw LifetimeError("ranks inserted different graphs: task " + std::to_string(task + 1) + " is " + list);
}

Status Graph::Impl::agree(Status mine, index_t number, const std::string& failure) const {
  const std::vector<detail::RankReport> reports =
      detail::exchange_reports(*state, {.status_number = number, .info = mine.info, .failure = failure});
  std::string worst;
  Status status;
  index_t first = -1;
  for (std::size_t r = 0; r < reports.size(); ++r) {
    const auto& [count, hash, k, info, why] = reports[r];
    if (!why.empty() && (worst.empty() || worst == detail::cancelled))
      worst = why == detail::cancelled ? why : "rank " + std::to_string(r) + ": " + why;
    if (k >= 0 && (first < 0 || k < first)) {
      first = k;
      status.info = info;
    }
  }
  if (worst == detail::cancelled) throw Cancelled();
  if (!worst.empty()) throw EnvironmentError(worst);
  return status;
}

}  // namespace tesela
